"""Drawing a sample with known chances: sizes of strata, draws by doubt, systematic selection."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
RHO = 0.5
"""The share of a draw by doubt that is at random."""


def sizes_of(strata: Sequence[int], n: int) -> list[int]:
    """How many are drawn from each stratum: in proportion to its size, `n` in all.

    Largest remainders; of equal ones the first. ValueError where there are fewer than `n`.

    >>> sizes_of([60, 30, 10], 5)
    [3, 2, 0]
    """
    total = sum(strata)
    if n > total:
        raise ValueError(f"{n} cannot be drawn from {total}")
    if not total:
        return [0] * len(strata)
    sizes = [size * n // total for size in strata]
    remainders = [size * n % total for size in strata]
    order = sorted(range(len(strata)), key=lambda i: -remainders[i])
    for i in order[: n - sum(sizes)]:
        sizes[i] += 1
    return sizes


def even_sizes(strata: Sequence[int], n: int) -> list[int]:
    """How many are drawn from each stratum: the same number, as far as it holds so many.

    `n` in all, or all where there are fewer; small strata are thereby drawn more often.

    >>> even_sizes([60, 30, 1], 9)
    [4, 4, 1]
    """
    sizes = [0] * len(strata)
    left = min(n, sum(strata))
    while left:
        open_strata = [i for i, size in enumerate(strata) if sizes[i] < size]
        for i in open_strata[:left]:
            sizes[i] += 1
        left -= min(left, len(open_strata))
    return sizes


def chances_by_doubt(doubt: ArrayLike, n: int, rho: float = RHO) -> Array:
    """The chance of each text to be drawn, (N,): pi = min(1, n ((1 - rho) u / sum u + rho / N)).

    `doubt` holds u, 0 or more, NaN nowhere. Where nothing is doubtful all is at random. The sum is
    `n` as long as no chance is cut at 1. ValueError for doubt below 0 or missing.
    Source: Horvitz and Thompson 1952 for the use of such chances.
    """
    u = np.asarray(doubt, dtype=float)
    if np.isnan(u).any() or (u < 0).any():
        raise ValueError("doubt is a number of 0 or more for each text")
    total = u.sum()
    share = u / total if total > 0 else np.full(len(u), 1 / max(len(u), 1))
    return np.minimum(1, n * ((1 - rho) * share + rho / max(len(u), 1)))


def drawn_by_doubt(
    chances: ArrayLike, n: int, start: float, rho: float = RHO
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of one systematic draw with `chances_by_doubt`, and those of them at random.

    Each place takes as much of a line as its chance is large; drawn are those in which `start`,
    `start` + 1 and so on lie. So every place has exactly its chance where the start is drawn
    uniformly from 0 to 1, and the size of the draw is the sum of the chances, rounded up or down
    (Madow 1949). The first part of what a place takes, rho n / N long, is its chance to be drawn
    at random, which is the same for all: what is found on those places holds for all texts.

    >>> drawn, at_random = drawn_by_doubt([0.25, 0.5, 1.0, 0.25], 2, 0.2)
    >>> drawn.tolist(), at_random.tolist()
    ([0, 2], [0])
    """
    chance = np.asarray(chances, dtype=float)
    ends = np.cumsum(chance)
    begins = ends - chance
    behind = start + np.ceil(begins - start) - begins  # how far into its place the point lies
    drawn = behind < chance
    at_random = drawn & (behind < rho * n / max(len(chance), 1))
    return np.flatnonzero(drawn), np.flatnonzero(at_random)


def effective_size(weights: ArrayLike, sizes: ArrayLike) -> float:
    """How many independent draws a stratified sample is worth: 1 / sum(W^2 / n) (Kish 1965).

    `weights` are the shares W of the strata, which add up to 1; `sizes` how many were drawn of
    each. NaN where nothing was drawn.
    """
    w, n = np.asarray(weights, dtype=float), np.asarray(sizes, dtype=float)
    if not len(n) or (n <= 0).any():
        return math.nan
    return float(1 / (w**2 / n).sum())
