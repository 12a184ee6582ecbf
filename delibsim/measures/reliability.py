"""Reliability of ratings: how far raters agree, and how far items measure one thing.

Arrays of raters hold one row a unit (a debate, a statement) and one column a rater; arrays of items
hold one row a rated thing and one column an item. A missing rating is NaN. What cannot be computed
is NaN, and `why_undefined` names the reason.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def krippendorff_alpha(ratings: ArrayLike) -> float:
    """Krippendorff's alpha for nominal categories (Krippendorff 2019, ch. 12).

    Units with fewer than two ratings are left out. 1 is perfect agreement, 0 that of chance; NaN
    without a unit rated twice, or when only one category was ever used.

    >>> round(krippendorff_alpha([[1, 1], [0, 0], [1, 0], [1, 1]]), 4)
    0.5333
    """
    counts = _paired_counts(ratings)
    totals = counts.sum(axis=0)
    n = totals.sum()
    if np.count_nonzero(totals) < 2:
        return float("nan")
    raters = counts.sum(axis=1)
    disagreement = ((raters**2 - (counts**2).sum(axis=1)) / (raters - 1)).sum() / n
    expected = (n**2 - (totals**2).sum()) / (n * (n - 1))
    return float(1 - disagreement / expected)


def krippendorff_alpha_interval(ratings: ArrayLike) -> float:
    """Krippendorff's alpha for values on an interval scale (Krippendorff 2019, ch. 12).

    Units with fewer than two ratings are left out; NaN without a unit rated twice, or when all
    values are equal.

    >>> round(krippendorff_alpha_interval([[1, 2], [3, 3], [5, 4]]), 4)
    0.8333
    """
    table = _table(ratings)
    table = table[(~np.isnan(table)).sum(axis=1) > 1]
    given = table[~np.isnan(table)]
    if not given.size or np.ptp(given) == 0:
        return float("nan")
    raters = (~np.isnan(table)).sum(axis=1)
    within = (np.nanvar(table, axis=1) * raters**2 / (raters - 1)).sum() / given.size
    return float(1 - within / given.var(ddof=1))


def majority_agreement(ratings: ArrayLike) -> float:
    """Mean over units of the share of raters who chose the most frequent category.

    With two categories it is no less than 0.5, which is therefore no agreement at all. Units with
    fewer than two ratings are left out; NaN without a unit rated twice. It is the raw agreement of
    published debates; `raw_agreement` counts pairs of raters instead.

    >>> majority_agreement([[1, 1, 0, 0], [1, 1, 1, 0]])
    0.625
    """
    counts = _paired_counts(ratings)
    if not len(counts):
        return float("nan")
    return float((counts.max(axis=1) / counts.sum(axis=1)).mean())


def raw_agreement(ratings: ArrayLike) -> float:
    """Mean over units of the share of pairs of raters who chose the same category.

    NaN without a unit rated twice.

    >>> raw_agreement([[1, 1, 0], [0, 0, 0]])
    0.6666666666666666
    """
    counts = _paired_counts(ratings)
    if not len(counts):
        return float("nan")
    raters = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))).mean())


def gwet_ac1(ratings: ArrayLike) -> float:
    """Gwet's AC1 for nominal categories, which prevalence does not drive to 0 (Gwet 2014, ch. 5).

    All rated units count for chance agreement. The categories are those that occur; NaN without a
    unit rated twice, or when only one category occurs.
    """
    counts = _counts(ratings)
    if counts.shape[1] < 2:
        return float("nan")
    shares = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    chance = (shares * (1 - shares)).sum() / (counts.shape[1] - 1)
    return float((raw_agreement(ratings) - chance) / (1 - chance))


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


def why_undefined(ratings: ArrayLike) -> str:
    """Why agreement on categories is NaN: '' where defined, else the first that applies of

    'too_few_ratings', 'one_category'.
    """
    counts = _paired_counts(ratings)
    if not len(counts):
        return "too_few_ratings"
    return "one_category" if np.count_nonzero(counts.sum(axis=0)) < 2 else ""


def why_inconsistent(table: ArrayLike) -> str:
    """Why `cronbach_alpha` is NaN: '' where defined, else the first that applies of

    'too_few_ratings', 'no_variance'.
    """
    complete = _complete(table)
    if min(complete.shape) < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(complete) == 0 or complete.sum(axis=1).var() == 0 else ""


def _counts(ratings: ArrayLike) -> Array:
    """How often each category was chosen in each unit that was rated at all; units x categories."""
    table = _table(ratings)
    given = table[~np.isnan(table)]
    if not given.size:
        return np.zeros((0, 0))
    chosen = [(table == category).sum(axis=1) for category in np.unique(given)]
    counts = np.stack(chosen, axis=1)
    return counts[counts.sum(axis=1) > 0].astype(float)


def _table(ratings: ArrayLike) -> Array:
    """Ratings as an array of units by raters; ValueError for any other shape."""
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings are units by raters, not of shape {table.shape}")
    return table


def _paired_counts(ratings: ArrayLike) -> Array:
    """The counts of units with at least two ratings: only these can agree."""
    counts = _counts(ratings)
    return counts[counts.sum(axis=1) > 1]


def _complete(table: ArrayLike) -> Array:
    """The rows without a missing value."""
    array = np.asarray(table, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"a table has rows and columns, not the shape {array.shape}")
    return array[~np.isnan(array).any(axis=1)]
