"""A group's ratings as an array, and means over its unordered pairs of participants."""

import functools
from dataclasses import dataclass

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


WEAK = 0.2
"""Correlation (absolute value, the larger of the two) up to which the adjusted index discounts a
pair.
"""

SCALE = np.sqrt(2) / 2
"""Half the longest distance (rc, rp) can lie from the diagonal on which both agree: it scales the
mean distance to the index.
"""

AT_ONCE = 65_536
"""So many pairs of ratings are compared at once, those of more ratings item by item."""

REMEMBERED = 2_048
"""The correlations of so few ratings are remembered."""

TIE = 1e-10
"""Indices closer than this count as equal in the permutation test: sums of the same pairs in
another order differ by about 1e-15.
"""


@dataclass(frozen=True, eq=False)
class PermutationNull:
    """The result of a permutation test of one group.

    `observed` is the index, `null` (permutations,) are the indices under shuffled preferences, and
    `p` is the share of these that is at least as large as observed.
    """

    observed: float
    null: Array
    p: float


def rank_correlations(ratings: ArrayLike) -> Array:
    """Spearman correlations (..., n, n) between the participants of (..., n, k).

    Ties have mid-ranks. NaN in the rows and columns of a participant who answered all items alike
    or left one out.
    """
    ratings = as_ratings(ratings)
    if ratings.size > REMEMBERED:
        return _rank_correlations(ratings)
    return _of_few(ratings.shape, ratings.tobytes()).copy()


@functools.lru_cache(maxsize=64)
def _of_few(shape: tuple[int, ...], ratings: bytes) -> Array:
    """The correlations of a small group, which several measures of one run ask for."""
    return _rank_correlations(np.frombuffer(ratings).reshape(shape))


def _rank_correlations(ratings: Array) -> Array:
    ranks = _centred_ranks(ratings)
    ranks[np.isnan(ratings).any(axis=-1)] = np.nan
    products = ranks @ np.swapaxes(ranks, -1, -2)
    squares = np.diagonal(products, axis1=-2, axis2=-1)
    squares = np.where(squares == 0, np.nan, squares)
    # Half-integer ranks make the products exact, so equal orders correlate at exactly 1: the root
    # is taken of the product of squares.
    correlations = products / np.sqrt(squares[..., :, None] * squares[..., None, :])
    return np.clip(correlations, -1, 1)


def dri(considerations: ArrayLike, preferences: ArrayLike) -> Value:
    """Deliberative Reason Index, 1 - 2 * mean over pairs of |RC - RP|, in [-3, 1].

    Source: Niemeyer and Veri (2022).

    >>> dri([[1, 2, 3], [1, 3, 2]], [[1, 2], [1, 2]])
    0.0
    """
    return _group_index(considerations, preferences, adjusted=False)


def dri_adjusted(considerations: ArrayLike, preferences: ArrayLike) -> Value:
    """The index with pairs of two weak correlations discounted, in [-3, 1].

    It is the default of the R package deliberr. Plain `dri` rewards joint noise, because two
    correlations of 0 count as perfect consistency; here they count least.
    """
    return _group_index(considerations, preferences, adjusted=True)


def individual_dri(
    considerations: ArrayLike, preferences: ArrayLike, adjusted: bool = False
) -> Array:
    """Each participant's index (..., n), over the n - 1 pairs that hold this participant.

    Its mean is the group's index.
    """
    values = pair_index(*_correlations(considerations, preferences), adjusted)
    n = values.shape[-1]
    if n < 2:
        return np.full(values.shape[:-1], np.nan)
    return np.where(np.eye(n, dtype=bool), 0, values).sum(axis=-1) / (n - 1)


def relative_change(pre: ArrayLike, post: ArrayLike) -> Value:
    """Change as a share of the way to 1 for a gain, to -1 for a loss; NaN where there is none.

    It is delta / (1 - pre) for a gain, and delta / (1 + pre) for a loss.
    """
    pre, post = np.asarray(pre, dtype=np.float64), np.asarray(post, dtype=np.float64)
    delta = post - pre
    room = np.where(delta >= 0, 1 - pre, 1 + pre)
    return as_value(delta / np.where(room == 0, np.nan, room))


def why_undefined(considerations: ArrayLike, preferences: ArrayLike) -> str:
    """Why the index of one group is NaN: '' where it is defined, else the first that applies of

    'too_few_participants', 'missing_answer', 'constant_considerations', 'constant_preferences'.
    """
    considerations, preferences = _two_ratings(
        as_one_group(considerations), as_one_group(preferences)
    )
    if len(considerations) < 2:
        return "too_few_participants"
    if has_missing(considerations) or has_missing(preferences):
        return "missing_answer"
    if has_constant_row(considerations):
        return "constant_considerations"
    return "constant_preferences" if has_constant_row(preferences) else ""


def permutation_null(
    considerations: ArrayLike,
    preferences: ArrayLike,
    permutations: int = 10_000,
    seed: int = 0,
    adjusted: bool = False,
) -> PermutationNull:
    """Test whether a group's index is larger than if preferences were assigned at random.

    Whole preference rows are shuffled among participants; `p` is the share of permutations with an
    index at least as large as the observed (within `TIE`), so it can be 0. All NaN where the index
    is undefined (`why_undefined` says why).
    """
    if permutations < 1:
        raise ValueError(f"permutations must be at least 1, not {permutations}")
    rc, rp = _correlations(as_one_group(considerations), as_one_group(preferences))
    observed = float(mean_or_nan(over_pairs(pair_index(rc, rp, adjusted))))
    if np.isnan(observed):
        return PermutationNull(observed, np.full(permutations, np.nan), observed)
    rng = np.random.default_rng(seed)
    n = len(rc)
    # Few enough at a time that the working arrays stay in the processor's cache.
    step = max(1, 65_536 // n)
    chunks = [min(step, permutations - start) for start in range(0, permutations, step)]
    null = np.concatenate(
        [_shuffled_indices(rc, rp, _shuffles(rng, n, size), adjusted) for size in chunks]
    )
    return PermutationNull(observed, null, float(np.mean(null >= observed - TIE)))


def _shuffles(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    return np.ascontiguousarray(rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1).T)


def _shuffled_indices(rc: Array, rp: Array, shuffles: np.ndarray, adjusted: bool) -> Array:
    """The group's index under each column of `shuffles` (n, permutations).

    Correlations are looked up and not computed again.
    """
    n = len(rc)
    flat = rp.ravel()
    total = np.zeros(shuffles.shape[1])
    for i in range(n - 1):
        # mode="clip" only spares take its check of bounds: all positions are valid.
        shuffled = flat.take(shuffles[i] * n + shuffles[i + 1 :], mode="clip")
        total += pair_index(rc[i, i + 1 :, None], shuffled, adjusted).sum(axis=0)
    return total / (n * (n - 1) / 2)


def _group_index(considerations: ArrayLike, preferences: ArrayLike, adjusted: bool) -> Value:
    rc, rp = _correlations(considerations, preferences)
    return mean_or_nan(pair_index(over_pairs(rc), over_pairs(rp), adjusted))


def pair_index(rc: Array, rp: Array, adjusted: bool = False) -> Array:
    """Each pair's share in the index, from its two rank correlations.

    The index of a group is the mean of these over its pairs.
    """
    difference = np.abs(rc - rp)
    if not adjusted:
        return 1 - 2 * difference
    strength = np.minimum(np.maximum(np.abs(rc), np.abs(rp)) / WEAK, 1)
    distance = 1 - (1 - difference / np.sqrt(2)) * strength
    return (SCALE - 2 * distance) / SCALE


def _correlations(considerations: ArrayLike, preferences: ArrayLike) -> tuple[Array, Array]:
    considerations, preferences = _two_ratings(considerations, preferences)
    return rank_correlations(considerations), rank_correlations(preferences)


def _two_ratings(considerations: ArrayLike, preferences: ArrayLike) -> tuple[Array, Array]:
    considerations, preferences = as_ratings(considerations), as_ratings(preferences)
    if considerations.shape[:-1] != preferences.shape[:-1]:
        raise ValueError(
            f"not the same participants: considerations {considerations.shape}, preferences"
            f" {preferences.shape}"
        )
    return considerations, preferences


def _centred_ranks(ratings: Array) -> Array:
    """Mid-ranks less their mean: half of (items rated lower less items rated higher)."""
    items = ratings.shape[-1]
    if ratings.size * items <= AT_ONCE:
        one, other = ratings[..., :, None], ratings[..., None, :]
        return ((one > other).view(np.int8) - (one < other).view(np.int8)).sum(axis=-1) / 2
    twice = np.zeros(ratings.shape)
    for item in range(items):
        rating = ratings[..., item : item + 1]
        twice += ratings > rating
        twice -= ratings < rating
    return twice / 2
