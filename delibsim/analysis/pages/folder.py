"""A report as a folder: the page, its tables in every form, its figures, the codebook."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from delibsim.analysis.pages.html import html
from delibsim.analysis.pages.markdown import markdown
from delibsim.analysis.pages.page import Page
from delibsim.analysis.pages.papers import docx, latex
from delibsim.analysis.result import Result
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
    """Write one table as tidy CSV at full precision; an empty cell is a missing value."""
    rows = result.rows.to_csv(index=False, lineterminator="\n")
    write_atomically(folder / f"{result.name}.csv", rows)


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
