"""Who is less represented by a summary, and what order, place and topics have to do with it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import (
    SampleStatistics,
    by_t,
    jackknifed,
    least_squares,
    welch,
)

Marks = NDArray[np.bool_]
TOO_SMALL, CONSTANT = "group_too_small", "no_variance"
FEWEST = 2
"""Values of a group without which there is no variance."""


@dataclass(frozen=True)
class RepresentationGap:
    """Mean of the others less the mean of a group: above 0, the group is represented less.

    Welch's t with its interval; NaN with the reason in `note`, "group_too_small" or
    "no_variance".
    """

    estimate: float
    low: float
    high: float
    t: float
    df: float
    p: float
    n: int
    others: int
    note: str = ""


def gap(scores: ArrayLike, group: ArrayLike) -> RepresentationGap:
    """The gap of the opinions in a group (n,), True where they are; scores that are NaN are left
    out.

    >>> found = gap([0.5, 0.4, 0.6, 0.7], [True, True, False, False])
    >>> round(found.estimate, 2), round(found.df, 2)
    (0.2, 2.0)
    """
    values, marks = np.asarray(scores, dtype=float), np.asarray(group, dtype=bool)
    marks, values = marks[~np.isnan(values)], values[~np.isnan(values)]
    n, others = int(marks.sum()), int((~marks).sum())
    nan = float("nan")
    if n == 0 or others == 0:
        return RepresentationGap(nan, nan, nan, nan, nan, nan, n, others, TOO_SMALL)
    estimate = float(values[~marks].mean() - values[marks].mean())
    if n < FEWEST or others < FEWEST:
        return RepresentationGap(estimate, nan, nan, nan, nan, nan, n, others, TOO_SMALL)
    if np.ptp(values[marks]) == 0 and np.ptp(values[~marks]) == 0:
        return RepresentationGap(estimate, nan, nan, nan, nan, nan, n, others, CONSTANT)
    found = welch(SampleStatistics.of(values[~marks]), SampleStatistics.of(values[marks]))
    low, high = found.interval()
    t = found.estimate / found.error
    return RepresentationGap(estimate, low, high, t, found.df, found.p, n, others)


class RandomGaps(NamedTuple):
    """The gaps of random groups: their mean, where the middle 95% of them lie, and p of the gap
    that is.
    """

    mean: float
    low: float
    high: float
    p: float


def random_gaps(scores: ArrayLike, group: ArrayLike, draws: int, seed: int) -> RandomGaps:
    """The gaps of as many opinions drawn at random, and the two-sided p of the gap that is,
    (1 + #{|T*| >= |T|}) / (1 + draws); NaN where there is no gap.
    """
    values, marks = np.asarray(scores, dtype=float), np.asarray(group, dtype=bool)
    marks, values = marks[~np.isnan(values)], values[~np.isnan(values)]
    n, size = len(values), int(marks.sum())
    if size == 0 or size == n:
        return RandomGaps(*[float("nan")] * 4)
    total = values.sum()
    observed = (total - values[marks].sum()) / (n - size) - values[marks].mean()
    rng = np.random.default_rng(seed)
    keys = rng.random((draws, n), dtype=np.float32)
    drawn = values[np.argpartition(keys, size - 1, axis=1)[:, :size]].sum(axis=1)
    found = (total - drawn) / (n - size) - drawn / size
    reached = int((np.abs(found) >= abs(observed) - 1e-12).sum())
    low, high = np.quantile(found, [0.025, 0.975])
    return RandomGaps(float(found.mean()), float(low), float(high), (1 + reached) / (1 + draws))


def within(
    scores: ArrayLike, group: ArrayLike, held: ArrayLike | None, covariate: ArrayLike | None
) -> tuple[float, float, float]:
    """The gap of a group with a grouping (`held`) and a covariate held equal: estimate, standard
    error (HC1), p; NaN where they leave nothing over.

    Least squares of the scores on the group, indicators of `held` and the covariate.
    """
    values, marks = np.asarray(scores, dtype=float), np.asarray(group, dtype=float)
    columns = [marks]
    if held is not None:
        names, codes = np.unique(np.asarray(held), return_inverse=True)
        columns += [(codes == code).astype(float) for code in range(1, len(names))]
    if covariate is not None:
        columns.append(np.asarray(covariate, dtype=float))
    x = np.column_stack([np.ones(len(values)), *columns])
    known = ~np.isnan(values) & ~np.isnan(x).any(axis=1)
    x, y = x[known], values[known]
    n, k = x.shape
    nan = float("nan")
    if n <= k or np.linalg.matrix_rank(x) < k:
        return nan, nan, nan
    slopes, errors = least_squares(x, y)
    estimate = -float(slopes[1])  # of the others less the group
    error = float(errors[1])
    return estimate, error, by_t(estimate, error, n - k).p


@dataclass(frozen=True)
class Overlap:
    """How far two flags of `a` and `b` among `n` opinions meet: `common` of them have both.

    `expected` is what chance gives, a b / n, and `p` the hypergeometric chance of so many or more.
    """

    n: int
    a: int
    b: int
    common: int
    jaccard: float
    rate: float
    expected: float
    p: float


def overlap(n: int, a: int, b: int, common: int) -> Overlap:
    """The overlap of two flags; ValueError for counts that cannot be.

    >>> found = overlap(1063, 121, 108, 19)
    >>> round(found.jaccard, 4), round(found.expected, 2), round(found.p, 4)
    (0.0905, 12.29, 0.0282)
    """
    from scipy.stats import hypergeom

    if not 0 <= common <= min(a, b) <= max(a, b) <= n or a + b - common > n:
        raise ValueError(f"flags of {a} and {b} among {n} have no {common} in common")
    either = a + b - common
    nan = float("nan")
    return Overlap(
        n=n,
        a=a,
        b=b,
        common=common,
        jaccard=common / either if either else nan,
        rate=common / n if n else nan,
        expected=a * b / n if n else nan,
        p=float(hypergeom.sf(common - 1, n, a, b)) if n else nan,
    )


MOST_SIGNS = 20
"""Topics up to which all signs are flipped."""


@dataclass(frozen=True)
class Trend:
    """A slope with its standard error, p and 95% interval over `n` values of `clusters` opinions.

    NaN where it is undefined, and `note` says why.
    """

    slope: float
    se: float
    p: float
    low: float
    high: float
    n: int
    clusters: int
    note: str = ""


def within_slope(
    values: ArrayLike, positions: ArrayLike, units: ArrayLike, blocks: ArrayLike
) -> Trend:
    """The slope of values on positions with unit (opinion) and block (run) held equal.

    The error is the jackknife over units, and interval and p are by t with the degrees of freedom
    that units of unequal spread leave (Satterthwaite 1946, doi:10.2307/3002019): with the few
    opinions of a question the sandwich by t with G - 1 is too short. A unit that stands once says
    nothing. All arguments are of shape (n,).
    """
    y, x = np.asarray(values, dtype=float), np.asarray(positions, dtype=float)
    known = ~np.isnan(y) & ~np.isnan(x)
    y, x = y[known], x[known]
    unit = np.unique(np.asarray(units)[known], return_inverse=True)[1]
    block = np.unique(np.asarray(blocks)[known], return_inverse=True)[1]
    nan = float("nan")
    g = int(unit.max()) + 1 if len(unit) else 0
    if g < 2 or len(y) <= g + 1:
        return Trend(nan, nan, nan, nan, nan, len(y), g, "no_replication")
    own = (block[:, None] == np.arange(1, int(block.max()) + 1)).astype(float)
    columns = np.column_stack([x, own, y])
    counts = np.bincount(unit)
    sums = np.zeros((g, columns.shape[1]))
    np.add.at(sums, unit, columns)
    columns = columns - (sums / counts[:, None])[unit]
    products = np.zeros((g, columns.shape[1], columns.shape[1]))
    np.add.at(products, unit, columns[:, :, None] * columns[:, None, :])
    whole = products.sum(axis=0)
    slopes = _first_slopes(np.concatenate([whole[None], whole - products]))
    if np.isnan(slopes[0]):
        return Trend(nan, nan, nan, nan, nan, len(y), g, "constant_predictor")
    slope, error = float(slopes[0]), jackknifed(float(slopes[0]), slopes[1:]).error
    if not error > 0:
        return Trend(slope, nan, nan, nan, nan, len(y), g, "no_residual_variance")
    spread = products[:, 0, 0]
    df = min(g - 1.0, float(spread.sum() ** 2 / (spread @ spread)))
    found = by_t(slope, error, df)
    return Trend(slope, error, found.p, found.low, found.high, len(y), g)


def _first_slopes(products: np.ndarray) -> np.ndarray:
    """The slope on the first of the columns with the others held equal, of the last column, from
    sums of products (m, k, k); NaN where the first follows from the others.
    """
    xx, xz, zz = products[:, 0, 0], products[:, :1, 1:-1], products[:, 1:-1, 1:-1]
    xy, zy = products[:, 0, -1], products[:, 1:-1, -1:]
    weights = xz @ np.linalg.pinv(zz, hermitian=True)
    left = xx - (weights @ xz.swapaxes(1, 2))[:, 0, 0]
    moved = xy - (weights @ zy)[:, 0, 0]
    defined = left > 1e-12 * np.maximum(xx, 1)
    return np.where(defined, moved / np.where(defined, left, 1), np.nan)


def sign_flip_p(differences: ArrayLike) -> float:
    """The exact two-sided p of a mean of differences by flipping all signs; NaN without one, and
    beyond 20.

    >>> sign_flip_p([0.1, 0.2, 0.3])
    0.25
    """
    found = np.asarray(differences, dtype=float)
    if not 1 <= len(found) <= MOST_SIGNS:
        return float("nan")
    sums = np.zeros(1)
    for one in found:
        sums = np.concatenate([sums + one, sums - one])
    return float((np.abs(sums) >= abs(found.sum()) - 1e-12).mean())


@dataclass(frozen=True)
class MeanInterval:
    """A mean of `n` values with its t interval and p; NaN with the reason in `note`."""

    mean: float
    low: float
    high: float
    p: float
    n: int
    note: str = ""


def t_mean(values: ArrayLike) -> MeanInterval:
    """The mean of values (n,) with its 95% interval by t, and p of a mean of 0; NaN are left out.

    >>> found = t_mean([0.03, 0.01, 0.05])
    >>> round(found.mean, 3), round(found.low, 3)
    (0.03, -0.02)
    """
    found = np.asarray(values, dtype=float)
    found = found[~np.isnan(found)]
    nan, n = float("nan"), len(found)
    if n < 2:
        mean = float(found[0]) if n else nan
        return MeanInterval(mean, nan, nan, nan, n, "one_topic" if n else "not_rated")
    mean, error = float(found.mean()), float(found.std(ddof=1)) / n**0.5
    if not error > 1e-15:
        return MeanInterval(mean, nan, nan, nan, n, "no_variance")
    of_t = by_t(mean, error, n - 1)
    return MeanInterval(mean, of_t.low, of_t.high, of_t.p, n)
