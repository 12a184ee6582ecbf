"""A mean over crossed units: against lme4's Penicillin, and by simulation."""

import numpy as np
import pytest

from delibsim.measures.inference.mixed import crossed_mean


def exact(rng, n, variance):
    """Values (n,) whose mean is 0 and whose variance is exactly this."""
    drawn = rng.normal(size=n)
    return (drawn - drawn.mean()) / drawn.std(ddof=1) * variance**0.5


def balanced(plates, samples, of_plate, of_sample, residual, mean):
    """A balanced table on which REML estimates exactly these variances."""
    rng = np.random.default_rng(1)
    rest = rng.normal(size=(plates, samples))
    rest -= rest.mean(axis=0)
    rest -= rest.mean(axis=1, keepdims=True)
    rest *= np.sqrt(residual * (plates - 1) * (samples - 1) / (rest**2).sum())
    first = exact(rng, plates, of_plate + residual / samples)
    second = exact(rng, samples, of_sample + residual / plates)
    y = (mean + first[:, None] + second + rest).ravel()
    return y, np.repeat(np.arange(plates), samples), np.tile(np.arange(samples), plates)


def test_it_is_the_mean_of_lme4_and_lmertest():
    """Penicillin (24 plates, 6 samples) in Bates, lme4: Mixed-effects Modeling with R, chapter 2:
    variances .7149, 3.7309, .3024; mean 22.9722, standard error .8086. Satterthwaite 1946: V^2 by
    the mean squares.
    """
    y, plate, sample = balanced(24, 6, 0.7149, 3.7309, 0.3024, 22.9722)
    found = crossed_mean(y, plate, sample)
    assert found.kinds == (0, 1)
    assert (found.mean.estimate, found.mean.error) == pytest.approx((22.9722, 0.8086), abs=1e-4)
    of_plate, of_sample = 6 * 0.7149 + 0.3024, 24 * 3.7309 + 0.3024
    squares = of_plate**2 / 23 + of_sample**2 / 5 + 0.3024**2 / 115
    df = (of_plate + of_sample - 0.3024) ** 2 / squares
    assert found.mean.df == pytest.approx(df, rel=1e-6)


@pytest.mark.parametrize("variances", [(0.09, 0.09), (1, 1)])
def test_the_interval_holds_the_truth(variances):
    """150 studies of six topics and five models a case; the simulation error is .018."""
    rng = np.random.default_rng([7, *map(int, np.multiply(variances, 100))])
    topics, models, held = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6), []
    for _ in range(150):
        y = rng.normal(size=30) + rng.normal(0, variances[0] ** 0.5, 6)[topics]
        mean = crossed_mean(y + rng.normal(0, variances[1] ** 0.5, 5)[models], topics, models).mean
        held.append(mean.low <= 0 <= mean.high)
    assert 0.91 <= np.mean(held) <= 0.99


def test_a_kind_with_fewer_than_five_units_is_held_as_it_is():
    rng = np.random.default_rng(3)
    y, topics, models = rng.normal(size=24), np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8)
    found = crossed_mean(y, topics, models)
    assert (found.kinds, found.mean.df) == ((0,), 7)
    assert crossed_mean(y, models, topics).kinds == (1,)
    few = crossed_mean(y[:9], topics[:9], models[:9])
    assert (few.note, few.kinds) == ("few_units", ())
    assert np.isnan(few.mean.error)
    assert few.mean.estimate == pytest.approx(y[:9].mean())


def test_equal_values_are_undecided():
    topics, models = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    found = crossed_mean(np.full(30, 0.1), topics, models)
    assert found.note == "no_variance"
    assert np.isnan([found.mean.error, found.mean.p]).all()
