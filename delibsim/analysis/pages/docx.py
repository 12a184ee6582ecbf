"""Tables of results as a Word document."""

from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from delibsim.analysis.pages.cells import Reading, reading
from delibsim.analysis.study.result import Result
from delibsim.domain.text import safe

EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)
"""The time of every file in the document, so that equal tables give equal bytes."""
MOST = 255
"""Characters that the title of a document may have."""


def docx(study: str, results: Iterable[Result]) -> bytes:
    """The tables that are given, one below the other, with caption and notes."""
    from docx import Document

    document = Document()
    document.core_properties.author = ""
    document.core_properties.title = printable(study)[:MOST]
    document.core_properties.created = EARLIEST
    document.core_properties.modified = EARLIEST
    document.add_heading(f"Tables of the study {printable(study)}", level=1)
    for result in results:
        if result.given and len(result.rows):
            _add(document, result)
    return _same_each_time(document)


def printable(text: str) -> str:
    """Text on one line without characters that a document cannot hold."""
    return " ".join(safe(text).split())


def _add(document: Any, result: Result) -> None:
    read = reading(result)
    caption = document.add_paragraph()
    caption.add_run(f"{printable(result.title)}. ").bold = True
    caption.add_run(printable(read.in_words))
    caption.paragraph_format.keep_with_next = True
    _fill(document.add_table(rows=1 + len(read.rows), cols=len(read.heads)), read)
    footnotes = [f"{letter}: {text}." for letter, text in read.footnotes.items()]
    notes = [*footnotes, *result.notes, result.definition]
    if read.left_out:
        notes.insert(0, f"{len(read.rows)} of {len(result.rows)} rows are shown.")
    document.add_paragraph(printable(" ".join(notes)))


def _fill(table: Any, read: Reading) -> None:
    """Write the heads and the rows; numbers stand at the right."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.shared import Pt

    table.style = "Light List"
    lines = [[head.name for head in read.heads], *read.rows]
    # Asked of each row anew, the cells of the whole table would be gathered each time.
    cells = iter(table._cells)
    for line in lines:
        for head, text in zip(read.heads, line, strict=True):
            paragraph = next(cells).paragraphs[0]
            run = paragraph.add_run(printable(text))
            run.font.size = Pt(8)
            if not head.text:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT


def _same_each_time(document: Any) -> bytes:
    """The document as bytes, in which no clock stands."""
    first, again = BytesIO(), BytesIO()
    document.save(first)
    with ZipFile(first) as before, ZipFile(again, "w", ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(ZipInfo(name, (1980, 1, 1, 0, 0, 0)), before.read(name), ZIP_DEFLATED)
    return again.getvalue()
