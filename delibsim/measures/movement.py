"""How opinions of a group moved: how far as a whole, how many answers, towards each other or not.

Answers have the shape (n participants, k items), as shares of the scale from 0 to 1. One missing
answer makes the whole group's value NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.dri import has_missing

EQUAL = 1e-9
"""What rounding leaves of a difference."""


def drift(pre: ArrayLike, post: ArrayLike) -> float:
    """Mean over items of how far the mean of the group moved, whatever its direction."""
    return float(np.abs(_change(pre, post).mean(axis=0)).mean())


def moved(pre: ArrayLike, post: ArrayLike) -> float:
    """The share of answers that are others after than before."""
    return float((np.abs(_change(pre, post)) > EQUAL).mean())


def toward(pre: ArrayLike, post: ArrayLike) -> float:
    """Of all movement the part towards what the others had answered before on average, less the
    part away from it: 1 where all of it went there, -1 where all went away; NaN where nobody moved.

    Answers that come back from a chance extreme count too (regression to the mean), so that the
    value says something beside others only.

    >>> toward([[0.0], [1.0]], [[0.5], [1.0]])
    1.0
    """
    before, change = np.asarray(pre, dtype=float), _change(pre, post)
    size = np.abs(change).sum()
    if not size > EQUAL:
        return float("nan")
    others = (before.sum(axis=0) - before) / (len(before) - 1)
    return float((np.sign(others - before) * change).sum() / size)


def spread(answers: ArrayLike) -> float:
    """Mean over items of the standard deviation (n - 1) of answers within the group."""
    return float(np.asarray(answers, dtype=float).std(axis=0, ddof=1).mean())


def why_undefined(pre: ArrayLike, post: ArrayLike) -> str:
    """Why a group has no value: '' where it has, else 'too_few_participants', 'missing_answer'."""
    before, after = np.asarray(pre, dtype=float), np.asarray(post, dtype=float)
    if len(before) < 2:
        return "too_few_participants"
    return "missing_answer" if has_missing(before) or has_missing(after) else ""


def _change(pre: ArrayLike, post: ArrayLike) -> np.ndarray:
    return np.asarray(post, dtype=float) - np.asarray(pre, dtype=float)
