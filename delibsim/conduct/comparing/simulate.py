"""What designs of pairs need before scores are as good as is asked, and what that costs."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from delibsim.annotation.adaptive import OUTCOME
from delibsim.conduct.asking.texts import IMPORTED, checked_wording
from delibsim.conduct.comparing.estimate import around, reply_of
from delibsim.conduct.comparing.texts import kept_texts
from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted as in_words
from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.penalty import Normal
from delibsim.measures.bradley_terry.prior import with_prior
from delibsim.measures.bradley_terry.reaching import Reached, reached
from delibsim.measures.bradley_terry.worlds import World, world_with
from delibsim.planning.comparing import ComparingAsked
from delibsim.planning.estimate import Estimate, estimate_loads
from delibsim.planning.load import Load
from delibsim.planning.pair_plan import PairPlanAsked
from delibsim.planning.tokens import Range, tokens_of, total
from delibsim.prompts.blocks import quoted
from delibsim.prompts.compare import Manner, check_judge_texts
from delibsim.store.comparisons import Comparisons, comparison_begun
from delibsim.store.instruments.library import Library
from delibsim.store.runs import Runs

ASSUMED = {"texts": 100, "spread": 2.0, "ties": 0.15, "place": 0.4}
"""What is taken where neither settings nor a pilot say it."""
FEW = 10
"""Votes a text of a pilot below which its spread may come out too small."""
WORD = "words "
REPEATED = (
    "three_runs takes the votes of runs as draws of their own; a model that repeats itself gains"
    " less"
)


@dataclass(frozen=True)
class Pilot:
    """What the votes of a comparison say of texts and judges; `texts` is the mean of a group."""

    told: str
    votes: int
    compared: int
    texts: int
    groups: int
    world: World
    shown: tuple[Text, ...]


@dataclass(frozen=True)
class PairPlan:
    """What every design needs: `rows` as they are printed, of worlds of one group each."""

    asked: PairPlanAsked
    world: World
    groups: int
    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether every design reaches what is asked."""
        return all(row["comparisons"] is not None for row in self.rows)

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        question = self.asked.question
        own: dict[str, Any] = {
            "reach": {question.measure: question.target},
            "repeats": question.repeats,
        }
        own |= {"penalty": self.asked.penalty, "seed": question.seed, "groups": self.groups}
        own |= asdict(self.world) | {"ties": self.world.ties}
        return own | {"designs": list(self.rows), "notes": list(self.notes)}


def pair_plan(
    asked: PairPlanAsked, pilot: Pilot | None, progress: Callable[[str], None] = lambda design: None
) -> PairPlan:
    """What every design needs in the world of a pilot or of the settings; settings come first.

    `progress` is called with each design before it is simulated.
    """
    world = _world(asked, pilot)
    groups = asked.groups or (pilot.groups if pilot else 1)
    rows = []
    for design in asked.designs:
        progress(design)
        rows.append(_row(asked, reached(world, design, asked.question), world.texts, groups, pilot))
    return PairPlan(asked, world, groups, tuple(rows), tuple(_notes(asked, pilot)))


def pilot_of(runs: Runs, asked: PairPlanAsked) -> Pilot:
    """What a comparison of a study says; WrongInput where it has no vote, or several dimensions of
    which none is named.
    """
    comparisons = comparison_begun(runs, asked.name)
    votes = [vote for vote in comparisons.votes() if vote.outcome]
    dimensions = list(dict.fromkeys(vote.dimension for vote in votes))
    where = f"study {runs.study}, comparison {comparisons.name}"
    if asked.dimension and asked.dimension not in dimensions:
        raise WrongInput(f"{where} has no vote on {asked.dimension}; it has: {dimensions}")
    if not dimensions:
        raise WrongInput(f"{where} has no vote yet, so nothing can be learned from it")
    if len(dimensions) > 1 and not asked.dimension:
        raise WrongInput(f"{where} has several dimensions; name one: dimension={dimensions[0]}")
    dimension = asked.dimension or dimensions[0]
    return _pilot(runs, comparisons, [vote for vote in votes if vote.dimension == dimension], where)


def _pilot(runs: Runs, comparisons: Comparisons, votes: list[Vote], where: str) -> Pilot:
    """What the votes on one dimension say."""
    groups: dict[str, set[str]] = {}
    for vote in votes:
        groups.setdefault(vote.sheet.group, set()).update((vote.sheet.a, vote.sheet.b))
    ids = sorted(set().union(*groups.values()))
    number = {id: place for place, id in enumerate(ids)}
    first = [number[vote.sheet.a] for vote in votes]
    second = [number[vote.sheet.b] for vote in votes]
    outcome = [OUTCOME[str(vote.outcome)] for vote in votes]
    found = with_prior(counted(len(ids), first, second, outcome), Model(order=True)).fit
    penalty = found.model.penalty
    spread = penalty.tau if isinstance(penalty, Normal) else math.nan
    size = max(round(len(ids) / len(groups)), 3)
    world = World(size, spread, float(found.theta[0]), float(found.delta[0]))
    several = in_words(len(groups), "group")
    told = f"{where}, {votes[0].dimension}: {in_words(len(votes), 'vote')} on {len(ids)} texts in"
    return Pilot(
        told=f"{told} {several}",
        votes=len(votes),
        compared=len(ids),
        texts=size,
        groups=len(groups),
        world=world,
        shown=_texts(runs, comparisons, set(ids)),
    )


def _texts(runs: Runs, comparisons: Comparisons, ids: set[str]) -> tuple[Text, ...]:
    """The texts of a pilot; none where the study holds judgments alone."""
    task = comparisons.files.task()
    try:
        texts = kept_texts(runs, {"unit": IMPORTED, **task})
    except WrongInput:
        return ()
    return tuple(text for text in texts if text.id in ids)


def _world(asked: PairPlanAsked, pilot: Pilot | None) -> World:
    """The world of the settings, and else of the pilot or of what is assumed."""
    given = asked.given
    if pilot is None:
        own = {**ASSUMED, **given}
        return world_with(
            asked.texts or int(own["texts"]), own["spread"], own["ties"], own["place"]
        )
    place = given.get("place", pilot.world.delta)
    if np.isnan(place):
        raise WrongInput(
            "place bias cannot be told from the pilot, whose pairs all came in the order of a"
            " sorted list; say what it is: --place 0.4"
        )
    texts, spread = asked.texts or pilot.texts, given.get("spread", pilot.world.spread)
    if "ties" in given:
        return world_with(texts, spread, given["ties"], place)
    return World(texts, spread, pilot.world.theta, place)


def _row(
    asked: PairPlanAsked, found: Reached, texts: int, groups: int, pilot: Pilot | None
) -> dict[str, Any]:
    """A design as plain values: what it needs, or what it reaches at most."""
    each = texts * groups / 2
    row: dict[str, Any] = {"design": found.design}
    row |= {"comparisons": _known(found.comparisons), "error": _known(found.error)}
    row |= {"calls": _known(found.comparisons * each), "calls_error": _known(found.error * each)}
    row |= {"most": found.most, "reached": found.value, "reached_error": found.value_error}
    if asked.judge is not None:
        usd = None
        if row["calls"] is not None:
            price = _price(asked.judge, round(row["calls"]), _tokens(asked, pilot))
            usd = None if price.unpriced else price.usd
        row |= {"usd_low": usd and usd.low, "usd_high": usd and usd.high}
    return row


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _tokens(asked: PairPlanAsked, pilot: Pilot | None) -> Range:
    """Tokens of a text, quoted: the mean of those of the pilot, or of as many words as are said."""
    if pilot is not None and pilot.shown:
        found = total(tokens_of(quoted(text.text)) for text in pilot.shown)
        return Range(found.low / len(pilot.shown), found.high / len(pilot.shown))
    return tokens_of(quoted((WORD * asked.words).strip()))


def _price(asked: ComparingAsked, calls: int, text: Range) -> Estimate:
    """What so many calls to the judge cost."""
    settings = asked.settings
    manner = Manner(settings.criteria, settings.ties, settings.reasons)
    wording = checked_wording(settings.wording, check_judge_texts)
    dimension = Library().dimension(settings.dimensions[0])
    alike, frame = around(dimension, manner, wording)
    whole, reply = alike + frame + text.times(2), reply_of(manner)
    load = Load(calls, calls, whole.times(calls), alike.times(calls - 1), reply.times(calls), 1)
    judges, plan = asked.judges.models, asked.judges.plan
    return estimate_loads(dict.fromkeys(judges, load), judges, plan.limits, plan.addresses)


def _notes(asked: PairPlanAsked, pilot: Pilot | None) -> list[str]:
    """What must be known of the numbers."""
    notes = []
    if pilot is not None and 2 * pilot.votes < FEW * pilot.compared:
        notes.append(
            f"the pilot has fewer than {FEW} votes a text: its spread may come out too small,"
            " and then more comparisons are planned than are needed"
        )
    if "three_runs" in asked.designs:
        notes.append(REPEATED)
    return notes
