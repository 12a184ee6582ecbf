"""`delibsim export`: a study as tidy tables, for R, Python, Stata and spreadsheets."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, report, safe, say, shown, study_at
from delibsim.domain.errors import unknown
from delibsim.store.runs import EXPORT
from delibsim.store.tables.codebook import TABLES
from delibsim.store.tables.export import FORMATS, Export
from delibsim.store.tables.export import export as write

app = typer.Typer(add_completion=False)

TO = "Where to write. Default: the folder tables/ of the study."
SAFE = "Put ' before texts in CSV files that a spreadsheet would take for formulas."


@app.command()
def export(
    study: StudyName,
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    format: Annotated[str, typer.Option(help="csv, parquet or both.")] = "csv",
    spreadsheet_safe: Annotated[bool, typer.Option("--spreadsheet-safe", help=SAFE)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Write a study as tidy tables with a codebook. Exit code 0; 3 if something was damaged and
    left out, 4 if there is no session.
    """
    if format not in (*FORMATS, "both"):
        raise unknown("format", format, [*FORMATS, "both"])
    runs = study_at(study, root)
    if not runs.sessions():
        say(f"study '{runs.study}' has no sessions to export yet", err=True)
        raise typer.Exit(4)
    formats = FORMATS if format == "both" else (format,)
    written = write(runs, to or runs.folder / EXPORT, formats, spreadsheet_safe)
    if as_json:
        plain = {
            "study": runs.study,
            "folder": shown(written.folder),
            "rows": written.rows,
            "sessions": written.sessions,
            "escaped": written.escaped,
            "left_out": written.faults,
        }
        echo_json(plain)
    else:
        _print(written, console())
    report(list(written.faults))


def _print(written: Export, screen: Console) -> None:
    columns = [*texts("table"), *numbers(["rows"]), *texts("")]
    rows = [[name, str(n), TABLES[name]] for name, n in written.rows.items()]
    print_table("", columns, rows, screen)
    sessions = [f"{n} {status}" for status, n in written.sessions.items()]
    screen.print(f"sessions: {', '.join(sessions)}")
    for column, n in written.escaped.items():
        screen.print(
            f"escaped: {n} cell(s) of {column} hold what no table can: NUL or half a character"
        )
    screen.print(safe(f"written: {shown(written.folder)}"), soft_wrap=True)
