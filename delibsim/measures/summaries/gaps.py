"""Who is less represented: the gap of two groups, its random control, and overlapping flags."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.two_samples import Sample, welch

Marks = NDArray[np.bool_]
TOO_SMALL, CONSTANT = "group_too_small", "no_variance"
FEWEST = 2
"""Values of a group without which there is no variance."""


@dataclass(frozen=True)
class Gap:
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


def gap(scores: ArrayLike, group: ArrayLike) -> Gap:
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
        return Gap(nan, nan, nan, nan, nan, nan, n, others, TOO_SMALL)
    estimate = float(values[~marks].mean() - values[marks].mean())
    if n < FEWEST or others < FEWEST:
        return Gap(estimate, nan, nan, nan, nan, nan, n, others, TOO_SMALL)
    if np.ptp(values[marks]) == 0 and np.ptp(values[~marks]) == 0:
        return Gap(estimate, nan, nan, nan, nan, nan, n, others, CONSTANT)
    found = welch(Sample.of(values[~marks]), Sample.of(values[marks]))
    low, high = found.interval()
    t = found.estimate / found.error
    return Gap(estimate, low, high, t, found.df, found.p, n, others)


def random_gaps(scores: ArrayLike, group: ArrayLike, draws: int, seed: int) -> tuple[float, float]:
    """The mean gap of as many opinions drawn at random, and the two-sided p of the gap that is,
    (1 + #{|T*| >= |T|}) / (1 + draws); NaN twice where there is no gap.
    """
    values, marks = np.asarray(scores, dtype=float), np.asarray(group, dtype=bool)
    marks, values = marks[~np.isnan(values)], values[~np.isnan(values)]
    n, size = len(values), int(marks.sum())
    if size == 0 or size == n:
        return float("nan"), float("nan")
    total = values.sum()
    observed = (total - values[marks].sum()) / (n - size) - values[marks].mean()
    rng = np.random.default_rng(seed)
    keys = rng.random((draws, n), dtype=np.float32)
    drawn = values[np.argpartition(keys, size - 1, axis=1)[:, :size]].sum(axis=1)
    found = (total - drawn) / (n - size) - drawn / size
    reached = int((np.abs(found) >= abs(observed) - 1e-12).sum())
    return float(found.mean()), (1 + reached) / (1 + draws)


def within(
    scores: ArrayLike, group: ArrayLike, held: ArrayLike | None, covariate: ArrayLike | None
) -> tuple[float, float, float]:
    """The gap of a group with a grouping (`held`) and a covariate held equal: estimate, standard
    error (HC1), p; NaN where they leave nothing over.

    Least squares of the scores on the group, indicators of `held` and the covariate.
    """
    from scipy.stats import t as student

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
    bread = np.linalg.inv(x.T @ x)
    slopes = bread @ x.T @ y
    residuals = y - x @ slopes
    meat = (x * (residuals**2)[:, None]).T @ x
    error = float(np.sqrt((bread @ meat @ bread)[1, 1] * n / (n - k)))
    estimate = -float(slopes[1])  # of the others less the group
    if not error > 0:
        return estimate, nan, nan
    return estimate, error, float(2 * student.sf(abs(estimate / error), n - k))


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
