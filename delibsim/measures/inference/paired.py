"""The mean difference of pairs, with its interval by t.

Source: Student 1908, https://doi.org/10.1093/biomet/6.1.1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


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


ROUNDING = 1e-13
"""The share of the largest value below which values do not differ."""


def paired_difference(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> PairedDifference:
    """The mean of `first` less `second`, value by value (n,), without NaN; NaN where n is 0.

    >>> found = paired_difference([3.0, 5.0, 4.0], [1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    """
    from scipy.special import stdtrit

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
    if np.ptp(differences) <= ROUNDING * largest:
        return PairedDifference(n, mean, 0.0, np.nan, np.nan)
    sd = float(differences.std(ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / n**0.5
    return PairedDifference(n, mean, sd, mean - half, mean + half)
