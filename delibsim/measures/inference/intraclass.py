"""The intraclass correlation by the analysis of variance, for clusters of unequal sizes.

The model is value = fixed effects + cluster + residual. Both variances are those that make the mean
squares equal to their expectation (Henderson's method III; Searle, Casella and McCulloch 1992,
section 5.5); without fixed effects this is ICC(1) with Donner's mean size of a cluster (Donner
1986, https://doi.org/10.2307/1403259). The estimate can be negative, which REML rules out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.resampling import percentile_interval, resampled_counts

Array = NDArray[np.float64]

RANK = 1e-9
"""The share of the largest eigenvalue below which an eigenvalue is 0."""


@dataclass(frozen=True)
class Intraclass:
    """An intraclass correlation with its percentile interval over clusters.

    `note` is "" or why it is NaN: "one_cluster", "no_replication" (no degree of freedom within
    clusters) or "no_variance".
    """

    icc: float
    low: float
    high: float
    clusters: int
    n: int
    note: str = ""


@dataclass(frozen=True)
class _Sums:
    """What each of t clusters adds to sums of squares and products; the first axis is the cluster.

    `x` are the predictors (k of them, the constant first) and `y` the values; those named within
    are about the means of the cluster. `spread` is the outer product of the sums of the predictors.
    """

    n: Array
    xx: Array
    xy: Array
    yy: Array
    within_xx: Array
    within_xy: Array
    within_yy: Array
    spread: Array

    def added(self, counts: Array) -> "_Sums":
        """The sums of samples of clusters, of which `counts` (m, t) says how often each is in."""
        parts = []
        for part in vars(self).values():
            flat = part.reshape(len(part), -1)
            parts.append((counts @ flat).reshape(len(counts), *part.shape[1:]))
        return _Sums(*parts)


def intraclass(
    values: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
    fixed: ArrayLike | None = None,
) -> Intraclass:
    """The correlation of values of one cluster, and its interval by resampling clusters.

    `values` (n,) have no NaN, `clusters` (n,) names the cluster of each. `fixed` (n, k) are
    predictors that are taken out first, such as indicators of model and treatment; a constant is
    understood, and predictors that follow from others do no harm. In each sample of clusters the
    fixed effects are estimated anew.

    >>> ratings = [9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7]
    >>> found = intraclass(ratings, np.repeat(range(6), 4), 100, seed=1)
    >>> round(found.icc, 2)  # Shrout and Fleiss 1979, table 4
    0.17
    """
    found = np.asarray(values, dtype=float)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    sums = _summed(found - found.mean() if found.size else found, codes, len(names), fixed)
    nan = float("nan")
    if len(names) < 2:
        return Intraclass(nan, nan, nan, len(names), len(found), "one_cluster")
    (icc,) = _icc(sums.added(np.ones((1, len(names)))), len(names))
    if np.isnan(icc):
        note = "no_variance" if np.ptp(found) == 0 else "no_replication"
        return Intraclass(nan, nan, nan, len(names), len(found), note)
    draws = []
    for many in resampled_counts(len(names), resamples, seed):
        for counts in np.array_split(many, 1 + len(many) // 1000):
            draws.append(_icc(sums.added(counts), len(names)))
    low, high = percentile_interval(np.concatenate(draws))
    return Intraclass(float(icc), low, high, len(names), len(found))


def of_means(icc: float, k: float) -> float:
    """The reliability of the mean of k values, by Spearman (1910) and Brown (1910).

    >>> round(of_means(0.606796, 3), 6)
    0.822368
    """
    below = 1 + (k - 1) * icc
    return k * icc / below if below > 0 else float("nan")


def raters_needed(icc: float, wanted: float = 0.8) -> float:
    """How many raters a unit must have for a mean of this reliability; NaN where single ratings
    have none.

    >>> round(raters_needed(0.025))
    156
    """
    return wanted * (1 - icc) / (icc * (1 - wanted)) if icc > 0 else float("nan")


def _summed(y: Array, codes: NDArray[np.intp], t: int, fixed: ArrayLike | None) -> _Sums:
    """The sums of each cluster."""
    given = np.empty((len(y), 0)) if fixed is None else np.asarray(fixed, dtype=float)
    x = np.column_stack([np.ones(len(y)), given])
    k = x.shape[1]
    n = np.bincount(codes, minlength=t).astype(float)
    xx, xy, yy = np.zeros((t, k, k)), np.zeros((t, k)), np.zeros(t)
    x_sums, y_sums = np.zeros((t, k)), np.zeros(t)
    for cluster in range(t):
        own_x, own_y = x[codes == cluster], y[codes == cluster]
        xx[cluster], xy[cluster], yy[cluster] = own_x.T @ own_x, own_x.T @ own_y, own_y @ own_y
        x_sums[cluster], y_sums[cluster] = own_x.sum(axis=0), own_y.sum()
    spread = x_sums[:, :, None] * x_sums[:, None, :]
    return _Sums(
        n=n,
        xx=xx,
        xy=xy,
        yy=yy,
        within_xx=xx - spread / n[:, None, None],
        within_xy=xy - x_sums * (y_sums / n)[:, None],
        within_yy=yy - y_sums**2 / n,
        spread=spread,
    )


def _icc(sums: _Sums, clusters: int) -> Array:
    """The correlation of each of m samples, from their sums; NaN where it is undefined."""
    inverse, rank = _inverted(sums.xx)
    within, within_rank = _inverted(sums.within_xx)
    left = sums.yy - np.einsum("mi,mij,mj->m", sums.xy, inverse, sums.xy)
    residual = sums.within_yy - np.einsum("mi,mij,mj->m", sums.within_xy, within, sums.within_xy)
    # Of the space that clusters and predictors span together, clusters beyond predictors.
    between_df = clusters + within_rank - rank
    residual_df = sums.n - clusters - within_rank
    expected = sums.n - np.einsum("mij,mji->m", inverse, sums.spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = residual / residual_df
        cluster = (left - residual - between_df * error) / expected
        icc = cluster / (cluster + error)
    total = np.maximum(sums.yy, np.finfo(float).tiny)
    defined = (residual_df > 0) & (between_df > 0) & (left > RANK * total)
    return np.where(defined, icc, np.nan)


def _inverted(matrices: Array) -> tuple[Array, Array]:
    """Pseudo-inverses (m, k, k) and ranks (m,) of symmetric matrices that are not negative."""
    values, vectors = np.linalg.eigh(matrices)
    largest = np.maximum(values[:, -1:], RANK)
    kept = values > RANK * largest
    inverted = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return (vectors * inverted[:, None, :]) @ vectors.transpose(0, 2, 1), kept.sum(axis=1)
