"""The published figures of the human reference, beside what the answers give here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from delibsim.analysis.human.groups_of_five import Dealt, group_ceiling, over_topics
from delibsim.analysis.human.people import (
    RESAMPLES,
    Reference,
    ceiling,
    interval_of_mean_change,
    mean_of,
    of_benchmark,
)

RESAMPLING_ERROR = 0.003
"""By how much an end of the bootstrap interval moves from seed to seed.

Twice the standard deviation of its upper end over 200 seeds.
"""

TOPICS = {
    "fnqcj": (11, -0.044, 0.498),
    "fremantle": (41, 0.211, 0.338),
    "ccps": (31, 0.532, 0.636),
    "energy_futures": (29, 0.356, 0.431),
    "acp": (45, 0.118, 0.019),
}
"""Participants, DRI before and after, of those five of the twelve topics whose values are known."""

OF_FIVE = (
    ("mean diversity before", "diversity", "pre", 18.047),
    ("mean diversity after", "diversity", "post", 16.887),
    ("mean change of diversity", "diversity", "change", -1.160),
)
"""Published of groups of five, over topics: name, measure, phase, value."""
SLOPE, R2, ERROR, GROUPS = -0.672, 0.31, 0.118, 77
"""The published ceiling over groups of five: slope, R squared, standard error, number of groups."""
WITH_REPLACEMENT = "disjoint groups keep the mean of all pairs; drawing with replacement does not"

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
    twelve, sixteen = of_benchmark(topics), of_benchmark(cases)
    groups = sum(topic.n // 5 for topic in twelve)
    figures = [
        Figure("participants of the twelve topics", 407, sum(topic.n for topic in twelve), 0),
        Figure("cases (deliberations) of the twelve topics", 16, len(sixteen), 0),
        Figure("disjoint groups of five in the twelve topics", GROUPS, groups, 0),
        *_of_topics(twelve),
        *_means(mean_of(topics)),
        *_gains(mean_of(topics), mean_of(cases)),
        *_inference(twelve),
    ]
    if disjoint and redrawn:
        figures += _of_five("disjoint", disjoint, WITH_REPLACEMENT)
        figures += _of_five("drawn with replacement", redrawn)
        figures.append(_error_of_slope())
    return figures


def ordinary_error(slope: float, r2: float, n: int) -> float:
    """The standard error that least squares give a slope, from the slope, R squared and n alone.

    t squared is R squared (n - 2) / (1 - R squared), and the error is the slope divided by t: any
    textbook of regression with one regressor.
    """
    return abs(slope) * math.sqrt((1 - r2) / (r2 * (n - 2)))


def _of_topics(twelve: Sequence[Reference]) -> list[Figure]:
    found = {topic.id: topic for topic in twelve}
    figures = []
    for name, (n, before, after) in TOPICS.items():
        topic = found[name]
        figures += [
            Figure(f"{name}: participants", n, topic.n, 0),
            Figure(f"{name}: DRI before", before, topic.pre["dri"]),
            Figure(f"{name}: DRI after", after, topic.post["dri"]),
        ]
    return figures


def _means(mean: Reference) -> list[Figure]:
    before, after = mean.pre["diversity_standardised"], mean.post["diversity_standardised"]
    standardised = "the published text says standardised; its figures are those of raw answers"
    return [
        Figure("mean DRI before, over topics", 0.301, mean.pre["dri"]),
        Figure("mean DRI after, over topics", 0.400, mean.post["dri"]),
        Figure("mean change of DRI, over topics", 0.099, mean.change["dri"]),
        Figure("mean diversity before, raw answers", 18.780, mean.pre["diversity"]),
        Figure("mean diversity after, raw answers", 17.567, mean.post["diversity"]),
        Figure("mean change of diversity, raw answers", -1.213, mean.change["diversity"]),
        Figure("mean diversity before, standardised", 18.780, before, note=standardised),
        Figure("mean diversity after, standardised", 17.567, after, note=standardised),
    ]


def _gains(topics: Reference, cases: Reference) -> list[Figure]:
    over = "the published gains are means over the 16 cases"
    pooled = f"{over}, not over the 12 topics with their cases pooled"
    figures = []
    for unit, mean, note in (("16 cases", cases, ""), ("12 pooled topics", topics, pooled)):
        for kind, published in (("consideration", 0.077), ("preference", 0.104)):
            name = f"gain of {kind} agreement, over {unit}"
            here = mean.change[f"{kind}_agreement"]
            figures.append(Figure(name, published, here, note=note))
    return figures


def _inference(twelve: Sequence[Reference]) -> list[Figure]:
    low, high = interval_of_mean_change(twelve)
    fit = ceiling(twelve)
    drawn = f"percentile bootstrap over the topics, {RESAMPLES:,} resamples of a seed of our own"
    end = "end of 95% interval"
    return [
        Figure(f"mean change of DRI, lower {end}", 0.026, low, 3, RESAMPLING_ERROR, drawn),
        Figure(f"mean change of DRI, upper {end}", 0.196, high, 3, RESAMPLING_ERROR, drawn),
        Figure("ceiling over topics: slope of the change on DRI before", -0.418, fit.beta),
        Figure("ceiling over topics: standard error", 0.291, fit.se),
        Figure("ceiling over topics: R squared", 0.17, fit.r2, 2),
        Figure("ceiling over topics: p", 0.182, fit.p),
    ]


def _of_five(how: str, groups: Sequence[Dealt], why: str = "") -> list[Figure]:
    """The figures of groups of five beside those of groups made here; `why` means differ."""
    figures = []
    for name, measure, phase, published in OF_FIVE:
        here = over_topics(groups, measure, phase)
        note = _of_one_draw(here.between_partitions)
        note += f"; {why}" if why and phase != "change" else ""
        room = 2 * here.between_partitions
        label = f"groups of five, {how}: {name}"
        figures.append(Figure(label, published, here.mean, 3, room, note))
    fit = group_ceiling(groups)
    for name, published, here, decimals, sd in (
        ("slope of the change on DRI before", SLOPE, fit.beta, 3, fit.beta_sd),
        ("R squared of it", R2, fit.r2, 2, fit.r2_sd),
    ):
        label = f"groups of five, {how}: {name}"
        figures.append(Figure(label, published, here, decimals, 2 * sd, _of_one_draw(sd)))
    return figures


def _of_one_draw(sd: float) -> str:
    return f"single draws have an SD of {sd:.3f}"


def _error_of_slope() -> Figure:
    """The published standard error beside the one that the published slope and R squared imply."""
    ends = sorted(ordinary_error(SLOPE, R2 + half, GROUPS) for half in (-0.005, 0.005))
    note = f"not ordinary: published slope and R squared imply {ends[0]:.3f} to {ends[1]:.3f}"
    here = ordinary_error(SLOPE, R2, GROUPS)
    return Figure("groups of five: standard error of the published slope", ERROR, here, note=note)
