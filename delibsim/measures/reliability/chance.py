"""Agreement by chance as each coefficient defines it, and what each text adds to it.

All functions take `times` (samples, patterns): how often each pattern of codes occurs in each
sample of texts. Sources: Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.; Gwet (2008),
https://doi.org/10.1348/000711006X126600; Conger (1980),
https://doi.org/10.1037/0033-2909.88.2.322; Fleiss (1971), https://doi.org/10.1037/h0031619.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from delibsim.measures.reliability.codes import Patterns

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Chance:
    """Agreement by chance: its `value` in each sample (samples,), and the `influence` of each
    pattern on it in the sample as it is (patterns,), which is 0 on average over the texts.

    `by_coders` says whether it matters who gave which level.
    """

    value: Callable[[Array, Patterns, Array], Array]
    influence: Callable[[Patterns, Array], Array]
    by_coders: bool = False


def observed(times: Array, patterns: Patterns, weights: Array) -> Array:
    """The observed agreement of each sample: the mean over texts with two codes or more."""
    with np.errstate(invalid="ignore"):
        return (times @ agreeing(patterns, weights)) / (times @ patterns.paired)


def agreeing(patterns: Patterns, weights: Array) -> Array:
    """The share of agreeing pairs of coders in each pattern, pairs weighted; 0 without a pair."""
    counts, given = patterns.counts, patterns.given
    agreed = (counts * (counts @ weights - 1)).sum(axis=1)
    return np.where(patterns.paired, agreed / np.maximum(given * (given - 1), 1), 0)


def shares(times: Array, patterns: Patterns) -> Array:
    """The share of each level in each sample (samples, levels); every text counts alike."""
    return (times @ _own_shares(patterns)) / times.sum(axis=1, keepdims=True)


def _own_shares(patterns: Patterns) -> Array:
    return patterns.counts / patterns.given[:, None]


def _none(times: Array, _: Patterns, __: Array) -> Array:
    return np.zeros(len(times))


def _unmoved(patterns: Patterns, _: Array) -> Array:
    return np.zeros(len(patterns.times))


def _gwet(times: Array, patterns: Patterns, weights: Array) -> Array:
    q = len(weights)
    pi = shares(times, patterns)
    return weights.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=1)


def _gwet_influence(patterns: Patterns, weights: Array) -> Array:
    q = len(weights)
    pi = shares(patterns.times[None], patterns)[0]
    own = weights.sum() / (q * (q - 1)) * (_own_shares(patterns) @ (1 - pi))
    return 2 * (own - _mean(own, patterns))


def _brennan_prediger(times: Array, _: Patterns, weights: Array) -> Array:
    return np.full(len(times), weights.mean())


def _fleiss(times: Array, patterns: Patterns, weights: Array) -> Array:
    pi = shares(times, patterns)
    return ((pi @ weights) * pi).sum(axis=1)


def _fleiss_influence(patterns: Patterns, weights: Array) -> Array:
    pi = shares(patterns.times[None], patterns)[0]
    own = _own_shares(patterns) @ (weights @ pi)
    return 2 * (own - _mean(own, patterns))


def _conger(times: Array, patterns: Patterns, weights: Array) -> Array:
    """With two coders it is Cohen's: the sum of w_kl p_k p_l over both coders' own shares."""
    own, coders = _by_coder(times, patterns), patterns.places.shape[1]
    together = own.sum(axis=1)
    among_all = ((together @ weights) * together).sum(axis=1)
    with_oneself = ((own @ weights) * own).sum(axis=(1, 2))
    return (among_all - with_oneself) / (coders * (coders - 1))


def _conger_influence(patterns: Patterns, weights: Array) -> Array:
    own, coders = _by_coder(patterns.times[None], patterns)[0], patterns.places.shape[1]
    slopes = 2 / (coders * (coders - 1)) * ((own.sum(axis=0) - own) @ weights)
    n = patterns.times.sum()
    found = np.zeros(len(patterns.times))
    for coder in range(coders):
        place = patterns.places[:, coder]
        gave = place >= 0
        share = (patterns.times @ gave) / n
        moved = slopes[coder][place] - slopes[coder] @ own[coder]
        found += np.where(gave, moved, 0) / share
    return found


def _by_coder(times: Array, patterns: Patterns) -> Array:
    """Each coder's own share of each level, of shape (samples, coders, levels); NaN for a coder
    without a code in a sample.
    """
    parts = []
    for coder in range(patterns.places.shape[1]):
        gave = patterns.places[:, coder, None] == np.arange(len(patterns.levels))
        counts = times @ gave
        with np.errstate(invalid="ignore"):
            parts.append(counts / counts.sum(axis=1, keepdims=True))
    return np.stack(parts, axis=1)


def _mean(values: Array, patterns: Patterns) -> float:
    return float(values @ patterns.times / patterns.times.sum())


CHANCES = {
    "percent": Chance(_none, _unmoved),
    "ac": Chance(_gwet, _gwet_influence),
    "brennan_prediger": Chance(_brennan_prediger, _unmoved),
    "kappa": Chance(_conger, _conger_influence, by_coders=True),
    "fleiss": Chance(_fleiss, _fleiss_influence),
}
"""The coefficients that are (observed - chance) / (1 - chance), by id."""
