"""People in groups of the size that models deliberate in: a topic's participants dealt out at
random into disjoint groups, many times over.

The same members form a group before and after. The spread between partitions says how much of a
figure is the luck of the deal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from scipy.stats import t as student

from delibsim.domain.seed import seed_of
from delibsim.domain.survey import PHASES, Phase
from delibsim.measures.dri import pair_index, rank_correlations
from delibsim.measures.pairs import Array, pair_indices
from delibsim.store.instruments.answers import Answers

SIZE = 5
PARTITIONS = 1000
MEASURES = ("dri", "dri_adjusted", "diversity", "consideration_agreement", "preference_agreement")
PARTS = (*PHASES, "change")


@dataclass(frozen=True, eq=False)
class Dealt:
    """The measures of a topic's groups: arrays (partitions, groups) by measure and part (pre, post,
    change); NaN where undefined.
    """

    id: str
    n: int
    values: Mapping[str, Mapping[str, Array]]

    @property
    def groups(self) -> int:
        """How many groups each partition has; n less five times as many people are left over each
        time.
        """
        return self.n // SIZE


@dataclass(frozen=True)
class Spread:
    """A figure over partitions: its mean, its standard deviation between partitions, and that
    between groups within a partition.

    `undefined` is the share of groups without a value, which are in neither.
    """

    mean: float
    between_partitions: float
    between_groups: float
    undefined: float


@dataclass(frozen=True)
class GroupCeiling:
    """Least squares of the change of DRI on DRI before over all groups of a partition, described
    over the partitions.

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
    """The participants of one survey in floor(n / 5) disjoint groups, so many times; the deals are
    seeded by the survey's name.

    More partitions are the same ones and further ones. Fewer than five participants make no group.
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
    by_phase = {phase: _measured(answers, phase, rows) for phase in PHASES}
    values = {
        measure: {phase: by_phase[phase][measure] for phase in PHASES}
        | {"change": by_phase["post"][measure] - by_phase["pre"][measure]}
        for measure in MEASURES
    }
    return Dealt(answers.survey, len(answers.participants), values)


def spread(values: Array) -> Spread:
    """A figure of groups (partitions, groups): mean over the groups that have it, and its spreads;
    NaN where a partition has none.
    """
    means, defined = _means(values), ~np.isnan(values)
    several = defined.sum(axis=1) > 1
    within = float(np.nanstd(values[several], axis=1, ddof=1).mean()) if several.any() else np.nan
    return Spread(
        float(means.mean()),
        _sd(means),
        within,
        float(1 - defined.mean()) if values.size else np.nan,
    )


def over_topics(topics: Sequence[Dealt], measure: str, part: str) -> Spread:
    """A figure averaged over topics, each topic counting once; the spread between groups is that of
    all groups together.
    """
    own = [topic.values[measure][part] for topic in topics]
    means, every = np.mean([_means(values) for values in own], axis=0), spread(np.hstack(own))
    return Spread(float(means.mean()), _sd(means), every.between_groups, every.undefined)


def over_groups(topics: Sequence[Dealt], measure: str, part: str) -> Spread:
    """A figure averaged over all groups of all topics, each group counting once."""
    return spread(np.hstack([topic.values[measure][part] for topic in topics]))


def group_ceiling(topics: Sequence[Dealt]) -> GroupCeiling:
    """Do groups that start high gain less? Groups without a DRI are left out of their partition's
    regression.
    """
    before = np.hstack([topic.values["dri"]["pre"] for topic in topics])
    change = np.hstack([topic.values["dri"]["change"] for topic in topics])
    clusters = np.repeat(np.arange(len(topics)), [topic.groups for topic in topics])
    fits = np.array([regression(x, y, clusters) for x, y in zip(before, change, strict=True)])
    beta, r2, se, p, se_clustered, p_clustered = fits.mean(axis=0)
    p, p_clustered = np.median(fits[:, 3]), np.median(fits[:, 5])
    beta_sd, r2_sd = _sd(fits[:, 0]), _sd(fits[:, 1])
    found = (beta, beta_sd, r2, r2_sd, se, p, se_clustered, p_clustered)
    return GroupCeiling(before.shape[1], *map(float, found))


def regression(x: Array, y: Array, clusters: NDArray[np.intp]) -> tuple[float, ...]:
    """Least squares of y on x with an intercept: slope, R squared, plain standard error and p, and
    both clustered.

    Clustered: the sandwich with the factor G/(G-1) * (N-1)/(N-2), t on G-1 degrees of freedom, as
    in Stata and statsmodels. NaN where fewer than three pairs of values are there, or x does not
    vary.
    """
    there = ~np.isnan(x + y)
    x, y, clusters = x[there], y[there], clusters[there]
    n = len(x)
    if n < 3 or np.ptp(x) == 0:
        return (np.nan,) * 6
    design = np.column_stack([np.ones(n), x])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ y
    residuals = y - design @ coefficients
    se = float(np.sqrt(residuals @ residuals / (n - 2) * bread[1, 1]))
    own, index = np.unique(clusters, return_inverse=True)
    g = len(own)
    scores = np.zeros((g, 2))
    np.add.at(scores, index, design * residuals[:, None])
    beta = float(coefficients[1])
    r2 = 1 - residuals @ residuals / ((y - y.mean()) @ (y - y.mean())) if np.ptp(y) else np.nan
    if g < 2:
        return beta, float(r2), se, _p(beta, se, n - 2), np.nan, np.nan
    sandwich = bread @ scores.T @ scores @ bread * (g / (g - 1) * (n - 1) / (n - 2))
    robust = float(np.sqrt(sandwich[1, 1]))
    return beta, float(r2), se, _p(beta, se, n - 2), robust, _p(beta, robust, g - 1)


def _measured(answers: Answers, phase: Phase, rows: NDArray[np.intp]) -> dict[str, Array]:
    """Measures (partitions, groups) of the groups whose members `rows` (partitions, groups, 5)
    names.

    All measures are means over pairs, so pairs of the whole survey are computed once and looked up.
    """
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
    return {
        measure: own[rows[..., i], rows[..., j]].mean(axis=-1) for measure, own in pairs.items()
    }


def _p(estimate: float, error: float, df: int) -> float:
    return float(2 * student.sf(abs(estimate / error), df)) if error > 0 else np.nan


def _means(values: Array) -> Array:
    """The mean of each partition over the groups that have a value; NaN where none has."""
    counts = (~np.isnan(values)).sum(axis=1)
    return np.where(counts, np.nansum(values, axis=1) / np.maximum(counts, 1), np.nan)


def _sd(values: Array) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
