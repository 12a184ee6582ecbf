"""The size of a difference between two groups in standard deviations."""

import numpy as np
from numpy.typing import ArrayLike


def cohens_d(a: ArrayLike, b: ArrayLike) -> float:
    """The mean of `a` less that of `b`, divided by their pooled standard deviation.

    NaN for fewer than two values in a group, and where no group varies. Source: Cohen 1988,
    Statistical Power Analysis for the Behavioral Sciences, equation 2.5.1.

    >>> round(cohens_d([3, 5, 7], [1, 3, 5]), 2)
    1.0
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if min(len(first), len(second)) < 2:
        return np.nan
    squares = sum(((group - group.mean()) ** 2).sum() for group in (first, second))
    pooled = np.sqrt(squares / (len(first) + len(second) - 2))
    return float((first.mean() - second.mean()) / pooled) if pooled > 0 else np.nan
