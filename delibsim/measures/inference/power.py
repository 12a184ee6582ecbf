"""Power of the blocked contrast of two treatments, by formula.

The change of a session under treatment k is, in topic t, model m and replicate r,

    y = mean of k + level of the block (t, m) + effect of k in t + effect of k in m
        + what the treatments of (t, r) share + residual.

The estimate is the mean over blocks of the difference of two treatments; levels of blocks cancel.
With T topics, M models and R replicates, and differences of effects that vary between topics and
between models with the standard deviations `topic` and `model`, its variance is

    topic^2 / T + model^2 / M + noise / (T M R),

where noise is 2 residual^2 if treatments share seeds, and 2 (pair^2 + residual^2) if not. Topics
count in it where they are a sample (the topic is then the unit of replication), models where they
are. A permutation test holds both fixed: its estimate varies by the noise alone. Power is that of a
normal estimate whose critical value is the one that the test has on average; for the test over
topics, that of Student's t (Cohen 1988, https://doi.org/10.4324/9780203771587, chapter 2).
"""

from dataclasses import dataclass, replace
from math import comb

import numpy as np

TESTS = ("paired", "free", "topics")
"""Treatments share seeds, signs of differences flipped; they do not, labels permuted within
blocks; they do, and a t test over the differences of topics."""
MOST = 100_000
"""The most topics or replicates that are tried."""
MANY = 20
"""Blocks, and replicates, beyond which the labellings are not counted: they are enough."""
LARGEST = 1e3
"""The largest effect that is tried, in residual standard deviations."""


@dataclass(frozen=True)
class Spread:
    """Standard deviations of a change, in the unit of the measure.

    `topic` and `model` are those of the difference of two treatments between topics and between
    models, `pair` is that of what treatments of one replicate share, `residual` that of a session
    beside it, within its block.
    """

    topic: float
    model: float
    pair: float
    residual: float


@dataclass(frozen=True)
class Sample:
    """Topics, models and replicates that are crossed; `models_random` if the models are a sample of
    those that are spoken of, which only the test over topics heeds.
    """

    topics: int
    models: int
    replicates: int
    models_random: bool = False


def estimate_variance(spread: Spread, sample: Sample, test: str) -> float:
    """The variance of the blocked estimate, over what the test takes as a sample."""
    blocks = sample.topics * sample.models
    variance = _noise(spread, test) / (blocks * sample.replicates)
    if test == "topics":
        variance += spread.topic**2 / sample.topics
        if sample.models_random:
            variance += spread.model**2 / sample.models
    return variance


def power_of(effect: float, spread: Spread, sample: Sample, test: str, alpha: float) -> float:
    """The probability that a two-sided test of level alpha finds this effect.

    NaN where the test has nothing to go by: fewer than two topics for the test over topics. 0 where
    a permutation test cannot reject: of five pairs its smallest p is 2 / 32.

    >>> spread = Spread(topic=0, model=0, pair=0, residual=0.1)
    >>> round(power_of(0.0285, spread, Sample(20, 1, 10), "paired", 0.05), 2)
    0.8
    """
    from scipy.special import ncfdtr
    from scipy.stats import norm
    from scipy.stats import t as student

    variance = estimate_variance(spread, sample, test)
    if test == "topics":
        free = sample.topics - 1
        if free < 1:
            return float("nan")
        critical = student.isf(alpha / 2, free)
        # The square of t is F, whose distribution function is known for every shift.
        return float(1 - ncfdtr(1, free, effect**2 / variance, critical**2))
    if _fewest_p(sample, test) > alpha:
        return 0.0
    deviation = np.sqrt(variance)
    critical = norm.isf(alpha / 2) * np.sqrt(_permuted_variance(effect, spread, sample, test))
    upper, lower = (critical - effect) / deviation, (-critical - effect) / deviation
    return float(norm.sf(upper) + norm.cdf(lower))


def smallest_effect(
    power: float,
    spread: Spread,
    sample: Sample,
    test: str,
    alpha: float,
) -> float:
    """The smallest effect that a design finds with this power; NaN where it finds none.

    A permutation test of few differences cannot reject at all: its critical value grows with the
    effect.

    >>> spread = Spread(topic=0.07, model=0.04, pair=0, residual=0.11)
    >>> round(smallest_effect(0.8, spread, Sample(12, 11, 5), "topics", 0.05), 3)
    0.065
    """
    from scipy.optimize import brentq

    def missing(effect: float) -> float:
        return power_of(effect, spread, sample, test, alpha) - power

    if np.isnan(missing(spread.residual)):
        return float("nan")
    tried = spread.residual / 1000
    while missing(tried) < 0:
        tried *= 1.5
        if tried > LARGEST * spread.residual:
            return float("nan")
    return (
        float(brentq(missing, 0.0, tried, xtol=1e-9 * spread.residual)) if missing(0.0) < 0 else 0.0
    )


def needed(
    what: str,
    effect: float,
    power: float,
    spread: Spread,
    sample: Sample,
    test: str,
    alpha: float,
) -> int | None:
    """The fewest "topics" or "replicates" that find an effect, the rest of the sample as it is.

    None where no number up to 100,000 does: more replicates do not help where topics differ.
    """

    def enough(count: int) -> bool:
        other = replace(sample, **{what: count})
        return power_of(effect, spread, other, test, alpha) >= power

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _fewest_p(sample: Sample, test: str) -> float:
    """The smallest p that a permutation test can have: two of all signs, or of all labellings."""
    blocks, size = sample.topics * sample.models, min(sample.replicates, MANY)
    ways = 2.0**size if test == "paired" else float(comb(2 * size, size))
    return 2 * ways ** -min(blocks, MANY)


def _noise(spread: Spread, test: str) -> float:
    """The variance of the difference of two sessions of a block."""
    pair = spread.pair**2 if test == "free" else 0.0
    return 2 * (pair + spread.residual**2)


def _permuted_variance(effect: float, spread: Spread, sample: Sample, test: str) -> float:
    """The mean variance of the estimate under permutation, which sets the critical value.

    Flipped signs keep the squares of the differences of pairs; permuted labels keep the variance of
    all values of a block about their mean. Both hold what effects differ between blocks.
    """
    blocks, size = sample.topics * sample.models, sample.replicates
    noise = _noise(spread, test)
    between = effect**2 + spread.topic**2 + spread.model**2
    if test == "paired":
        return (between + noise) / (blocks * size)
    squares = (2 * size - 2) * noise / 2 + size / 2 * (between + noise / size)
    return squares / (2 * size - 1) * 2 / (size * blocks)
