"""Bradley-Terry strengths: what items must be worth for those that won to have won.

Item i beats item j with probability 1 / (1 + exp(-(s_i - s_j))). Sources: Bradley and Terry (1952),
https://doi.org/10.2307/2334029; Hunter (2004), https://doi.org/10.1214/aos/1079120141, whose
section 2 gives the condition under which the likelihood has a maximum. The signature is that of
choix (https://choix.lum.li).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import tabled
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.graph import graph_of
from delibsim.measures.bradley_terry.penalty import Normal

Array = NDArray[np.float64]


def bradley_terry(n_items: int, data: ArrayLike, alpha: float = 0.0) -> Array:
    """Strengths (n_items,) on the log odds scale, which add up to 0.

    `data` has one row a comparison: the winner and the loser, numbered from 0. They maximise the
    log likelihood less `alpha` times the sum of their squares. Without this penalty they are NaN
    where the likelihood has no maximum: where some items never lost to any of the others.
    ValueError for a number that is no item's, and for an item compared with itself.

    >>> bradley_terry(2, [(0, 1), (0, 1), (0, 1), (1, 0)]).round(4)  # half of log(3)
    array([ 0.5493, -0.5493])
    """
    won, lost = np.asarray(data, dtype=np.int64).reshape(-1, 2).T
    nothing = np.zeros(len(won))
    votes = tabled(n_items, won, lost, nothing + 1, nothing, nothing)
    penalty = Normal(float((2 * alpha) ** -0.5)) if alpha else None
    strengths = fit(votes, Model("bt", penalty=penalty)).raw
    whole = alpha > 0 or len(np.unique(graph_of(votes).component)) == 1
    return strengths - strengths.mean() if whole else np.full(n_items, np.nan)


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
