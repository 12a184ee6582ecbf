"""`delibsim score`: score every run of a study, or the texts of a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.condition_tables import condition_tables
from delibsim.analysis.conditions import ByCondition
from delibsim.cli.options import RUNS, Json, RunsFolder
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, shown, study_at
from delibsim.cli.texts import kept_if_stopped, score_texts
from delibsim.conduct.score import measures_of
from delibsim.conduct.scored import ScoredStudy, scored_study
from delibsim.domain.errors import unknown
from delibsim.domain.measure import Measure
from delibsim.plugins import names

app = typer.Typer(add_completion=False)

STUDY = "Name or folder of the study; or the word texts, with a file of texts behind it."
FILE = "With texts: a CSV file with a row a text."
SCORER = "A scorer; may be given several times. Default: all that need not be asked for."
COLUMN = "With texts: the column that holds them."
TO = "With texts: the file to write. Default: FILE.<scorer>.csv."


@app.command()
def score(
    study: Annotated[str, typer.Argument(help=STUDY)],
    file: Annotated[Path | None, typer.Argument(help=FILE)] = None,
    scorer: Annotated[list[str] | None, typer.Option(help=SCORER)] = None,
    column: Annotated[str, typer.Option(help=COLUMN)] = "text",
    to: Annotated[Path | None, typer.Option(help=TO)] = None,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Score every run of a study. Exit code 0; 3 if a run could not be read, or --scorer gave no
    run a value; 4 if the study has no run.

    `delibsim score texts FILE --scorer aqua` scores texts that were not held here: one row a text,
    in a CSV file.
    """
    installed = names("delibsim.scorers")
    for name in scorer or []:
        if name not in installed:
            raise unknown("scorer", name, installed)
    if file is not None:
        raise typer.Exit(score_texts(study, file, column, to, scorer, as_json))
    runs = study_at(study, root)
    with kept_if_stopped() as watch:
        scored = scored_study(runs, scorer or [], watch)
    if as_json:
        echo_json(scored.plain() | {"files": list(map(shown, scored.scoring.files))})
    else:
        _print(scored, console())
    raise typer.Exit(exit_code(bool(scored.found.means), scored.whole))


def _print(scored: ScoredStudy, screen: Console) -> None:
    """Print the measures by condition, and what must be known of them."""
    if not scored.account.held:
        screen.print(f"study '{scored.study}' has no runs to score yet")
    print_each(scored.doubts(), screen)
    print_conditions(scored.found, measures_of(scored.scorers), screen)
    print_each(scored.remarks(), screen)
    print_each((f"written: {shown(file)}" for file in scored.scoring.files), screen)
    if scored.without_scores:
        which = ", ".join(scored.without_scores)
        screen.print(f"not written, because they have no score for any run: {which}")


def print_conditions(found: ByCondition, declared: Mapping[str, Measure], screen: Console) -> None:
    """Print a table for each condition; `declared` are the measures of the scorers, by id."""
    for condition in condition_tables(found, declared):
        screen.print(safe(condition.title), soft_wrap=True)
        if condition.table:
            show_table(condition.table, screen)
        print_each(condition.missing, screen)
