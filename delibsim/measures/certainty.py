"""How sure an ensemble of models is of a level: shares, entropy, stability, independent votes.

None of these is a probability of being right; `measures.calibration` compares them with people.
Arrays as in `measures.ensemble`.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from delibsim.measures.ensemble import (
    ROUNDING,
    Rule,
    counts_of,
    lower_median,
    of_votes,
    refuse_rule,
    shares_of,
)

Array = NDArray[np.float64]
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
