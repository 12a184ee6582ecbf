"""Bradley-Terry strengths: what items must be worth for those that won to have won.

Item i beats item j with probability 1 / (1 + exp(-(s_i - s_j))). Sources: Bradley and Terry (1952),
https://doi.org/10.2307/2334029; Hunter (2004), https://doi.org/10.1214/aos/1079120141, whose
section 2 gives the condition under which the likelihood has a maximum. The signature is that of
choix (https://choix.lum.li).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

TOLERANCE = 1e-12
"""The change of every strength below which an estimate has converged."""
ROUNDING = 1e-12
"""The share of the log likelihood that rounding may take from it."""
STEPS = 200
"""The most steps of Newton's method; a few are enough."""


def bradley_terry(n_items: int, data: ArrayLike, alpha: float = 0.0) -> Array:
    """Strengths (n_items,) on the log odds scale, which add up to 0.

    `data` has one row a comparison: the winner and the loser, numbered from 0. They maximise the
    log likelihood less `alpha` times the sum of their squares. Without this penalty they are NaN
    where the likelihood has no maximum: where some items never lost to any of the others.
    ValueError for a number that is no item's, and for an item compared with itself.

    >>> bradley_terry(2, [(0, 1), (0, 1), (0, 1), (1, 0)]).round(4)  # half of log(3)
    array([ 0.5493, -0.5493])
    """
    wins = _wins(n_items, data)
    if alpha == 0 and not _strongly_connected(wins):
        return np.full(n_items, np.nan)
    strengths = np.zeros(n_items)
    for _ in range(STEPS):
        step = _newton_step(wins, strengths, alpha)
        value = _objective(wins, strengths, alpha)
        least = value - ROUNDING * abs(value)
        while _objective(wins, strengths + step, alpha) < least:
            step = step / 2
        strengths = strengths + step
        if np.abs(step).max() <= TOLERANCE:
            break
    return strengths - strengths.mean()


def comparisons(n_items: int, pairs: ArrayLike) -> Array:
    """The design (m, n_items) of m comparisons: +1 for the first item, -1 for the second.

    Its product with the strengths is the log odds that the first beats the second. An item compared
    with itself is a row of zeros.

    >>> comparisons(3, [(0, 2)])
    array([[ 1.,  0., -1.]])
    """
    first, second = np.asarray(pairs, dtype=int).reshape(-1, 2).T
    items = np.eye(n_items)
    return items[first] - items[second]


def centred(n_items: int) -> Array:
    """The weights (n_items, n_items - 1) that centre strengths.

    They turn the differences of all items but the first from the first into strengths that add up
    to 0.

    >>> centred(2)
    array([[-0.5],
           [ 0.5]])
    """
    return np.eye(n_items)[:, 1:] - 1 / n_items


def _wins(n_items: int, data: ArrayLike) -> Array:
    """How often each item (row) won over each other one (column)."""
    pairs = np.asarray(data, dtype=int).reshape(-1, 2)
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < n_items:
        raise ValueError(f"items are numbered from 0 to {n_items - 1}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("an item is compared with itself")
    wins = np.zeros((n_items, n_items))
    np.add.at(wins, (pairs[:, 0], pairs[:, 1]), 1.0)
    return wins


def _strongly_connected(wins: Array) -> bool:
    """Whether every item can be reached from every other one, going from winners to losers."""
    reached = np.minimum(wins + np.eye(len(wins)), 1)
    for _ in range(len(wins).bit_length()):  # each time over paths twice as long
        reached = np.minimum(reached @ reached, 1)
    return bool(reached.all())


def _newton_step(wins: Array, strengths: Array, alpha: float) -> Array:
    """The step of Newton's method from these strengths; its sum is 0."""
    counts = wins + wins.T
    p = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    gradient = (wins - counts * p).sum(axis=1) - 2 * alpha * strengths
    weights = counts * p * (1 - p)
    information = np.diag(weights.sum(axis=1) + 2 * alpha) - weights
    # Strengths are known up to a constant: any multiple of ones makes the matrix regular.
    return np.linalg.solve(information + 1.0, gradient)


def _objective(wins: Array, strengths: Array, alpha: float) -> float:
    """The log likelihood less the penalty."""
    losses = np.logaddexp(0, strengths[None, :] - strengths[:, None])
    return float(-(wins * losses).sum() - alpha * (strengths**2).sum())
