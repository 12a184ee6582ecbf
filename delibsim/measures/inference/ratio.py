"""The interval of a ratio of two estimates, by Fieller's theorem.

Source: Fieller 1954, Some problems in interval estimation, doi:10.1111/j.2517-6161.1954.tb00159.x.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


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
    from scipy.special import stdtr, stdtrit

    (of_above, shared), (_, of_below) = np.asarray(covariance, dtype=float)
    nan = float("nan")
    estimate = above / below if below else nan
    if not (of_above > 0 and of_below >= 0):
        return Ratio(estimate, nan, nan, nan, "no_error")
    p = float(2 * stdtr(df, -abs(above) / of_above**0.5))
    square = float(stdtrit(df, (1 + level) / 2)) ** 2
    # All ratios r with (above - r below)^2 <= t^2 (var(above) - 2 r cov + r^2 var(below)).
    leading = below**2 - square * of_below
    if not leading > 0:
        return Ratio(estimate, nan, nan, p, "denominator_may_be_0")
    middle = above * below - square * shared
    root = np.sqrt(max(middle**2 - leading * (above**2 - square * of_above), 0.0))
    return Ratio(estimate, float((middle - root) / leading), float((middle + root) / leading), p)
