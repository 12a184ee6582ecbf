"""The published figures of the human reference, beside what the answers give here."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from delibsim.analysis.human.groups_of_five import Dealt, group_ceiling, over_topics
from delibsim.analysis.human.people import (
    Reference,
    ceiling,
    interval_of_mean_change,
    mean_of,
    of_benchmark,
)
from delibsim.domain.measure import SCORE_PHASES
from delibsim.store.reading import read_yaml

SLOPE, R2, ERROR, GROUPS = -0.672, 0.31, 0.118, 77
"""The published ceiling over groups of five: slope, R squared, standard error, number of groups."""
Verdict = Literal["reproduced", "within simulation error", "not reproduced"]


@dataclass(frozen=True)
class Figure:
    """A published figure, printed with so many `decimals`, and the value found here.

    `simulation` is by how much a figure that rests on random draws may move from seed to seed.
    `note` says how the figure comes about, or why the value differs.
    """

    name: str
    published: float
    here: float
    decimals: int = 3
    simulation: float = 0.0
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the figure is reproduced to its printed decimals, or within simulation error."""
        difference = abs(self.here - self.published)
        if difference <= 0.5 * 10**-self.decimals + 1e-9:
            return "reproduced"
        if difference <= self.simulation + 1e-9:
            return "within simulation error"
        return "not reproduced"


@cache
def printed() -> Mapping[str, Any]:
    """The published figures and their notes, as data/human_published.yaml has them."""
    return read_yaml(Path(__file__).parents[2] / "data" / "human_published.yaml")


def published_figures(
    topics: Sequence[Reference],
    cases: Sequence[Reference],
    disjoint: Sequence[Dealt] = (),
    redrawn: Sequence[Dealt] = (),
) -> list[Figure]:
    """Every published figure of the twelve topics beside what the answers give here.

    `topics` and `cases` are the references by topic and by case, `disjoint` and `redrawn` the
    twelve topics in disjoint groups of five and in groups drawn with replacement; without these two
    the figures of groups of five are left out.
    """
    found = _of_references(topics, cases)
    spreads: dict[str, float] = {}
    if disjoint and redrawn:
        for how, groups in (("disjoint", disjoint), ("redrawn", redrawn)):
            for name, (value, sd) in _of_five(groups).items():
                found[f"{how} {name}"], spreads[f"{how} {name}"] = value, sd
        found["error of slope"] = ordinary_error(SLOPE, R2, GROUPS)
    ends = [ordinary_error(SLOPE, R2 + half, GROUPS) for half in (-0.005, 0.005)]
    figures = []
    notes = printed()["notes"]
    for one in printed()["figures"]:
        if one["here"] in found:
            sd = spreads.get(one["here"], 0.0)
            note = notes.get(one.get("note"), one.get("note", ""))
            note = note.format(sd=sd, least=min(ends), most=max(ends))
            own = {"decimals": one.get("decimals", 3), "note": note}
            room = one.get("simulation", 2 * sd)
            here = found[one["here"]]
            figures.append(Figure(one["figure"], one["published"], here, simulation=room, **own))
    return figures


def ordinary_error(slope: float, r2: float, n: int) -> float:
    """The standard error that least squares give a slope, from the slope, R squared and n alone.

    t squared is R squared (n - 2) / (1 - R squared), and the error is the slope divided by t: any
    textbook of regression with one regressor.
    """
    return abs(slope) * math.sqrt((1 - r2) / (r2 * (n - 2)))


def _of_references(topics: Sequence[Reference], cases: Sequence[Reference]) -> dict[str, float]:
    """What the answers give, by the names under which the file of figures has it."""
    twelve = of_benchmark(topics)
    found: dict[str, float] = {
        "participants": sum(topic.n for topic in twelve),
        "cases": len(of_benchmark(cases)),
        "groups": sum(topic.n // 5 for topic in twelve),
    }
    named = {topic.id: topic for topic in twelve}
    for name, own in {**named, "mean": mean_of(topics), "cases": mean_of(cases)}.items():
        found[f"{name} n"] = own.n
        for phase in SCORE_PHASES:
            for measure, value in getattr(own, phase).items():
                found[f"{name} {phase} {measure}"] = value
    found["low"], found["high"] = interval_of_mean_change(twelve)
    fit = ceiling(twelve)
    return found | {"slope": fit.beta, "se": fit.se, "r2": fit.r2, "p": fit.p}


def _of_five(groups: Sequence[Dealt]) -> dict[str, tuple[float, float]]:
    """What groups of five give, each with the standard deviation of single draws."""
    found = {}
    for phase in SCORE_PHASES:
        own = over_topics(groups, "diversity", phase)
        found[phase] = own.mean, own.between_partitions
    fit = group_ceiling(groups)
    return found | {"slope": (fit.beta, fit.beta_sd), "r2": (fit.r2, fit.r2_sd)}
