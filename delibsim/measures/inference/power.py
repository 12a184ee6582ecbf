"""Power of the contrast of two treatments, by formula, for the two questions of a study.

The difference of the changes under two treatments is, in topic t, model m and replicate r,

    d = effect + effect in topic t + what the models of the draw (t, r) share + residual.

Treatments and models of a draw share people, orders and seeds: what treatments share cancels in d,
what the differences of the models share does not. With a correlation c between the differences of
two models of a draw, the mean over M models of a draw has within its topic the variance

    draw = 2 residual^2 (c + (1 - c) / M),

which more models do not bring below 2 residual^2 c. A topic's mean over R replicates has the
variance topic^2 + draw / R.

Over topics like these the test is that of Student over T means of topics, and its power that of the
noncentral t with T - 1 degrees of freedom (Cohen 1988, https://doi.org/10.4324/9780203771587,
chapter 2). On these topics the signs of T R draws are flipped. A flip test of normal values rejects
where a t test does, nearly; its own variance also holds how far the effect differs between topics.
That is a sum of two chi-squares, taken as one with the same mean and variance (Satterthwaite 1946,
https://doi.org/10.2307/3002019).
"""

from dataclasses import dataclass, replace

TESTS = ("topics", "draws")
"""Over topics like these, t over topics; on these topics, signs flipped by draw."""
MOST = 100_000
"""The most topics or replicates that are tried."""
MANY = 50
"""Draws beyond which any level can be had by flips."""
LARGEST = 1e3
"""The largest effect that is tried, in residual standard deviations."""


@dataclass(frozen=True)
class Spread:
    """How far changes spread, in the unit of the measure.

    `topic` is the standard deviation of the effect between topics; `residual` that of a session in
    its block, beside what treatments of a draw share; `correlation`, from 0 to 1, that of the
    differences of two models in a draw.
    """

    topic: float
    residual: float
    correlation: float


@dataclass(frozen=True)
class SampleSize:
    """Topics, models and replicates that are crossed."""

    topics: int
    models: int
    replicates: int


def draw_variance(spread: Spread, models: int) -> float:
    """The variance of the mean difference of a draw within its topic."""
    shared = spread.correlation if models > 1 else 0.0
    return 2 * spread.residual**2 * (shared + (1 - shared) / models)


def power_of(effect: float, spread: Spread, sample: SampleSize, test: str, alpha: float) -> float:
    """The probability that a two-sided test of level alpha finds this effect.

    NaN where the test has nothing to go by: fewer than two topics for the test over topics. 0 where
    flips cannot reject: of five draws their smallest p is 2 / 32.

    >>> spread = Spread(topic=0.07, residual=0.11, correlation=0.3)
    >>> [round(power_of(0.06, spread, SampleSize(12, 3, 5), test, 0.05), 2) for test in TESTS]
    [0.59, 0.96]
    """
    draw, size = draw_variance(spread, sample.models), sample.replicates
    if test == "topics":
        variance = spread.topic**2 + draw / size
        return _power_of_t(effect**2 * sample.topics / variance, sample.topics - 1, alpha)
    if sample.topics == 1:  # one topic is tested by t over its draws
        return _power_of_t(effect**2 * size / draw, size - 1, alpha) if size > 1 else float("nan")
    draws = sample.topics * size
    level = _level_of_flips(draws, alpha)
    if level == 0:
        return 0.0
    between, within = sample.topics - 1, sample.topics * (size - 1)
    whole = draw + size * spread.topic**2
    mean = (between * whole + within * draw) / (draws - 1)
    free = (between * whole + within * draw) ** 2 / (between * whole**2 + within * draw**2)
    return _power_of_t(effect**2 * draws / draw, free, level, draws - 1, mean / draw)


def _power_of_t(
    shift: float, free: float, alpha: float, free_of_test: float | None = None, scale: float = 1.0
) -> float:
    """The power of a two-sided t test: `shift` is the square of the noncentrality; the critical
    value is that of `free_of_test`, the estimated variance `scale` times that of the estimate.
    """
    from scipy.special import ncfdtr
    from scipy.stats import t as student

    if free < 1:
        return float("nan")
    critical = student.isf(alpha / 2, free if free_of_test is None else free_of_test)
    # The square of t is F, whose distribution function is known for every shift.
    return float(1 - ncfdtr(1, free, shift, scale * critical**2))


def _level_of_flips(draws: int, alpha: float) -> float:
    """The level that a flip test of this many draws has: p is a multiple of 2 / 2^draws."""
    if draws > MANY:
        return alpha
    step = 2.0 ** (1 - draws)
    return alpha // step * step


def smallest_effect(
    power: float, spread: Spread, sample: SampleSize, test: str, alpha: float
) -> float:
    """The smallest effect that a design finds with this power; NaN where it finds none.

    >>> spread = Spread(topic=0.07, residual=0.11, correlation=0.3)
    >>> round(smallest_effect(0.8, spread, SampleSize(12, 11, 5), "topics", 0.05), 3)
    0.073
    """
    from scipy.optimize import brentq

    def missing(effect: float) -> float:
        return power_of(effect, spread, sample, test, alpha) - power

    tried = spread.residual / 1000
    while missing(tried) < 0:
        tried *= 1.5
        if tried > LARGEST * spread.residual:
            return float("nan")
    if not missing(tried) >= 0:
        return float("nan")
    return (
        float(brentq(missing, 0.0, tried, xtol=1e-9 * spread.residual)) if missing(0.0) < 0 else 0.0
    )


def needed(
    what: str,
    effect: float,
    power: float,
    spread: Spread,
    sample: SampleSize,
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
