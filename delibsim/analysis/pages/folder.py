"""A report as a folder: the page as HTML and as Markdown, its tables in every form (LaTeX and Word
for a paper), its figures and the codebook.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pandas as pd

from delibsim.analysis.pages.cells import TextTable, reading
from delibsim.analysis.pages.page import Page, PagePart, html
from delibsim.analysis.result import Result
from delibsim.domain.data import read_data
from delibsim.domain.text import safe
from delibsim.store.files import json_text, staged, write_atomically
from delibsim.store.own_folder import MANIFEST, names_in, refuse_others

PREAMBLE = """% Tables of the study {study}, written by delibsim.
% The preamble needs \\usepackage{{booktabs,longtable}}; pdflatex also needs utf8 as inputenc.
"""
TABLE = str.maketrans(read_data("latex.yaml"))
MANY = 30
"""Rows above which a table may run over pages."""


def latex(study: str, results: Iterable[Result]) -> str:
    """The tables that are given, each with caption, label and notes; every sign is in_latex."""
    parts = [PREAMBLE.format(study=in_latex(study))]
    for result in results:
        if result.given and len(result.rows):
            parts.append(_latex_table(result))
    return "\n".join(parts)


def in_latex(text: str) -> str:
    r"""Text without a meaning to LaTeX.

    >>> print(in_latex(r"50 % of \input{x} & $y_1$"))
    50 \% of \textbackslash{}input\{x\} \& \$y\_1\$
    """
    return " ".join(safe(text).split()).translate(TABLE)


def _latex_table(result: Result) -> str:
    read = reading(result)
    rows = []
    for row in read.rows:
        first, *rest = map(in_latex, row)
        rows.append([f"{{}}{first}", *rest])  # a bracket behind a line's end would be a length
    frame = pd.DataFrame(rows, columns=[in_latex(head.name) for head in read.heads])
    many = len(rows) > MANY
    text = frame.to_latex(
        index=False,
        escape=False,
        longtable=many,
        position=None if many else "htbp",
        column_format="".join("l" if head.text else "r" for head in read.heads),
        caption=f"{in_latex(result.title)}. {in_latex(read.in_words)}".rstrip(),
        label=f"tab:{result.name.replace('_', '-')}",
    )
    note = rf"{{\footnotesize {in_latex(_notes(result, read))}\par}}"
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


PAGE = "report.html"
WRITER = "report"


def write_report(
    page: Page,
    results: Iterable[Result],
    folder: Path,
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Write the report into a folder, which takes its place as a whole; the HTML file.

    `files` are further files by their path in the folder, such as figures. A folder of this name
    that is there already is replaced if it holds nothing but a report, as its manifest lists it;
    else WrongInput.
    """
    refuse_others(folder, WRITER)
    given = [result for result in results if result.given]
    shown = {result.name for result in page.tables()}
    papers = [one for one in given if one.screen != "never" or one.name in shown]
    with staged(folder) as stage:
        write_atomically(stage / PAGE, html(page))
        write_atomically(stage / "report.md", markdown(page))
        write_atomically(stage / "tables.tex", latex(page.title, papers))
        _write(stage / "tables.docx", docx(page.title, papers))
        for result in given:
            write_csv(result, stage / "tables")
        write_atomically(stage / "codebook.csv", codebook(given))
        for name, content in (files or {}).items():
            _write(stage / name, content)
        written = [name for name, _ in names_in(stage)]
        manifest = {"written_by": "delibsim", "files": written}
        write_atomically(stage / MANIFEST, json_text(manifest, indent=1) + "\n")
    return folder / PAGE


def write_csv(result: Result, folder: Path) -> None:
    """Write one table as CSV (see `csv_of`)."""
    write_atomically(folder / f"{result.name}.csv", csv_of(result))


def csv_of(result: Result) -> str:
    """One table as tidy CSV at full precision; an empty cell is a missing value."""
    return str(result.rows.to_csv(index=False, lineterminator="\n"))


def codebook(results: Iterable[Result]) -> str:
    """The columns of all tables with their meanings, as CSV."""
    import pandas as pd

    rows = []
    for result in results:
        for column in map(str, result.rows.columns):
            meaning = result.meanings.get(column, "")
            kind = str(result.rows[column].dtype)
            row = {"table": result.name, "column": column, "type": kind, "meaning": meaning}
            rows.append(row)
    columns = ["table", "column", "type", "meaning"]
    return pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|$~"})


def markdown(page: Page) -> str:
    """The page as Markdown (CommonMark with tables); the texts of others are no markup."""
    lines = [f"# {escaped(page.title)}", escaped(page.kind)]
    lines += [f"> **Note.** {escaped(warning)}" for warning in page.warnings]
    lines += ["## Summary", _list(page.summary)]
    lines += _table(page, page.headline) if page.headline else []
    for part in page.parts:
        lines += _part(page, part)
    return "\n\n".join(line for line in lines if line) + "\n"


def escaped(text: str) -> str:
    r"""Text that is no markup and stays on one line.

    >>> print(escaped("a|b <script> *c*"))
    a\|b \<script\> \*c\*
    """
    return " ".join(safe(text).split()).translate(MARKUP)


def _part(page: Page, part: PagePart) -> Iterator[str]:
    yield f"## {escaped(part.title)}"
    yield from map(escaped, part.paragraphs)
    yield _list(part.sentences)
    entries = []
    for entry in part.entries:
        missing = "(to be added by the author) " if entry.open else ""
        entries.append(f"- **{escaped(entry.term)}**: {missing}{escaped(entry.said)}")
    yield "\n".join(entries)
    for picture in part.pictures:
        yield f"![{escaped(picture.alt)}]({page.figures_in}{picture.name}.svg)"
        yield f"**{escaped(picture.title)}.** {escaped(picture.caption)}"
    for result in part.tables:
        yield from _table(page, result)


def _table(page: Page, result: Result) -> list[str]:
    read = reading(result)
    title = f"**{escaped(result.title)}.** {escaped(read.in_words)}".rstrip()
    rows = [[head.name for head in read.heads], *read.rows]
    lines = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    rulers = ["---" if head.text else "---:" for head in read.heads]
    lines.insert(1, f"| {' | '.join(rulers)} |")
    below = [f"{len(read.rows)} rows of {len(result.rows)} are shown."] if read.left_out else []
    below += [f"{letter}: {text}" for letter, text in read.footnotes.items()]
    below += [*result.notes, result.definition]
    below.append(f"Source: {result.source}. File: {page.tables_in}{result.name}.csv")
    return [title, "\n".join(lines), *map(escaped, below)]


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)
