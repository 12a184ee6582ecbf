"""`delibsim compare ask`: have the texts of a study judged in pairs by language models."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from delibsim.analysis.table import numbers, texts
from delibsim.asking.kinds.pair_outcome import (
    comparison_plain,
    comparison_told,
    judge_rows,
    notes_of,
    stop_rows,
    votes_of,
)
from delibsim.asking.kinds.pair_plan import plan_pairs
from delibsim.asking.kinds.pair_texts import study_of_several
from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.settings import task_name
from delibsim.cli.asking import View, carry_out
from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import print_table
from delibsim.cli.terminal import print_each, study_at
from delibsim.cli.words import settings_among
from delibsim.conduct.texts import rescore_pairs
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, study_named
from delibsim.planning.estimate import Estimate
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
    carry_out(plan_pairs(runs, settings, keep_equal, sources=sources), VIEW, only, as_json)


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


def _show(planned: Plan, outcome: Outcome, screen: Console) -> None:
    """Print what came of a comparison: votes by judge, and what must be known of them."""
    votes = votes_of(planned)
    print_each(comparison_told(planned, outcome), screen)
    heads = ["planned", "answered", "A", "B", "tie", "missing"]
    rows = []
    for row in judge_rows(planned, votes):
        judge, dimension, *counts = row.values()
        rows.append([str(judge), str(dimension), *(f"{n:,}" for n in counts)])
    print_table("Votes", [*texts("judge", "dimension"), *numbers(heads)], rows, screen)
    if planned.about.chains:
        _show_stops(planned, screen)
    print_each([f"note: {line}" for line in notes_of(planned, votes)], screen)


def _show_stops(planned: Plan, screen: Console) -> None:
    """Print what ended the batches of every dimension, and what was known then."""
    heads = ["batches", "pairs", "a text", "se", "r", "r of probes", "apart"]
    rows = []
    for row in stop_rows(planned):
        known = [row[name] for name in ("se", "r", "r_probe", "apart")]
        cells = [f"{row['batches']:,}", f"{row['pairs']:,}", f"{row['per_text']:.1f}"]
        cells += ["-" if value is None else f"{value:.3f}" for value in known]
        rows.append([row["dimension"], row["stopped"] or "-", *cells])
    print_table("Adaptive choice", [*texts("dimension", "ended by"), *numbers(heads)], rows, screen)


def _before(planned: Plan, found: Estimate) -> list[str]:
    """How many votes there are, on how many pairs."""
    votes = ("at most " if planned.about.chains else "") + counted(found.planned, "vote")
    about = planned.about
    pairs = f"{counted(about.pairs, 'pair')} on {counted(len(about.sheets), 'sheet')}"
    counts = f"{votes}, {found.held:,} there already, {found.waiting:,} to be asked for"
    return [f"{study_named(planned.runs.study)}: {pairs}; {counts}"]


def _values(planned: Plan, found: Estimate) -> dict[str, Any]:
    """What an estimate says of sheets, texts and pairs."""
    about = planned.about
    size = {"sheets": len(about.sheets), "texts": len(about.shown), "pairs": about.pairs}
    return size | {"at_most": bool(about.chains)}


def _rescore(planned: Plan, outcome: Outcome) -> None:
    """Write the scores of pairs anew where there are new votes."""
    if outcome.new:
        rescore_pairs(gathered_and_own(planned.runs))


VIEW = View("votes", _before, _values, comparison_plain, _show, rescore=_rescore)
