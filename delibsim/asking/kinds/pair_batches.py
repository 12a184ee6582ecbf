"""Having pairs judged that are chosen by what is known, batch by batch, until a rule ends it.

Every batch is kept before anybody is asked about it, so that a comparison that was cut off goes on
with the same sheets, and nothing is paid twice.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.asking.designs import Chain, next_step, rechosen
from delibsim.asking.nouns import Plan
from delibsim.asking.record import spent_on
from delibsim.domain.comparison import Batch, Sheet, Stop, Vote
from delibsim.models.clients.settings import price_in
from delibsim.models.retry import worst_case

Key = tuple[Any, ...]


def batches_of(steps: Iterable[Batch | Stop]) -> dict[str, list[Batch]]:
    """The batches of every dimension of an adaptive comparison, in order."""
    found: dict[str, list[Batch]] = {}
    for step in steps:
        if isinstance(step, Batch):
            found.setdefault(step.dimension, []).append(step)
    return found


def sheets_in(batches: Iterable[Batch]) -> tuple[Sheet, ...]:
    """The sheets of batches, in order."""
    return tuple(sheet for batch in batches for sheet in batch.sheets)


def stops_of(steps: Iterable[Batch | Stop]) -> dict[str, Stop]:
    """What ended the batches of every dimension; none where it has gone on since."""
    found: dict[str, Stop] = {}
    for step in steps:
        if isinstance(step, Stop):
            found[step.dimension] = step
        else:
            found.pop(step.dimension, None)
    return found


def part_of(plan: Plan, dimension: str, batches: Sequence[Batch]) -> Plan:
    """The plan of some batches of one dimension."""
    only = tuple(one for one in plan.about.dimensions if one.id == dimension)
    about = replace(plan.about, dimensions=only).with_sheets({dimension: sheets_in(batches)})
    return replace(plan, about=about)


def votes_at_most(plan: Plan) -> int:
    """How many votes an adaptive comparison has at most."""
    orders = 2 if plan.settings.order == "both" else 1
    each = len(plan.models) * plan.settings.runs * orders
    return each * sum(chain.most for chain in plan.about.chains)


def worst_of(plan: Plan) -> float:
    """The most US dollars that asking every judge once about every sheet can cost; what is unknown
    is left out, since a budget refuses it.
    """
    total = 0.0
    for judge, settings in plan.models.items():
        price, most = price_in(settings), settings.get("max_tokens")
        keys = set(plan.kind.keys(plan, judge))
        for one in plan.kind.rounds(plan, judge, keys, {}, []):
            for question in one.questions:
                total += worst_case(question.prompt().messages, price, most).cost_usd or 0.0
    return total


@dataclass(eq=False)
class Course:
    """One command: the plan, the votes that there are, and the batches of every dimension."""

    plan: Plan
    done: Mapping[Key, Vote]
    batches: dict[str, list[Batch]] = field(default_factory=dict)
    ended: dict[str, Stop] = field(default_factory=dict)
    held: dict[str, float] = field(default_factory=dict)  # US dollars of batches in flight, at most
    given_up: dict[str, str] = field(default_factory=dict)  # why, by judge

    @classmethod
    def of(cls, plan: Plan, done: Mapping[Key, Vote]) -> "Course":
        """As far as the batches that are kept went."""
        steps = plan.answers.steps()
        return cls(plan, done, batches_of(steps), stops_of(steps))

    def next(self, chain: Chain) -> Batch | Stop:
        """The next batch of a dimension, or why there is none."""
        batches = self.batches.setdefault(chain.dimension, [])
        own = []
        for vote in self.done.values():
            if vote.dimension == chain.dimension and vote.judge in self.plan.task["models"]:
                own.append(vote)
        step = next_step(chain, batches, own)
        limit = chain.until.get("usd")
        if limit is None or isinstance(step, Stop):
            return step
        worst = worst_of(part_of(self.plan, chain.dimension, [step]))
        others = sum(usd for name, usd in self.held.items() if name != chain.dimension)
        if spent_on(self.plan.answers.files) + others + worst > limit:
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
        self.plan.answers.add_step(step)

    def missing(self, dimension: str, judge: str) -> set[Key]:
        """The votes of a judge that the batches of a dimension still lack."""
        part = part_of(self.plan, dimension, self.batches.get(dimension, []))
        return {key for key in part.kind.keys(part, judge) if key not in self.done}

    def whole(self) -> list[Chain]:
        """The chains whose batches lack no vote of these judges."""
        found = []
        for chain in self.plan.about.chains:
            if not any(self.missing(chain.dimension, judge) for judge in self.plan.models):
                found.append(chain)
        return found


def follows(plan: Plan, done: Mapping[Key, Vote]) -> bool:
    """Whether a batch lacks votes, or another follows."""
    course = Course.of(plan, done)
    whole = course.whole()
    waits = len(whole) < len(plan.about.chains)
    return waits or any(isinstance(course.next(chain), Batch) for chain in whole)


def keep_ends(plan: Plan, done: Mapping[Key, Vote]) -> None:
    """Keep which rules have ended the dimensions."""
    course = Course.of(plan, done)
    for chain in course.whole():
        course.keep(course.next(chain))


async def ask_batches(asking: Any) -> list[str]:
    """Have batch after batch judged until a rule ends each dimension; why some could not be.

    A dimension goes no further where a judge was given up or gave no vote at all on a batch; the
    same command goes on from there.
    """
    plan = asking.plan
    course = Course.of(plan, asking.done)
    asking.progress.expect(max(votes_at_most(plan) - len(asking.done), 1))
    plan.answers.forget_steps()
    await asyncio.gather(*(_chain(course, asking, chain) for chain in plan.about.chains))
    faults = []
    for judge in plan.models:
        missed = sum(len(course.missing(id, judge)) for id in course.batches)
        faults += asking.told(judge, course.given_up.get(judge, ""), missed)
    return faults


async def _chain(course: Course, asking: Any, chain: Chain) -> None:
    """Have one dimension judged until a rule ends it, or a judge fails."""
    while True:
        judges = course.plan.models
        went = await asyncio.gather(*(_ask(course, asking, chain, judge) for judge in judges))
        course.held.pop(chain.dimension, None)
        if not all(went):
            return
        step = course.next(chain)
        course.keep(step)
        if isinstance(step, Stop):
            return


async def _ask(course: Course, asking: Any, chain: Chain, judge: str) -> bool:
    """Ask a judge for what the batches lack; whether it was not given up and gave anything."""
    keys = course.missing(chain.dimension, judge)
    if not keys:
        return True
    part = part_of(course.plan, chain.dimension, course.batches[chain.dimension])
    asking.wanted |= dict.fromkeys(keys, judge)
    given_up = await asking.ask(judge, part.kind.rounds(part, judge, keys, course.done, []))
    if given_up:
        course.given_up[judge] = given_up
    return not given_up and any(key in course.done for key in keys)


def other_batches(plan: Plan, votes: Sequence[Vote]) -> list[str]:
    """The batches that do not follow from the votes before them, which are given in the order in
    which they came.
    """
    batches, found = batches_of(plan.answers.steps()), []
    for chain in plan.about.chains:
        own = [vote for vote in votes if vote.dimension == chain.dimension]
        for kept, again in rechosen(chain, batches.get(chain.dimension, []), own):
            if kept != again:
                told = f"{chain.dimension}, batch {kept.number}"
                found.append(f"{told}: other pairs follow from the votes")
    return found
