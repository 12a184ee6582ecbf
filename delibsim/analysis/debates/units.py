"""Means over ratings with the error of whole motions, debates or raters, by t.

Ratings of one unit are not independent of each other, so the errors of a unit are added up before
they are squared. With one unit and equal numbers of ratings this is t on the means of the units.
Source: Cameron, Gelbach and Miller 2011, doi:10.1198/jbes.2010.07136.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import mean_within

Array = NDArray[np.float64]
FEWEST = 5
"""Units below which nothing is said of others like them: there is no interval."""
ROUNDING = 1e-10
"""The share of the largest value below which a standard error is 0."""


@dataclass(frozen=True)
class MeanOverUnits:
    """A mean over ratings with its 95% interval and its p, by t on `df` degrees of freedom.

    `unit` is "motion", "debate", "rater" or "motion and rater"; `units` is the smaller number of
    them, and `df` is one less. Over debates within motions `unit` is "debate within motion", and
    `df` is the number of debates less that of motions. `note` is "" or why there is no interval:
    "few_motions" (or debates, raters), "no_variance" or "not_given".
    """

    mean: float
    se: float
    low: float
    high: float
    df: float
    p: float
    unit: str
    units: int
    note: str = ""


def mean_over(values: ArrayLike, **units: ArrayLike) -> MeanOverUnits:
    """The mean of the values (n,) that are not NaN, over one kind of unit or over two at once.

    Each of `units` names the unit of each value, by kind: motion=..., rater=.... With two kinds the
    variance is that of the one plus that of the other less that of both together, and never below
    that of either.

    >>> found = mean_over([1, 3, 2, 4, 6, 2], debate=[1, 1, 2, 2, 3, 3])
    >>> found.mean, round(found.se, 3), found.df, found.note
    (3.0, 0.577, 2.0, 'few_debates')
    """
    array = np.asarray(values, dtype=float)
    there = ~np.isnan(array)
    own = array[there]
    codes = [pd.factorize(np.asarray(named)[there])[0] for named in units.values()]
    counts = [int(code.max(initial=-1)) + 1 for code in codes]
    few, unit = min(counts), " and ".join(units)
    nan = float("nan")
    if not own.size:
        return MeanOverUnits(nan, nan, nan, nan, nan, nan, unit, 0, "not_given")
    mean, df = float(own.mean()), float(few - 1)
    se = _error(own - mean, codes)
    if few < FEWEST:
        short = min(units, key=lambda kind: counts[list(units).index(kind)])
        return MeanOverUnits(mean, se, nan, nan, df, nan, unit, few, f"few_{short}s")
    if se <= ROUNDING * max(1.0, float(np.abs(own).max())):
        return MeanOverUnits(mean, 0.0, nan, nan, df, nan, unit, few, "no_variance")
    half, p = of_t(mean, se, df)
    return MeanOverUnits(mean, se, mean - half, mean + half, df, p, unit, few)


def mean_on_these(values: ArrayLike, debates: ArrayLike, motions: ArrayLike) -> MeanOverUnits:
    """The mean of the values that are not NaN, with the error of debates on these very motions.

    Debates vary about the mean of their motion (`measures.inference.means.mean_within`), each
    counting for its share of the ratings. Where debates are fewer than four more than motions, it
    is `mean_over` debates, whose error is then too large.
    """
    given = pd.DataFrame({"value": values, "debate": debates, "motion": motions}).dropna()
    plain = mean_over(given["value"], debate=given["debate"])
    if plain.note:
        return plain
    own = given.groupby("debate").agg({"value": ["mean", "size"], "motion": "first"})
    own.columns = ["mean", "size", "motion"]
    strata, _ = pd.factorize(own["motion"])
    found = mean_within(own["mean"], strata, own["size"] / len(given))
    if found.df < FEWEST - 1 or np.isnan(found.p):
        return plain
    kind, size = "debate within motion", len(own)
    ends = (found.low, found.high)
    return MeanOverUnits(plain.mean, found.error, *ends, found.df, found.p, kind, size)


def of_t(estimate: float, se: float, df: float) -> tuple[float, float]:
    """Half of the 95% interval of an estimate, and its two-sided p, by t."""
    from scipy.special import stdtr, stdtrit

    return float(stdtrit(df, 0.975)) * se, float(2 * stdtr(df, -abs(estimate) / se))


def _error(residuals: Array, codes: list[NDArray[np.intp]]) -> float:
    """The standard error of a mean from its residuals, with the units of each."""
    if min(int(code.max()) for code in codes) < 1:
        return float("nan")
    alone = [_variance(residuals, code) for code in codes]
    if len(codes) == 1:
        return float(np.sqrt(alone[0]))
    first, second = codes
    both = pd.factorize(first * (int(second.max()) + 1) + second)[0]
    together = sum(alone) - _variance(residuals, both)
    return float(np.sqrt(max(together, *alone)))


def _variance(residuals: Array, codes: NDArray[np.intp]) -> float:
    sums = np.bincount(codes, residuals)
    units = len(sums)
    return float(units / (units - 1) * (sums**2).sum() / len(residuals) ** 2)
