"""The intraclass correlation by the analysis of variance, for clusters of unequal sizes.

The model is value = fixed effects + cluster + residual. Both variances are those that make the mean
squares equal to their expectation (Henderson's method III; Searle, Casella and McCulloch 1992,
section 5.5); without fixed effects this is ICC(1) with Donner's mean size of a cluster (Donner
1986, https://doi.org/10.2307/1403259). The estimate can be negative, which REML rules out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

RANK = 1e-9
"""The share of the largest eigenvalue below which an eigenvalue is 0."""


@dataclass(frozen=True)
class Intraclass:
    """An intraclass correlation with its 95% interval from the F distribution.

    `note` is "" or why it is NaN: "one_cluster", "no_replication" (no degree of freedom within
    clusters) or "no_variance".
    """

    icc: float
    low: float
    high: float
    clusters: int
    n: int
    note: str = ""


def intraclass(
    values: ArrayLike,
    clusters: ArrayLike,
    fixed: ArrayLike | None = None,
    level: float = 0.95,
) -> Intraclass:
    """The correlation of values of one cluster, and its interval.

    `values` (n,) have no NaN, `clusters` (n,) names the cluster of each. `fixed` (n, k) are
    predictors that are taken out first, such as indicators of model and treatment; a constant is
    understood, and predictors that follow from others do no harm.

    The ratio of both mean squares, divided by its expectation, has the distribution of F where
    clusters are of one size (Searle 1971, Linear Models, section 9.9; Shrout and Fleiss 1979). With
    unequal sizes, and after fixed effects, the size of a cluster is n0, the factor of the variance
    of clusters in the expectation of their mean square, and the interval is an approximation.

    >>> ratings = [9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7]
    >>> found = intraclass(ratings, np.repeat(range(6), 4))  # Shrout and Fleiss 1979, table 4
    >>> round(found.icc, 2), round(found.low, 2), round(found.high, 2)
    (0.17, -0.13, 0.72)
    """
    from scipy.stats import f as fisher

    found = np.asarray(values, dtype=float)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    nan, n = float("nan"), len(found)
    if len(names) < 2:
        return Intraclass(nan, nan, nan, len(names), n, "one_cluster")
    y = found - found.mean()
    given = np.empty((n, 0)) if fixed is None else np.asarray(fixed, dtype=float)
    x = np.column_stack([np.ones(n), given])
    left, basis = _taken_out(y, x)
    residual, within = _taken_out(_centred(y, codes), _centred(x, codes))
    rank, within_rank = basis.shape[1], within.shape[1]
    # Of the space that clusters and predictors span together, clusters beyond predictors.
    between_df = len(names) + within_rank - rank
    residual_df = n - len(names) - within_rank
    if not (residual_df > 0 and between_df > 0 and left > RANK * float(y @ y)):
        note = "no_variance" if np.ptp(found) == 0 else "no_replication"
        return Intraclass(nan, nan, nan, len(names), n, note)
    sums = np.zeros((len(names), rank))
    np.add.at(sums, codes, basis)
    size = (n - float((sums**2).sum())) / between_df
    error, between = residual / residual_df, (left - residual) / between_df
    icc = (between - error) / (between + (size - 1) * error)
    ends = fisher.ppf([(1 + level) / 2, (1 - level) / 2], between_df, residual_df) * error
    low, high = (between - ends) / (between + (size - 1) * ends)
    return Intraclass(float(icc), float(low), float(high), len(names), n)


def _centred(values: Array, codes: NDArray[np.intp]) -> Array:
    """Values about the mean of their cluster."""
    sums = np.zeros((codes.max() + 1, *values.shape[1:]))
    np.add.at(sums, codes, values)
    sizes = np.bincount(codes).reshape(-1, *[1] * (values.ndim - 1))
    return values - (sums / sizes)[codes]


def _taken_out(y: Array, x: Array) -> tuple[float, Array]:
    """The sum of squares of y without what x explains, and an orthonormal basis of x."""
    vectors, sizes, _ = np.linalg.svd(x, full_matrices=False)
    basis = vectors[:, sizes > RANK * max(float(sizes.max(initial=0)), RANK)]
    rest = y - basis @ (basis.T @ y)
    return float(rest @ rest), basis


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
