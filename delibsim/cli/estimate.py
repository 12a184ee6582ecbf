"""What a plan takes, as commands print it before anything is asked; and the question whether to go
on.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.cli.table import show
from delibsim.cli.terminal import agreed, console, echo_json, on_terminal
from delibsim.conduct.cost import spent
from delibsim.conduct.forks import Branches
from delibsim.domain.text import counted, study_named
from delibsim.models.ask import apart
from delibsim.models.limits import Limits
from delibsim.models.replay import Exchange
from delibsim.planning.compose import REPEATED, StudyPlan
from delibsim.planning.costing import Assumptions
from delibsim.planning.effects import effects_of
from delibsim.planning.estimate import CostEstimate, estimate
from delibsim.planning.estimate_tables import HEADS, heading, notes, plain, rows
from delibsim.planning.freeze import as_begun, frozen
from delibsim.store.runs import Runs

FREE = ("citizen", "human", "person")
"""The kinds of models that cost nothing; any other may, those of plug-ins too."""
Past = Mapping[str, Sequence[Exchange]] | None
"""What every branch has of the record of its parent."""


def expected(
    planned: StudyPlan, runs: Runs, assumptions: Assumptions | None = None, past: Past = None
) -> CostEstimate:
    """What it takes to hold the sessions of a plan that have no run yet; nobody is asked."""
    limits, addresses = planned.limits, planned.addresses
    return asyncio.run(estimate(planned.sessions, runs, limits, addresses, assumptions, past))


def ask_first(planned: StudyPlan, runs: Runs, yes: bool, past: Past = None) -> None:
    """On a terminal, ask whether sessions are to be held that may cost more than 5 USD; exit code 3
    where the answer is no.
    """
    if yes or not on_terminal():
        return
    voices = [one for session in planned.sessions for one in session.voices.values()]
    if any(one.get("kind") not in FREE for one in voices):
        agreed(expected(planned, runs, past=past).usd.high, yes)


def show_estimate(
    planned: StudyPlan,
    as_json: bool,
    assumptions: Assumptions | None = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """Print what holding the sessions of a plan takes that have no run yet. Nobody is called, and
    nothing is written.
    """
    runs = Runs(planned.root, planned.study)
    planned = as_begun(planned, runs)
    runs.compare(frozen(planned), planned.sessions)
    for session in planned.sessions:
        runs.compare_plan(session)
    show_waiting(planned, runs, as_json, assumptions, rendered)


def show_waiting(
    planned: StudyPlan,
    runs: Runs,
    as_json: bool,
    assumptions: Assumptions | None = None,
    rendered: dict[str, Any] | None = None,
) -> None:
    """The same of sessions whose plans lie in the study."""
    found = expected(planned, runs, assumptions)
    effects = effects_of(planned.sessions)
    repeated = {"combinations_without_a_session_of_their_own": planned.repeated}
    values = {**plain(found, planned.study), **repeated, **effects.plain(), "rendered": rendered}
    before = [heading(planned.study, found)]
    voices = {name: own for one in planned.sessions for name, own in one.models.items()}
    before += [f"warning: {issue.text}" for issue in apart(voices.values())]
    before += [REPEATED.format(planned.repeated)] if planned.repeated else []
    show_found(found, planned.limits, values, as_json, [*before, *effects.lines()], runs=runs)


def show_estimate_of_branches(branches: Branches, as_json: bool) -> None:
    """Print what branches will take that have no run yet."""
    planned = branches.plan
    found = expected(planned, branches.runs, past=branches.past)
    counts = f"{found.held} held already, {found.waiting} to be held"
    number = counted(found.planned, "branch", "branches")
    before = [f"{study_named(planned.study)}: {number}, {counts}"]
    values = plain(found, planned.study)
    show_found(found, planned.limits, values, as_json, before, "branches", branches.runs)


def show_found(
    found: CostEstimate,
    limits: Limits,
    values: Mapping[str, Any],
    as_json: bool,
    before: Iterable[str],
    unit: str = "sessions",
    runs: Runs | None = None,
    after: Iterable[str] = (),
) -> None:
    """Give an estimate as JSON, by its plain values, or print what each model is asked in such
    units, what that costs, and what the numbers rest on, with sentences before and after it; of a
    budget what the calls of the study `runs` have cost is spent.
    """
    if as_json:
        echo_json(values)
        return
    limited = limits.budget_usd is not None or limits.budget_tokens is not None
    paid = spent(runs) if runs is not None and limited else (0.0, 0)
    parts: list[str | DisplayTable] = ["Nothing is left to be asked: 0 calls, 0 tokens, 0 USD"]
    if found.waiting:
        table = DisplayTable([*texts("model"), *numbers([unit, *HEADS])], list(rows(found)))
        parts = [table, *notes(found, limits, paid)]
    show([*before, *parts, *after], console())
