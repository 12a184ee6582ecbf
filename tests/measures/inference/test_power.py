"""Power by formula against statsmodels, and against both tests on simulated studies."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.power import TTestPower

from delibsim.measures.inference.power import (
    TESTS,
    SampleSize,
    Spread,
    draw_variance,
    needed,
    power_of,
    smallest_effect,
)

SPREAD = Spread(topic=0.05, residual=0.1, correlation=0.3)
SAMPLE = SampleSize(topics=6, models=3, replicates=4)
STUDIES, FLIPS = 500, 399


@pytest.fixture(scope="module")
def studies():
    """Mean differences of the draws (studies, topics, replicates) without an effect, and of these
    those on their own topics: how far the effect differs between topics is about its mean there.
    """
    rng = np.random.default_rng(7)
    t, m, r = SAMPLE.topics, SAMPLE.models, SAMPLE.replicates
    of_topics = rng.normal(0, SPREAD.topic, (STUDIES, t, 1))
    whole = 2 * SPREAD.residual**2
    shared = rng.normal(0, math.sqrt(whole * SPREAD.correlation), (STUDIES, t, r))
    own = rng.normal(0, math.sqrt(whole * (1 - SPREAD.correlation)), (STUDIES, t, m, r))
    draws = shared + own.mean(axis=2)
    return of_topics + draws, of_topics - of_topics.mean(axis=1, keepdims=True) + draws


def share_found(test, differences):
    """The share of studies in which the test of level .05 rejects."""
    if test == "topics":
        return (ttest_1samp(differences.mean(axis=2), 0, axis=1).pvalue <= 0.05).mean()
    rng = np.random.default_rng(8)
    signs = rng.choice([-1.0, 1.0], (FLIPS, SAMPLE.topics * SAMPLE.replicates))
    values = differences.reshape(len(differences), -1)
    more = np.abs(values @ signs.T) >= np.abs(values.sum(axis=1, keepdims=True)) - 1e-12
    return ((1 + more.sum(axis=1)) / (1 + FLIPS) <= 0.05).mean()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("effect", [0.0, 0.04, 0.07])
def test_the_formula_gives_the_share_of_simulated_studies_in_which_the_test_rejects(
    studies, test, effect
):
    """Of 500 studies: two Monte-Carlo errors, and .02 for what is approximate."""
    share = share_found(test, studies[TESTS.index(test)] + effect)
    expected = power_of(effect, SPREAD, SAMPLE, test, 0.05)
    tolerance = 2 * math.sqrt(expected * (1 - expected) / STUDIES) + 0.02
    assert share == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("effect", [0.0, 0.02, 0.1, 1.0])
def test_over_topics_it_is_the_power_of_a_t_test_by_statsmodels(effect):
    deviation = math.sqrt(0.05**2 + 0.02 * (0.3 + 0.7 / 3) / 4)
    expected = TTestPower().power(effect / deviation, 6, 0.05)
    found = power_of(effect, SPREAD, SAMPLE, "topics", 0.05)
    assert found == pytest.approx(float(np.nan_to_num(expected, nan=1.0)), abs=1e-9)


def test_on_topics_that_do_not_differ_it_is_that_of_a_t_test_over_draws_by_statsmodels():
    spread, sample = Spread(0.0, 0.1, 0.3), SampleSize(10, 3, 8)
    deviation = math.sqrt(0.02 * (0.3 + 0.7 / 3))
    expected = TTestPower().power(0.03 / deviation, 80, 0.05)
    assert power_of(0.03, spread, sample, "draws", 0.05) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("test", TESTS)
def test_the_smallest_effect_and_what_an_effect_needs_have_the_power_asked_for(test):
    smallest = smallest_effect(0.8, SPREAD, SAMPLE, test, 0.05)
    assert power_of(smallest, SPREAD, SAMPLE, test, 0.05) == pytest.approx(0.8, abs=1e-6)
    topics = needed("topics", 0.04, 0.8, SPREAD, SAMPLE, test, 0.05)
    powers = []
    for count in (topics, topics - 1):
        powers.append(power_of(0.04, SPREAD, SampleSize(count, 3, 4), test, 0.05))
    assert powers[0] >= 0.8 > powers[1]


def test_where_topics_differ_no_number_of_replicates_is_enough_for_topics_like_these():
    assert needed("replicates", 0.03, 0.8, SPREAD, SAMPLE, "topics", 0.05) is None
    assert needed("replicates", 0.03, 0.8, SPREAD, SAMPLE, "draws", 0.05) == 18


def test_one_topic_has_no_test_over_topics_and_one_draw_no_test_at_all():
    one = SampleSize(1, 1, 1)
    assert math.isnan(power_of(0.1, SPREAD, one, "topics", 0.05))
    assert math.isnan(smallest_effect(0.8, SPREAD, one, "topics", 0.05))
    assert math.isnan(smallest_effect(0.8, SPREAD, one, "draws", 0.05))
    assert math.isnan(power_of(0.1, SPREAD, one, "draws", 0.05))
    draw = draw_variance(SPREAD, 1)  # one topic is tested by t over its draws
    theirs = TTestPower().power(0.1 / draw**0.5, nobs=5, alpha=0.05)
    assert power_of(0.1, SPREAD, SampleSize(1, 1, 5), "draws", 0.05) == pytest.approx(theirs)


def test_five_draws_cannot_reject_and_six_can():
    spread = Spread(0, 0.1, 0)
    assert power_of(9.0, spread, SampleSize(5, 1, 1), "draws", 0.05) == 0
    assert power_of(0.2, spread, SampleSize(6, 1, 1), "draws", 0.05) > 0.3
