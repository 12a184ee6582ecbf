"""Bootstrap over clusters: whole topics are drawn with replacement, and all their values with them.

Values of one topic are not independent of each other, so the topic is what is resampled (Davison
and Hinkley 1997, section 3.8, https://doi.org/10.1017/CBO9780511802843).
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import by_t, t_quantile

Array = NDArray[np.float64]

KEPT, AT_ONCE = 4_000_000, 1_000_000
"""The most numbers that are kept for the next interval, and that a step of a bootstrap holds."""


def resampled_counts(clusters: int, resamples: int, seed: int) -> Generator[Array]:
    """How often each cluster was drawn, in parts (m, clusters) that have `resamples` rows in all.

    As many clusters are drawn as there are, with replacement and with equal probabilities. The
    parts are not to be written to.
    """
    if clusters * resamples <= KEPT:
        yield _all_at_once(clusters, resamples, seed)
        return
    rng = np.random.default_rng(seed)
    step = max(1, AT_ONCE // clusters)
    for start in range(0, resamples, step):
        yield _drawn(clusters, min(step, resamples - start), rng)


@lru_cache(maxsize=4)  # hundreds of intervals of one study resample the same topics
def _all_at_once(clusters: int, resamples: int, seed: int) -> Array:
    return _drawn(clusters, resamples, np.random.default_rng(seed))


def _drawn(clusters: int, rows: int, rng: np.random.Generator) -> Array:
    equal = np.full(clusters, 1 / clusters)
    return rng.multinomial(clusters, equal, size=rows).astype(float)


def resampled_means(values: ArrayLike, clusters: ArrayLike, resamples: int, seed: int) -> Array:
    """The mean of all values in each of `resamples` samples of clusters.

    `values` (n,) have no NaN; `clusters` (n,) says of each which cluster it is of.
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    sums = _sums(np.asarray(values, dtype=float), codes)
    parts = []
    for counts in resampled_counts(len(sums), resamples, seed):
        totals, sizes = (counts @ sums).T
        parts.append(totals / sizes)
    return np.concatenate(parts)


def _sums(values: Array, codes: NDArray[np.intp]) -> Array:
    """The sum and the number of the values of each cluster, of shape (clusters, 2)."""
    sizes = np.bincount(codes).astype(np.float64)
    return np.column_stack([np.bincount(codes, values).astype(np.float64), sizes])


def cluster_interval(
    values: ArrayLike,
    clusters: ArrayLike,
    resamples: int,
    seed: int,
    level: float = 0.95,
) -> tuple[float, float]:
    """The percentile interval of a mean, by resampling clusters; NaN with fewer than two clusters.

    With few clusters it is too short: bench/validity.py measures how often it holds the truth.

    >>> low, high = cluster_interval([1, 2, 3, 4], ["a", "a", "b", "b"], 1000, seed=1)
    >>> low, high
    (1.5, 3.5)
    """
    found = np.asarray(clusters)
    if len(np.unique(found)) < 2:
        return float("nan"), float("nan")
    means = resampled_means(values, found, resamples, seed)
    return percentile_interval(means, level)


def percentile_interval(draws: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The middle `level` of bootstrap draws; draws that are NaN are left out."""
    found = np.asarray(draws, dtype=float)
    known = found[~np.isnan(found)]
    if not known.size:
        return float("nan"), float("nan")
    outside = 100 * (1 - level) / 2
    low, high = np.percentile(known, [outside, 100 - outside])
    return float(low), float(high)


FEWEST = 3
"""Points that a line with an error needs."""
ROUNDING = 1e-12
"""The share of a value by which equal ones may differ."""


@dataclass(frozen=True)
class Line:
    """Least squares of y on x with an intercept, over `n` points.

    `se` is the standard error of the slope. Where `clusters` is above 0 it is clustered: the
    sandwich with the factor G/(G-1) * (N-1)/(N-2), and p and interval come from t on `df` = G - 1
    degrees of freedom, as in Stata and in statsmodels (`use_t=True`). Otherwise it is the plain
    one, with t on `df` = N - 2. What is undefined is NaN, and `note` says why: "too_few_points",
    "constant_predictor", "constant_outcome" (the slope is 0, without an error) or "one_cluster".
    Source: Cameron and Miller 2015, doi:10.3368/jhr.50.2.317.
    """

    slope: float
    intercept: float
    se: float
    r2: float
    df: int
    n: int
    clusters: int = 0
    note: str = ""

    @property
    def p(self) -> float:
        """The two-sided p of a slope of 0, by t on `df` degrees of freedom."""
        return by_t(self.slope, self.se, self.df).p if self.se > 0 else np.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the slope, by t on `df` degrees of freedom."""
        if np.isnan(self.se):
            return np.nan, np.nan
        half = t_quantile(self.df, level) * self.se
        return self.slope - half, self.slope + half


def line(x: ArrayLike, y: ArrayLike, clusters: ArrayLike | None = None) -> Line:
    """The line of y on x; points where either is NaN are left out.

    `clusters` names the cluster of each point, in whole numbers or texts; None gives plain errors.

    >>> found = line([0, 1, 2, 3], [0, 1, 1, 2])
    >>> round(found.slope, 3), round(found.se, 3), round(found.r2, 3)
    (0.6, 0.141, 0.9)
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    there = ~np.isnan(first + second)
    first, second, n = first[there], second[there], int(there.sum())
    own, index = np.unique(np.arange(n), return_inverse=True)
    if clusters is not None:
        own, index = np.unique(np.asarray(clusters)[there], return_inverse=True)
    count = 0 if clusters is None else len(own)
    df = n - 2 if clusters is None else count - 1
    reason = _why_none(first, n)
    if reason:
        return Line(np.nan, np.nan, np.nan, np.nan, max(df, 0), n, count, reason)
    design = np.column_stack([np.ones(n), first])
    bread = np.linalg.inv(design.T @ design)
    coefficients = bread @ design.T @ second
    intercept, slope = float(coefficients[0]), float(coefficients[1])
    if _constant(second):
        return Line(0.0, float(second[0]), np.nan, np.nan, df, n, count, "constant_outcome")
    residuals = second - design @ coefficients
    deviations = second - second.mean()
    r2 = float(1 - residuals @ residuals / (deviations @ deviations))
    if clusters is None:
        se = float(np.sqrt(residuals @ residuals / (n - 2) * bread[1, 1]))
        return Line(slope, intercept, se, r2, df, n)
    if count < 2:
        return Line(slope, intercept, np.nan, r2, df, n, count, "one_cluster")
    return Line(slope, intercept, _clustered(design, residuals, bread, index), r2, df, n, count)


def _clustered(design: Array, residuals: Array, bread: Array, index: NDArray[np.intp]) -> float:
    """The standard error of the slope where the points of a cluster share their error."""
    n, g = len(residuals), int(index.max()) + 1
    scores = np.zeros((g, 2))
    np.add.at(scores, index, design * residuals[:, None])
    sandwich = bread @ scores.T @ scores @ bread * (g / (g - 1) * (n - 1) / (n - 2))
    return float(np.sqrt(sandwich[1, 1]))


def _why_none(x: Array, n: int) -> str:
    if n < FEWEST:
        return "too_few_points"
    return "constant_predictor" if _constant(x) else ""


def _constant(values: Array) -> bool:
    """Whether values are equal but for rounding."""
    return bool(np.ptp(values) <= ROUNDING * np.abs(values).max())


@dataclass(frozen=True)
class Ratio:
    """A ratio, its interval, and the p of the ratio being 0.

    `note` is "" or why there is no interval: "denominator_may_be_0" (the interval of the
    denominator holds 0: every ratio, or all but a middle piece, agrees with the data) or
    "no_error".
    """

    estimate: float
    low: float
    high: float
    p: float
    note: str = ""


def ratio(
    above: float, below: float, covariance: ArrayLike, df: float, level: float = 0.95
) -> Ratio:
    """The ratio of two estimates with their covariance (2, 2) and the degrees of freedom of t.

    >>> found = ratio(2.0, 4.0, [[0.04, 0.0], [0.0, 0.09]], 20)
    >>> round(found.low, 3), round(found.high, 3)
    (0.38, 0.645)
    """
    (of_above, shared), (_, of_below) = np.asarray(covariance, dtype=float)
    nan = float("nan")
    estimate = above / below if below else nan
    if not (of_above > 0 and of_below >= 0):
        return Ratio(estimate, nan, nan, nan, "no_error")
    p = by_t(above, of_above**0.5, df).p
    square = t_quantile(df, level) ** 2
    # All ratios r with (above - r below)^2 <= t^2 (var(above) - 2 r cov + r^2 var(below)).
    leading = below**2 - square * of_below
    if not leading > 0:
        return Ratio(estimate, nan, nan, p, "denominator_may_be_0")
    middle = above * below - square * shared
    root = np.sqrt(max(middle**2 - leading * (above**2 - square * of_above), 0.0))
    return Ratio(estimate, float((middle - root) / leading), float((middle + root) / leading), p)


RANK = 1e-12
"""The share of the variance of values below which conditions do not differ."""


@dataclass(frozen=True)
class TrueSlope:
    """The corrected slope, and the reliability: the share of variance before between conditions.

    `note` of the slope is "" or why there is none: "no_replication" (no condition was held twice,
    so that the error of measurement is unknown), "no_variance" (conditions differ by no more than
    their replicates), or why it has no interval, as of `Ratio`.
    """

    slope: Ratio
    reliability: float


def true_slope(
    before: ArrayLike, change: ArrayLike, conditions: ArrayLike, clusters: ArrayLike
) -> TrueSlope:
    """The slope of the change on the true value before, over conditions.

    `before` and `change` (n,) are of sessions and have no NaN, `conditions` (n,) names the
    condition of each (such as topic, model, setting and treatment) and `clusters` (n,) the unit
    over which the slope is to hold (the topic). The model is before = condition + e, change =
    condition's change + f: the true value of a condition is its mean over all replicates that could
    be held, and the error of measurement e is all in which replicates of a condition differ: the
    answers that a model gives when it is asked again, the order of speakers, and the people who
    were drawn. Both errors of a session go together: e enters the change with a minus, and people
    who were drawn before are still there afterwards. So the covariance of both errors is estimated
    from replicates, as their variances are, and taken out:

        slope = (MSB(before, change) - MSW(before, change)) / (MSB(before) - MSW(before))

    with the mean squares and products between and within conditions (Fuller 1987, Measurement
    Error Models, section 2.2). The interval is Fieller's, with the jackknife covariance of
    numerator and denominator over clusters and t with one degree of freedom less than clusters.
    Where people are the same in all replicates and both surveys err independently, cov(e, f) is
    -var(e) and this is (b + 1 - r) / r with the plain slope b and the reliability r (Blomqvist
    1977, On the relation between change and initial value, J. Am. Stat. Assoc. 72, 746-749).

    >>> change = [0.1, -0.1, 0.1, -0.1]
    >>> found = true_slope([0, 0.2, 1, 1.2], change, [0, 0, 1, 1], [0, 0, 1, 1])
    >>> round(found.reliability, 2), round(found.slope.estimate, 2)
    (0.96, 0.02)
    """
    x, d = np.asarray(before, dtype=float), np.asarray(change, dtype=float)
    codes = np.unique(np.asarray(conditions), return_inverse=True)[1]
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    nan = float("nan")
    shared, variance, error, note = _parts(x, d, codes)
    if note:
        return TrueSlope(Ratio(nan, nan, nan, nan, note), nan)
    reliability = variance / (variance + error)
    count = int(groups.max()) + 1
    kept = [groups != group for group in range(count)]
    parts = [_parts(x[one], d[one], codes[one]) for one in kept]
    others = np.array([part[:2] for part in parts]) - [shared, variance]
    if count < 2 or not np.isfinite(others).all():
        return TrueSlope(Ratio(shared / variance, nan, nan, nan, "no_error"), reliability)
    covariance = (count - 1) / count * others.T @ others
    return TrueSlope(ratio(shared, variance, covariance, count - 1), reliability)


def _parts(x: Array, d: Array, codes: NDArray[np.intp]) -> tuple[float, float, float, str]:
    """The covariance of both between conditions, the variance before between conditions, that
    within them, and why there is no slope.
    """
    nan = float("nan")
    own = np.unique(codes, return_inverse=True)[1]
    sizes = np.bincount(own)
    n, count = len(own), len(sizes)
    if n == count:
        return nan, nan, nan, "no_replication"
    if count < 2:
        return nan, nan, nan, "no_variance"
    of_x, of_d = (np.bincount(own, values) / sizes for values in (x, d))
    within_x, within_d = x - of_x[own], d - of_d[own]
    between = sizes * (of_x - x.mean())
    size = (n - (sizes**2).sum() / n) / (count - 1)
    error = within_x @ within_x / (n - count)
    variance = (between @ of_x / (count - 1) - error) / size
    shared = (between @ of_d / (count - 1) - within_x @ within_d / (n - count)) / size
    note = "" if variance > RANK * x.var() else "no_variance"
    return float(shared), float(variance), float(error), note
