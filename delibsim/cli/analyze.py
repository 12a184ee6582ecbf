"""`delibsim analyze`: what a study shows, in words, tables and one report."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import Column
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, shown
from delibsim.cli.texts import kept_if_stopped

app = typer.Typer(add_completion=False)

STUDY = "Name or folder of a study; a table (CSV) of sessions; or a folder of exported tables."
OTHER = "A second study, table or folder, to be compared with the first."
TO = "The folder of the report. Default: analysis/ of the study."
DRAWS = "Permutations, and resamples of topics; a fifth as many for the mixed model."
SEED = "The seed of the draws."
MOST_DRAWS = 1_000_000
"""More would need more memory than machines have."""
MARGIN = "The smallest effect of interest on the change of the index, for equivalence."


@app.command()
def analyze(
    study: Annotated[str, typer.Argument(help=STUDY)],
    other: Annotated[str | None, typer.Argument(help=OTHER)] = None,
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    draws: Annotated[int, typer.Option(min=1, max=MOST_DRAWS, help=DRAWS)] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help=SEED)] = 0,
    margin: Annotated[float | None, typer.Option(help=MARGIN)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Analyse a study: every table and figure that it can give, in one HTML report with tidy files.

    A study that is not scored is scored first. With two studies, both stand beside each other.
    Exit code 0; 3 if a planned session has no value, 4 if nothing could be analysed.
    """
    from delibsim.analysis.study.study_table import Draws  # pandas is slow to import
    from delibsim.conduct.analyse import (
        analyse,
        check,
        compare,
        folder_of_both,
        source_of,
    )

    check(margin)
    chosen = Draws(draws, draws, max(1, draws // 5), seed)
    with kept_if_stopped() as progress:
        watch = _silent if as_json else progress
        source = source_of(study, root, watch, to, alone=other is None)
        if other is None:
            report = analyse(source, chosen, margin, watch)
            folder = to or source.folder
        else:
            sources = source, source_of(other, root, watch, alone=False)
            folder = folder_of_both(sources, to)
            report = compare(sources, chosen, margin, watch)
        file = report.write(folder)
    if as_json:
        echo_json(report.plain())
    else:
        print_report(report, console())
        console().print(safe(f"report: {shown(file.resolve())}"), soft_wrap=True)
    raise typer.Exit(exit_code(report.something, report.whole))


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


def _silent(what: str, done: int, among: int) -> None:
    """Show no progress."""
