"""Equivalence: two one-sided t tests against a smallest effect of interest.

Source: Schuirmann (1987), https://doi.org/10.1007/BF01068419.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


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
ROUNDING = 1e-13
"""The share of the largest value below which values do not differ."""


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
    if np.ptp(found) <= ROUNDING * np.abs(found).max():
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
