"""Agreement within a group, and how far its participants moved and kept their order of preference.

Ratings have the shape (..., n participants, k items); leading axes are many groups of one size,
computed at once. Considerations and preferences share these functions. One missing answer makes the
whole group's value NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.dri import rank_correlations
from delibsim.measures.pairs import (
    Array,
    Value,
    as_one_group,
    as_ratings,
    has_constant_row,
    has_missing,
    mean_or_nan,
    over_pairs,
    pair_indices,
)


def agreement(ratings: ArrayLike) -> Value:
    """Mean Spearman correlation between participants over the unordered pairs, in [-1, 1].

    NaN if one of them answered all items alike.
    """
    return mean_or_nan(over_pairs(rank_correlations(ratings)))


def opinion_change(pre: ArrayLike, post: ArrayLike) -> Value:
    """Mean over participants and items of |post - pre|, in points of the raw scale.

    Both hold the same participants in the same order.
    """
    pre, post = _two_phases(pre, post)
    return mean_or_nan(np.abs(post - pre).mean(axis=-1))


def rank_stability(pre: ArrayLike, post: ArrayLike) -> Value:
    """Mean over participants of Kendall's tau-b between own ratings before and after, in [-1, 1].

    NaN if one of them rated all items alike.
    """
    pre, post = _two_phases(pre, post)
    before, after = _orders(pre), _orders(post)
    untied = (before**2).sum(axis=-1) * (after**2).sum(axis=-1)
    tau = (before * after).sum(axis=-1) / np.sqrt(np.where(untied == 0, np.nan, untied))
    return mean_or_nan(np.clip(tau, -1, 1))


def why_undefined(ratings: ArrayLike) -> str:
    """Why `agreement` of one group is NaN: '' where defined, else the first that applies of

    'too_few_participants', 'missing_answer', 'constant_ratings'.
    """
    ratings = as_one_group(ratings)
    if len(ratings) < 2:
        return "too_few_participants"
    return _why_unranked(ratings)


def why_opinion_change_undefined(pre: ArrayLike, post: ArrayLike) -> str:
    """Why `opinion_change` of one group is NaN: '' where defined, else the first that applies of

    'too_few_participants' (none at all), 'missing_answer'.
    """
    pre, post = _two_phases(as_one_group(pre), as_one_group(post))
    if len(pre) == 0:
        return "too_few_participants"
    return "missing_answer" if has_missing(pre) or has_missing(post) else ""


def why_rank_stability_undefined(pre: ArrayLike, post: ArrayLike) -> str:
    """Why `rank_stability` of one group is NaN: '' where defined, else the first that applies of

    'too_few_participants' (none at all), 'missing_answer', 'constant_ratings'.
    """
    pre, post = _two_phases(as_one_group(pre), as_one_group(post))
    if len(pre) == 0:
        return "too_few_participants"
    return _why_unranked(np.concatenate([pre, post]))


def _why_unranked(ratings: Array) -> str:
    if has_missing(ratings):
        return "missing_answer"
    return "constant_ratings" if has_constant_row(ratings) else ""


def _two_phases(pre: ArrayLike, post: ArrayLike) -> tuple[Array, Array]:
    pre, post = as_ratings(pre), as_ratings(post)
    if pre.shape != post.shape:
        raise ValueError(
            f"not the same participants and items: before {pre.shape}, after {post.shape}"
        )
    return pre, post


def _orders(ratings: Array) -> Array:
    """For each unordered pair of items 1, 0 or -1: first rated higher, alike, lower."""
    first, second = pair_indices(ratings.shape[-1])
    return np.sign(ratings.take(first, axis=-1) - ratings.take(second, axis=-1))
