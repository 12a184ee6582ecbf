"""`delibsim compare ask`: have the texts of a study judged in pairs by language models."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.cli.estimate import EstimateOnly, print_lines
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, study_at
from delibsim.cli.words import settings_among
from delibsim.conduct.asking.ask import Outcome
from delibsim.conduct.comparing.ask import kin_of
from delibsim.conduct.comparing.carry_out import carry_out
from delibsim.conduct.comparing.estimate import estimate_comparison, filled
from delibsim.conduct.comparing.plan import ComparisonPlan, plan_comparison, with_batches
from delibsim.conduct.comparing.report import (
    comparison_plain,
    comparison_told,
    judge_rows,
    notes_of,
    pairs_in,
    stop_rows,
    votes_of,
)
from delibsim.conduct.comparing.texts import study_of_several
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, study_named
from delibsim.planning.comparing import task_name
from delibsim.planning.estimate_tables import plain
from delibsim.store.gathered import gathered_and_own
from delibsim.store.runs import Runs

SETTINGS = (
    "Dimension, design, judges and limits: dimension=logical design=random design.per_text=10"
    " 'group.models=[A,B]' ..."
)
EQUAL = "Have texts judged too that are word for word alike."
EPILOG = (
    "For example: delibsim compare ask pilot dimension=logical model=citizen --estimate. Settings:"
    " dimension, name (main), design=random|all|ring|groups|adaptive|list, design.per_text (10),"
    " design.g (8), design.file, of adaptive design.until=[r:0.9,se:0.3,apart:0.8,usd:5],"
    " design.probe (0.3) and design.batch (50), order=one|both, runs (1),"
    " criteria=none|definition|criteria, examples=0|3, ties (true), reasons (false), topic (false),"
    " unit=statement|speech|participant, within=session|topic, temperature (0.7), max_tokens (400),"
    " wording (compare), and those of models and limits. Several studies: delibsim compare ask A B"
    " --name ab dimension=logical."
)


def ask(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    only: EstimateOnly = False,
    keep_equal: Annotated[bool, typer.Option("--keep-equal", help=EQUAL)] = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Have texts judged two at a time: which of them is the stronger on a dimension. The texts of
    several studies meet within their topics, and are kept in a study of their own.

    The same command again asks only for what is not there yet; more comparisons a text, runs,
    dimensions or judges are added. With design=adaptive pairs are chosen batch by batch until a
    rule ends it. Exit code 0; 3 if votes are missing, 4 if there is none.
    """
    runs, sources, settings = studies_of(study, overrides or [], root)
    planned = plan_comparison(runs, settings, keep_equal, sources=sources)
    screen = console(stderr=True)
    print_each([f"note: {line}" for line in planned.notes], screen)
    print_each([f"warning: {line}" for line in kin_of(planned)], screen)
    if only:
        _print_estimate(planned, as_json)
        return
    outcome = asyncio.run(carry_out(planned, partial(screen.print, soft_wrap=True)))
    planned = with_batches(planned)
    if outcome.new:
        rescore_pairs(gathered_and_own(runs))
    if as_json:
        echo_json(comparison_plain(planned, outcome))
    else:
        _print(planned, outcome)
        print_each([f"missing: {fault}" for fault in outcome.faults], screen)
        print_each([f"missing: {fault}" for fault in planned.faults], screen)
    complete = outcome.whole and not planned.faults
    raise typer.Exit(exit_code(bool(outcome.usable), complete))


def studies_of(
    study: str, words: Sequence[str], root: Path
) -> tuple[Runs, tuple[Runs, ...], list[str]]:
    """The study of a comparison, the studies that its texts are gathered from where there are
    several, and the settings: words without = are further studies.
    """
    settings = [word for word in words if "=" in word]
    further = [word for word in words if "=" not in word]
    if not further:
        return study_at(study, root), (), settings
    sources = tuple(study_at(name, root) for name in (study, *further))
    _, given = settings_among(settings, ("name",))
    if not given.get("name"):
        raise WrongInput("the texts of several studies are kept under a name of theirs: name=NAME")
    return study_of_several(root, task_name("name", given["name"]), sources), sources, settings


def _print(planned: ComparisonPlan, outcome: Outcome) -> None:
    """Print what came of a comparison: votes by judge, and what must be known of them."""
    screen, votes = console(), votes_of(planned)
    print_each(comparison_told(planned, outcome), screen)
    heads = ["planned", "answered", "A", "B", "tie", "missing"]
    rows = []
    for row in judge_rows(planned, votes):
        judge, dimension, *counts = row.values()
        rows.append([str(judge), str(dimension), *(f"{n:,}" for n in counts)])
    print_table("Votes", [*texts("judge", "dimension"), *numbers(heads)], rows, screen)
    if planned.chains:
        _print_stops(planned, screen)
    print_each([f"note: {line}" for line in notes_of(planned, votes)], screen)


def _print_stops(planned: ComparisonPlan, screen: Console) -> None:
    """Print what ended the batches of every dimension, and what was known then."""
    heads = ["batches", "pairs", "a text", "se", "r", "r of probes", "apart"]
    rows = []
    for row in stop_rows(planned):
        known = [row[name] for name in ("se", "r", "r_probe", "apart")]
        cells = [f"{row['batches']:,}", f"{row['pairs']:,}", f"{row['per_text']:.1f}"]
        cells += ["-" if value is None else f"{value:.3f}" for value in known]
        rows.append([row["dimension"], row["stopped"] or "-", *cells])
    print_table("Adaptive choice", [*texts("dimension", "ended by"), *numbers(heads)], rows, screen)


def _print_estimate(planned: ComparisonPlan, as_json: bool) -> None:
    """Say what the votes that are still to be asked for will take."""
    found = estimate_comparison(planned)
    planned = filled(planned)
    study, sheets = planned.runs.study, len(planned.sheets)
    if as_json:
        estimate: dict[str, Any] = plain(planned.plan, found)
        counts = estimate.pop("sessions")
        votes = {name: counts[name] for name in ("planned", "held", "waiting")}
        size = {"texts": len(planned.material.shown), "pairs": pairs_in(planned)}
        size |= {"at_most": bool(planned.chains)}
        echo_json(estimate | {"study": study, "votes": votes, "sheets": sheets} | size)
        return
    screen = console()
    votes = ("at most " if planned.chains else "") + counted(found.planned, "vote")
    pairs = f"{counted(pairs_in(planned), 'pair')} on {counted(sheets, 'sheet')}"
    counts = f"{votes}, {found.held:,} there already, {found.waiting:,} to be asked for"
    screen.print(f"{study_named(study)}: {pairs}; {counts}")
    print_lines(planned.plan, found, screen, "votes")
