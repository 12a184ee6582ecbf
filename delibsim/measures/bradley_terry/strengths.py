"""What is made of strengths: ranks, other scales, differences between conditions.

Strengths are estimates whose errors go together, because texts met each other. Taken for data, they
give errors of a difference that are too small where few clusters are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.fit import Fit
from delibsim.measures.bradley_terry.likelihood import probabilities
from delibsim.measures.bradley_terry.uncertainty import Uncertainty
from delibsim.measures.inference.means import by_t, holm

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
    from scipy.special import ndtr

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
            sure = np.array(holm(2 * ndtr(-np.abs(z)))) < 1 - level
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


AT_ONCE = 1_000
"""How many texts are compared with all others in one step."""


def z_scale(strengths: ArrayLike) -> Array:
    """Strengths with mean 0 and standard deviation 1 (ddof 0) over all texts that have one.

    NaN where all are equal. Taken of `raw` strengths over several components it is the scale of
    Gienapp et al. (2020), in which a penalty alone places components beside each other.

    >>> z_scale([1.0, 3.0])
    array([-1.,  1.])
    """
    values = np.asarray(strengths, dtype=float)
    known = values[~np.isnan(values)]
    spread = known.std() if known.size else 0.0
    return (values - known.mean()) / spread if spread > 0 else np.full(values.shape, np.nan)


def unit_scale(strengths: ArrayLike) -> Array:
    """Strengths from 0 (the smallest) to 1 (the largest); NaN where all are equal.

    >>> unit_scale([1.0, 2.0, 5.0])
    array([0.  , 0.25, 1.  ])
    """
    values = np.asarray(strengths, dtype=float)
    known = values[~np.isnan(values)]
    extent = np.ptp(known) if known.size else 0.0
    return (values - known.min()) / extent if extent > 0 else np.full(values.shape, np.nan)


def win_scale(fit: Fit) -> Array:
    """The mean over the other texts of a component of P(beats it) + P(tie) / 2, (n,).

    It needs no anchor and no order: neither text has the advantage of being shown first. With
    judges who differ, it is that of a judge with alpha 1 and the geometric mean of their
    thresholds. NaN where a text has no score.
    """
    found = np.full(len(fit.scores), np.nan)
    threshold = _threshold(fit)
    for part in np.flatnonzero(fit.graph.sizes > 1):
        texts = np.flatnonzero((fit.graph.component == part) & ~np.isnan(fit.scores))
        own = fit.scores[texts]
        for start in range(0, len(texts), AT_ONCE):
            block = own[start : start + AT_ONCE]
            d = block[:, None] - own
            won, tied, _ = probabilities(fit.model.kind, d, np.full_like(d, threshold))
            totals = (won + tied / 2).sum(axis=1) - 0.5  # the text itself counts one half
            found[texts[start : start + AT_ONCE]] = totals / (len(texts) - 1)
    return found


def _threshold(fit: Fit) -> float:
    """The mean over judges of the logarithm of theta, among those above 0."""
    logs = fit.point.judges[1]
    known = logs[np.isfinite(logs) & ~np.isnan(fit.theta)]
    return float(known.mean()) if known.size else -np.inf


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
    found = by_t(estimate, error, float(df), level)
    return Contrast(estimate, error, of_strengths, found.df, found.low, found.high, found.p)


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
