"""`delibsim analyze`: what a study shows, in words, tables and one report."""

from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from delibsim.analysis.table import Column
from delibsim.cli.commands import loaded
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.table import print_table
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    kept_if_stopped,
    print_each,
    safe,
    shown,
)
from delibsim.domain.errors import WrongInput, unknown

app = typer.Typer(add_completion=False)

KINDS = {
    "code": "code",
    "pairs": "compare",
    "ratings": "rate",
    "judgments": "judge",
    "summaries": "summarise",
}
"""The commands of what may have been asked about texts, by what their answers are called."""


@declared(app, "analyze", "analyze")
def analyze(
    study: str,
    other: Words = None,
    of: str = "",
    to: Path | None = None,
    draws: int = 10_000,
    seed: int = 0,
    margin: float | None = None,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Analyse a study: every table and figure that it can give, in one HTML report with tidy files.

    A study that is not scored is scored first. With two studies, both stand beside each other.
    Exit code 0; 3 if a planned session has no value, 4 if nothing could be analysed.
    """
    if of:
        raise typer.Exit(_report_of(of, [study, *(other or [])], to, root, as_json))
    if other and len(other) > 1:
        raise WrongInput(f"two studies stand beside each other, not {1 + len(other)}")
    second = other[0] if other else None
    from delibsim.analysis.study.study_table import Draws
    from delibsim.conduct.analyse import analyse, check, compare, folder_of_both, source_of

    check(margin)
    chosen = Draws(draws, draws, max(1, draws // 5), seed)
    with kept_if_stopped(quiet=as_json) as watch:
        source = source_of(study, root, watch, to, alone=second is None)
        if second is None:
            report = analyse(source, chosen, margin, watch)
            folder = to or source.folder
        else:
            sources = source, source_of(second, root, watch, alone=False)
            folder = folder_of_both(sources, to)
            report = compare(sources, chosen, margin, watch)
        file = report.write(folder)
    if as_json:
        echo_json(report.plain())
    else:
        print_report(report, console())
        console().print(safe(f"report: {shown(file.resolve())}"), soft_wrap=True)
    raise typer.Exit(exit_code(report.something, report.whole))


def _report_of(kind: str, words: list[str], to: Path | None, root: Path, as_json: bool) -> int:
    """Print the report of what was asked about texts, as its own command does; the exit code."""
    if kind not in KINDS and kind not in KINDS.values():
        raise unknown("kind", kind, KINDS)
    command = loaded(KINDS.get(kind, kind)).commands["report"]
    words += ["--dir", str(root)] if root != RUNS else []
    words += ["-o", str(to)] if to else []
    words += ["--json"] if as_json else []
    path = f"delibsim {KINDS.get(kind, kind)} report"
    return command(args=words, prog_name=path, standalone_mode=False) or 0


def print_report(report: Any, screen: Console) -> None:
    """Print the warnings, what the tables say in words, and the table of the first screen."""
    differences = report.results.get("differences")
    print_each(() if differences else report.warnings, screen, "bold")
    print_each(report.told, screen)
    table = differences or report.headline
    if table is not None and table.given:
        screen.print()
        show_result(table, screen)
    if table is not None:
        screen.print()


def show_result(result: Any, screen: Console) -> None:
    """Print a table of results below its title."""
    from delibsim.analysis.pages.cells import reading

    read = reading(result)
    columns = [Column(head.name, text=head.text) for head in read.heads]
    print_table(result.title, columns, read.rows, screen)
