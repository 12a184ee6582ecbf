"""How many comparisons a design needs before scores agree with the truth as well as is asked."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.bradley_terry.adaptive import PROBE, next_pairs
from delibsim.measures.bradley_terry.counts import Counts, tabled
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.prior import with_prior
from delibsim.measures.bradley_terry.worlds import World
from delibsim.measures.correlations import agreement_of_scores
from delibsim.measures.pair_designs import (
    all_pairs,
    both_orders,
    groups,
    random_pairs,
    ring,
    shown,
)

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Measure = Literal["r", "rho"]
Name = Literal["random", "groups", "adaptive", "both_orders", "three_runs"]
DESIGNS: tuple[Name, ...] = ("random", "groups", "adaptive", "both_orders", "three_runs")
CALLS = {"both_orders": 2, "three_runs": 3}
"""The calls for one pair, where they are more than one."""
NEAR = 1.25
"""Two numbers of comparisons between which the number that is sought is interpolated."""


@dataclass(frozen=True)
class Question:
    """What is to be reached: the measure of agreement of scores with the truth, its target, how
    often the world is drawn anew, the model by which votes are scored, and the seed.
    """

    measure: Measure = "r"
    target: float = 0.95
    repeats: int = 20
    model: Model = Model(order=True)
    seed: int = 1


@dataclass(frozen=True)
class Reached:
    """How many comparisons a text (2 * calls / n) a design needs, with their Monte Carlo error.

    `comparisons` is NaN where even `most` do not reach the target, and then `value` (with its
    `value_error`) is what those reach. `error` is NaN where the fewest comparisons that the design
    can have reach it.
    """

    design: Name
    comparisons: float
    error: float
    most: float
    value: float
    value_error: float


def reached(world: World, design: Name, question: Question) -> Reached:
    """How many comparisons a text a design needs in a world.

    The agreement is a mean over repeats; the number at which it reaches the target is interpolated
    between two that were tried, and its error is that of a jackknife over repeats.
    """
    if design == "adaptive":
        return _between(design, list(_adaptive_curve(world, question)), question.target)
    levels = _levels(world.texts, design)
    tried: dict[int, Array] = {}

    def value(place: int) -> float:
        if place not in tried:
            tried[place] = _values(world, design, levels[place], question)
        return float(np.nanmean(tried[place]))

    low, high = 0, 0
    while value(high) < question.target and high < len(levels) - 1:
        low, high = high, min(max(2 * high, high + 1), len(levels) - 1)
    if value(high) >= question.target:
        while high - low > 1 and levels[high] > NEAR * levels[low]:
            middle = (low + high) // 2
            low, high = (middle, high) if value(middle) < question.target else (low, middle)
    places = sorted({low, high})
    calls = CALLS.get(design, 1)
    points = []
    for place in places:
        pairs = len(_pairs(world.texts, design, levels[place], 0))
        points.append((2.0 * calls * pairs / world.texts, tried[place]))
    return _between(design, points, question.target)


def _between(design: Name, points: list[tuple[float, Array]], target: float) -> Reached:
    """The crossing between the last two points, each with the values of all repeats."""
    level, values = points[-1]
    mean = float(np.nanmean(values))
    error = float(np.nanstd(values, ddof=1) / math.sqrt(len(values)))
    if mean < target:
        return Reached(design, math.nan, math.nan, level, mean, error)
    if len(points) == 1:
        return Reached(design, level, math.nan, level, mean, error)
    ends = points[-2:]
    crossing = _crossing(ends, target)
    left_out = []
    for repeat in range(len(values)):
        left_out.append(_crossing([(at, np.delete(own, repeat)) for at, own in ends], target))
    spread = np.var(left_out) * (len(values) - 1)
    return Reached(design, crossing, math.sqrt(spread), level, mean, error)


def _crossing(ends: list[tuple[float, Array]], target: float) -> float:
    """Where the mean reaches the target: 1 - r is a power of the comparisons, about."""
    (low, before), (high, after) = ends
    logs = [math.log(max(1 - float(np.nanmean(own)), 1e-9)) for own in (before, after)]
    if logs[0] == logs[1]:
        return high
    share = (logs[0] - math.log(1 - target)) / (logs[0] - logs[1])
    return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))


def _levels(n: int, design: Name) -> list[int]:
    """The numbers a design can have, each of which decides on its pairs: texts in a group, or
    comparisons a text.
    """
    if design == "groups":
        return list(range(2, max(n // 3, 2) + 1))
    return list(range(2, n)) if n > 2 else [1]


def _pairs(n: int, design: Name, level: int, seed: int) -> Places:
    if design == "groups":
        return groups(n, min(level, n), seed)
    if level >= n - 1:
        return all_pairs(n)
    return random_pairs(n, max(math.ceil(n * level / 2), n - 1), seed)


def _values(world: World, design: Name, level: int, question: Question) -> Array:
    """The agreement with the truth in each repeat."""
    found = []
    for seed in _seeds(question):
        pairs = _pairs(world.texts, design, level, seed)
        sheets = both_orders(pairs) if design == "both_orders" else shown(pairs, world.texts, seed)
        runs = CALLS["three_runs"] if design == "three_runs" else 1
        votes = _together([world.judged(sheets, seed, run) for run in range(runs)])
        found.append(_agreement(world, votes, question, seed))
    return np.array(found)


def _adaptive_curve(world: World, question: Question) -> Iterator[tuple[float, Array]]:
    """Comparisons a text and the agreement in each repeat, after every batch until the target."""
    n = world.texts
    size, every = max(n // 2, 1), n * (n - 1) // 2
    sheets = {}
    for seed in _seeds(question):
        first = ring(n, 2, seed) if n > 2 else all_pairs(n)
        sheets[seed] = shown(first, n, seed)
    while True:
        calls, found = 0, []
        for seed, own in sheets.items():
            calls += len(own)
            found.append(_agreement(world, world.judged(own, seed), question, seed))
        yield 2 * calls / (n * len(sheets)), np.array(found)
        full = all(len(own) == every for own in sheets.values())
        if full or np.nanmean(found) >= question.target:
            return
        for seed, own in sheets.items():
            known = with_prior(world.judged(own, seed), Model(order=True))
            chosen = next_pairs(known, own, min(size, every - len(own)) or 1, seed, PROBE)
            batch = np.concatenate(chosen)
            if len(batch):
                sheets[seed] = np.concatenate([own, shown(batch, n, seed + len(own))])


def _seeds(question: Question) -> list[int]:
    return np.random.SeedSequence(question.seed).generate_state(question.repeats).tolist()


def _agreement(world: World, votes: Counts, question: Question, seed: int) -> float:
    """How scores agree with the truth; NaN where they are all equal."""
    agreed = agreement_of_scores(fit(votes, question.model).scores, world.truth(seed))
    return agreed.r if question.measure == "r" else agreed.rho


def _together(votes: list[Counts]) -> Counts:
    """The votes of several runs."""
    if len(votes) == 1:
        return votes[0]
    parts = []
    for name in ("first", "second", "a", "tie", "b"):
        parts.append(np.concatenate([getattr(own, name) for own in votes]))
    return tabled(votes[0].n, *parts)
