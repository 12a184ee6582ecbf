"""Ranks of texts with intervals: how many texts are surely better, and how many surely worse."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.uncertainty import Uncertainty

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each text (n,) in its component, 1 for the best, with its interval.

    Equal scores take mid-ranks; NaN where a text has no score.
    """

    rank: Array
    low: Array
    high: Array


def ranks(found: Uncertainty, level: float = 0.95) -> Ranks:
    """Ranks with intervals [1 + texts surely better, n - texts surely worse].

    Another text is surely better where the difference is not 0 at `level`, by Holm's correction
    (1979, https://www.jstor.org/stable/4615733) over the differences of a text from all others of
    its component.
    """
    fit = found.fit
    n = len(fit.scores)
    component = fit.graph.component
    sizes = np.bincount(component[~np.isnan(fit.scores)], minlength=component.max(initial=-1) + 1)
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    variances = found.scores**2
    for texts, covariance in found.rows():
        for i, text in enumerate(texts):
            if np.isnan(fit.scores[text]):
                continue
            others = (component == component[text]) & ~np.isnan(fit.scores)
            others[text] = False
            difference = fit.scores[others] - fit.scores[text]
            of_both = variances[others] + variances[text] - 2 * covariance[i, others]
            error = np.sqrt(np.maximum(of_both, 0.0))
            # Errors by pair are 0 where both orders of every pair cancel; then nothing is sure.
            z = np.divide(difference, error, out=np.zeros_like(error), where=error > 0)
            sure = _sure(z, 1 - level)
            low[text] = 1 + (sure & (difference > 0)).sum()
            high[text] = sizes[component[text]] - (sure & (difference < 0)).sum()
    return Ranks(mid_ranks(fit.scores, component), low, high)


def mid_ranks(scores: ArrayLike, component: ArrayLike) -> Array:
    """The rank of each score within its component, 1 for the largest.

    >>> mid_ranks([0.5, 0.1, 0.5, 3.0], [0, 0, 0, 1])
    array([1.5, 3. , 1.5, 1. ])
    """
    from scipy.stats import rankdata

    values, parts = np.asarray(scores, dtype=float), np.asarray(component)
    found = np.full(len(values), np.nan)
    for part in np.unique(parts):
        own = np.flatnonzero((parts == part) & ~np.isnan(values))
        if len(own):
            found[own] = rankdata(-values[own])
    return found


def told_apart(found: Uncertainty, level: float = 0.95, order: Array | None = None) -> Array:
    """Whether each text (n,) is stronger at `level` than the next one by score: 1 or 0.

    Who is next is said by `order` (n,), other scores of the same texts, where it is given. NaN for
    the weakest text of a component, for a text without a score and where there is no error. There
    is no correction for how many neighbours there are.
    """
    from scipy.special import ndtri

    fit = found.fit
    by = fit.scores if order is None else order
    pairs = []
    for part in range(len(fit.graph.sizes)):
        own = np.flatnonzero((fit.graph.component == part) & ~np.isnan(fit.scores))
        pairs += list(pairwise(own[np.argsort(-by[own], kind="stable")]))
    apart = np.full(len(fit.scores), np.nan)
    if pairs:
        texts = np.array(pairs)
        gaps = fit.scores[texts[:, 0]] - fit.scores[texts[:, 1]]
        half = ndtri((1 + level) / 2) * found.difference_errors(texts)
        apart[texts[:, 0]] = np.where(np.isnan(half), np.nan, gaps > half)
    return apart


def apart(found: Uncertainty, level: float = 0.95, order: Array | None = None) -> float:
    """The share of neighbours by score that `told_apart` tells apart; NaN without any."""
    known = told_apart(found, level, order)
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else float("nan")


def _sure(z: Array, alpha: float) -> NDArray[np.bool_]:
    """Which of these z values are not 0 after Holm's correction."""
    from scipy.special import ndtr

    p = 2 * ndtr(-np.abs(z))
    order = np.argsort(p)
    holds = p[order] * np.arange(len(p), 0, -1) < alpha
    first = len(p) if holds.all() else int(holds.argmin())
    found = np.zeros(len(p), dtype=bool)
    found[order[:first]] = True
    return found
