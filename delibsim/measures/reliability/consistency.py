"""Consistency of items: how far they measure one thing, and how far they repeat each other.

Arrays hold one row a rated thing and one column an item. A missing value is NaN. What cannot be
computed is NaN, and `why_inconsistent` names the reason.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def cronbach_alpha(items: ArrayLike) -> float:
    """Cronbach's alpha of items over the rows without a missing one.

    NaN with fewer than two rows or items, or without variance. Source: Cronbach (1951),
    https://doi.org/10.1007/BF02310555.

    >>> round(cronbach_alpha([[1, 2], [2, 2], [3, 4], [4, 5]]), 4)
    0.967
    """
    complete = _complete(items)
    n, k = complete.shape
    if n < 2 or k < 2:
        return float("nan")
    total = complete.sum(axis=1).var(ddof=1)
    if total <= 0:
        return float("nan")
    share = complete.var(axis=0, ddof=1).sum() / total
    return float(k / (k - 1) * (1 - share))


def variance_inflation(predictors: ArrayLike) -> Array:
    """Variance inflation factor of each column of predictors (n, k); NaN where they are collinear.

    An intercept is understood. It is the diagonal of the inverse of their correlation matrix
    (Belsley, Kuh and Welsch 1980).
    """
    x = _complete(predictors)
    if len(x) <= x.shape[1] or not (x.std(axis=0) > 0).all():
        return np.full(x.shape[1], np.nan)
    correlations = np.atleast_2d(np.corrcoef(x, rowvar=False))
    if np.linalg.matrix_rank(correlations) < len(correlations):
        return np.full(x.shape[1], np.nan)
    return np.diag(np.linalg.inv(correlations)).copy()


def why_inconsistent(table: ArrayLike) -> str:
    """Why `cronbach_alpha` is NaN: '' where defined, else the first that applies of

    'too_few_ratings', 'no_variance'.
    """
    complete = _complete(table)
    if min(complete.shape) < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(complete) == 0 or complete.sum(axis=1).var() == 0 else ""


def _complete(table: ArrayLike) -> Array:
    """The rows without a missing value."""
    array = np.asarray(table, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"a table has rows and columns, not the shape {array.shape}")
    return array[~np.isnan(array).any(axis=1)]
