"""Perspective diversity: how far apart the participants of a group answer, on average over pairs.

Answers have the shape (..., n participants, k items), considerations and preference ranks side by
side; leading axes are many groups of one size, computed at once. One missing answer makes the whole
group's value NaN.
"""

import numpy as np
from numpy.typing import ArrayLike

from delibsim.measures.pairs import (
    Array,
    Value,
    as_one_group,
    as_ratings,
    has_missing,
    mean_or_nan,
    pair_indices,
)


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


def why_undefined(answers: ArrayLike, population: ArrayLike | None = None) -> str:
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
