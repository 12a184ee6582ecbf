"""How sure correlations are: texts, or topics with all their texts, are left out one at a time, or
drawn with replacement.

Sources: Davison and Hinkley (1997), sections 3.2.1 and 3.8,
https://doi.org/10.1017/CBO9780511802843; on Fisher's z Hinkley (1978),
https://doi.org/10.1093/biomet/65.1.13.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.resampling import resampled_counts

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
    """The ends of an interval by t, with its degrees of freedom: clusters less one."""

    low: float
    high: float
    df: int


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
    return ByCluster(math.tanh(found.low), math.tanh(found.high), found.df)


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
    from scipy.special import stdtrit

    count = len(apart)
    if count < 2 or not math.isfinite(whole) or not np.isfinite(apart).all():
        return ByCluster(math.nan, math.nan, max(count - 1, 0))
    error = math.sqrt((count - 1) * float(apart.var()))
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    return ByCluster(whole - half, whole + half, count - 1)


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
