"""A group's ratings as an array, and means over its unordered pairs of participants."""

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Value = float | Array

SMALL = 256
"""The pairs of so many are remembered."""


def as_ratings(answers: ArrayLike) -> Array:
    """Ratings as a float array of shape (..., n participants, k items), a missing answer being NaN.

    Raises ValueError where there are fewer than two axes or no item at all.
    """
    ratings = np.asarray(answers, dtype=np.float64, order="C")
    if ratings.ndim < 2 or ratings.shape[-1] == 0:
        raise ValueError(
            "ratings need the shape (..., participants, items) with at least one item, not"
            f" {ratings.shape}"
        )
    return ratings


def as_one_group(answers: ArrayLike) -> Array:
    """Ratings of one group as a float array (n, k); ValueError where there are leading axes."""
    ratings = as_ratings(answers)
    if ratings.ndim != 2:
        raise ValueError(f"one group needs the shape (participants, items), not {ratings.shape}")
    return ratings


def as_value(values: ArrayLike) -> Value:
    """One value a group: a float for a single group, an array of the leading axes for many."""
    array = np.asarray(values, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


def pair_indices(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second members i < j of the n(n-1)/2 unordered pairs; not to be written to."""
    return _pairs_of_few(n) if n <= SMALL else np.triu_indices(n, k=1)


@functools.lru_cache(maxsize=64)
def _pairs_of_few(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(n, k=1)
    first.flags.writeable = second.flags.writeable = False  # all callers get the same arrays
    return first, second


def over_pairs(matrix: Array) -> Array:
    """The entries (..., pairs) of symmetric matrices (..., n, n) at the unordered pairs."""
    n = matrix.shape[-1]
    i, j = pair_indices(n)
    # take keeps the pairs contiguous, so a group's mean has the same bits alone as among many;
    # matrix[..., i, j] would not.
    return matrix.reshape(*matrix.shape[:-2], n * n).take(i * n + j, axis=-1)


def mean_or_nan(values: Array) -> Value:
    """Mean over the last axis (pairs or participants); NaN where it is empty.

    A group of one participant has no pair.
    """
    if values.shape[-1] == 0:
        return as_value(np.full(values.shape[:-1], np.nan))
    return as_value(values.mean(axis=-1))


def has_missing(ratings: Array) -> bool:
    """Whether any answer is missing."""
    return bool(np.isnan(ratings).any())


def has_constant_row(ratings: Array) -> bool:
    """Whether any participant (row) answered all items alike.

    Such a participant has no rank correlation with others.
    """
    return bool((ratings == ratings[..., :1]).all(axis=-1).any())
