"""`delibsim summarise`: one statement for many opinions, at several sizes, by models or none."""

import asyncio
from functools import partial
from typing import Annotated, Any

import typer

from delibsim.analysis.table import numbers, texts
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, study_at
from delibsim.conduct.asking.ask import Outcome
from delibsim.conduct.summarising.ask import ask_summaries
from delibsim.conduct.summarising.estimate import estimate_summaries, ratings_of
from delibsim.conduct.summarising.plan import SummaryPlan, plan_summaries
from delibsim.conduct.summarising.report import (
    notes_of,
    summaries_of_plan,
    summaries_plain,
    summaries_told,
    summariser_rows,
)
from delibsim.domain.text import counted, study_named
from delibsim.planning.estimate_tables import plain

app = typer.Typer(add_completion=False)
SETTINGS = (
    "Who summarises, how many opinions, how often: model=NAME --sizes 10,30,100,all --runs 3"
    " --draws 1 --groups stance|themes ..."
)
EPILOG = (
    "For example: delibsim summarise tram model=local --sizes 10,50,all --estimate. Settings, also"
    " as options: sizes (all), runs (3; --runs with a number is this, with a name the folder of all"
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
    planned = plan_summaries(study_at(study, root), overrides or [])
    screen = console(stderr=True)
    print_each([f"note: {line}" for line in planned.notes], screen)
    if only:
        _print_estimate(planned, as_json)
        return
    outcome = asyncio.run(ask_summaries(planned, partial(screen.print, soft_wrap=True)))
    if as_json:
        echo_json(summaries_plain(planned, outcome))
    else:
        _print(planned, outcome)
        print_each([f"missing: {fault}" for fault in outcome.faults], screen)
    raise typer.Exit(exit_code(bool(outcome.usable), outcome.whole))


def _print(planned: SummaryPlan, outcome: Outcome) -> None:
    """Print what came of it: summaries by summariser and size, and what must be known of them."""
    screen, found = console(), summaries_of_plan(planned)
    print_each(summaries_told(planned, outcome), screen)
    rows = []
    for row in summariser_rows(planned, found):
        model, *counts, words = row.values()
        length = "-" if words is None else f"{words:g}"
        rows.append([str(model), *(f"{n:,}" for n in counts), length])
    heads = ["size", "planned", "made", "missing", "words, median"]
    print_table("Summaries", [*texts("summariser"), *numbers(heads)], rows, screen)
    print_each([f"note: {line}" for line in notes_of(planned, found)], screen)
    screen.print(f"Next       delibsim summaries show {planned.runs.study}")


def _print_estimate(planned: SummaryPlan, as_json: bool) -> None:
    """Say what the summaries that are still to be asked for will take."""
    found, too_long = estimate_summaries(planned), list(planned.too_long())
    study, ratings = planned.runs.study, ratings_of(planned)
    if as_json:
        estimate: dict[str, Any] = plain(planned.plan, found)
        counts = estimate.pop("sessions")
        made = {name: counts[name] for name in ("planned", "held", "waiting")}
        told = {"study": study, "summaries": made, "ratings_a_judge": ratings}
        echo_json(estimate | told | {"too_long": too_long})
        return
    screen = console()
    planned_here = counted(found.planned, "summary")
    told = f"{planned_here} by models, {found.held:,} there already, {found.waiting:,} to be made"
    screen.print(f"{study_named(study)}: {told}; the extractive ones cost nothing")
    print_lines(planned.plan, found, screen, "summaries")
    screen.print(
        f"Judging    up to {counted(ratings, 'call')} a judge, a rating by every opinion of each"
        " summary; fewer with --per-summary"
    )
    print_each(too_long, screen)
