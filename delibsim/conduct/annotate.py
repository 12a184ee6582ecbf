"""Having the debates of a study rated by a panel of language models."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from delibsim.analysis.debates.rated import debates_of, edited
from delibsim.asking.kinds.rating import motion_of, rate
from delibsim.asking.record import Record
from delibsim.conduct.cost import budget_of
from delibsim.conduct.panel import Balance, allocated, as_begun, panel_of, raters_before
from delibsim.conduct.study import Notify, closed_on_failure, proven_pool
from delibsim.domain.allocation import Allocation
from delibsim.domain.annotation import Coder, Panel
from delibsim.domain.errors import WrongInput
from delibsim.domain.participant import Side
from delibsim.domain.rating import debated
from delibsim.domain.run import Run, Session
from delibsim.domain.text import counted
from delibsim.models.ask import Interrupted
from delibsim.models.planned import PlannedCalls
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Diverged
from delibsim.planning.compose import Plan, plan
from delibsim.planning.dry_run import Asked, DryRunModel
from delibsim.planning.estimate import Estimate, estimate_ratings
from delibsim.prompts.rating import check_rater_texts, longest_rating_prompt
from delibsim.prompts.session import statement_words
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class RatingOutcome:
    """What came of rating: how many ratings are new, how many were there before, why others could
    not be asked for, and how many calls were made.
    """

    new: int
    before: int
    faults: tuple[str, ...]
    asked: int


@dataclass(frozen=True)
class RatingPlan:
    """Who is to rate which debates of a study, with the limits of the command.

    `faults` names runs that cannot be read; `allocation` says which debates each rater rates,
    `each` of them, None where all rate all.
    """

    runs: Runs
    panel: Panel
    debates: tuple[Run, ...]
    faults: tuple[str, ...]
    allocation: Allocation | None
    each: int | None
    plan: Plan

    @property
    def balance(self) -> Balance:
        """How the ratings are spread over the debates."""
        return Balance.of(self.panel, self.debates, self.allocation)

    @property
    def incomplete(self) -> int:
        """How many debates broke off, and are not rated."""
        return sum(not debated(run) for run in self.debates)

    def report(self, outcome: RatingOutcome, losses: Sequence[str] = ()) -> dict[str, Any]:
        """What came of asking the raters, as plain values; `losses` names ratings that are lost."""
        return {
            "study": self.runs.study,
            "panel": self.panel.name,
            "debates": len(self.debates) - self.incomplete,
            "incomplete": self.incomplete,
            "new": outcome.new,
            "before": outcome.before,
            "calls": outcome.asked,
            "faults": [*outcome.faults, *self.faults],
            "lost": list(losses),
            **asdict(self.balance),
            "debates_per_rater": self.each,
        }

    def told(self, outcome: RatingOutcome) -> list[str]:
        """How many ratings there are, and what was not to be rated, in sentences."""
        balance, broken = self.balance, self.incomplete
        shares = f"{counted(len(self.panel.coders), 'rater')}{balance.describe(self.each)}"
        count = f"{counted(outcome.new, 'rating')} now, {outcome.before} before"
        lines = [f"{counted(len(self.debates) - broken, 'debate')}, {shares}: {count}"]
        if balance.unallocated:
            nobody = f"allocated to nobody yet: {counted(balance.unallocated, 'debate')}"
            lines.append(f"{nobody}; raters whom a larger group.size adds will rate them")
        if broken:
            lines.append(f"not rated, because they broke off: {broken}")
        return lines

    def missing(self, outcome: RatingOutcome, losses: Sequence[str]) -> list[str]:
        """The ratings that could not be asked for, the runs that cannot be read, and the ratings
        that are lost, in sentences.
        """
        found = [f"missing: {fault}" for fault in (*outcome.faults, *self.faults)]
        return found + [f"lost: {loss}" for loss in losses]


def plan_ratings(
    runs: Runs,
    overrides: Sequence[str],
    name: str = "panel",
    each: int | None = None,
) -> RatingPlan:
    """The panel that these settings describe, before the debates of a study; nobody is asked.

    The settings are those of a group: "group.size=5", "model=NAME". `each` is the number of
    debates that each rater rates, None for all. Raises WrongInput for a study without debates, and
    for a debate that was edited after it was rated.
    """
    planned = plan(overrides)
    panel = as_begun(panel_of(planned.session, name), Ratings.of(runs))
    debates, faults = debates_of(runs)
    changed = edited(debates)
    if changed:
        advice = (
            "Nobody was asked. Put the debate back as it was, or hold it anew in another study."
        )
        raise WrongInput("\n".join([*changed, advice]))
    allocation = allocated(runs, panel, debates, each)
    return RatingPlan(runs, panel, tuple(debates), tuple(faults), allocation, each, planned)


async def estimate_panel(planned: RatingPlan) -> Estimate:
    """What the ratings of a plan will take that are still to be asked for; nobody is asked."""
    calls = await dry_run_ratings(planned.runs, planned.panel, planned.debates, planned.allocation)
    there = planned.balance.planned - len(calls)
    models, addresses = planned.panel.models, planned.plan.addresses
    return estimate_ratings(calls, there, models, planned.plan.limits, addresses)


async def ask_panel(
    planned: RatingPlan,
    notify: Notify = lambda line: None,
    on_debate: Notify = lambda line: None,
) -> RatingOutcome:
    """Have the ratings of a plan given; WrongInput, before anything is asked or paid, where that
    cannot be done.

    `notify` is called with every issue of the preflight, `on_debate` with a line after each debate.
    """
    runs, panel, limits = planned.runs, planned.panel, planned.plan.limits
    check_rater_texts(panel.wording)
    budget = budget_of(limits, runs)
    calls = [_calls(panel, planned.debates[0].session)]
    pool = await proven_pool(calls, limits, planned.plan.addresses, budget, notify)
    async with closed_on_failure(pool):
        Ratings.of(runs).settle_panel(panel, planned.allocation)
    return await rate_all(
        runs, panel, planned.debates, pool, limits.concurrency, on_debate, planned.allocation
    )


async def dry_run_ratings(
    runs: Runs,
    panel: Panel,
    debates: Iterable[Run],
    allocation: Allocation | None = None,
) -> list[list[Asked]]:
    """The calls of every rating that is still to be asked for, with placeholders for the replies;
    nobody is called.
    """
    check_rater_texts(panel.wording)
    ratings = Ratings.of(runs)
    calls = []
    for run in filter(debated, debates):
        done = {rating.rater for rating in ratings.read(run.session.id)}
        for rater, first in raters_before(panel, run, allocation):
            if rater.id not in done:
                asked: list[Asked] = []
                model = DryRunModel(rater.model, 0, asked.append)
                await rate(run, panel, rater, model, first)
                calls.append(asked)
    return calls


async def rate_all(
    runs: Runs,
    panel: Panel,
    debates: Iterable[Run],
    pool: ModelPool,
    at_once: int = 8,
    on_debate: Callable[[str], None] = lambda line: None,
    allocation: Allocation | None = None,
) -> RatingOutcome:
    """Have every complete debate rated by every rater who is to and has not yet.

    What was recorded is not asked again. The connections of the pool are closed at the end.
    """
    check_rater_texts(panel.wording)
    ratings = Ratings.of(runs)
    gate = asyncio.Semaphore(at_once)
    new, there, asked = 0, 0, 0
    faults: list[str] = []

    async def one(run: Run, rater: Coder, first: Side | None, record: Record) -> int:
        population = run.session.seed_for("population")
        model = pool.model(rater.model, panel.models[rater.model], population)
        async with gate:
            try:
                ratings.add(await rate(run, panel, rater, record.before(model), first))
            except (Interrupted, Diverged) as error:
                faults.append(f"{run.session.id}, {rater.id}: {error}")
                return 0
        return 1

    try:
        with runs.lock():
            for run in filter(debated, debates):
                name = run.session.id
                done = {rating.rater for rating in ratings.read(name)}
                wanted = raters_before(panel, run, allocation)
                waiting = [(rater, first) for rater, first in wanted if rater.id not in done]
                there += len(wanted) - len(waiting)
                with closing(Record(ratings.exchanges_file(name), pool.limits.durable)) as record:
                    given = await asyncio.gather(*(one(run, *of, record) for of in waiting))
                new, asked = new + sum(given), asked + record.asked
                on_debate(f"{name}: {len(waiting)} rated now, {len(done)} before")
    finally:
        await pool.close()
    return RatingOutcome(new, there, tuple(faults), asked)


def _calls(panel: Panel, debate: Session) -> PlannedCalls:
    """The calls of a panel as a preflight needs them, with speeches as long as they may be."""
    longest = longest_rating_prompt(panel, motion_of(debate), statement_words(debate)[1])
    return PlannedCalls(debate.id, panel.models, longest)
