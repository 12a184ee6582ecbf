"""Agreement and diversity within a group, and how far its participants moved and kept their order.

Ratings have the shape (..., n participants, k items); leading axes are many groups of one size,
computed at once. Considerations and preferences share these functions. One missing answer makes the
whole group's value NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.dri import (
    Array,
    Value,
    as_one_group,
    as_ratings,
    has_constant_row,
    has_missing,
    mean_or_nan,
    over_pairs,
    pair_indices,
    rank_correlations,
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


def diversity(answers: ArrayLike) -> Value:
    """Mean over pairs of the Euclidean distance between raw answers, ranks included.

    The published values of people are by this measure. It grows with the number of items and the
    width of their scales; `diversity_range_normalised` does not.
    """
    return mean_or_nan(_distances(as_ratings(answers)))


def diversity_standardised(answers: ArrayLike, population: ArrayLike, ddof: int = 0) -> Value:
    """Diversity of answers z-scored item by item over a reference `population` of shape (N, k).

    `ddof` 0 takes the population's standard deviation, 1 the sample's. NaN where an item of the
    population has no variance or misses an answer. Raises ValueError where the items differ or
    `ddof` is neither 0 nor 1.
    """
    answers, population = as_ratings(answers), as_one_group(population)
    _same_items(answers, population)
    if ddof not in (0, 1):
        raise ValueError(f"ddof must be 0 or 1, not {ddof}")
    # The mean is left out: it cancels in every distance.
    return mean_or_nan(_distances(answers / _spreads(population, ddof)))


def spreads(population: ArrayLike) -> Array:
    """Standard deviation of each item in a population of shape (N, k), NaN where all answer alike.

    The `diversity` of answers divided by it is their `diversity_standardised`.
    """
    return _spreads(as_one_group(population), ddof=0)


def diversity_range_normalised(answers: ArrayLike, lows: ArrayLike, highs: ArrayLike) -> Value:
    """Root mean square difference of answers over the items' ranges, mean over pairs, in [0, 1].

    `lows` and `highs` are the ends of the items' scales, of shape (k,) or one number for all:
    comparable between instruments. Raises ValueError where a scale has no width.
    """
    answers = as_ratings(answers)
    widths = np.asarray(highs, dtype=np.float64) - np.asarray(lows, dtype=np.float64)
    if not (widths > 0).all():
        raise ValueError("every item's scale must end above its beginning")
    return mean_or_nan(_distances(answers / widths) / np.sqrt(answers.shape[-1]))


def why_diversity_undefined(answers: ArrayLike, population: ArrayLike | None = None) -> str:
    """Why a diversity of one group is NaN: '' where defined, else the first that applies of

    'too_few_participants', 'missing_answer', 'constant_item' (the last for
    `diversity_standardised`, of whose population it speaks).
    """
    answers = as_one_group(answers)
    if len(answers) < 2:
        return "too_few_participants"
    if has_missing(answers):
        return "missing_answer"
    if population is None:
        return ""
    population = as_one_group(population)
    _same_items(answers, population)
    if has_missing(population):
        return "missing_answer"
    return "constant_item" if np.isnan(_spreads(population, ddof=0)).any() else ""


def _distances(answers: Array) -> Array:
    i, j = pair_indices(answers.shape[-2])
    return np.sqrt(((answers.take(i, axis=-2) - answers.take(j, axis=-2)) ** 2).sum(axis=-1))


def _spreads(population: Array, ddof: int) -> Array:
    """Standard deviation of each item, NaN where all answer alike.

    The computed deviation of equal decimals need not be 0.
    """
    if len(population) < 2:
        return np.full(population.shape[1], np.nan)
    constant = (population == population[0]).all(axis=0)
    return np.where(constant, np.nan, population.std(axis=0, ddof=ddof))


def _same_items(answers: Array, population: Array) -> None:
    if answers.shape[-1] != population.shape[-1]:
        raise ValueError(
            f"not the same items: answers {answers.shape}, population {population.shape}"
        )
