"""A mean with its error by t: over independent units, or within strata that are held fixed.

Sources: Student 1908, https://doi.org/10.1093/biomet/6.1.1; for strata Cochran 1977, Sampling
Techniques, chapter 5, with one variance for all strata.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

ALIKE = 1e-13
"""The share of the largest value below which values do not differ."""
NAN = float("nan")


@dataclass(frozen=True)
class Mean:
    """A mean, its standard error and degrees of freedom, the ends of its interval, and its p.

    What is undefined is NaN: all but the mean where nothing says how far the values vary.
    """

    estimate: float
    error: float = NAN
    df: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN


def mean_of_units(values: ArrayLike, level: float = 0.95) -> Mean:
    """The mean of independent values (n,) without NaN, with n - 1 degrees of freedom.

    Fewer than two values, and values that are all equal, give no error.

    >>> found = mean_of_units([2.0, 3.0, 1.0])
    >>> [round(value, 3) for value in (found.estimate, found.low, found.high, found.p)]
    [2.0, -0.484, 4.484, 0.074]
    """
    found = np.asarray(values, dtype=float)
    if not found.size:
        return Mean(NAN)
    equal = np.full(len(found), 1 / len(found))
    return mean_within(found, np.zeros(len(found)), equal, level)


def mean_within(
    values: ArrayLike, strata: ArrayLike, weights: ArrayLike, level: float = 0.95
) -> Mean:
    """The weighted sum of values (n,), each independent of the others around its stratum's mean.

    `strata` (n,) says of which stratum a value is, and `weights` (n,) what it counts for. The
    variance within strata is pooled; the degrees of freedom are the values less the strata. A
    stratum with one value says nothing of it.

    >>> mean_within([1.0, 3.0, 5.0, 9.0], [0, 0, 1, 1], [0.25] * 4).df
    2.0
    """
    from scipy.special import stdtr, stdtrit

    found, given = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    estimate = float(given @ found)
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    sizes = np.bincount(codes)
    df = float(len(found) - len(sizes))
    apart = found - (np.bincount(codes, found) / sizes)[codes]
    if df <= 0 or np.abs(apart).max() <= ALIKE * np.abs(found).max():
        return Mean(estimate, df=df if df > 0 else NAN)
    error = float(np.sqrt(apart @ apart / df * (given @ given)))
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = float(2 * stdtr(df, -abs(estimate / error)))
    return Mean(estimate, error, df, estimate - half, estimate + half, p)
