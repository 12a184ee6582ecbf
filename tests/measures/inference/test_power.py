"""Power by formula against statsmodels, and against the tests themselves on simulated studies."""

import math

import numpy as np
import pytest

from delibsim.measures.inference.power import (
    TESTS,
    Sample,
    Spread,
    estimate_variance,
    needed,
    power_of,
    smallest_effect,
)

SPREAD = Spread(topic=0.05, model=0.03, pair=0.05, residual=0.1)
SAMPLE = Sample(topics=6, models=3, replicates=4)
SEEDS, PERMUTATIONS = 300, 199


def centred(rng, sd, count):
    """Effects of fixed topics or models: their mean is 0 and their variance is as stated."""
    values = rng.normal(0, 1, count)
    return sd * (values - values.mean()) / values.std()


def rejected(test, effect, rng):
    """Whether a test finds an effect in one simulated study."""
    t, m, r = SAMPLE.topics, SAMPLE.models, SAMPLE.replicates
    if test == "topics":
        of_topics = rng.normal(0, SPREAD.topic, t)
    else:
        of_topics = centred(rng, SPREAD.topic, t)
    effects = effect + of_topics[:, None] + centred(rng, SPREAD.model, m)
    a = effects[..., None] + rng.normal(0, SPREAD.residual, (t, m, r))
    b = rng.normal(0, SPREAD.residual, (t, m, r))
    if test == "free":
        a += rng.normal(0, SPREAD.pair, (t, m, r))
        b += rng.normal(0, SPREAD.pair, (t, m, r))
    differences = a - b
    if test == "topics":
        from scipy.stats import ttest_1samp

        return ttest_1samp(differences.mean(axis=(1, 2)), 0).pvalue <= 0.05
    if test == "paired":
        signs = rng.choice([-1.0, 1.0], (PERMUTATIONS, differences.size))
        drawn = (signs * differences.ravel()).mean(axis=1)
    else:
        blocks = np.concatenate([a, b], axis=2).reshape(t * m, 2 * r)
        shuffled = rng.permuted(np.broadcast_to(blocks, (PERMUTATIONS, *blocks.shape)), axis=2)
        drawn = (shuffled[..., :r] - shuffled[..., r:]).mean(axis=(1, 2))
    least = abs(differences.mean()) - 1e-12
    return (1 + (np.abs(drawn) >= least).sum()) / (1 + PERMUTATIONS) <= 0.05


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("effect", [0.0, 0.04])
def test_the_formula_gives_the_share_of_simulated_studies_in_which_the_test_rejects(test, effect):
    """Of 300 studies; three Monte-Carlo errors and .02 for what is approximate in the formula."""
    rng = np.random.default_rng(7)
    share = np.mean([rejected(test, effect, rng) for _ in range(SEEDS)])
    expected = power_of(effect, SPREAD, SAMPLE, test, 0.05)
    tolerance = 3 * math.sqrt(expected * (1 - expected) / SEEDS) + 0.02
    assert share == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize("effect", [0.0, 0.02, 0.1, 1.0])
def test_over_topics_it_is_the_power_of_a_t_test_by_statsmodels(effect):
    from statsmodels.stats.power import TTestPower

    deviation = math.sqrt(estimate_variance(SPREAD, SAMPLE, "topics") * SAMPLE.topics)
    expected = TTestPower().power(effect / deviation, SAMPLE.topics, 0.05)
    found = power_of(effect, SPREAD, SAMPLE, "topics", 0.05)
    assert found == pytest.approx(float(np.nan_to_num(expected, nan=1.0)), abs=1e-9)


def test_many_pairs_without_heterogeneity_are_those_of_a_normal_test_by_statsmodels():
    from statsmodels.stats.power import NormalIndPower

    spread, sample = Spread(0, 0, 0, 0.1), Sample(10, 10, 20)
    expected = NormalIndPower(ddof=0).power(0.1, 2000, 0.05)
    for test in ("paired", "free"):
        assert power_of(0.01, spread, sample, test, 0.05) == pytest.approx(expected, abs=0.005)


def test_the_variance_is_that_of_the_components():
    found = estimate_variance(SPREAD, SAMPLE, "topics")
    assert found == pytest.approx(0.05**2 / 6 + 2 * 0.1**2 / 72)
    random = Sample(6, 3, 4, models_random=True)
    assert estimate_variance(SPREAD, random, "topics") == pytest.approx(found + 0.03**2 / 3)
    assert estimate_variance(SPREAD, SAMPLE, "paired") == pytest.approx(2 * 0.1**2 / 72)
    free = estimate_variance(SPREAD, SAMPLE, "free")
    assert free == pytest.approx(2 * (0.05**2 + 0.1**2) / 72)


@pytest.mark.parametrize("test", TESTS)
def test_the_smallest_effect_and_what_an_effect_needs_have_the_power_asked_for(test):
    smallest = smallest_effect(0.8, SPREAD, SAMPLE, test, 0.05)
    assert power_of(smallest, SPREAD, SAMPLE, test, 0.05) == pytest.approx(0.8, abs=1e-6)
    topics = needed("topics", 0.04, 0.8, SPREAD, SAMPLE, test, 0.05)
    powers = []
    for count in (topics, topics - 1):
        powers.append(power_of(0.04, SPREAD, Sample(count, 3, 4), test, 0.05))
    assert powers[0] >= 0.8 > powers[1]


def test_where_topics_differ_no_number_of_replicates_is_enough():
    assert needed("replicates", 0.03, 0.8, SPREAD, SAMPLE, "topics", 0.05) is None
    assert needed("replicates", 0.03, 0.8, SPREAD, SAMPLE, "paired", 0.05) == 12


def test_one_topic_has_no_test_over_topics_and_few_pairs_no_test_at_all():
    one = Sample(1, 1, 2)
    assert math.isnan(power_of(0.1, SPREAD, one, "topics", 0.05))
    assert math.isnan(smallest_effect(0.8, SPREAD, one, "topics", 0.05))
    assert math.isnan(smallest_effect(0.8, SPREAD, one, "paired", 0.05))


def test_five_pairs_cannot_reject_and_six_can():
    spread = Spread(0, 0, 0, 0.1)
    assert power_of(9.0, spread, Sample(5, 1, 1), "paired", 0.05) == 0
    assert power_of(0.2, spread, Sample(6, 1, 1), "paired", 0.05) > 0.3
    assert power_of(9.0, spread, Sample(1, 1, 3), "free", 0.05) == 0
    assert power_of(0.2, spread, Sample(1, 1, 4), "free", 0.05) > 0.3
