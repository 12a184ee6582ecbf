"""People in groups of five: a topic's participants dealt at random into groups, many times.

Five is the size of the groups that models deliberate in. The same members form a group before and
after. The spread between partitions says how much of a figure is due to the random partition.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.human.people import (
    Reference,
    ceiling,
    interval_of_mean_change,
    mean_of,
    of_benchmark,
)
from delibsim.domain.score import SCORE_PHASES
from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Phase
from delibsim.measures.dri import Array, pair_index, pair_indices, rank_correlations
from delibsim.measures.inference.resampling import line
from delibsim.store.instruments.answers import Answers
from delibsim.store.reading import read_yaml

SIZE = 5
PARTITIONS = 1000
OF_FIVE = ("dri", "dri_adjusted", "diversity", "consideration_agreement", "preference_agreement")


@dataclass(frozen=True, eq=False)
class Dealt:
    """The measures of a topic's groups, as arrays (partitions, groups) by measure and phase.

    The phases are pre, post and change; an undefined value is NaN.
    """

    id: str
    n: int
    values: Mapping[str, Mapping[str, Array]]

    @property
    def groups(self) -> int:
        """The number of groups of each partition; up to four people are left over each time."""
        return self.n // SIZE


@dataclass(frozen=True)
class PartitionSpread:
    """A figure over partitions: its mean and its standard deviations.

    `between_partitions` is that of the partitions' means, `between_groups` that of the groups of a
    partition. `undefined` is the share of groups without a value, which enter neither.
    """

    mean: float
    between_partitions: float
    between_groups: float
    undefined: float


@dataclass(frozen=True)
class GroupCeiling:
    """Least squares of a measure's change on its value before, over the `n` groups of a partition.

    `beta`, `r2` and both standard errors (plain; clustered by topic) are means over partitions,
    `beta_sd` and `r2_sd` are standard deviations between them, the p values are medians (t on
    `n` - 2, and on topics - 1 degrees of freedom).
    """

    n: int
    beta: float
    beta_sd: float
    r2: float
    r2_sd: float
    se: float
    p: float
    se_clustered: float
    p_clustered: float


def dealt(answers: Answers, partitions: int = PARTITIONS) -> Dealt:
    """The participants of one survey in floor(n / 5) disjoint groups, as often as `partitions`.

    The deals are seeded by the survey's name: more partitions are the same ones and further ones.
    Fewer than five participants make no group.
    """
    n = len(answers.participants)
    rng = np.random.default_rng(seed_of("human", "groups", answers.survey))
    deals = rng.permuted(np.tile(np.arange(n), (partitions, 1)), axis=1)
    return _of_groups(answers, deals[:, : n // SIZE * SIZE].reshape(partitions, -1, SIZE))


def drawn_with_replacement(answers: Answers, draws: int = PARTITIONS) -> Dealt:
    """As many groups of five as `dealt` makes, every seat drawn from all participants of a survey.

    Somebody may sit in several groups, and more than once in one, there with themselves at distance
    0 and correlation 1. For comparison with published figures alone. The draws are seeded by the
    survey's name; more of them are the same ones and further ones.
    """
    n = len(answers.participants)
    rng = np.random.default_rng(seed_of("human", "groups with replacement", answers.survey))
    return _of_groups(answers, rng.integers(n, size=(draws, n // SIZE, SIZE)))


def _of_groups(answers: Answers, rows: NDArray[np.intp]) -> Dealt:
    """The measures of groups whose members `rows` (partitions, groups, 5) names."""
    before, after = (_measured(answers, phase, rows) for phase in PHASES)
    values = {}
    for measure in OF_FIVE:
        pre, post = before[measure], after[measure]
        values[measure] = {"pre": pre, "post": post, "change": post - pre}
    return Dealt(answers.survey, len(answers.participants), values)


def spread(values: Array) -> PartitionSpread:
    """A figure of groups, an array (partitions, groups), described over partitions and groups.

    Groups without a value are left out; the mean is NaN where a partition has no other.
    """
    means, defined = _means(values), ~np.isnan(values)
    several = defined.sum(axis=1) > 1
    within = np.nanstd(values[several], axis=1, ddof=1)
    return PartitionSpread(
        mean=float(means.mean()),
        between_partitions=_sd(means),
        between_groups=float(within.mean()) if several.any() else np.nan,
        undefined=float(1 - defined.mean()) if values.size else np.nan,
    )


def over_topics(topics: Sequence[Dealt], measure: str, phase: str) -> PartitionSpread:
    """A figure averaged over topics, each topic counting once.

    The standard deviation between groups is that of all groups together.
    """
    own = [topic.values[measure][phase] for topic in topics]
    means = np.mean([_means(values) for values in own], axis=0)
    every = spread(np.hstack(own))
    return PartitionSpread(float(means.mean()), _sd(means), every.between_groups, every.undefined)


def over_groups(topics: Sequence[Dealt], measure: str, phase: str) -> PartitionSpread:
    """A figure averaged over all groups of all topics, each group counting once."""
    return spread(np.hstack([topic.values[measure][phase] for topic in topics]))


def group_ceiling(topics: Sequence[Dealt], measure: str = "dri") -> GroupCeiling:
    """Whether groups that start high gain less, over the groups of all topics.

    A group without a value is left out of the regression of its partition.
    """
    before = np.hstack([topic.values[measure]["pre"] for topic in topics])
    change = np.hstack([topic.values[measure]["change"] for topic in topics])
    clusters = np.repeat(np.arange(len(topics)), [topic.groups for topic in topics])
    fits = np.array([_fitted(x, y, clusters) for x, y in zip(before, change, strict=True)])
    means, medians = fits.mean(axis=0), np.median(fits, axis=0)
    return GroupCeiling(
        n=before.shape[1],
        beta=float(means[0]),
        beta_sd=_sd(fits[:, 0]),
        r2=float(means[1]),
        r2_sd=_sd(fits[:, 1]),
        se=float(means[2]),
        p=float(medians[3]),
        se_clustered=float(means[4]),
        p_clustered=float(medians[5]),
    )


def _fitted(x: Array, y: Array, clusters: NDArray[np.intp]) -> tuple[float, ...]:
    """Slope, R squared, plain standard error and its p, clustered standard error and its p."""
    plain, clustered = line(x, y), line(x, y, clusters)
    return plain.slope, plain.r2, plain.se, plain.p, clustered.se, clustered.p


def _measured(answers: Answers, phase: Phase, rows: NDArray[np.intp]) -> dict[str, Array]:
    """Measures (partitions, groups) of groups whose members `rows` (partitions, groups, 5) names.

    All measures are means over pairs, so pairs of the whole survey are computed once and looked up.
    """
    from scipy.spatial.distance import pdist, squareform  # scipy takes half a second to import

    rated, ranked = answers.considerations[phase], answers.preferences[phase]
    rc, rp = rank_correlations(rated), rank_correlations(ranked)
    pairs = {
        "dri": pair_index(rc, rp),
        "dri_adjusted": pair_index(rc, rp, adjusted=True),
        "diversity": squareform(pdist(np.hstack([rated, ranked]).astype(float))),
        "consideration_agreement": rc,
        "preference_agreement": rp,
    }
    i, j = pair_indices(SIZE)
    first, second = rows[..., i], rows[..., j]
    return {measure: own[first, second].mean(axis=-1) for measure, own in pairs.items()}


def _means(values: Array) -> Array:
    """The mean of each partition over the groups that have a value; NaN where none has."""
    counts = (~np.isnan(values)).sum(axis=1)
    return np.where(counts, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


def _sd(values: Array) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


Spreads = Mapping[str, Mapping[str, PartitionSpread]]
"""Figures of groups of five by measure and phase (pre, post, change)."""


def of_topic(topic: Dealt) -> Spreads:
    """The figures of the groups of one topic."""
    return _spreads(lambda measure, phase: spread(topic.values[measure][phase]))


def mean_of_topics(topics: Sequence[Dealt]) -> Spreads:
    """The figures of all groups, each topic counting once."""
    return _spreads(lambda measure, phase: over_topics(topics, measure, phase))


def mean_of_groups(topics: Sequence[Dealt]) -> Spreads:
    """The figures of all groups, each group counting once."""
    return _spreads(lambda measure, phase: over_groups(topics, measure, phase))


def _spreads(of: Callable[[str, str], PartitionSpread]) -> Spreads:
    found: dict[str, dict[str, PartitionSpread]] = {}
    for measure in OF_FIVE:
        found[measure] = {phase: of(measure, phase) for phase in SCORE_PHASES}
    return found


def plain_spreads(spreads: Spreads) -> dict[str, Any]:
    """Figures of groups of five as plain values."""
    plain = {}
    for measure, phases in spreads.items():
        plain[measure] = {phase: asdict(own) for phase, own in phases.items()}
    return plain


def one_partition(topic: Dealt) -> dict[str, Any]:
    """The groups of a topic's first partition, as plain values: before and change by measure."""
    found = {}
    for measure in ("dri", "diversity"):
        own = topic.values[measure]
        found[measure] = {phase: own[phase][0].tolist() for phase in ("pre", "change")}
    return found


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
