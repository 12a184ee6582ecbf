"""The slope on the true value before: against instrumental variables, and by simulation."""

import numpy as np
import pytest
from statsmodels.sandbox.regression.gmm import IV2SLS

from delibsim.measures.inference.regression import line, true_slope


def study(rng, topics=12, models=4, replicates=3, people=0.0, truth=0.0):
    """Before, change, condition and topic of sessions whose surveys err with an SD of .12.

    `people` is the SD of what the people of a draw, whom all models share, keep over both surveys.
    """
    topic = np.repeat(np.arange(topics), models * replicates)
    condition = np.repeat(np.arange(topics * models), replicates)
    draw = topic * replicates + np.tile(np.arange(replicates), topics * models)
    true = rng.normal(0, 0.1, topics)[topic] + rng.normal(0, 0.1, topics * models)[condition]
    moved = truth * true + rng.normal(0, 0.05, topics)[topic]
    kept = rng.normal(0, people, topics * replicates)[draw]
    before = true + kept + rng.normal(0, 0.12, len(topic))
    after = true + moved + kept + rng.normal(0, 0.12, len(topic))
    return before, after - before, condition, topic


def test_with_two_replicates_it_is_that_of_instrumental_variables():
    """Each replicate is an instrument for the other; degrees of freedom differ by one in 400."""
    rng = np.random.default_rng(1)
    before, change, condition, topic = study(rng, 100, 4, 2, people=0.1, truth=-0.4)
    found = true_slope(before, change, condition, topic)
    other = before.reshape(-1, 2)[:, ::-1].ravel()
    ones = np.ones(len(before))
    fit = IV2SLS(change, np.column_stack([ones, before]), np.column_stack([ones, other])).fit()
    assert found.slope.estimate == pytest.approx(fit.params[1], abs=0.01)
    assert found.reliability == pytest.approx(np.corrcoef(before, other)[0, 1], abs=0.01)


def test_with_independent_errors_it_is_blomqvist_s():
    rng = np.random.default_rng(2)
    before, change, condition, topic = study(rng, 400, 4, 3, truth=-0.2)
    found, plain = true_slope(before, change, condition, topic), line(before, change).slope
    reliability = found.reliability
    assert found.slope.estimate == pytest.approx((plain + 1 - reliability) / reliability, abs=0.02)


@pytest.mark.parametrize("people", [0.0, 0.1])
def test_without_any_change_the_plain_slope_is_clear_and_the_true_one_is_0(people):
    """200 studies a case; an interval that is not defined claims nothing."""
    rng, plain, found, held = np.random.default_rng([3, round(10 * people)]), [], [], []
    for _ in range(200):
        before, change, condition, topic = study(rng, people=people)
        plain.append(line(before, change, topic).p < 0.05)
        one = true_slope(before, change, condition, topic).slope
        found.append(one.estimate)
        held.append(np.isnan(one.low) or one.low <= 0 <= one.high)
    assert np.mean(plain) > 0.75
    assert abs(np.median(found)) < 0.03
    assert np.mean(held) >= 0.93


def test_what_cannot_be_estimated_says_why():
    before, change, condition, topic = study(np.random.default_rng(4))
    single = true_slope(before[::3], change[::3], condition[::3], topic[::3])
    assert single.slope.note == "no_replication"
    assert np.isnan([single.slope.estimate, single.reliability]).all()
    one = true_slope(before[:12], change[:12], condition[:12], topic[:12])
    assert one.slope.note == "no_error"
    alike = true_slope(np.tile([0.1, 0.2, 0.3], 48), change, condition, topic)
    assert alike.slope.note == "no_variance"
