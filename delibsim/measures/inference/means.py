"""Means and their differences, by t: of units, within strata, of pairs, of samples, equivalence.

Sources: Student 1908, https://doi.org/10.1093/biomet/6.1.1; for strata Cochran 1977, Sampling
Techniques, chapter 5, with one variance for all strata; for equivalence Schuirmann (1987),
https://doi.org/10.1007/BF01068419.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

ALIKE = 1e-13
"""The share of the largest value below which values do not differ."""
PERFECT = 1e-9
"""The share of the largest value below which an error is what rounding leaves."""
NAN = float("nan")


@dataclass(frozen=True)
class MeanEstimate:
    """A mean, its standard error and degrees of freedom, the ends of its interval, and its p.

    What is undefined is NaN: all but the mean where nothing says how far the values vary.
    """

    estimate: float
    error: float = NAN
    df: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN


def mean_of_units(values: ArrayLike, level: float = 0.95) -> MeanEstimate:
    """The mean of independent values (n,) without NaN, with n - 1 degrees of freedom.

    Fewer than two values, and values that are all equal, give no error.

    >>> found = mean_of_units([2.0, 3.0, 1.0])
    >>> [round(value, 3) for value in (found.estimate, found.low, found.high, found.p)]
    [2.0, -0.484, 4.484, 0.074]
    """
    found = np.asarray(values, dtype=float)
    if not found.size:
        return MeanEstimate(NAN)
    equal = np.full(len(found), 1 / len(found))
    return mean_within(found, np.zeros(len(found)), equal, level)


def mean_within(
    values: ArrayLike, strata: ArrayLike, weights: ArrayLike, level: float = 0.95
) -> MeanEstimate:
    """The weighted sum of values (n,), each independent of the others around its stratum's mean.

    `strata` (n,) says of which stratum a value is, and `weights` (n,) what it counts for. The
    variance within strata is pooled; the degrees of freedom are the values less the strata. A
    stratum with one value says nothing of it.

    >>> mean_within([1.0, 3.0, 5.0, 9.0], [0, 0, 1, 1], [0.25] * 4).df
    2.0
    """
    found, given = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)
    estimate = float(given @ found)
    codes = np.unique(np.asarray(strata), return_inverse=True)[1]
    sizes = np.bincount(codes)
    df = float(len(found) - len(sizes))
    apart = found - (np.bincount(codes, found) / sizes)[codes]
    if df <= 0 or np.abs(apart).max() <= ALIKE * np.abs(found).max():
        return MeanEstimate(estimate, df=df if df > 0 else NAN)
    return by_t(estimate, float(np.sqrt(apart @ apart / df * (given @ given))), df, level)


def least_squares(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of `y` (n,) on the columns of `x` (n, k), which are independent, k below n,
    and their standard errors where variances differ (HC1: MacKinnon & White, 1985).

    A perfect fit has no errors: they are NaN, whatever the rounding leaves.
    """
    n, k = x.shape
    bread = np.linalg.inv(x.T @ x)
    coefficients = bread @ x.T @ y
    moved = x @ bread * (y - x @ coefficients)[:, None]
    errors = np.sqrt((moved**2).sum(axis=0) * n / (n - k))
    return coefficients, np.where(errors > PERFECT * np.abs(y).max(), errors, np.nan)


def by_t(estimate: float, error: float, df: float, level: float = 0.95) -> MeanEstimate:
    """An estimate with its standard error, interval and two-sided p, by t."""
    from scipy.special import stdtr

    half = t_quantile(df, level) * error
    p = float(2 * stdtr(df, -abs(estimate / error)))
    return MeanEstimate(estimate, error, df, estimate - half, estimate + half, p)


def t_quantile(df: float, level: float = 0.95) -> float:
    """How many standard errors the ends of an interval by t lie from its middle."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


@dataclass(frozen=True)
class PairedDifference:
    """The mean of so many differences, their standard deviation, and an interval.

    The interval is NaN with fewer than two differences, and where all are equal: then nothing says
    how far they vary. The standard deviation is NaN with fewer than two.
    """

    n: int
    mean: float
    sd: float
    low: float
    high: float


def paired_difference(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> PairedDifference:
    """The mean of `first` less `second`, value by value (n,), without NaN; NaN where n is 0.

    >>> found = paired_difference([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"pairs have two values each, not {a.shape} and {b.shape}")
    n = len(a)
    if not n:
        return PairedDifference(0, np.nan, np.nan, np.nan, np.nan)
    differences = a - b
    mean = float(differences.mean())
    if n < 2:
        return PairedDifference(n, mean, np.nan, np.nan, np.nan)
    largest = max(np.abs(a).max(), np.abs(b).max())
    if np.ptp(differences) <= ALIKE * largest:
        return PairedDifference(n, mean, 0.0, np.nan, np.nan)
    sd = float(differences.std(ddof=1))
    found = by_t(mean, sd / n**0.5, n - 1, level)
    return PairedDifference(n, mean, sd, found.low, found.high)


@dataclass(frozen=True)
class SampleStatistics:
    """A mean, the standard deviation (n - 1 in its denominator) and the number of values."""

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: ArrayLike) -> "SampleStatistics":
        """Those of values (n,); the standard deviation of a single one is NaN."""
        found = np.asarray(values, dtype=float)
        sd = float(found.std(ddof=1)) if len(found) > 1 else float("nan")
        return cls(float(found.mean()), sd, len(found))


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means with its standard error and degrees of freedom."""

    estimate: float
    error: float
    df: float

    @property
    def p(self) -> float:
        """The two-sided p of t."""
        return by_t(self.estimate, self.error, self.df).p

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t."""
        found = by_t(self.estimate, self.error, self.df, level)
        return found.low, found.high


def pooled(a: SampleStatistics, b: SampleStatistics) -> MeanDifference:
    """The difference a less b with the variance pooled: Student's t.

    >>> round(pooled(SampleStatistics(2.939, 0.12, 660), SampleStatistics(2.980, 0.431, 910)).p, 4)
    0.0175
    """
    df = a.n + b.n - 2
    variance = ((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df
    return MeanDifference(a.mean - b.mean, float(np.sqrt(variance * (1 / a.n + 1 / b.n))), df)


def welch(a: SampleStatistics, b: SampleStatistics) -> MeanDifference:
    """The difference a less b with variances of their own (Welch 1947,
    https://doi.org/10.1093/biomet/34.1-2.28). A sample of one has no error, and values that do not
    vary have no degrees of freedom.

    >>> round(welch(SampleStatistics(2.939, 0.12, 660), SampleStatistics(2.980, 0.431, 910)).p, 4)
    0.0065
    """
    nothing = float("nan")
    if min(a.n, b.n) < 2:
        return MeanDifference(a.mean - b.mean, nothing, nothing)
    own_a, own_b = a.sd**2 / a.n, b.sd**2 / b.n
    squared = own_a + own_b
    if not squared:
        return MeanDifference(a.mean - b.mean, 0.0, nothing)
    df = squared**2 / (own_a**2 / (a.n - 1) + own_b**2 / (b.n - 1))
    return MeanDifference(a.mean - b.mean, float(np.sqrt(squared)), df)


def jackknifed(estimate: float, without_each: ArrayLike, level: float = 0.95) -> MeanEstimate:
    """An estimate over clusters, given its values without each of them in turn (n,).

    The deviations are those from the estimate itself, and t has n - 1 degrees of freedom. Of a
    slope this is the cluster-robust error CV3, which is too small less often than the sandwich
    where clusters are few (MacKinnon, Nielsen and Webb 2023, doi:10.1016/j.jeconom.2022.04.001); of
    a mean of clusters it is Student's. There is no error with fewer than two clusters, where the
    estimate is undefined without one of them, and where none changes it.

    >>> found = jackknifed(2.0, [2.5, 2.0, 1.5])  # the mean of 1, 2, 3
    >>> round(found.low, 3), round(found.high, 3)
    (-0.484, 4.484)
    """
    others = np.asarray(without_each, dtype=float)
    n = len(others)
    if n < 2 or not np.isfinite(others).all() or not np.isfinite(estimate):
        return MeanEstimate(estimate)
    error = float(np.sqrt((n - 1) / n * ((others - estimate) ** 2).sum()))
    if error <= ALIKE * max(abs(estimate), float(np.abs(others).max())):
        return MeanEstimate(estimate, df=n - 1)
    return by_t(estimate, error, n - 1, level)


def difference_over(
    values: ArrayLike, second: ArrayLike, units: ArrayLike, level: float = 0.95
) -> MeanEstimate:
    """The mean of the values of one group less that of another, over units of which each may have
    values of both, such as sessions: by the jackknife, as in `jackknifed`.

    `second` (n,) says which values are of the group whose mean comes first, `units` (n,) of which
    unit each is. There is no error where one unit holds all values of a group.

    >>> found = difference_over([3, 5, 1, 2], [1, 1, 0, 0], ["a", "b", "a", "b"])
    >>> round(found.estimate, 2), round(found.error, 2)
    (2.5, 0.5)
    """
    own, first = np.asarray(values, dtype=float), np.asarray(second, dtype=float)
    numbers = np.unique(np.asarray(units), return_inverse=True)[1]
    parts = (first, 1 - first, own * first, own * (1 - first))
    sums = np.column_stack([np.bincount(numbers, part) for part in parts])
    with np.errstate(invalid="ignore", divide="ignore"):
        n, m, of_first, of_others = np.vstack([sums.sum(axis=0), sums.sum(axis=0) - sums]).T
        apart = of_first / n - of_others / m
    return jackknifed(float(apart[0]), apart[1:], level)


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    """The mean of `a` less that of `b`, divided by their pooled standard deviation.

    NaN for fewer than two values in a group, and where no group varies. Source: Cohen 1988,
    Statistical Power Analysis for the Behavioral Sciences, equation 2.5.1.

    >>> round(cohens_d([3, 5, 7], [1, 3, 5]), 2)
    1.0
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(len(first), len(second)) < 2:
        return np.nan
    squares = sum(((group - group.mean()) ** 2).sum() for group in (first, second))
    pooled = np.sqrt(squares / (len(first) + len(second) - 2))
    return float((first.mean() - second.mean()) / pooled) if pooled > 0 else np.nan


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of a mean against -margin and +margin.

    `p_lower` is that of "the mean is at most -margin", `p_upper` that of "the mean is at least
    margin"; `p`, the larger of both, is that of "the mean is not within the margin". `low` and
    `high` are the 90% interval, which lies within the margin exactly where p < .05.
    """

    estimate: float
    low: float
    high: float
    p_lower: float
    p_upper: float

    @property
    def p(self) -> float:
        """The larger of both p values."""
        return max(self.p_lower, self.p_upper)


UNDEFINED = Equivalence(*[float("nan")] * 5)


def equivalence_of_mean(values: ArrayLike, margin: float) -> Equivalence:
    """The test for the mean of independent values, such as the differences of topics.

    All is NaN with fewer than two values, and where all are equal, be it to 0: nothing says how far
    they vary, and so nothing is decided. ValueError for a margin that is not above 0.

    >>> found = equivalence_of_mean([0.01, -0.02, 0.00, 0.01], 0.02)
    >>> round(found.p_lower, 4), round(found.p_upper, 4)
    (0.0331, 0.0331)
    """
    _refuse_margin(margin)
    found = np.asarray(values, dtype=float)
    if len(found) < 2:
        return UNDEFINED
    if np.ptp(found) <= ALIKE * np.abs(found).max():
        return UNDEFINED
    error = float(found.std(ddof=1) / np.sqrt(len(found)))
    return equivalence(float(found.mean()), error, len(found) - 1, margin)


def equivalence(estimate: float, error: float, df: float, margin: float) -> Equivalence:
    """The test for an estimate with its standard error, by t with `df` degrees of freedom.

    Without an error above 0 nothing is decided, and all is NaN.
    """
    from scipy.stats import t

    _refuse_margin(margin)
    if not error > 0:
        return UNDEFINED
    half = float(t.ppf(0.95, df)) * error
    p_lower = float(t.sf((estimate + margin) / error, df))
    p_upper = float(t.cdf((estimate - margin) / error, df))
    return Equivalence(estimate, estimate - half, estimate + half, p_lower, p_upper)


def _refuse_margin(margin: float) -> None:
    if not margin > 0:
        raise ValueError(f"a margin is above 0, not {margin:g}")


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of `successes` out of `n`; NaN twice where n is 0.

    Source: Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953. ValueError for successes
    outside 0 to n.

    >>> [round(end, 7) for end in wilson(50, 50)]
    [0.9286524, 1.0]
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no proportion")
    if not n:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return low, high


def holm(p: Sequence[float]) -> list[float]:
    """P values after Holm's correction; those that are NaN stay so, outside the family.

    Source: Holm (1979), https://www.jstor.org/stable/4615733.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    # statsmodels collects all garbage of the process at each call, which takes longer than the
    # rest of a report.
    adjusted = np.array(p, dtype=float)
    given = np.flatnonzero(~np.isnan(adjusted))
    ascending = given[np.argsort(adjusted[given])]
    stepped = adjusted[ascending] * np.arange(len(ascending), 0, -1)
    adjusted[ascending] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted.tolist()


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The q of each p: the false discovery rate at which it would be called; NaN stays NaN.

    Source: Benjamini and Hochberg (1995), https://doi.org/10.1111/j.2517-6161.1995.tb02031.x.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    adjusted = np.array(p, dtype=float)
    given = ~np.isnan(adjusted)
    if given.any():
        adjusted[given] = false_discovery_control(adjusted[given])
    return adjusted.tolist()
