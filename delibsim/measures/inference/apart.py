"""How far two samples of sessions lie apart: in the middle, in spread, in overlap, to a classifier.

Sessions lie on topics, which count equally and are the same in both samples; those of a draw may be
alike. Intervals are by the jackknife over draws within topics (Shao and Tu 1995, The Jackknife and
Bootstrap, section 6.2), or over topics where a sample has a single draw of one, and t with the
degrees of freedom of Welch (1947, doi:10.1093/biomet/34.1-2.28).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from delibsim.measures.inference.means import ALIKE, MeanEstimate, by_t

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sessions:
    """The values of sessions (n,), without NaN; the topic of each, as a number from 0; its draw, a
    number that no other topic has.
    """

    values: Array
    topics: Array
    draws: Array


@dataclass(frozen=True)
class Apart:
    """How far the first sample lies from the second.

    `difference` is that of the means; `g` is it in standard deviations, the root of the mean of
    both variances (Bonett 2008, doi:10.1037/1082-989X.13.2.99), with the correction of Hedges
    (1981, doi:10.3102/10769986006002107); `spread` is the logarithm of the ratio of the standard
    deviations (its jackknife: Miller 1968, doi:10.1214/aoms/1177698418). `overlap`, with its lower
    and upper end, is the overlapping coefficient of normal distributions with these means and
    deviations (Inman and Bradley 1989, doi:10.1080/03610928908830127). `unit` is what intervals
    rest on, "draws" or "topics"; `note` says why something is missing.
    """

    difference: MeanEstimate
    g: MeanEstimate
    spread: MeanEstimate
    overlap: tuple[float, float, float]
    unit: str
    note: str


@dataclass(frozen=True, eq=False)
class _Left:
    """What both samples sum to (m, topics, 3) without each of m units in turn, and the strata (m,)
    of these units.
    """

    a: Array
    b: Array
    strata: Array


FOLDS = 5
"""Parts of the sessions, each of which is told apart by a classifier that learnt on the others; and
the fewest draws of a sample.
"""


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


FEWEST = 5
"""Draws of a sample, or topics, with fewer of which there is no interval."""
EACH = 0.975
"""The level of each of two intervals that hold together at .95 (Bonferroni)."""
RATIOS = 101
"""Ratios of spread, between the ends of their interval, at which the overlap is computed."""
NAN = float("nan")
NONE = MeanEstimate(NAN)


def moments(sample: Sessions) -> tuple[float, float]:
    """The mean and the standard deviation of sessions, topics counting equally.

    >>> moments(Sessions(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), np.arange(3)))[0]
    3.5
    """
    mean, variance = _moments(_sums(sample, 0.0))
    return float(mean), float(np.sqrt(variance))


def apart(a: Sessions, b: Sessions) -> Apart:
    """How far `a` lies from `b`; both have the same topics, each at least one session of each."""
    middle = float(np.concatenate([a.values, b.values]).mean())
    sums = _sums(a, middle), _sums(b, middle)
    size = len(a.values) + len(b.values)
    unit, left = _left(a, b, *sums, middle)
    whole = _statistics(*sums, size)
    without = [_statistics(one.a, one.b, size) for one in left]
    few = min(len(one.strata) for one in left) < FEWEST
    found, wide = [], []
    for k in range(3):
        parts = [(values[..., k], one.strata) for values, one in zip(without, left, strict=True)]
        estimate = float(whole[k])
        found.append(MeanEstimate(estimate) if few else _jackknifed(estimate, parts))
        wide.append(NONE if few else _jackknifed(estimate, parts, EACH))
    note = "no_variance" if np.isnan(whole).any() else ""
    overlap = overlapping(float(whole[1]), math.exp(whole[2])), *_ends(wide[1], wide[2])
    return Apart(*found, overlap, unit, "too_few_sessions" if few else note)


def overlapping(g: float, ratio: float) -> float:
    """The area that the densities of two normal distributions share.

    Their means lie `g` apart, in units of the root of their mean variance; `ratio` is that of their
    standard deviations. NaN where one of these is.

    >>> round(overlapping(0.0, 1.0), 3), round(overlapping(1.0, 1.0), 3)
    (1.0, 0.617)
    """
    if math.isnan(g) or math.isnan(ratio):
        return NAN
    first = NormalDist(0.0, ratio * math.sqrt(2 / (1 + ratio**2)))
    second = NormalDist(abs(g), math.sqrt(2 / (1 + ratio**2)))
    return first.overlap(second)


def _ends(g: MeanEstimate, spread: MeanEstimate) -> tuple[float, float]:
    """The least and the greatest overlap within both intervals together.

    The overlap falls with the distance of the means, whatever the ratio of spreads.
    """
    if any(map(math.isnan, (g.low, g.high, spread.low, spread.high))):
        return NAN, NAN
    near = 0.0 if g.low <= 0 <= g.high else min(abs(g.low), abs(g.high))
    far = max(abs(g.low), abs(g.high))
    ratios = np.exp(np.linspace(spread.low, spread.high, RATIOS))
    if spread.low <= 0 <= spread.high:
        ratios = np.append(ratios, 1.0)
    low = min(overlapping(far, float(ratio)) for ratio in ratios)
    return low, max(overlapping(near, float(ratio)) for ratio in ratios)


def _sums(sample: Sessions, middle: float) -> Array:
    """Of each topic the number of values, their sum and that of their squares, less `middle`."""
    return _summed(sample.values - middle, sample.topics)


def _summed(values: Array, groups: Array) -> Array:
    return np.stack([np.bincount(groups, values**power) for power in range(3)], axis=-1)


def _left(
    a: Sessions, b: Sessions, sums_a: Array, sums_b: Array, middle: float
) -> tuple[str, Sequence[_Left]]:
    """What units are called, and the sums without each of them."""
    of_draws = [_of_draws(one, middle) for one in (a, b)]
    if min(np.bincount(strata).min() for _, strata in of_draws) > 1:
        (own_a, strata_a), (own_b, strata_b) = of_draws
        less_a, less_b = _placed(own_a, strata_a), _placed(own_b, strata_b)
        first = _Left(sums_a - less_a, sums_b[None], strata_a)
        return "draws", [first, _Left(sums_a[None], sums_b - less_b, strata_b)]
    topics = len(sums_a)
    others = np.nonzero(~np.eye(topics, dtype=bool))[1].reshape(topics, topics - 1)
    return "topics", [_Left(sums_a[others], sums_b[others], np.zeros(topics, dtype=int))]


def _of_draws(sample: Sessions, middle: float) -> tuple[Array, Array]:
    """What each draw adds to the sums of its topic (draws, 3), and the topic of each."""
    _, first, draws = np.unique(sample.draws, return_index=True, return_inverse=True)
    return _summed(sample.values - middle, draws), sample.topics[first]


def _placed(own: Array, strata: Array) -> Array:
    """What draws add (draws, 3), each in the row of its topic (draws, topics, 3)."""
    found = np.zeros((len(own), strata.max() + 1, 3))
    found[np.arange(len(own)), strata] = own
    return found


def _statistics(sums_a: Array, sums_b: Array, size: int) -> Array:
    """The difference of the means, g, and the log ratio of the deviations (..., 3)."""
    (mean_a, var_a), (mean_b, var_b) = _moments(sums_a), _moments(sums_b)
    difference, both = mean_a - mean_b, (var_a + var_b) / 2
    hedges = 1 - 3 / (4 * (size - 2) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        g = hedges * difference / np.sqrt(np.where(both > 0, both, np.nan))
        ratio = np.where((var_a > 0) & (var_b > 0), var_a / var_b, np.nan)
    return np.stack(np.broadcast_arrays(difference, g, np.log(ratio) / 2), axis=-1)


def _moments(sums: Array) -> tuple[Array, Array]:
    """The mean and the variance of sessions, topics counting equally, from sums (..., topics, 3).

    With one topic it is the usual variance, with n - 1 in its denominator.
    """
    n, first, second = (sums[..., power] for power in range(3))
    mean, square = (first / n).mean(axis=-1), (second / n).mean(axis=-1)
    weights = (1 / n).sum(axis=-1) / sums.shape[-2] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (square - mean**2) / np.where(weights < 1, 1 - weights, np.nan)
    return mean, np.where(variance > ALIKE * square, variance, 0.0)


def _jackknifed(
    estimate: float, parts: Iterable[tuple[Array, Array]], level: float = 0.95
) -> MeanEstimate:
    """An estimate with its error, from its values without each unit, by strata.

    Each part has the degrees of freedom that its fourth moment leaves its variance (Satterthwaite
    1946, doi:10.2307/3002019), at most the units less the strata: few where values are skewed.
    """
    errors, dfs = [], []
    for values, strata in parts:
        sizes = np.bincount(strata)
        squares = (values - (np.bincount(strata, values) / sizes)[strata]) ** 2
        errors.append(float(((sizes - 1) / sizes)[strata] @ squares))
        most = float((sizes - 1).sum())
        if errors[-1]:
            peaked = float((squares**2).mean() / squares.mean() ** 2)
            most = min(most, max(1.0, 2 * len(values) / (peaked - 1 + 2 / most)))
        dfs.append(most)
    variance = sum(errors)
    if math.isnan(estimate) or not variance > (ALIKE * abs(estimate)) ** 2:
        return MeanEstimate(estimate)
    df = variance**2 / sum(own**2 / most for own, most in zip(errors, dfs, strict=True))
    return by_t(estimate, math.sqrt(variance), df, level)


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
