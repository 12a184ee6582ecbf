"""Ratings and comparisons of summaries on one scale, and that scale from 0 to 1.

A rated summary has its rating r in 1..5. The one it was compared with has r plus or minus c - 3,
with c the comparison from 1 (A much better) to 5 (B much better). Neither is clamped, so that
labels lie in -1..7; y = (r + 1) / 8. Source: Zhu et al. (2025), https://arxiv.org/abs/2510.05154.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
SAME = 3
"""The comparison that prefers neither."""
LOWEST, SPAN = -1, 8
"""The least label, and how far the greatest lies above it."""


def derived(rating: ArrayLike, comparison: ArrayLike, rated_is_a: ArrayLike) -> Array:
    """The label of the summary that a rated one was compared with; NaN where either is missing.

    >>> derived([4, 4, 3], [1, 5, 4], [True, True, False]).tolist()
    [2.0, 6.0, 2.0]
    """
    lead = np.asarray(comparison, dtype=float) - SAME
    sign = np.where(np.asarray(rated_is_a, dtype=bool), 1.0, -1.0)
    return np.asarray(rating, dtype=float) + sign * lead


def linear(comparison: ArrayLike) -> Array:
    """The comparison itself as a label: 2c - 3, so that 1..5 becomes -1, 1, 3, 5, 7.

    >>> linear([1, 5]).tolist()
    [-1.0, 7.0]
    """
    return 2 * np.asarray(comparison, dtype=float) - SAME


def normalised(label: ArrayLike) -> Array:
    """A label from 0 to 1: (r + 1) / 8; a rating of 1..5 is thus 0.25..0.75.

    >>> normalised([-1, 1, 2, 3, 4, 5, 7]).tolist()
    [0.0, 0.25, 0.375, 0.5, 0.625, 0.75, 1.0]
    """
    return (np.asarray(label, dtype=float) - LOWEST) / SPAN


def label_of(score: ArrayLike) -> Array:
    """The label of a normalised score: 8y - 1.

    >>> label_of(0.625).tolist()
    4.0
    """
    return SPAN * np.asarray(score, dtype=float) + LOWEST
