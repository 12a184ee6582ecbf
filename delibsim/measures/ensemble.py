"""From samples of several models to one level a text, and how sure an ensemble is of it.

Levels are given by their position among the q declared levels, 0 to q - 1; a missing one is NaN.
Rules: docs/coding.md, "The level and how sure it is".

How sure is no probability of being right; `Calibration` compares it with people.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.inference.means import jackknifed
from delibsim.measures.inference.shares import share_of

Array = NDArray[np.float64]
Rule = Literal["lower", "mean", "mode", "pooled"]
RULES: tuple[Rule, ...] = ("lower", "mean", "mode", "pooled")
"""The rules by which levels of models become one; only `mode` holds where levels have no order."""
ROUNDING = 1e-9
"""How far rounding may carry a share or a mean beyond the limit that it is compared with."""


def counts_of(samples: ArrayLike, q: int) -> Array:
    """How often each level was given, (..., q), from samples (..., k), NaN where there is none.

    >>> counts_of([[2, 2, 1, float("nan")]], 3).tolist()
    [[0.0, 1.0, 2.0]]
    """
    given = np.asarray(samples, dtype=float)
    chosen = [(given == level).sum(axis=-1) for level in range(q)]
    return np.stack(chosen, axis=-1).astype(float)


def lower_median(weights: ArrayLike) -> Array:
    """The lower median of each row of weights or counts of levels, (..., q) to (...).

    It is the lowest level up to which at least half of the weight lies: `sorted(v)[(len(v) - 1) //
    2]` for whole numbers of values v. NaN for a row without weight.

    >>> lower_median([[2, 0, 2], [1, 2, 1], [3, 0, 1]]).tolist()
    [0.0, 1.0, 0.0]
    """
    weight = np.asarray(weights, dtype=float)
    below = weight.cumsum(axis=-1)
    total = below[..., -1]
    reached = below >= total[..., None] / 2 - ROUNDING
    return np.where(total > 0, reached.argmax(axis=-1), np.nan)


def mode(weights: ArrayLike, ordered: bool = True) -> Array:
    """The most frequent level of each row of weights or counts, (..., q) to (...).

    Of several the lowest; where levels have no order (`ordered` False) such a tie has no level.

    >>> mode([[2, 0, 2], [0, 1, 3]]).tolist(), mode([[2, 0, 2], [0, 1, 3]], False).tolist()
    ([0.0, 2.0], [nan, 2.0])
    """
    weight = np.asarray(weights, dtype=float)
    largest = weight.max(axis=-1, keepdims=True)
    first = weight >= largest - ROUNDING
    defined = largest[..., 0] > 0
    if not ordered:
        defined &= first.sum(axis=-1) == 1
    return np.where(defined, first.argmax(axis=-1), np.nan)


def mean_half_down(weights: ArrayLike, values: ArrayLike | None = None) -> Array:
    """The level nearest to the mean of each row of weights or counts, (..., q) to (...).

    A mean half-way between two levels gives the lower. `values` are the values of the levels where
    they are not 0 to q - 1. NaN for a row without weight.

    >>> mean_half_down([[1, 2, 1], [1, 1, 0], [0, 1, 2]]).tolist()
    [1.0, 0.0, 2.0]
    """
    weight = np.asarray(weights, dtype=float)
    scale = np.arange(weight.shape[-1]) if values is None else np.asarray(values, dtype=float)
    total = weight.sum(axis=-1)
    mean = (weight @ scale) / np.where(total > 0, total, 1)
    distance = np.abs(mean[..., None] - scale)
    nearest = distance <= distance.min(axis=-1, keepdims=True) + ROUNDING
    return np.where(total > 0, nearest.argmax(axis=-1), np.nan)


def model_levels(counts: ArrayLike, asked: ArrayLike, ordered: bool = True) -> Array:
    """The level of each model on each text, (n, m), from counts of its samples (n, m, q).

    It is the lower median, or the mode where levels have no order. `asked` says for how many
    samples of a text each model was asked, (m,), or all of them. A model has no level on a text
    with fewer than `ceil(asked / 2)` readable samples.

    >>> model_levels([[[0, 1, 2], [0, 0, 1]]], asked=3).tolist()
    [[2.0, nan]]
    """
    count = np.asarray(counts, dtype=float)
    found = lower_median(count) if ordered else mode(count, ordered=False)
    return np.where(enough_samples(count, asked), found, np.nan)


def enough_samples(counts: ArrayLike, asked: ArrayLike) -> NDArray[np.bool_]:
    """Whether each model has enough readable samples on each text, (n, m), from counts (n, m, q).

    Enough are `ceil(asked / 2)` and one at least; `asked` as in `model_levels`.
    """
    given = np.asarray(counts, dtype=float).sum(axis=-1)
    return given >= np.maximum(np.ceil(np.asarray(asked) / 2), 1)


def enough_models(votes: ArrayLike, models: int) -> NDArray[np.bool_]:
    """Whether at least half of the models, and one at least, have a level on a text."""
    voted = np.asarray(votes, dtype=float)
    return (voted * 2 >= models) & (voted > 0)


def shares_of(counts: ArrayLike, levels: ArrayLike) -> Array:
    """The share of each model's samples on each level, (n, m, q).

    NaN for the models without a level (n, m), which do not vote.
    """
    count = np.asarray(counts, dtype=float)
    total = count.sum(axis=-1, keepdims=True)
    shares = count / np.where(total > 0, total, 1)
    votes = ~np.isnan(np.asarray(levels, dtype=float))
    return np.where(votes[..., None], shares, np.nan)


def ensemble_levels(
    counts: ArrayLike,
    levels: ArrayLike,
    rule: Rule = "lower",
    values: Sequence[float] | None = None,
    ordered: bool = True,
) -> Array:
    """The level of the ensemble on each text, (n,), from its models' levels (n, m).

    `counts` (n, m, q) are those of their samples, which `pooled` takes, each model having the same
    weight. NaN with fewer than half of the models, and for a tie where levels have no order.
    ValueError for a rule other than `mode` there, and for an unknown rule.

    >>> ensemble_levels([[[5, 0], [0, 5]]], [[0, 1]]).tolist()
    [0.0]
    """
    refuse_rule(rule, ordered)
    count, level = np.asarray(counts, dtype=float), np.asarray(levels, dtype=float)
    votes = counts_of(level, count.shape[-1])
    if rule == "pooled":
        shares = np.nan_to_num(shares_of(count, level))
        found = lower_median(shares.sum(axis=1))
    else:
        found = of_votes(votes, rule, values, ordered)
    return np.where(enough_models(votes.sum(axis=-1), level.shape[1]), found, np.nan)


def of_votes(
    votes: Array, rule: Rule, values: Sequence[float] | None = None, ordered: bool = True
) -> Array:
    """The level of each row of votes of models, (..., q) to (...), by a rule other than pooled."""
    if rule == "mode":
        return mode(votes, ordered)
    if rule == "mean":
        return mean_half_down(votes, values)
    return lower_median(votes)


def rule_of(name: str, ordered: bool) -> Rule:
    """The rule of this name, as it can be applied: `mode` wherever levels have no order.

    >>> rule_of("lower", ordered=False)
    'mode'
    """
    rule = cast("Rule", name) if ordered else "mode"
    refuse_rule(rule, ordered)
    return rule


def refuse_rule(rule: str, ordered: bool) -> None:
    """ValueError for a rule that there is none of, and for one that needs an order of levels."""
    if rule not in RULES:
        raise ValueError(f"unknown rule '{rule}': use {', '.join(RULES)}")
    if not ordered and rule != "mode":
        raise ValueError(f"the rule '{rule}' needs levels in order; nominal levels have 'mode'")


MOST_POOLED = 8
"""How many models can be drawn with replacement one by one: 8 give 6,435 draws."""


def level_shares(counts: ArrayLike, levels: ArrayLike) -> Array:
    """The share of each level, p (n, q): the mean over voting models of their shares of samples."""
    shares = shares_of(counts, levels)
    voting = ~np.isnan(shares[..., 0])
    total = np.nansum(shares, axis=1)
    votes = voting.sum(axis=1)[:, None]
    return np.where(votes > 0, total / np.maximum(votes, 1), np.nan)


def margin(p: ArrayLike) -> Array:
    """The largest share less the second largest, (n, q) to (n,).

    >>> margin([[0.5, 0.25, 0.25], [1, 0, 0]]).tolist()
    [0.25, 1.0]
    """
    ordered = np.sort(np.asarray(p, dtype=float), axis=-1)
    return ordered[..., -1] - ordered[..., -2]


def entropy(p: ArrayLike) -> Array:
    """Entropy in bits of shares, (..., q) to (...); NaN where a share is NaN.

    >>> entropy([[0.5, 0.5], [1, 0]]).tolist()
    [1.0, 0.0]
    """
    share = np.asarray(p, dtype=float)
    bits = share * np.log2(np.where(share > 0, share, 1))
    return -bits.sum(axis=-1) + 0.0


def entropies(counts: ArrayLike, levels: ArrayLike) -> tuple[Array, Array, Array]:
    """Entropy of p, the mean entropy within a model, and their difference, each (n,) in bits."""
    own = entropy(shares_of(counts, levels))
    voting = ~np.isnan(own)
    votes = voting.sum(axis=1)
    within = np.where(votes > 0, np.nansum(own, axis=1) / np.maximum(votes, 1), np.nan)
    whole = entropy(level_shares(counts, levels))
    return whole, within, np.maximum(whole - within, 0)


def stability(
    counts: ArrayLike,
    levels: ArrayLike,
    rule: Rule = "lower",
    values: Sequence[float] | None = None,
    ordered: bool = True,
) -> Array:
    """The probability that the level stays when voting models are drawn with replacement, (n,).

    Exact: every outcome of the draw is taken with its probability. NaN without a level, and for
    `pooled` with more than MOST_POOLED voting models.
    """
    refuse_rule(rule, ordered)
    level, count = np.asarray(levels, dtype=float), np.asarray(counts, dtype=float)
    found = np.full(len(level), np.nan)
    if rule == "pooled":
        for i, shares in enumerate(shares_of(count, level)):
            found[i] = _pooled_stability(shares[~np.isnan(shares[:, 0])])
        return found
    patterns, place = np.unique(counts_of(level, count.shape[-1]), axis=0, return_inverse=True)
    own = [_stability(votes, rule, values, ordered) for votes in patterns]
    return np.asarray(own, dtype=float)[place.reshape(-1)] if len(own) else found


def flips(
    counts: ArrayLike,
    levels: ArrayLike,
    rule: Rule = "lower",
    values: Sequence[float] | None = None,
    ordered: bool = True,
) -> Array:
    """How many models can be left out singly so that the level is another or none, (n,).

    Only models that vote are left out. NaN with fewer than two votes, and without a level.
    """
    refuse_rule(rule, ordered)
    level, count = np.asarray(levels, dtype=float), np.asarray(counts, dtype=float)
    shares = np.nan_to_num(shares_of(count, level))

    def decided(kept: Array) -> Array:
        if rule == "pooled":
            voting = ~np.isnan(kept)
            return lower_median((shares * voting[..., None]).sum(axis=1))
        return of_votes(counts_of(kept, count.shape[-1]), rule, values, ordered)

    whole = decided(level)
    changed = np.zeros(len(level))
    for model in range(level.shape[1]):
        kept = level.copy()
        kept[:, model] = np.nan
        voted = ~np.isnan(level[:, model])
        changed += voted & (decided(kept) != whole)
    votes = (~np.isnan(level)).sum(axis=1)
    return np.where((votes > 1) & ~np.isnan(whole), changed, np.nan)


def error_correlation(errors: ArrayLike) -> float:
    """The mean correlation of the errors of two models, over pairs; errors (m, n) are 0 or 1.

    A pair is compared on the texts that both have (NaN: none). Pairs in which a model errs on all
    texts or on none have no correlation and are left out; NaN where no pair has one.
    """
    error = np.asarray(errors, dtype=float)
    found = []
    for one, other in itertools.combinations(error, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        first, second = one[both], other[both]
        if len(first) > 1 and np.ptp(first) > 0 and np.ptp(second) > 0:
            found.append(float(np.corrcoef(first, second)[0, 1]))
    return float(np.mean(found)) if found else math.nan


def effective_votes(errors: ArrayLike) -> float:
    """How many independent models the models (m, n) are worth: K / (1 + (K - 1) r).

    r is their `error_correlation`. Models that err alike are fewer votes than models, and with r
    below 0 they are more. NaN where r is -1/(K - 1) or less: then they cancel each other out.
    """
    k, r = len(np.asarray(errors)), error_correlation(errors)
    spread = 1 + (k - 1) * r
    return k / spread if spread > ROUNDING else math.nan


def _stability(votes: Array, rule: Rule, values: Sequence[float] | None, ordered: bool) -> float:
    """That of one pattern of votes, (q,): over all numbers of draws that fall on its levels."""
    m = int(votes.sum())
    if not m:
        return math.nan
    (level,) = of_votes(votes[None], rule, values, ordered)
    used = np.flatnonzero(votes)
    draws = _compositions(m, len(used))
    weights = _multinomial(draws, votes[used] / m)
    drawn = np.zeros((len(draws), len(votes)))
    drawn[:, used] = draws
    same = of_votes(drawn, rule, values, ordered) == level
    return math.nan if math.isnan(level) else float(weights[same].sum())


def _pooled_stability(shares: Array) -> float:
    """That of one text under the rule pooled: over all draws of its models, (m, q)."""
    m = len(shares)
    if not m or m > MOST_POOLED:
        return math.nan
    draws = _compositions(m, m)
    weights = _multinomial(draws, np.full(m, 1 / m))
    same = lower_median(draws @ shares) == lower_median(shares.sum(axis=0))
    return float(weights[same].sum())


def _compositions(total: int, parts: int) -> Array:
    """Every way to write a number as so many ordered parts, a row each."""
    bars = itertools.combinations(range(total + parts - 1), parts - 1)
    edges = np.array([(-1, *cut, total + parts - 1) for cut in bars])
    return np.diff(edges, axis=1) - 1.0


def _multinomial(draws: Array, chances: Array) -> Array:
    """The probability of each row of draws, all chances being above 0."""
    factorials = np.array([math.factorial(i) for i in range(int(draws[0].sum()) + 1)], dtype=float)
    ways = factorials[-1] / factorials[draws.astype(int)].prod(axis=1)
    return ways * (chances**draws).prod(axis=1)


FEWEST = 50
"""Texts with which a calibration is more than chance; with fewer that is said."""
BINS = 5


@dataclass(frozen=True)
class Bin:
    """The texts whose confidence lies in one range (`above` left out, `to` included).

    `n` texts of mean confidence `confidence`, of which the share `agrees` has the interval `low`
    to `high`; all NaN where n is 0. The first bin holds its lower end as well.
    """

    above: float
    to: float
    n: int
    confidence: float
    agrees: float
    low: float
    high: float


def bins(
    confidence: ArrayLike,
    agrees: ArrayLike,
    number: int = BINS,
    clusters: ArrayLike | None = None,
) -> list[Bin]:
    """Texts in bins of equal width over 0 to 1 by confidence; `agrees` is 0 or 1, both (n,).
    `clusters` (n,) says which texts are of one cluster.

    Texts of which one is NaN are left out. ValueError for a confidence outside 0 to 1.
    """
    sure, right = _both(confidence, agrees)
    known = ~np.isnan(np.asarray(confidence, float)) & ~np.isnan(np.asarray(agrees, float))
    kinds = [] if clusters is None else [np.asarray(clusters)[known]]
    edges = np.linspace(0, 1, number + 1)
    place = np.clip(np.ceil(sure * number - 1e-9).astype(int) - 1, 0, number - 1)
    found = []
    for i in range(number):
        own, given = right[place == i], sure[place == i]
        share = share_of(own, *(kind[place == i] for kind in kinds))
        mean = float(given.mean()) if len(own) else np.nan
        ends = float(edges[i]), float(edges[i + 1])
        found.append(Bin(*ends, len(own), mean, share.share, share.low, share.high))
    return found


def brier(confidence: ArrayLike, agrees: ArrayLike) -> float:
    """The mean squared difference of confidence and agreement; NaN without a text.

    Source: Brier (1950). 0 is best; always saying 0.5 gives 0.25.

    >>> brier([1.0, 0.5], [1, 0])
    0.125
    """
    sure, right = _both(confidence, agrees)
    return float(((sure - right) ** 2).mean()) if len(sure) else np.nan


def calibration_error(confidence: ArrayLike, agrees: ArrayLike, number: int = BINS) -> float:
    """The expected calibration error: |agreement - confidence| of the bins, weighted by texts.

    Source: Naeini, Cooper and Hauskrecht (2015). NaN without a text.

    >>> calibration_error([1.0, 1.0, 0.5, 0.5], [1, 0, 1, 0])
    0.25
    """
    found = [one for one in bins(confidence, agrees, number) if one.n]
    n = sum(one.n for one in found)
    gaps = [one.n * abs(one.agrees - one.confidence) for one in found]
    return float(sum(gaps) / n) if n else np.nan


def area_under_curve(values: ArrayLike, marked: ArrayLike) -> tuple[float, float]:
    """How often a marked text has a higher value than one that is not, ties as half, and the
    standard error of this; NaN without a text of either kind, the error below two of either.

    Source: DeLong, DeLong and Clarke-Pearson (1988), https://doi.org/10.2307/2531595. Values that
    tell nothing give 0.5.

    >>> area, error = area_under_curve([0.9, 0.4, 0.4, 0.1], [1, 1, 0, 0])
    >>> area, round(error, 4)
    (0.875, 0.1768)
    """
    own, chosen = np.asarray(values, dtype=float), np.asarray(marked, dtype=bool)
    first, second = own[chosen], own[~chosen]
    if not len(first) or not len(second):
        return np.nan, np.nan
    above = np.sign(first[:, None] - second) / 2 + 0.5
    area = float(above.mean())
    if min(above.shape) < 2:
        return area, np.nan
    parts = [above.mean(axis=axis).var(ddof=1) / above.shape[1 - axis] for axis in (0, 1)]
    return area, float(np.sqrt(sum(parts)))


def area_interval(
    values: ArrayLike, marked: ArrayLike, units: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """The interval of the area under the curve: t on its log odds, from what it is without each
    unit (n,), a cluster of texts or a text; NaN where that is undefined, 0 or 1 without one.
    """
    own, chosen = np.asarray(values, dtype=float), np.asarray(marked, dtype=bool)
    numbers = np.unique(np.asarray(units), return_inverse=True)[1]
    k = int(numbers.max(initial=-1)) + 1
    first, second = numbers[chosen], numbers[~chosen]
    above = np.sign(own[chosen][:, None] - own[~chosen]) / 2 + 0.5
    n, m = np.bincount(first, minlength=k), np.bincount(second, minlength=k)
    sums = np.bincount(first, above.sum(axis=1), k) + np.bincount(second, above.sum(axis=0), k)
    i, j = np.nonzero(first[:, None] == second)
    left = above.sum() - sums + np.bincount(first[i], above[i, j], k)
    with np.errstate(divide="ignore", invalid="ignore"):
        areas = np.append(left, above.sum()) / np.append(
            (n.sum() - n) * (m.sum() - m), n.sum() * m.sum()
        )
        odds = np.log(areas / (1 - areas))
    found = jackknifed(float(odds[-1]), odds[:-1], level)
    low, high = 1 / (1 + np.exp([-found.low, -found.high]))
    return float(low), float(high)


def _both(confidence: ArrayLike, agrees: ArrayLike) -> tuple[Array, Array]:
    """Confidence and agreement where neither is NaN."""
    sure, right = np.asarray(confidence, dtype=float), np.asarray(agrees, dtype=float)
    known = ~np.isnan(sure) & ~np.isnan(right)
    sure, right = sure[known], right[known]
    if sure.size and not (sure.min() >= -1e-9 and sure.max() <= 1 + 1e-9):
        raise ValueError("a confidence lies between 0 and 1")
    return np.clip(sure, 0, 1), right
