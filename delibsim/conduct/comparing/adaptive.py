"""Having pairs judged that are chosen by what is known, batch by batch, until a rule ends it.

Every batch is kept before anybody is asked about it, so that a comparison that was cut off goes on
with the same sheets, and nothing is paid twice.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from delibsim.annotation.adaptive import Chain, next_step
from delibsim.conduct.asking.ask import Asking, Outcome, asking_of, outcome_of
from delibsim.conduct.comparing.ask import (
    asked_of,
    keep_vote,
    longest_prompt_of,
    questions,
)
from delibsim.conduct.comparing.batches import batches_of, sheets_in, stops_of
from delibsim.conduct.comparing.plan import ComparisonPlan, Key, of_sheets, with_batches
from delibsim.conduct.cost import spent, spent_on
from delibsim.conduct.preflight import Notify
from delibsim.domain.adaptive import Batch, Stop
from delibsim.domain.comparison import Vote
from delibsim.models.base import LanguageModel
from delibsim.models.clients.prices import price_in
from delibsim.models.retry import worst_case
from delibsim.planning.compose import Plan


@dataclass(eq=False)
class _Course:
    """One command: the plan, the votes that there are, and the batches of every dimension."""

    planned: ComparisonPlan
    done: dict[Key, Vote]
    batches: dict[str, list[Batch]]
    ended: dict[str, Stop] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)  # US dollars of batches in flight, at most
    given_up: dict[str, str] = field(default_factory=dict)  # why, by judge

    def next(self, chain: Chain) -> Batch | Stop:
        """The next batch of a dimension, or why there is none."""
        batches = self.batches.setdefault(chain.dimension, [])
        own = []
        for vote in self.done.values():
            if vote.dimension == chain.dimension and vote.judge in self.planned.task["models"]:
                own.append(vote)
        step = next_step(chain, batches, own)
        limit = chain.until.get("usd")
        if limit is None or isinstance(step, Stop):
            return step
        worst = worst_of(part_of(self.planned, chain.dimension, [step]))
        others = sum(usd for name, usd in self.held.items() if name != chain.dimension)
        if spent_on(self.planned.comparisons.files) + others + worst > limit:
            return Stop(chain.dimension, len(batches), len(own), "usd", limit)
        self.held[chain.dimension] = worst
        return step

    def keep(self, step: Batch | Stop) -> None:
        """Keep a batch, or what ended them where that is news."""
        if isinstance(step, Batch):
            self.batches[step.dimension].append(step)
        elif self.ended.get(step.dimension) == step:
            return
        else:
            self.ended[step.dimension] = step
        self.planned.comparisons.add_step(step)

    def missing(self, dimension: str, judge: str) -> set[Key]:
        """The votes of a judge that the batches of a dimension still lack."""
        part = part_of(self.planned, dimension, self.batches.get(dimension, []))
        return {key for key in part.keys_of(judge) if key not in self.done}


async def ask_adaptively(
    planned: ComparisonPlan,
    notify: Notify = lambda line: None,
    models: Mapping[str, LanguageModel] | None = None,
) -> Outcome:
    """Have batch after batch judged until a rule ends each dimension; arguments, and WrongInput
    before anything is asked or paid, as those of `ask_comparison`.

    A dimension goes no further where a judge was given up or gave no vote at all on a batch; the
    same command goes on from there.
    """
    steps = planned.comparisons.steps()
    course = _Course(
        planned=planned,
        done={vote.key: vote for vote in planned.comparisons.votes()},
        batches=batches_of(steps),
        ended=stops_of(steps),
    )
    first = {chain.dimension: course.next(chain) for chain in _whole(course)}
    faults: list[str] = []
    asking = None
    async with AsyncExitStack() as stack:
        waits = len(first) < len(planned.chains)
        if waits or any(isinstance(step, Batch) for step in first.values()):
            asked = replace(asked_of(planned), plan=_within(planned))
            longest = partial(longest_prompt_of, planned)
            total = votes_at_most(planned) - len(course.done)
            opened = asking_of(asked, max(total, 1), longest, notify, models)
            asking = await stack.enter_async_context(opened)
            planned.comparisons.forget_steps()
            await asyncio.gather(*(_chain(course, asking, chain) for chain in planned.chains))
            for judge in planned.models:
                missed = sum(len(course.missing(id, judge)) for id in course.batches)
                faults += asking.told(judge, course.given_up.get(judge, ""), missed)
        else:
            stack.enter_context(planned.runs.lock())
            planned.comparisons.files.settle(planned.task)
            for step in first.values():
                course.keep(step)
    now = with_batches(planned)
    wanted = {key for judge in planned.models for key in now.keys_of(judge)}
    return outcome_of(course.done.values(), wanted, asking, faults)


def part_of(planned: ComparisonPlan, dimension: str, batches: Sequence[Batch]) -> ComparisonPlan:
    """The plan of some batches of one dimension."""
    sheets = sheets_in(batches)
    only = tuple(one for one in planned.dimensions if one.id == dimension)
    return of_sheets(replace(planned, dimensions=only), {dimension: sheets})


def votes_at_most(planned: ComparisonPlan) -> int:
    """How many votes an adaptive comparison has at most."""
    orders = 2 if planned.settings.order == "both" else 1
    each = len(planned.models) * planned.settings.runs * orders
    return each * sum(chain.most for chain in planned.chains)


def worst_of(planned: ComparisonPlan) -> float:
    """The most US dollars that asking every judge once about every sheet can cost; what is unknown
    is left out, since a budget refuses it.
    """
    total = 0.0
    for judge, settings in planned.models.items():
        price, most = price_in(settings), settings.get("max_tokens")
        keys = set(planned.keys_of(judge))
        for task, unit in questions(planned, judge, keys):
            total += worst_case(task.prompt(unit).messages, price, most).cost_usd or 0.0
    return total


def _whole(course: _Course) -> list[Chain]:
    """The chains whose batches lack no vote of these judges."""
    judges = list(course.planned.models)
    found = []
    for chain in course.planned.chains:
        if not any(course.missing(chain.dimension, judge) for judge in judges):
            found.append(chain)
    return found


def _within(planned: ComparisonPlan) -> Plan:
    """The plan of the command, with a budget that holds the rule `usd` whatever a call costs."""
    most = planned.settings.until.get("usd")
    if most is None:
        return planned.plan
    limits, runs = planned.plan.limits, planned.runs
    left = most - spent_on(planned.comparisons.files)
    own = spent(runs)[0] + max(left, 0.0)
    usd = own if limits.budget_usd is None else min(limits.budget_usd, own)
    return replace(planned.plan, limits=replace(limits, budget_usd=usd))


async def _chain(course: _Course, asking: Asking, chain: Chain) -> None:
    """Have one dimension judged until a rule ends it, or a judge fails."""
    judges = list(course.planned.models)
    while True:
        went = await asyncio.gather(
            *(_ask(course, asking, chain.dimension, judge) for judge in judges)
        )
        course.held.pop(chain.dimension, None)
        if not all(went):
            return
        step = course.next(chain)
        course.keep(step)
        if isinstance(step, Stop):
            return


async def _ask(course: _Course, asking: Asking, dimension: str, judge: str) -> bool:
    """Ask a judge for what the batches lack; whether it was not given up and gave anything."""
    keys = course.missing(dimension, judge)
    if not keys:
        return True
    part = part_of(course.planned, dimension, course.batches[dimension])
    keep = partial(keep_vote, part, asking, course.done)
    given_up = await asking.ask(judge, questions(part, judge, keys), keep)
    if given_up:
        course.given_up[judge] = given_up
    return not given_up and any(key in course.done for key in keys)
