"""`delibsim summarise`: one statement for many opinions, at several sizes, by models or none."""

from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.asking.kinds.summary import ratings_of, too_long
from delibsim.asking.kinds.summary_outcome import (
    notes_of,
    summaries_of_plan,
    summaries_plain,
    summaries_told,
    summariser_rows,
)
from delibsim.asking.kinds.summary_plan import plan_summaries
from delibsim.asking.nouns import Outcome, Plan
from delibsim.cli.asking import View, carry_out
from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import print_each, study_at
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.estimate import Estimate

app = typer.Typer(add_completion=False)
SETTINGS = (
    "Who summarises, how many opinions, how often: model=NAME --sizes 10,30,100,all --runs 3"
    " --draws 1 --groups stance|themes ..."
)
EPILOG = (
    "For example: delibsim summarise tram model=local --sizes 10,50,all --estimate. Settings, also"
    " as options: sizes (all), runs (3; --dir with a number is this, with a name the folder of all"
    " studies), draws (1), groups=none|stance|themes; plan=whole|chunks, part (100: opinions that"
    " are summarised at a time under plan=chunks); embedding (tfidf), name (main), temperature"
    " (0.7), max_tokens (2000), wording (summary), and those of models and limits. summary=NAME"
    " takes sizes, runs and others from conf/summary/NAME.yaml: benchmark, rated, minorities or a"
    " file of yours. extractive and themes, which need no model, are always made beside the others,"
    " and alone where no model is named."
)


@app.command(epilog=EPILOG)
def summarise(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    only: EstimateOnly = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Summarise the opinions of a study: one statement that stands for all of them.

    The same command again asks only for what is not there yet; more sizes, runs, draws or models
    are added. Exit code 0; 3 if summaries are missing, 4 if there is none.
    """
    carry_out(plan_summaries(study_at(study, root), overrides or []), VIEW, only, as_json)


def _show(planned: Plan, outcome: Outcome, screen: Console) -> None:
    """Print what came of it: summaries by summariser and size, and what must be known of them."""
    found = summaries_of_plan(planned)
    print_each(summaries_told(planned, outcome), screen)
    rows = []
    for row in summariser_rows(planned, found):
        model, *counts, words = row.values()
        length = "-" if words is None else f"{words:g}"
        rows.append([str(model), *(f"{n:,}" for n in counts), length])
    heads = ["size", "planned", "made", "missing", "words, median"]
    print_table("Summaries", [*texts("summariser"), *numbers(heads)], rows, screen)
    print_each([f"note: {line}" for line in notes_of(planned, found)], screen)
    screen.print(f"Next       delibsim summaries show {quoted(planned.runs.study)}")


def _before(planned: Plan, found: Estimate) -> list[str]:
    """How many summaries there are to be made by models."""
    own = counted(found.planned, "summary")
    told = f"{own} by models, {found.held:,} there already, {found.waiting:,} to be made"
    return [f"{study_named(planned.runs.study)}: {told}; the extractive ones cost nothing"]


def _values(planned: Plan, found: Estimate) -> dict[str, Any]:
    """What an estimate says of judging, and of sizes that do not fit a model."""
    return {"ratings_a_judge": ratings_of(planned), "too_long": list(too_long(planned))}


def _after(planned: Plan, found: Estimate) -> list[str]:
    """The same in sentences."""
    judging = (
        f"Judging    up to {counted(ratings_of(planned), 'call')} a judge, a rating by every"
        " opinion of each summary; fewer with --per-summary"
    )
    return [judging, *too_long(planned)]


VIEW = View("summaries", _before, _values, summaries_plain, _show, after=_after)
