"""Whether a classifier tells two samples of sessions apart: its accuracy beside that of chance.

Logistic regression on standardised measures (scikit-learn), cross-validated; sessions of a draw are
in one fold. Chance is what the same procedure gives where draws change sides at random within their
topics (Ojala and Garriga 2010, Journal of Machine Learning Research 11, 1833-1863).
"""

from dataclasses import dataclass

import numpy as np

FOLDS = 5
"""Parts of the sessions, each of which is told apart by a classifier that learnt on the others; and
the fewest draws of a sample.
"""
Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Classified:
    """How well sessions are told apart.

    `accuracy` is the mean of the shares of both samples that are told right, draws counting
    equally: .5 is chance. `chance` is its mean over the permutations and `chance_high` what 95 of
    100 of them do not exceed; `p` is the share of them, itself included, with at least this
    accuracy. `weights` (k,) are the coefficients of the standardised measures, fitted on all
    sessions; positive ones speak for the first sample.
    """

    accuracy: float
    chance: float
    chance_high: float
    p: float
    weights: Array


@dataclass(frozen=True, eq=False)
class _Told:
    """Sessions: their measures (n, k), the draw (n,) that each is of, and the share (n,) that it is
    of its draw; the topic of each draw.
    """

    values: Array
    draws: Array
    topics: Array
    shares: Array


def classified(
    values: Array, first: Array, topics: Array, draws: Array, permutations: int, seed: int
) -> Classified | None:
    """How well sessions with these measures (n, k), without NaN, are told apart.

    `first` (n,) says which are of the first sample; `topics` and `draws` (n,) are numbers, and a
    draw is of one sample and topic. None with fewer than five draws of a sample.
    """
    _, place, own = np.unique(draws, return_index=True, return_inverse=True)
    of_first = np.asarray(first, dtype=bool)[place]
    if min(of_first.sum(), (~of_first).sum()) < FOLDS:
        return None
    told = _Told(values, own, np.asarray(topics)[place], 1 / np.bincount(own)[own])
    rng = np.random.default_rng(seed)
    accuracy = _accuracy(told, of_first, rng)
    by_chance = np.array(
        [_accuracy(told, _moved(of_first, told.topics, rng), rng) for _ in range(permutations)]
    )
    at_least = int((by_chance >= accuracy - 1e-12).sum())
    weights = _fitted(_standardised(values, values), of_first[own], told.shares)[0]
    chance, high = float(by_chance.mean()), float(np.quantile(by_chance, 0.95))
    return Classified(accuracy, chance, high, (1 + at_least) / (1 + permutations), weights)


def _moved(of_first: Array, topics: Array, rng: np.random.Generator) -> Array:
    """The sides of draws, exchanged at random within topics."""
    found = of_first.copy()
    for topic in np.unique(topics):
        own = np.flatnonzero(topics == topic)
        found[own] = rng.permutation(found[own])
    return found


def _accuracy(told: _Told, of_first: Array, rng: np.random.Generator) -> float:
    """The cross-validated accuracy; folds are dealt anew, to each side by turns."""
    folds = np.empty(len(of_first), dtype=int)
    for side in (True, False):
        own = rng.permutation(np.flatnonzero(of_first == side))
        folds[own] = np.arange(len(own)) % FOLDS
    fold, labels = folds[told.draws], of_first[told.draws]
    right = np.empty(len(labels), dtype=bool)
    for k in range(FOLDS):
        test, train = fold == k, fold != k
        x = _standardised(told.values[train], told.values)
        weights, intercept = _fitted(x[train], labels[train], told.shares[train])
        right[test] = (x[test] @ weights + intercept > 0) == labels[test]
    sides = [(labels == side) * told.shares for side in (True, False)]
    return float(np.mean([own @ right / own.sum() for own in sides]))


def _standardised(known: Array, values: Array) -> Array:
    """Values (n, k) less the means of those known, in their standard deviations."""
    spread = known.std(axis=0)
    return (values - known.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _fitted(x: Array, labels: Array, shares: Array) -> tuple[Array, float]:
    """The coefficients and the intercept, both samples counting equally."""
    from sklearn.linear_model import LogisticRegression

    sides = np.where(labels, shares[labels].sum(), shares[~labels].sum())
    counts = shares / sides * shares.sum() / 2
    fit = LogisticRegression(solver="newton-cholesky").fit(x, labels, counts)
    return fit.coef_[0], float(fit.intercept_[0])
