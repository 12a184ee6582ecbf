"""Agreement of raters in one number each, with NaN for what is undefined.

Arrays hold one row a unit (a debate, a statement) and one column a rater. A missing rating is NaN.
What cannot be computed is NaN, and `why_undefined` names the reason. Standard errors, intervals and
weighted coefficients are those of `coefficients`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.reliability.codes import codes_of, table_of
from delibsim.measures.reliability.coefficients import ALPHA, coefficient

Array = NDArray[np.float64]


def krippendorff_alpha(ratings: ArrayLike) -> float:
    """Krippendorff's alpha for nominal categories (Krippendorff 2019, ch. 12).

    Units with fewer than two ratings are left out. 1 is perfect agreement, 0 that of chance; NaN
    without a unit rated twice, or when only one category was ever used.

    >>> round(krippendorff_alpha([[1, 1], [0, 0], [1, 0], [1, 1]]), 4)
    0.5333
    """
    return coefficient(codes_of(ratings), ALPHA, "nominal").value


def krippendorff_alpha_interval(ratings: ArrayLike) -> float:
    """Krippendorff's alpha for values on an interval scale (Krippendorff 2019, ch. 12).

    Units with fewer than two ratings are left out; NaN without a unit rated twice, or when all
    values are equal.

    >>> round(krippendorff_alpha_interval([[1, 2], [3, 3], [5, 4]]), 4)
    0.8333
    """
    table = table_of(ratings)
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
    return coefficient(codes_of(ratings), "percent").value


def gwet_ac1(ratings: ArrayLike, levels: Sequence[float] | None = None) -> float:
    """Gwet's AC1 for nominal categories, which prevalence does not drive to 0 (Gwet 2014, ch. 5).

    All rated units count for chance agreement. `levels` are the categories that could be chosen,
    by default those that occur; NaN without a unit rated twice, or with only one category.

    >>> unanimous = [[1, 1], [1, 1]]
    >>> gwet_ac1(unanimous), gwet_ac1(unanimous, levels=[0, 1])
    (nan, 1.0)
    """
    return coefficient(codes_of(ratings, levels), "ac").value


def why_undefined(ratings: ArrayLike) -> str:
    """Why agreement on categories is NaN: '' where defined, else the first that applies of

    'too_few_ratings', 'one_category'.
    """
    counts = _paired_counts(ratings)
    if not len(counts):
        return "too_few_ratings"
    return "one_category" if np.count_nonzero(counts.sum(axis=0)) < 2 else ""


def _counts(ratings: ArrayLike) -> Array:
    """How often each category was chosen in each unit that was rated at all; units x categories."""
    table = table_of(ratings)
    given = table[~np.isnan(table)]
    if not given.size:
        return np.zeros((0, 0))
    chosen = [(table == category).sum(axis=1) for category in np.unique(given)]
    counts = np.stack(chosen, axis=1)
    return counts[counts.sum(axis=1) > 0].astype(float)


def _paired_counts(ratings: ArrayLike) -> Array:
    """The counts of units with at least two ratings: only these can agree."""
    counts = _counts(ratings)
    return counts[counts.sum(axis=1) > 1]
