"""Codes of texts by coders as places of levels, their distinct patterns, and weights of levels.

Linear, quadratic and ordinal weights go by the places of the levels, not by their values (Gwet
2014, ch. 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]
MISSING = -1
"""The place of a code that is missing."""


@dataclass(frozen=True, eq=False)
class CodeMatrix:
    """Which level each coder gave each text.

    `places` (texts, coders) are those of `levels`, -1 where a code is missing; `levels` (q,) are
    the declared levels in their order, used or not. `kept` (texts,) are the rows of the table that
    have a code; the others are left out, and so are coders without any code.
    """

    places: Places
    levels: Array
    kept: Places

    @cached_property
    def by_counts(self) -> "Patterns":
        """The distinct texts where it does not matter who gave which level."""
        return _patterns(np.sort(self.places, axis=1), self.levels)

    @cached_property
    def by_coders(self) -> "Patterns":
        """The distinct texts where it matters who gave which level."""
        return _patterns(self.places, self.levels)

    @property
    def coders(self) -> int:
        """How many coders gave a code."""
        return self.places.shape[1]

    @property
    def paired(self) -> int:
        """How many texts have codes of at least two coders."""
        return int(((self.places != MISSING).sum(axis=1) > 1).sum())

    @property
    def used(self) -> int:
        """How many levels occur."""
        return len(np.unique(self.places[self.places != MISSING]))


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct rows of codes: `places` (patterns, coders), how often each occurs, and which
    pattern each text has; `levels` as those of `Codes`.
    """

    places: Places
    times: Array
    which: Places
    levels: Array

    @cached_property
    def counts(self) -> Array:
        """How many coders gave each level, of shape (patterns, levels)."""
        size = len(self.levels)
        rows, columns = np.nonzero(self.places != MISSING)
        cells = rows * size + self.places[rows, columns]
        found = np.bincount(cells, minlength=len(self.places) * size)
        return found.reshape(len(self.places), size).astype(float)

    @cached_property
    def given(self) -> Array:
        """How many coders gave a code, of shape (patterns,)."""
        return self.counts.sum(axis=1)

    @cached_property
    def paired(self) -> NDArray[np.bool_]:
        """Which patterns have codes of at least two coders."""
        return self.given > 1


def codes_of(ratings: ArrayLike, levels: Sequence[float] | None = None) -> CodeMatrix:
    """The codes of a table with one row a text and one column a coder; NaN is a missing code.

    `levels` are all that a coder could give, in their order; by default those that occur, though a
    level that nobody used changes AC and Brennan-Prediger. ValueError for a table of another shape
    than texts by coders, for a level that is declared twice, and for a code that is not declared.
    """
    table = table_of(ratings)
    given = ~np.isnan(table)
    declared = np.unique(table[given]) if levels is None else np.asarray(levels, dtype=float)
    order = np.argsort(declared)
    in_order = declared[order]
    if (np.diff(in_order) == 0).any():
        raise ValueError(f"a level is declared twice: {_listed(declared)}")
    places = np.full(table.shape, MISSING, dtype=np.int64)
    at = np.searchsorted(in_order, table[given])
    known = np.append(in_order, np.nan)[at] == table[given]
    if not known.all():
        others = np.unique(table[given][~known])
        raise ValueError(f"not among the levels {_listed(declared)}: {_listed(others)}")
    places[given] = order[at] if len(order) else at
    rows = np.flatnonzero(given.any(axis=1))
    return CodeMatrix(places[rows][:, given.any(axis=0)], declared, rows)


def table_of(ratings: ArrayLike) -> Array:
    """Ratings as an array of texts by coders; ValueError for any other shape."""
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings are units by raters, not of shape {table.shape}")
    return table


def _patterns(places: Places, levels: Array) -> Patterns:
    """The distinct rows of places; each row is one number where it fits into 63 bits."""
    base = len(levels) + 1
    if places.size and places.shape[1] * np.log2(base) < 63:
        keys = (places + 1) @ base ** np.arange(places.shape[1], dtype=np.int64)
        first, which, times = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )[1:]
        distinct = places[first]
    else:
        distinct, which, times = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    return Patterns(distinct, times.astype(float), which.reshape(-1), levels)


def _listed(levels: Array) -> str:
    return ", ".join(f"{level:g}" for level in levels)


Weighting = str | ArrayLike
"""The name of a weighting, or a matrix of one's own."""
OWN = "own"
"""The name of a matrix of one's own."""


WEIGHTINGS: dict[str, Callable[[Array, int], Array]] = {
    "identity": lambda apart, q: (apart == 0).astype(float),
    "linear": lambda apart, q: 1 - apart / (q - 1),
    "quadratic": lambda apart, q: 1 - (apart / (q - 1)) ** 2,
    "ordinal": lambda apart, q: 1 - apart * (apart + 1) / ((q - 1) * q),
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
