"""Which pairs to judge next from what is known, and the prior that is learned from the votes.

A pair teaches log(1 + I(d) v): d is the difference of its scores, v the posterior variance of d,
and I(d) the expected Fisher information of one vote.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.bradley_terry.counts import Counts
from delibsim.measures.bradley_terry.fit import Fit, Model, fit
from delibsim.measures.bradley_terry.likelihood import Normal, information
from delibsim.measures.bradley_terry.problem import THRESHOLD
from delibsim.measures.bradley_terry.uncertainty import Uncertainty, uncertainty
from delibsim.measures.correlations import agreement_of_scores

START = 1.5
"""The standard deviation to begin with."""
BOUNDS = (0.05, 20.0)
"""What a standard deviation is kept between: votes that contradict each other say 0, and votes that
never do say infinity.
"""
STEP = 0.5
"""How far apart, on the logarithm, standard deviations are tried."""


def with_prior(counts: Counts, model: Model, start: float = START) -> Uncertainty:
    """A fit whose strengths have a normal prior, with the standard deviation that fits the votes.

    It is that of `found.fit.model.penalty`: the maximum of the probability of the votes, all else
    integrated out in Laplace's approximation (Tierney and Kadane 1986,
    https://doi.org/10.1080/01621459.1986.10478240), by a parabola through the best that were tried.
    Errors are those of the posterior, not clustered. ValueError for more than 2,000 texts.
    """
    low, high = (math.log(bound) for bound in BOUNDS)
    tried: dict[int, Uncertainty] = {}
    middle = min(max(math.log(start), low), high)

    def at(place: int) -> float:
        if place not in tried:
            log_tau = middle + place * STEP
            if not low <= log_tau <= high:
                return -math.inf
            tried[place] = _fitted(counts, model, math.exp(log_tau), tried.get(best))
        return evidence(tried[place])

    best = 0
    while True:
        around = [(at(place), -abs(place - best), place) for place in (best - 1, best, best + 1)]
        if max(around)[2] == best:
            break
        best = max(around)[2]
    left, mid, right = (value for value, _, _ in around)
    if math.isinf(left) or math.isinf(right):
        return tried[best]
    bend = left - 2 * mid + right
    share = (left - right) / (2 * bend) if bend < 0 else 0.0
    return _fitted(counts, model, math.exp(middle + (best + share) * STEP), tried[best])


def evidence(found: Uncertainty) -> float:
    """The logarithm of the probability of the votes under the normal prior of a fit, less a
    constant: strengths and parameters of judges are integrated out in Laplace's approximation.
    """
    penalty = found.fit.model.penalty
    if not isinstance(penalty, Normal):
        raise ValueError("this needs a normal prior")
    size = len(found.fit.raw)
    return found.fit.objective - size * math.log(penalty.tau) - found.log_determinant() / 2


def _fitted(counts: Counts, model: Model, tau: float, near: Uncertainty | None) -> Uncertainty:
    """The fit with this standard deviation, which begins at one that is near."""
    start = None if near is None else near.fit
    found = fit(counts, replace(model, penalty=Normal(tau)), start)
    return uncertainty(found, clustered=False)


Array = NDArray[np.float64]
Places = NDArray[np.int64]
PROBE = 0.3
"""The share of a batch that is drawn at random, from which intervals come."""
DECIMALS = 9
"""The decimals to which gains are compared: two machines differ in later ones."""


def next_pairs(
    found: Uncertainty,
    judged: ArrayLike,
    batch: int,
    seed: int,
    probe: float = PROBE,
    group: ArrayLike | None = None,
) -> tuple[Places, Places]:
    """The next pairs: those that teach most (m, 2), and those drawn at random (l, 2).

    `found` is of a fit with a penalty, with errors that are not clustered; `judged` (p, 2) are the
    pairs judged so far; `group` (n,) numbers the groups within which texts are compared, all are
    one without it. No text is in more than ceil(2 batch / n) of the pairs chosen by gain, nor of
    those drawn. Gains that are equal to nine decimals are told apart by the seed, so that no
    rounding decides. Fewer pairs are found where there are no more.
    ValueError for a batch or a share that cannot be, and for a fit without a penalty.
    """
    fit = found.fit
    n = len(fit.raw)
    if batch < 1 or not 0 <= probe <= 1 or fit.model.penalty is None:
        raise ValueError("a batch has one pair or more, probe is 0 to 1, and the fit is penalised")
    rng = np.random.default_rng(seed)
    texts = np.asarray(judged, dtype=np.int64).reshape(-1, 2)
    closed = np.zeros((n, n), dtype=bool)
    closed[texts[:, 0], texts[:, 1]] = closed[texts[:, 1], texts[:, 0]] = True
    low, high = np.triu_indices(n, 1)
    free = ~closed[low, high]
    if group is not None:
        own = np.asarray(group)
        free &= own[low] == own[high]
    low, high = low[free], high[free]
    drawn = round(probe * batch)
    most = math.ceil(2 * batch / n)
    order = rng.permutation(len(low))
    probes = _greedy(low[order], high[order], drawn, most, n)
    closed[probes[:, 0], probes[:, 1]] = True
    gains = np.round(gains_of(found, low, high), DECIMALS)
    by_gain = _largest(gains, rng, min(len(gains), 40 * batch + 1_000))
    chosen = _greedy(low[by_gain], high[by_gain], batch - drawn, most, n, closed)
    if len(chosen) < batch - drawn and len(by_gain) < len(gains):
        by_gain = _largest(gains, rng, len(gains))
        chosen = _greedy(low[by_gain], high[by_gain], batch - drawn, most, n, closed)
    return chosen, probes


def gains_of(found: Uncertainty, first: ArrayLike, second: ArrayLike) -> Array:
    """What one vote on each pair (p,) teaches: log(1 + I(d) v). For at most 2,000 texts."""
    fit = found.fit
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    covariance = found.posterior()
    own = np.diag(covariance)
    v = own[one] + own[other] - 2 * covariance[one, other]
    threshold = fit.point.judges[THRESHOLD]
    t = float(threshold[np.isfinite(threshold)].mean()) if np.isfinite(threshold).any() else -np.inf
    d = fit.raw[one] - fit.raw[other]
    return np.log1p(information(fit.model.kind, d, np.full(1, t)) * np.maximum(v, 0.0))


def expected_r(found: Uncertainty) -> float:
    """The expected correlation of scores with the truth: sqrt(1 - mean(se^2) / var).

    `var` is the variance of the truth: that of the scores, to which a normal prior, which shrinks
    them, gives back mean(se^2). NaN where the errors are larger than what they are errors of.
    """
    scores, errors = found.fit.scores, found.scores
    known = ~np.isnan(scores) & ~np.isnan(errors)
    variance = float((scores[known] ** 2).mean()) if known.any() else 0.0
    error = float((errors[known] ** 2).mean()) if known.any() else 0.0
    if isinstance(found.fit.model.penalty, Normal):
        variance += error
    share = 1 - error / variance if variance > 0 else -1.0
    return math.sqrt(share) if share >= 0 else math.nan


def expected_r_by_probe(probe: Uncertainty, others: Fit) -> float:
    """The expected correlation of the scores of an adaptive design with the truth.

    That of the fit of all other pairs with the fit of the probe pairs alone, divided by the
    expected correlation of the latter with the truth; at most 1. Probe pairs were drawn, so that
    their errors do not deceive. Only texts that probe pairs join count. NaN where these say too
    little.
    """
    own = expected_r(probe)
    met = ~probe.fit.graph.alone
    found = agreement_of_scores(probe.fit.scores[met], others.scores[met]).r
    return min(found / own, 1.0) if own > 0 else math.nan


def lengthened(r: float, times: float) -> float:
    """A correlation with the truth, carried from some of the votes to `times` as many.

    By Spearman and Brown: r^2 is the reliability of scores.

    >>> round(lengthened(0.8, 2) ** 2, 4)  # 2 * 0.64 / (1 + 0.64)
    0.7805
    """
    reliability = r * r
    return math.sqrt(times * reliability / (1 + (times - 1) * reliability))


def mean_error(found: Uncertainty) -> float:
    """The mean standard error of the scores; NaN where none is known."""
    known = found.scores[~np.isnan(found.scores)]
    return float(known.mean()) if known.size else math.nan


def _largest(gains: Array, rng: np.random.Generator, count: int) -> Places:
    """The places of the largest gains, in descending order; chance decides between equals."""
    if not len(gains):
        return np.empty(0, dtype=np.int64)
    luck = rng.random(len(gains))
    if count < len(gains):
        kept = np.argpartition(-gains, count - 1)[:count]
        kept = np.flatnonzero(gains >= gains[kept].min())
    else:
        kept = np.arange(len(gains))
    return kept[np.lexsort((luck[kept], -gains[kept]))]


def _greedy(
    low: Places,
    high: Places,
    count: int,
    most: int,
    n: int,
    closed: NDArray[np.bool_] | None = None,
) -> Places:
    """The first `count` of these pairs in which no text is in more than `most`."""
    taken = np.zeros(n, dtype=np.int64)
    found: list[tuple[int, int]] = []
    for i, j in zip(low.tolist(), high.tolist(), strict=True):
        if len(found) == count:
            break
        if taken[i] >= most or taken[j] >= most or (closed is not None and closed[i, j]):
            continue
        taken[i] += 1
        taken[j] += 1
        found.append((i, j))
    return np.array(found, dtype=np.int64).reshape(-1, 2)
