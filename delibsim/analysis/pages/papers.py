"""Tables of results for a paper: in LaTeX, and as a Word document."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pandas as pd

from delibsim.analysis.pages.cells import TextTable, reading
from delibsim.analysis.result import Result
from delibsim.domain.data import read_data
from delibsim.domain.text import safe

PREAMBLE = """% Tables of the study {study}, written by delibsim.
% The preamble needs \\usepackage{{booktabs,longtable}}; pdflatex also needs utf8 as inputenc.
"""
TABLE = str.maketrans(read_data("latex.yaml"))
MANY = 30
"""Rows above which a table may run over pages."""


def latex(study: str, results: Iterable[Result]) -> str:
    """The tables that are given, each with caption, label and notes; every sign is escaped."""
    parts = [PREAMBLE.format(study=escaped(study))]
    for result in results:
        if result.given and len(result.rows):
            parts.append(_table(result))
    return "\n".join(parts)


def escaped(text: str) -> str:
    r"""Text without a meaning to LaTeX.

    >>> print(escaped(r"50 % of \input{x} & $y_1$"))
    50 \% of \textbackslash{}input\{x\} \& \$y\_1\$
    """
    return " ".join(safe(text).split()).translate(TABLE)


def _table(result: Result) -> str:
    read = reading(result)
    rows = []
    for row in read.rows:
        first, *rest = map(escaped, row)
        rows.append([f"{{}}{first}", *rest])  # a bracket behind a line's end would be a length
    frame = pd.DataFrame(rows, columns=[escaped(head.name) for head in read.heads])
    many = len(rows) > MANY
    text = frame.to_latex(
        index=False,
        escape=False,
        longtable=many,
        position=None if many else "htbp",
        column_format="".join("l" if head.text else "r" for head in read.heads),
        caption=f"{escaped(result.title)}. {escaped(read.in_words)}".rstrip(),
        label=f"tab:{result.name.replace('_', '-')}",
    )
    note = rf"{{\footnotesize {escaped(_notes(result, read))}\par}}"
    if many:
        return f"{text}{note}\n"
    return text.replace(r"\end{table}", f"\\par\\smallskip{note}\n\\end{{table}}")


def _notes(result: Result, read: TextTable) -> str:
    """What stands below a table: footnotes, notes, how each number is computed."""
    left_out = [f"{len(read.rows)} of {len(result.rows)} rows are shown."] if read.left_out else []
    footnotes = [f"{letter}: {text}." for letter, text in read.footnotes.items()]
    return " ".join([*left_out, *footnotes, *result.notes, result.definition])


EARLIEST = datetime(1980, 1, 1, tzinfo=UTC)
"""The time of every file in the document, so that equal tables give equal bytes."""
CELL = (
    '<w:tc><w:tcPr><w:tcW w:type="dxa" w:w="{width}"/></w:tcPr><w:p>{place}'
    '<w:r><w:rPr><w:sz w:val="16"/></w:rPr>'
)
"""What a cell of a table opens with, its letters of 8 points (Office Open XML, ISO 29500-1)."""
RIGHT = '<w:pPr><w:jc w:val="right"/></w:pPr>'
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
    _fill(document.add_table(rows=1, cols=len(read.heads)), read)
    document.add_paragraph(printable(_notes(result, read)))


def _fill(table: Any, read: TextTable) -> None:
    """Write the heads and the rows; numbers stand at the right."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls, nsmap

    table.style = "Light List"
    empty = table.rows[0]._tr
    widths = [cell.width.twips for cell in table.rows[0].cells]
    openings = [
        CELL.format(width=width, place="" if head.text else RIGHT)
        for head, width in zip(read.heads, widths, strict=True)
    ]
    lines = [[head.name for head in read.heads], *read.rows]
    # Cell by cell through the objects of python-docx it would take fifty times as long.
    rows = "".join(f"<w:tr>{_cells(openings, line)}</w:tr>" for line in lines)
    for row in parse_xml(f"<w:tbl {nsdecls('w')}>{rows}</w:tbl>").findall("w:tr", nsmap):
        empty.addprevious(row)
    empty.getparent().remove(empty)


def _cells(openings: Sequence[str], line: Sequence[str]) -> str:
    """The cells of a row as XML."""
    texts = (escape(printable(text), quote=False) for text in line)
    return "".join(
        f"{opening}{f'<w:t>{text}</w:t>' if text else ''}</w:r></w:p></w:tc>"
        for opening, text in zip(openings, texts, strict=True)
    )


def _same_each_time(document: Any) -> bytes:
    """The document as bytes, in which no clock stands."""
    first, again = BytesIO(), BytesIO()
    document.save(first)
    with ZipFile(first) as before, ZipFile(again, "w", ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(ZipInfo(name, (1980, 1, 1, 0, 0, 0)), before.read(name), ZIP_DEFLATED)
    return again.getvalue()
