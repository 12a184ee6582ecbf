"""Correlations of a judge with people: intervals, and what is left at equal length."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.inference.resampling import percentile_interval, resampled_counts

TOO_FEW, CONSTANT = "too_few_ratings", "no_variance"
FEWEST = 4
"""Pairs below which a correlation has no interval."""


@dataclass(frozen=True)
class Correlation:
    """A correlation over `n` pairs with its two-sided p and 95% interval.

    What is undefined is NaN, and `note` says why: "too_few_ratings" or "no_variance".
    """

    n: int
    value: float
    p: float
    low: float
    high: float
    note: str = ""


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Pearson's r with the interval of Fisher (1915): tanh(atanh r +- 1.96 / sqrt(n - 3))."""
    from scipy.stats import pearsonr

    a, b, note = _paired(x, y)
    if note:
        return _none(len(a), note)
    found = pearsonr(a, b)
    return _with_interval(found.statistic, found.pvalue, len(a), 1.0)


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation:
    """Spearman's rho with the interval of Bonett and Wright (2000): the error of atanh rho is
    sqrt((1 + rho^2 / 2) / (n - 3)), https://doi.org/10.1007/BF02294183.

    >>> found = spearman([1, 2, 3, 4, 5], [2, 1, 3, 5, 4])
    >>> round(found.value, 2), found.n
    (0.8, 5)
    """
    from scipy.stats import spearmanr

    a, b, note = _paired(x, y)
    if note:
        return _none(len(a), note)
    found = spearmanr(a, b)
    return _with_interval(found.statistic, found.pvalue, len(a), 1 + found.statistic**2 / 2)


def spearman_interval(
    x: ArrayLike, y: ArrayLike, clusters: ArrayLike, resamples: int, seed: int
) -> tuple[float, float]:
    """The percentile interval of the correlation of the ranks of x and y over drawn clusters, the
    ranks held as they are in the whole; NaN where a series is constant or there is one cluster.
    """
    from scipy.stats import rankdata

    nothing = float("nan"), float("nan")
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    code = np.unique(np.asarray(clusters), return_inverse=True)[1]
    if len(a) < FEWEST or np.ptp(a) == 0 or np.ptp(b) == 0 or code.max() < 1:
        return nothing
    r, s = rankdata(a) - (len(a) + 1) / 2, rankdata(b) - (len(b) + 1) / 2
    parts = [np.ones(len(a)), r, s, r * r, s * s, r * s]
    sums = np.column_stack([np.bincount(code, part) for part in parts])
    draws = []
    for counts in resampled_counts(len(sums), resamples, seed):
        n, sr, ss, rr, sq, rs = (counts @ sums).T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = (rr - sr**2 / n) * (sq - ss**2 / n)
            draws.append((rs - sr * ss / n) / np.sqrt(spread))
    return percentile_interval(np.concatenate(draws))


def partial_spearman(x: ArrayLike, y: ArrayLike, given: ArrayLike) -> Correlation:
    """Spearman's rho of two series with the ranks of a third held equal; its p is by t on n - 3.

    >>> found = partial_spearman([1, 2, 3, 4, 5], [2, 1, 3, 5, 4], [5, 3, 1, 2, 4])
    >>> round(found.value, 2)
    0.78
    """
    from scipy.stats import rankdata
    from scipy.stats import t as student

    table = np.column_stack([np.asarray(one, dtype=float) for one in (x, y, given)])
    table = table[~np.isnan(table).any(axis=1)]
    n = len(table)
    if n < FEWEST:
        return _none(n, TOO_FEW)
    if (np.ptp(table, axis=0) == 0).any():
        return _none(n, CONSTANT)
    r = np.corrcoef(np.apply_along_axis(rankdata, 0, table), rowvar=False)
    left = (1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2)
    if left <= 1e-12:
        return _none(n, CONSTANT)
    value = float(np.clip((r[0, 1] - r[0, 2] * r[1, 2]) / math.sqrt(left), -1, 1))
    spread = 1 - value**2
    t = value * math.sqrt((n - 3) / spread) if spread > 0 else math.inf
    return Correlation(n, value, float(2 * student.sf(abs(t), n - 3)), math.nan, math.nan)


def exact_rank_p(rho: float, n: int) -> float:
    """The two-sided p of Spearman's rho over all orders of `n` without ties; NaN beyond nine.

    >>> round(exact_rank_p(1.0, 5), 4), round(exact_rank_p(0.7, 5), 3)
    (0.0167, 0.233)
    """
    from itertools import permutations

    if not 2 <= n <= 9 or math.isnan(rho):
        return math.nan
    ranks = np.arange(n, dtype=float)
    orders = np.array(list(permutations(range(n))), dtype=float)
    found = 1 - 6 * ((orders - ranks) ** 2).sum(axis=1) / (n * (n**2 - 1))
    return float((np.abs(found) >= abs(rho) - 1e-9).mean())


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray, str]:
    """Both series where both are known, and why they have no correlation."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[known], b[known]
    if len(a) < FEWEST:
        return a, b, TOO_FEW
    return a, b, CONSTANT if np.ptp(a) == 0 or np.ptp(b) == 0 else ""


def _none(n: int, note: str) -> Correlation:
    return Correlation(n, *[math.nan] * 4, note)


def _with_interval(r: float, p: float, n: int, factor: float) -> Correlation:
    """A correlation with the interval by Fisher's z, the variance of which is factor / (n - 3)."""
    r = float(r)
    if abs(r) > 1 - 1e-12:
        return Correlation(n, r, float(p), math.nan, math.nan)
    half = 1.959963984540054 * math.sqrt(factor / (n - 3))
    z = math.atanh(r)
    return Correlation(n, r, float(p), math.tanh(z - half), math.tanh(z + half))
