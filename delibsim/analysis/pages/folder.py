"""A report as a folder: the page as HTML and as Markdown, its tables in every form, its figures and
the codebook.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from delibsim.analysis.pages.cells import reading
from delibsim.analysis.pages.page import Page, PagePart, html
from delibsim.analysis.pages.papers import docx, latex
from delibsim.analysis.result import Result
from delibsim.domain.text import safe
from delibsim.store.files import json_text, staged, write_atomically
from delibsim.store.own_folder import MANIFEST, names_in, refuse_others

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
