"""Correlations of two series of scores or labels: values, intervals, and tests between two.

Sources: Davison and Hinkley (1997), sections 3.2.1 and 3.8,
https://doi.org/10.1017/CBO9780511802843; on Fisher's z Hinkley (1978),
https://doi.org/10.1093/biomet/65.1.13.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import by_t
from delibsim.measures.inference.resampling import resampled_counts

TIED = 12
"""The decimals, as shares of the largest, in which scores that are tied agree."""


@dataclass(frozen=True)
class ScoreAgreement:
    """How far two series of scores agree, over the `n` texts that have both.

    Pearson's r, Spearman's rho (mid-ranks) and Kendall's tau-b; `mae` and `rmse` are those of z
    scores (ddof 0), so that rmse is sqrt(2 (1 - r)). NaN below three texts, or where one does not
    vary by more than rounding.
    """

    n: int
    r: float
    rho: float
    tau: float
    mae: float
    rmse: float


def agreement_of_scores(one: ArrayLike, other: ArrayLike) -> ScoreAgreement:
    """The agreement of two series (n,); texts with NaN in one of them are left out.

    >>> agreement_of_scores([1, 2, 3, 4], [1, 2, 4, 3]).rho
    0.8
    """
    from scipy.stats import kendalltau, rankdata

    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    known = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[known], y[known]
    one, other = _without_rounding(x), _without_rounding(y)
    if len(x) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return ScoreAgreement(len(x), *[math.nan] * 5)
    r = _pearson(x, y)
    rho = _pearson(rankdata(one), rankdata(other))
    tau = float(kendalltau(one, other).statistic)
    gaps = (x - x.mean()) / x.std() - (y - y.mean()) / y.std()
    return ScoreAgreement(
        len(x), r, rho, tau, float(np.abs(gaps).mean()), float(np.sqrt((gaps**2).mean()))
    )


def _without_rounding(values: np.ndarray) -> np.ndarray:
    """Values relative to the largest, in which those are equal that only rounding told apart;
    zeros where all are as near to 0.
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, TIED) if largest > 10.0**-TIED else np.zeros_like(values)


def _pearson(x: np.ndarray, y: np.ndarray) -> float:
    a, b = x - x.mean(), y - y.mean()
    found = float((a @ b) / np.sqrt((a @ a) * (b @ b)))
    return round(found, 15)  # 1 and not the number after it


def spearman_brown(r: float) -> float:
    """The reliability of the whole from the correlation of its halves: 2r / (1 + r).

    Sources: Spearman (1910), Brown (1910). NaN for r of -1 or less.

    >>> round(spearman_brown(0.485), 2)
    0.65
    """
    return 2 * r / (1 + r) if r > -1 else math.nan


@dataclass(frozen=True)
class Williams:
    """Williams' test: t with its degrees of freedom and its two-sided p."""

    t: float
    df: int
    p: float


def williams(r12: float, r13: float, r23: float, n: int) -> Williams:
    """Whether two series correlate differently with a third: r12 against r13, over `n` texts.

    `r23` is the correlation of the two. Source: Williams (1959), in the form of Steiger (1980),
    https://doi.org/10.1037/0033-2909.87.2.245. NaN below four texts and where the three
    correlations contradict each other.

    >>> round(williams(0.474, 0.442, 0.892, 1269).t, 6)
    2.784342
    """
    from scipy.stats import t as student

    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if n < 4 or determinant < 0:
        return Williams(math.nan, max(n - 3, 0), math.nan)
    mean = (r12 + r13) / 2
    spread = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3
    if spread <= 0:
        return Williams(math.nan, n - 3, math.nan)
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / spread)
    return Williams(t, n - 3, float(2 * student.sf(abs(t), n - 3)))


def mcnemar(only_one: int, only_other: int) -> float:
    """The exact two-sided p of McNemar's test, 1 where neither judge was right alone.

    `only_one` counts the labels that the first judge has right and the second wrong, `only_other`
    the other way round. Source: McNemar (1947), https://doi.org/10.1007/BF02295996.

    >>> round(mcnemar(8, 2), 6)
    0.109375
    """
    from scipy.stats import binomtest

    total = only_one + only_other
    return float(binomtest(only_one, total).pvalue) if total else 1.0


def kappa_max(first: ArrayLike, second: ArrayLike) -> float:
    """The largest Cohen's kappa that two coders with these shares of labels (q,) could have.

    Source: Cohen (1960), https://doi.org/10.1177/001316446002000104. NaN where chance alone gives
    full agreement. ValueError for shares that do not add up to 1.

    >>> round(kappa_max([0.5, 0.5], [0.7, 0.3]), 3)
    0.6
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or (np.abs([a.sum() - 1, b.sum() - 1]) > 1e-6).any():
        raise ValueError("the shares of labels of each coder add up to 1")
    most, chance = float(np.minimum(a, b).sum()), float(a @ b)
    return (most - chance) / (1 - chance) if chance < 1 else math.nan


Array = NDArray[np.float64]


def resampled_correlations(
    one: ArrayLike,
    other: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
) -> Array:
    """Pearson's r (resamples,) of two series (n,) without NaN in each sample of clusters (n,).

    The same seed draws the same samples for other series over the same clusters, so that
    differences of r can be taken draw by draw. NaN in samples in which a series does not vary, and
    with fewer than two clusters. Given mid-ranks, it is Spearman's rho of the ranks in all texts.
    """
    x, y = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    sums = _sums(x, y, clusters)
    if len(sums) < 2:
        return np.full(resamples, np.nan)
    found = [_correlations(drawn @ sums) for drawn in resampled_counts(len(sums), resamples, seed)]
    return np.concatenate(found)


@dataclass(frozen=True)
class ByCluster:
    """The ends of an interval by t, with its degrees of freedom: clusters less one; p of 0."""

    low: float
    high: float
    df: int
    p: float = math.nan


def correlation_interval(
    one: ArrayLike, other: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> ByCluster:
    """The interval of Pearson's r of two series (n,) without NaN: t on Fisher's z, its error by a
    jackknife over clusters (n,).

    Given mid-ranks, it is that of Spearman's rho. NaN where r is not defined, is 1 or -1, or is so
    without a cluster.
    """
    sums = _sums(np.asarray(one, dtype=float), np.asarray(other, dtype=float), clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.arctanh(_correlations(sums.sum(axis=0, keepdims=True)))
        apart = np.arctanh(_correlations(sums.sum(axis=0) - sums))
    found = _jackknifed(float(whole[0]), apart, level)
    return ByCluster(math.tanh(found.low), math.tanh(found.high), found.df, found.p)


def difference_interval(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    clusters: ArrayLike,
    level: float = 0.95,
) -> ByCluster:
    """The interval of the difference of two correlations over the same texts, each of two series
    (n,): t, its error by a jackknife over clusters (n,).
    """
    whole, apart = [], []
    for one, other in (first, second):
        sums = _sums(np.asarray(one, dtype=float), np.asarray(other, dtype=float), clusters)
        whole.append(float(_correlations(sums.sum(axis=0, keepdims=True))[0]))
        apart.append(_correlations(sums.sum(axis=0) - sums))
    return _jackknifed(whole[0] - whole[1], apart[0] - apart[1], level)


def _jackknifed(whole: float, apart: Array, level: float) -> ByCluster:
    """The interval of a value, from what it is without each cluster (k,)."""
    count = len(apart)
    if count < 2 or not math.isfinite(whole) or not np.isfinite(apart).all():
        return ByCluster(math.nan, math.nan, max(count - 1, 0))
    error = math.sqrt((count - 1) * float(apart.var()))
    if not error:
        return ByCluster(whole, whole, count - 1)
    found = by_t(whole, error, count - 1, level)
    return ByCluster(found.low, found.high, count - 1, found.p)


def _sums(x: Array, y: Array, clusters: ArrayLike) -> Array:
    """Sums of 1, x, y, x squared, y squared and xy over each cluster (clusters, 6)."""
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    count = int(codes.max(initial=-1)) + 1
    if not count:
        return np.empty((0, 6))
    x, y = x - x.mean(), y - y.mean()  # the sums lose no digits to a large mean
    parts = (np.ones_like(x), x, y, x * x, y * y, x * y)
    found = [np.bincount(codes, part, count) for part in parts]
    return np.column_stack(found).astype(np.float64)


def _correlations(sums: Array) -> Array:
    """Correlations from sums of 1, x, y, x squared, y squared and xy (rows, 6)."""
    n, x, y, xx, yy, xy = sums.T
    n = np.maximum(n, 1)
    spread = np.maximum(xx - x * x / n, 0.0) * np.maximum(yy - y * y / n, 0.0)
    # What rounding leaves of a series that does not vary is no variance.
    flat = spread <= 1e-20 * (xx * yy)
    return np.where(flat, np.nan, (xy - x * y / n) / np.sqrt(np.where(flat, 1.0, spread)))


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
