"""Agreement of raters and of labels in one number each, consistency of items, words for sizes.

Arrays hold one row a unit (a debate, a statement) and one column a rater or an item. A missing
rating is NaN. What cannot be computed is NaN, and `why_undefined` and `why_inconsistent` name the
reason. Standard errors, intervals and weighted coefficients are those of `coefficients`. Sources of
the words: Landis and Koch (1977), https://doi.org/10.2307/2529310; of their probabilities Gwet
(2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.correlations import kappa_max
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
    return coefficient(codes_of(ratings), ALPHA, "interval").value


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


WORDS = (
    ("almost perfect", 0.8),
    ("substantial", 0.6),
    ("moderate", 0.4),
    ("fair", 0.2),
    ("slight", 0.0),
    ("poor", -1.0),
)
"""The words, from the highest down, each with the lower end of its band."""
PROBABILITY = 0.95
"""So probable it must be that a coefficient lies in a band or above."""


def probabilities(value: float, error: float) -> dict[str, float]:
    """The probability of each word that the coefficient lies in its band or above, given that it
    lies between -1 and 1. NaN without a standard error above 0.

    >>> {word: round(p, 5) for word, p in probabilities(0.77544, 0.14295).items()}["substantial"]
    0.88336
    """
    if not error > 0 or math.isnan(value):
        return dict.fromkeys([word for word, _ in WORDS], math.nan)
    least, most = _phi((value - 1) / error), _phi((value + 1) / error)
    found = {}
    for word, low in WORDS:
        found[word] = (_phi((value - low) / error) - least) / (most - least)
    return found


def word_of(value: float, error: float, probability: float = PROBABILITY) -> str:
    """The highest word whose probability is at least `probability`; "" without a standard error.

    >>> word_of(0.77544, 0.14295), word_of(0.77544, 0.01)
    ('moderate', 'substantial')
    """
    for word, p in probabilities(value, error).items():
        if p >= probability:
            return word
    return ""


def _phi(z: float) -> float:
    """The distribution function of the standard normal."""
    return math.erfc(-z / math.sqrt(2)) / 2


LABELS = (1, 0, -1)
"""A, tie and B, as counts of votes know them."""


@dataclass(frozen=True, eq=False)
class LabelAgreement:
    """How far the labels of two judges on the same `n` sheets agree.

    `agreement` is the share of equal labels, `kappa` Cohen's, nominal, over three labels, `most`
    the largest kappa that these shares of labels allow, `alpha` Krippendorff's. `of_one` and
    `of_other` (3,) are the shares of A, tie and B. `always_a` and `always_tie` are what a judge
    reaches against `one` who always says so, `chance` one who draws labels with the shares of
    `other`. All are NaN without a sheet, kappa and alpha where there is one label only.
    """

    n: int
    agreement: float
    kappa: float
    most: float
    alpha: float
    of_one: NDArray[np.float64]
    of_other: NDArray[np.float64]

    @property
    def always_a(self) -> float:
        """The share that a judge reaches who always names the text shown first."""
        return float(self.of_one[0])

    @property
    def always_tie(self) -> float:
        """The share that a judge reaches who always gives a tie."""
        return float(self.of_one[1])

    @property
    def chance(self) -> float:
        """The share that a judge reaches who draws labels with the shares of the other."""
        return float(self.of_one @ self.of_other)


def agreement_of_labels(one: ArrayLike, other: ArrayLike) -> LabelAgreement:
    """The agreement of labels (n,), each 1 (A), 0 (tie) or -1 (B); `one` is what is measured by.

    Sources: Cohen (1960), https://doi.org/10.1177/001316446002000104; Krippendorff (2019).
    ValueError for another label.

    >>> found = agreement_of_labels([1, 1, 0, -1], [1, 0, 0, -1])
    >>> found.agreement, round(found.kappa, 3), found.always_a
    (0.75, 0.636, 0.5)
    """
    table = np.column_stack([np.asarray(one), np.asarray(other)])
    if table.size and not np.isin(table, LABELS).all():
        raise ValueError("a label is 1 (A), 0 (tie) or -1 (B)")
    n = len(table)
    if not n:
        unknown = np.full(3, math.nan)
        return LabelAgreement(0, *[math.nan] * 4, unknown, unknown)
    shares = np.array([(table == label).mean(axis=0) for label in LABELS]).T
    codes = codes_of(table, sorted(LABELS))
    return LabelAgreement(
        n=n,
        agreement=float((table[:, 0] == table[:, 1]).mean()),
        kappa=coefficient(codes, "kappa").value,
        most=kappa_max(*shares),
        alpha=coefficient(codes, ALPHA, "nominal").value,
        of_one=shares[0],
        of_other=shares[1],
    )
