"""Order, place and topics: slopes within opinions, first against second, differences by topic."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

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

    Both are taken out of values and positions by alternating means, errors are clustered by unit
    with the factor G/(G-1), and t has G - 1 degrees of freedom. A unit that stands once says
    nothing. All arguments are of shape (n,).
    """
    from scipy.stats import t as student

    y, x = np.asarray(values, dtype=float), np.asarray(positions, dtype=float)
    known = ~np.isnan(y) & ~np.isnan(x)
    y, x = y[known], x[known]
    unit = np.unique(np.asarray(units)[known], return_inverse=True)[1]
    block = np.unique(np.asarray(blocks)[known], return_inverse=True)[1]
    nan = float("nan")
    g = int(unit.max()) + 1 if len(unit) else 0
    if g < 2 or len(y) <= g + 1:
        return Trend(nan, nan, nan, nan, nan, len(y), g, "no_replication")
    y, x = _centred(y, unit, block), _centred(x, unit, block)
    spread = float(x @ x)
    if spread <= 1e-12:
        return Trend(nan, nan, nan, nan, nan, len(y), g, "constant_predictor")
    slope = float(x @ y) / spread
    sums = np.bincount(unit, x * (y - slope * x))
    se = float(np.sqrt((sums**2).sum() * g / (g - 1))) / spread
    if not se > 0:
        return Trend(slope, nan, nan, nan, nan, len(y), g, "no_residual_variance")
    half = float(student.ppf(0.975, g - 1)) * se
    p = float(2 * student.sf(abs(slope / se), g - 1))
    return Trend(slope, se, p, slope - half, slope + half, len(y), g)


def _centred(values: np.ndarray, unit: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Values without the means of their units and blocks, in turn until nothing moves."""
    found = values - values.mean()
    for _ in range(200):
        before = found
        for codes in (unit, block):
            means = np.bincount(codes, found) / np.bincount(codes)
            found = found - means[codes]
        if np.abs(found - before).max() < 1e-12:
            break
    return found


def sign_flip_p(differences: ArrayLike) -> float:
    """The exact two-sided p of a mean of differences by flipping all signs; NaN without one, and
    beyond 20.

    >>> sign_flip_p([0.1, 0.2, 0.3])
    0.25
    """
    found = np.asarray(differences, dtype=float)
    if not 1 <= len(found) <= MOST_SIGNS:
        return float("nan")
    reached = total = 0
    observed = abs(found.sum()) - 1e-12
    head = found[:10]
    signs = np.array(list(product((1.0, -1.0), repeat=len(head))))
    sums = signs @ head
    for rest in product((1.0, -1.0), repeat=len(found) - len(head)):
        moved = np.abs(sums + np.array(rest) @ found[10:])
        reached += int((moved >= observed).sum())
        total += len(moved)
    return reached / total


@dataclass(frozen=True)
class Mean:
    """A mean of `n` values with its t interval and p; NaN with the reason in `note`."""

    mean: float
    low: float
    high: float
    p: float
    n: int
    note: str = ""


def t_mean(values: ArrayLike) -> Mean:
    """The mean of values (n,) with its 95% interval by t, and p of a mean of 0; NaN are left out.

    >>> found = t_mean([0.03, 0.01, 0.05])
    >>> round(found.mean, 3), round(found.low, 3)
    (0.03, -0.02)
    """
    from scipy.stats import t as student

    found = np.asarray(values, dtype=float)
    found = found[~np.isnan(found)]
    nan, n = float("nan"), len(found)
    if n < 2:
        mean = float(found[0]) if n else nan
        return Mean(mean, nan, nan, nan, n, "one_topic" if n else "not_rated")
    mean, error = float(found.mean()), float(found.std(ddof=1)) / n**0.5
    if not error > 1e-15:
        return Mean(mean, nan, nan, nan, n, "no_variance")
    half = float(student.ppf(0.975, n - 1)) * error
    p = float(2 * student.sf(abs(mean / error), n - 1))
    return Mean(mean, mean - half, mean + half, p, n)


@dataclass(frozen=True)
class Place:
    """How often of the decided comparisons the summary shown as A won: share, exact interval by
    Clopper and Pearson (1934), exact two-sided p; NaN where none was decided.
    """

    first: int
    decided: int
    share: float
    low: float
    high: float
    p: float


def place(first: int, decided: int) -> Place:
    """The advantage of the first place.

    >>> found = place(1845, 3402)
    >>> round(found.low, 4), round(found.high, 4)
    (0.5254, 0.5592)
    """
    from scipy.stats import binomtest

    if not decided:
        return Place(first, decided, *[float("nan")] * 4)
    found = binomtest(first, decided)
    ends = found.proportion_ci()
    return Place(first, decided, first / decided, ends.low, ends.high, float(found.pvalue))
