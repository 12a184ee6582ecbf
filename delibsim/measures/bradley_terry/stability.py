"""How stable scores are: split halves, a curve over pairs, a jackknife, a bootstrap.

Each draw has a seed of its own. Source for draws within groups: Davison and Hinkley (1997), section
3.2, https://doi.org/10.1017/CBO9780511802843.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import NOT_CONNECTED, Counts, Graph, centred, counted
from delibsim.measures.bradley_terry.fit import Fit, Model, fit
from delibsim.measures.bradley_terry.strengths import Stretch
from delibsim.measures.correlations import agreement_of_scores, spearman_brown
from delibsim.measures.inference.resampling import percentile_interval

Array = NDArray[np.float64]
SPLITS = 20
"""Into how many pairs of halves votes are split."""


@dataclass(frozen=True, eq=False)
class Halves:
    """The agreement of scores from two halves, of each split (splits,)."""

    r: Array
    rho: Array
    tau: Array

    @property
    def reliability(self) -> float:
        """The reliability of all votes together: Spearman and Brown of the mean r."""
        return spearman_brown(_mean(self.r))


@dataclass(frozen=True)
class Step:
    """A share of the pairs: how many they are, the agreement of their scores with those of all
    pairs (which is too good, because they share votes), and of two halves of that size; means over
    draws, NaN where two halves need more pairs than there are.
    """

    share: float
    pairs: int
    r: float
    rho: float
    half_half_r: float


def split_half(counts: Counts, model: Model, seed: int, splits: int = SPLITS) -> Halves:
    """Scores from pairs at random in two halves, `splits` times.

    Compared are scores less the mean of their component of all votes, over all texts that have
    scores in both halves.
    """
    whole = fit(counts, model)
    found = []
    for both in _halves(counts, whole, seed, splits):
        found.append([_scores(one, whole) for one in both])
    return _agreements(found)


def by_judge(counts: Counts, model: Model, seed: int, splits: int = SPLITS) -> Halves:
    """The same with judges at random in two halves; NaN with one judge."""
    whole = fit(counts, model)
    found = []
    for split in range(splits if counts.judges > 1 else 0):
        order = np.random.default_rng([seed, split]).permutation(counts.judges)
        first = np.isin(counts.judge, order[: counts.judges // 2])
        parts = [fit(counts.only(rows), model) for rows in (first, ~first)]
        found.append([_scores(one, whole) for one in parts])
    return _agreements(found)


def curve(
    counts: Counts,
    model: Model,
    shares: Sequence[float],
    seed: int,
    draws: int = SPLITS,
) -> list[Step]:
    """How scores from a share of the pairs agree with those from all, and halves with each other.

    ValueError for a share that is not above 0 and at most 1.
    """
    if any(not 0 < share <= 1 for share in shares):
        raise ValueError("a share is above 0 and at most 1")
    whole = fit(counts, model)
    steps = []
    for share in shares:
        size = max(1, round(share * len(counts.pairs)))
        with_all, halves = [], []
        for draw in range(draws if size < len(counts.pairs) else 1):  # all pairs are all alike
            rng = np.random.default_rng([seed, draw])
            order = rng.permutation(len(counts.pairs))
            own = _scores(_fit_of_pairs(counts, whole, order[:size]), whole)
            agreed = agreement_of_scores(own, whole.scores)
            with_all.append((agreed.r, agreed.rho))
            if 2 * size <= len(order):
                other = _fit_of_pairs(counts, whole, order[size : 2 * size])
                halves.append(agreement_of_scores(own, _scores(other, whole)).r)
        r, rho = np.array(with_all).T
        steps.append(Step(share, size, _mean(r), _mean(rho), _mean(np.array(halves))))
    return steps


def separation(scores: Array, errors: Array, graph: Graph) -> float:
    """1 - mean(se^2) / var(s), within components: the share of the variance that is no error.

    It deceives where pairs were chosen by what was known of them. NaN where scores do not vary.
    """
    known = ~np.isnan(scores) & ~np.isnan(errors) & ~graph.alone
    variance = float((scores[known] ** 2).mean()) if known.any() else 0.0
    return 1 - float((errors[known] ** 2).mean()) / variance if variance > 0 else math.nan


def r_of_probes(
    votes: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    probes: NDArray[np.bool_],
    n: int,
    model: Model,
) -> float:
    """The correlation of the votes on some pairs with what the scores from all others expect.

    `votes` are the first and second text and the outcome (1, 0, -1) of every vote (v,), `probes`
    (v,) says which are on pairs that were drawn at random, whatever was known of them. The
    correlation is that of outcomes with differences of scores and place bias. NaN with fewer than
    three such votes, and where one side does not vary.
    """
    first, second, outcome = votes
    if probes.all():
        return math.nan
    others = fit(counted(n, first[~probes], second[~probes], outcome[~probes]), model)
    delta = np.nan_to_num(others.delta[0]) if len(others.delta) else 0.0
    d = others.raw[first[probes]] - others.raw[second[probes]] + delta
    known = ~np.isnan(d)
    return agreement_of_scores(d[known], outcome[probes][known].astype(float)).r


def jackknifed(
    counts: Counts,
    model: Model,
    seed: int,
    splits: int = SPLITS,
) -> tuple[Array, Array]:
    """Delta and theta (K,) less their bias from many texts with few votes each.

    2 * all - the mean of two halves of the pairs, theta on the logarithm, mean over splits
    (Quenouille 1956, https://doi.org/10.1093/biomet/43.3-4.353). NaN where a half has no estimate.
    """
    whole = fit(counts, model)
    delta, theta = [], []
    for one, other in _halves(counts, whole, seed, splits):
        delta.append(2 * whole.delta - (one.delta + other.delta) / 2)
        logs = [_log(part.theta) for part in (whole, one, other)]
        theta.append(np.exp(2 * logs[0] - (logs[1] + logs[2]) / 2))
    return np.mean(delta, axis=0), np.mean(theta, axis=0)


def stretch(counts: Counts, model: Model, seed: int, splits: int = SPLITS) -> Stretch:
    """By what factor few votes a text push scores apart, by the same jackknife.

    Scores less their bias, 2 * all - the mean of two halves of the pairs, are fitted to the scores
    by a line through 0; the factor is the inverse of its slope. How far the slopes of two halves
    differ says how sure it is. A factor of 1 where halves give no scores.
    """
    whole = fit(counts, model)
    slopes = []
    for both in _halves(counts, whole, seed, splits):
        slopes.append([_slope(_scores(one, whole), whole.scores) for one in both])
    halves = np.array(slopes, dtype=float).reshape(-1, 2)
    halves = halves[(halves > 0).all(axis=1)]
    slope = 2 - halves.mean() if len(halves) else math.nan
    if not slope > 0:
        return Stretch()
    apart = (halves[:, 0] - halves[:, 1]) / halves.sum(axis=1)
    return Stretch(float(1 / slope), float((apart**2).mean()))


def _slope(scores: Array, of: Array) -> float:
    """The slope of the line through 0 of some scores on others."""
    known = ~np.isnan(scores) & ~np.isnan(of)
    squares = float(of[known] @ of[known])
    return float(scores[known] @ of[known]) / squares if squares > 0 else math.nan


def _agreements(halves: Iterable[Sequence[Array]]) -> Halves:
    """How the scores of each pair of halves agree; NaN without one."""
    found = [agreement_of_scores(one, other) for one, other in halves]
    table = [(one.r, one.rho, one.tau) for one in found] or [(math.nan,) * 3]
    return Halves(*np.array(table).T)


def _halves(counts: Counts, whole: Fit, seed: int, splits: int) -> Iterator[tuple[Fit, Fit]]:
    """The fits of two halves of the pairs, drawn anew for each split."""
    for split in range(splits):
        order = np.random.default_rng([seed, split]).permutation(len(counts.pairs))
        middle = len(order) // 2
        one, other = (_fit_of_pairs(counts, whole, half) for half in np.split(order, [middle]))
        yield one, other


def _fit_of_pairs(counts: Counts, whole: Fit, pairs: NDArray[np.int64]) -> Fit:
    return fit(counts.only(np.isin(counts.pair, pairs)), whole.model, whole)


def _scores(found: Fit, whole: Fit) -> Array:
    """Strengths less the mean of their component of all votes; NaN for texts without a vote."""
    return centred(np.where(found.graph.alone, np.nan, found.raw), whole.graph.component)


def _log(values: Array) -> Array:
    """Logarithms; NaN of what is not above 0."""
    return np.log(np.where(values > 0, values, np.nan))


def _mean(values: Array) -> float:
    """The mean of what is defined; NaN where nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


NEAR = 1e-4
"""The last change of a parameter in a refit: what is left, about 1e-8, is nothing beside the spread
of the draws."""


@dataclass(frozen=True, eq=False)
class RefitDraws:
    """Refits of drawn pairs: scores (draws, n), delta and theta (draws, K), NaN where undefined.

    `penalised` counts the draws in which some text has no strength without the penalty.
    """

    scores: Array
    delta: Array
    theta: Array
    penalised: int

    @property
    def errors(self) -> Array:
        """The standard deviation (n,) of the scores over the draws in which they are defined."""
        known = ~np.isnan(self.scores)
        times = known.sum(axis=0)
        means = np.where(known, self.scores, 0.0).sum(axis=0) / np.maximum(times, 1)
        squares = np.where(known, (self.scores - means) ** 2, 0.0).sum(axis=0)
        return np.where(times > 1, np.sqrt(squares / np.maximum(times - 1, 1)), np.nan)

    def intervals(self, level: float = 0.95) -> tuple[Array, Array]:
        """The lower and upper ends (n,) of the percentile intervals of the scores."""
        found = [percentile_interval(column, level) for column in self.scores.T]
        low, high = np.array(found).reshape(-1, 2).T
        return low, high


def bootstrap(found: Fit, draws: int, seed: int, groups: ArrayLike | None = None) -> RefitDraws:
    """Refits of `draws` samples of the pairs of a fit, as many pairs of each group as it has.

    `groups` (n,) numbers the group of each text; a pair belongs to that of its text with the
    smaller number. Without groups, a component counts as one.
    """
    from threadpoolctl import threadpool_limits

    whole = _whole(found)
    rows, graph = whole.counts, whole.graph
    codes = graph.component if groups is None else np.asarray(groups)
    of_pairs = np.unique(codes[rows.pairs[:, 0]], return_inverse=True)[1]
    strata = [np.flatnonzero(of_pairs == k) for k in range(of_pairs.max(initial=-1) + 1)]
    fits, penalised = [], 0
    with threadpool_limits(1):
        for draw in range(draws):
            rng = np.random.default_rng([seed, draw])
            times = np.zeros(len(rows.pairs))
            for pairs in strata:
                drawn = rng.integers(0, len(pairs), len(pairs))
                times[pairs] = np.bincount(drawn, minlength=len(pairs))
            again = fit(rows.weighted(times[rows.pair]), whole.model, whole, NEAR)
            held = any(note not in ("", NOT_CONNECTED) for note in again.notes)
            apart = (again.graph.sizes > 1).sum() != (graph.sizes > 1).sum()
            penalised += bool(held or apart or again.graph.alone.sum() != graph.alone.sum())
            fits.append(again)
    scores = np.array([one.scores for one in fits])
    delta = np.array([one.delta for one in fits])
    return RefitDraws(scores, delta, np.array([one.theta for one in fits]), penalised)


def _whole(found: Fit) -> Fit:
    """The fit with its votes under the numbers of all texts."""
    n = len(found.scores)
    if found.counts.n == n:
        return found
    return replace(found, counts=found.counts.renumbered(found.kept, n))
