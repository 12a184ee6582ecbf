"""Krippendorff's alpha of codes for nominal, ordinal, interval and ratio scales.

Source: Krippendorff (2019), Content Analysis, 4th ed., ch. 12. The standard error is the one of
Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5 and 6.
"""

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.reliability.codes import Patterns

Array = NDArray[np.float64]

METRICS = ("nominal", "ordinal", "interval", "ratio")
"""How far two levels are apart: equal or not, by the ranks of all codes, by values, by ratios."""


def alphas(times: Array, patterns: Patterns, metric: str) -> Array:
    """Alpha of each sample: `times` (samples, patterns) is how often each pattern occurs in it.

    NaN where no text has two codes, or where only one level was given. ValueError for an unknown
    metric, and for ratios of levels of which one is below 0.
    """
    paired = patterns.paired
    counts, given = patterns.counts[paired], patterns.given[paired]
    repeats = times[:, paired]
    totals = repeats @ counts
    size = totals.sum(axis=1)
    if metric == "ordinal":
        within, among = _ordinal_sums(repeats, counts, given, totals)
    else:
        apart = differences(patterns.levels, metric)
        own = ((counts @ apart) * counts).sum(axis=1) / (given - 1)
        within, among = repeats @ own, ((totals @ apart) * totals).sum(axis=1)
    varied = ((totals > 0).sum(axis=1) > 1) & (among > 0)
    expected = np.where(varied, among, 1) / np.maximum(size - 1, 1)
    return np.where(varied, 1 - within / expected, np.nan)


def differences(levels: Array, metric: str) -> Array:
    """The squared differences (q, q) between levels, apart from those of the ordinal metric, which
    depend on the codes.
    """
    if metric not in METRICS or metric == "ordinal":
        raise ValueError(f"unknown metric '{metric}'; there are {', '.join(METRICS)}")
    apart = np.abs(levels[:, None] - levels)
    if metric == "nominal":
        return (apart > 0).astype(float)
    if metric == "interval":
        return apart**2
    if (levels < 0).any():
        raise ValueError("a ratio scale has no level below 0")
    sums = levels[:, None] + levels
    return (apart / np.where(sums > 0, sums, 1)) ** 2


def _ordinal_sums(
    repeats: Array, counts: Array, given: Array, totals: Array
) -> tuple[Array, Array]:
    """The differences within texts and among all codes, for the ordinal metric.

    The sum of the codes from one level to another, less half of both ends, is the difference of
    their mean ranks, so that alpha is that of an interval scale of ranks.
    """
    size = totals.sum(axis=1)
    ranks = totals.cumsum(axis=1) - totals / 2 - size[:, None] / 2
    squares, sums = counts @ (ranks**2).T, counts @ ranks.T
    own = (given[:, None] * squares - sums**2) / (given - 1)[:, None]
    within = (repeats * own.T).sum(axis=1)
    among = size * (totals * ranks**2).sum(axis=1) - (totals * ranks).sum(axis=1) ** 2
    return 2 * within, 2 * among


def alpha_influences(patterns: Patterns, metric: str) -> Array | None:
    """What each pattern adds to alpha, 0 on average over the texts with two codes and 0 for the
    others, of shape (patterns,); None for the ordinal metric, which has no closed form.

    As in Gwet, the correction of alpha for few codes is left out here: it is of order 1 / codes.
    """
    if metric == "ordinal":
        return None
    apart = differences(patterns.levels, metric)
    weights = 1 - apart / apart.max()
    paired = patterns.paired
    counts, given, times = patterns.counts[paired], patterns.given[paired], patterns.times[paired]
    n = times.sum()
    mean = times @ given / n
    agreed = (counts * (counts @ weights - 1)).sum(axis=1) / (mean * (given - 1))
    observed = times @ agreed / n
    pi = times @ counts / n / mean
    chance = pi @ weights @ pi
    value = (observed - chance) / (1 - chance)
    unequal = (given - mean) / mean
    own = agreed - observed * unequal
    by_chance = counts @ (weights @ pi) / mean - chance * unequal
    moved = own - chance - 2 * (1 - value) * (by_chance - chance)
    found = np.zeros(len(patterns.times))
    found[paired] = moved / (1 - chance) - value
    return found
