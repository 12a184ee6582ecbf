"""Strengths of texts under two conditions: their difference, with the errors of the strengths.

Strengths are estimates whose errors go together, because texts met each other. Taken for data, they
give errors of a difference that are too small where few clusters are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
C = TypeVar("C")
NAN = float("nan")
NO_REPLICATES = "no_replicates"


@dataclass(frozen=True)
class Stretch:
    """By what factor scores are too far apart for few votes a text, and the squared relative error
    of that factor.
    """

    factor: float = 1.0
    squared_error: float = 0.0


@dataclass(frozen=True)
class Contrast:
    """A difference of mean strengths with its standard error, degrees of freedom, interval and p.

    `of_strengths` is the part of the error that comes from the strengths, which more votes make
    smaller. NaN where there is none; `note` says why.
    """

    estimate: float
    error: float = NAN
    of_strengths: float = NAN
    df: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    note: str = ""


def contrast_of_strengths(
    means: ArrayLike,
    covariance: ArrayLike,
    first: ArrayLike,
    blocks: ArrayLike,
    stretch: Stretch = Stretch(),
    level: float = 0.95,
) -> Contrast:
    """The mean over blocks of the strength under one condition less that under the other.

    `means` (k,) are the mean strengths of clusters of texts, such as sessions, and `covariance`
    (k, k) that of their errors. `first` (k,) marks the clusters of the first condition, `blocks`
    (k,) names what they are compared within, such as topics; each has clusters of both. With the
    weights c the error is sqrt(c' V c + sum of c^2 tau^2): V is the covariance, and tau^2 the
    variance between clusters of a condition beyond the errors of their means, by moments within
    blocks, 0 at least. The degrees of freedom are Satterthwaite's. Clusters of a condition whose
    blocks have one each take the variance of the other condition. The estimate is divided by the
    factor of the stretch, whose own error is added, and the error by the root of the factor: to
    take off what few votes add costs precision.

    Two sessions each, whose strengths are known without error: Welch's test.

    >>> found = contrast_of_strengths([1, 3, 0, 1], np.zeros((4, 4)), [1, 1, 0, 0], [0] * 4)
    >>> found.estimate, round(found.error, 4), round(found.df, 4)
    (1.5, 1.118, 1.4706)
    """
    from scipy.special import stdtr, stdtrit

    y, errors = np.asarray(means, dtype=float), np.asarray(covariance, dtype=float)
    marks = np.asarray(first).astype(bool)
    codes = np.unique(np.asarray(blocks), return_inverse=True)[1]
    weights = _weights(marks, codes)
    difference = float(weights @ y)
    estimate = difference / stretch.factor
    by_stretch = difference**2 / stretch.factor * stretch.squared_error
    measured = max(float(weights @ errors @ weights), 0.0) + by_stretch
    of_strengths = (measured / stretch.factor) ** 0.5
    cells = 2 * codes + marks
    parts = [_within(y, errors, cells, own) for own in (marks, ~marks)]
    if any(part.df == 0 for part in parts):
        parts = [_within(y, errors, cells, np.ones_like(marks))]
    total, spread = measured, 0.0
    for part in parts:
        if part.df == 0:
            return Contrast(estimate, of_strengths=of_strengths, note=NO_REPLICATES)
        own = float((weights[part.clusters] ** 2).sum())
        total += own * max(part.observed - part.by_errors, 0.0)
        spread += (own * part.observed) ** 2 / part.df
    if not total > 0:
        return Contrast(estimate, of_strengths=of_strengths, note="no_variance")
    df = total**2 / spread if spread > 0 else np.inf
    error = (total / stretch.factor) ** 0.5
    half = float(stdtrit(df, (1 + level) / 2)) * error
    p = float(2 * stdtr(df, -abs(estimate) / error))
    ends = estimate - half, estimate + half
    return Contrast(estimate, error, of_strengths, float(df), *ends, p)


def cluster_weights(clusters: Sequence[C | None]) -> tuple[list[C], Array]:
    """The clusters of texts (k) in order, and the weights (k, n) that make their means of texts;
    None is of no cluster.
    """
    names = list(dict.fromkeys(name for name in clusters if name is not None))
    place = {name: number for number, name in enumerate(names)}
    weights = np.zeros((len(names), len(clusters)))
    for text, name in enumerate(clusters):
        if name is not None:
            weights[place[name], text] = 1
    return names, weights / np.maximum(weights.sum(axis=1, keepdims=True), 1)


@dataclass(frozen=True, eq=False)
class _Within:
    """The variance of some clusters around the means of their cells, and how much of it the errors
    of their means explain; `df` are the clusters less the cells.
    """

    clusters: Marks
    observed: float
    by_errors: float
    df: int


def _within(y: Array, errors: Array, cells: NDArray[np.int64], own: Marks) -> _Within:
    squares, explained, df = 0.0, 0.0, 0
    for cell in np.unique(cells[own]):
        places = np.flatnonzero(cells == cell)
        n = len(places)
        squares += n * float(y[places].var())
        of_cell = errors[np.ix_(places, places)]
        explained += float(np.trace(of_cell) - of_cell.sum() / n)
        df += n - 1
    return _Within(own, squares / max(df, 1), explained / max(df, 1), df)


def _weights(marks: Marks, codes: NDArray[np.int64]) -> Array:
    """What each cluster (k,) counts for; ValueError for a block without both conditions."""
    found = np.zeros(len(marks))
    count = codes.max(initial=-1) + 1
    for block in range(count):
        for mark, sign in ((True, 1.0), (False, -1.0)):
            own = (codes == block) & (marks == mark)
            if not own.any():
                raise ValueError("a block has no cluster of one of the two conditions")
            found[own] = sign / (own.sum() * count)
    return found
