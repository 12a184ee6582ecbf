"""A line fitted by least squares, with plain errors or with errors clustered by a group.

A module of its own beside statsmodels, because people are dealt into groups of five a thousand
times and each time a line is fitted; the tests hold its numbers to those of statsmodels.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
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
        from scipy.stats import t as student  # scipy takes half a second to import

        if not self.se > 0:
            return np.nan
        return float(2 * student.sf(abs(self.slope / self.se), self.df))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of the slope, by t on `df` degrees of freedom."""
        from scipy.stats import t as student

        if np.isnan(self.se):
            return np.nan, np.nan
        half = float(student.ppf((1 + level) / 2, self.df)) * self.se
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
