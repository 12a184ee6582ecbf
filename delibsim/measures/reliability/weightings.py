"""Weightings of coefficients of agreement: how much of an agreement two levels are.

Linear, quadratic and ordinal weights go by the places of the levels, not by their values (Gwet
2014, ch. 3).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Weighting = str | ArrayLike
"""The name of a weighting, or a matrix of one's own."""
OWN = "own"
"""The name of a matrix of one's own."""


def _identity(apart: Array, _: int) -> Array:
    return (apart == 0).astype(float)


def _linear(apart: Array, q: int) -> Array:
    return 1 - apart / (q - 1)


def _quadratic(apart: Array, q: int) -> Array:
    return 1 - (apart / (q - 1)) ** 2


def _ordinal(apart: Array, q: int) -> Array:
    return 1 - apart * (apart + 1) / ((q - 1) * q)


WEIGHTINGS: dict[str, Callable[[Array, int], Array]] = {
    "identity": _identity,
    "linear": _linear,
    "quadratic": _quadratic,
    "ordinal": _ordinal,
}


def weights_of(weighting: Weighting, q: int) -> Array:
    """The weights (q, q) of a weighting of q levels: 1 for the same level.

    ValueError for an unknown name, and for a matrix that is not of this shape, not symmetric, has
    weights beyond 0 and 1, other than 1 on its diagonal, or 1 everywhere.

    >>> weights_of("linear", 3)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    if isinstance(weighting, str):
        if weighting not in WEIGHTINGS:
            raise ValueError(f"unknown weighting '{weighting}'; there are {', '.join(WEIGHTINGS)}")
        if q < 2:
            return np.ones((q, q))
        places = np.arange(q, dtype=float)
        return WEIGHTINGS[weighting](np.abs(places[:, None] - places), q)
    weights = np.asarray(weighting, dtype=float)
    fault = _fault(weights, q)
    if fault:
        raise ValueError(f"weights of one's own {fault}")
    return weights


def name_of(weighting: Weighting) -> str:
    """The name of a weighting; "own" for a matrix."""
    return weighting if isinstance(weighting, str) else OWN


def _fault(weights: Array, q: int) -> str:
    """What is wrong with a matrix of weights; "" if nothing is."""
    if weights.shape != (q, q):
        shape = " x ".join(map(str, weights.shape))
        return f"have a row and a column for each of the {q} levels, and not {shape}"
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights <= 1).all()):
        return "lie between 0 and 1"
    if not np.array_equal(weights, weights.T):
        return "are the same in both directions"
    if (np.diag(weights) != 1).any():
        return "are 1 on the diagonal, where two coders give the same level"
    if (weights == 1).all():
        return "are below 1 for some pair of levels"
    return ""
