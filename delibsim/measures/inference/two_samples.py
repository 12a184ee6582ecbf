"""The difference of two means, from means, standard deviations and numbers alone.

With it a study can stand beside a published mean whose single values are not at hand.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Sample:
    """A mean, the standard deviation (n - 1 in its denominator) and the number of values."""

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: ArrayLike) -> "Sample":
        """Those of values (n,); the standard deviation of a single one is NaN."""
        found = np.asarray(values, dtype=float)
        sd = float(found.std(ddof=1)) if len(found) > 1 else float("nan")
        return cls(float(found.mean()), sd, len(found))


@dataclass(frozen=True)
class Difference:
    """A difference of means with its standard error and degrees of freedom."""

    estimate: float
    error: float
    df: float

    @property
    def p(self) -> float:
        """The two-sided p of t."""
        from scipy.stats import t

        return float(2 * t.sf(abs(self.estimate / self.error), self.df))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t."""
        from scipy.stats import t

        half = float(t.ppf((1 + level) / 2, self.df)) * self.error
        return self.estimate - half, self.estimate + half


def pooled(a: Sample, b: Sample) -> Difference:
    """The difference a less b with the variance pooled: Student's t.

    >>> round(pooled(Sample(2.939, 0.12, 660), Sample(2.980, 0.431, 910)).p, 4)
    0.0175
    """
    df = a.n + b.n - 2
    variance = ((a.n - 1) * a.sd**2 + (b.n - 1) * b.sd**2) / df
    return Difference(a.mean - b.mean, float(np.sqrt(variance * (1 / a.n + 1 / b.n))), df)


def welch(a: Sample, b: Sample) -> Difference:
    """The difference a less b with variances of their own (Welch 1947,
    https://doi.org/10.1093/biomet/34.1-2.28).

    >>> round(welch(Sample(2.939, 0.12, 660), Sample(2.980, 0.431, 910)).p, 4)
    0.0065
    """
    own_a, own_b = a.sd**2 / a.n, b.sd**2 / b.n
    squared = own_a + own_b
    df = squared**2 / (own_a**2 / (a.n - 1) + own_b**2 / (b.n - 1))
    return Difference(a.mean - b.mean, float(np.sqrt(squared)), df)
