"""The line of least squares against statsmodels and scipy, with plain and with clustered errors."""

import json
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import linregress, ttest_1samp
from statsmodels.sandbox.regression.gmm import IV2SLS

from delibsim.measures.inference.resampling import line, ratio, true_slope

ORACLE = json.loads(
    (Path(__file__).resolve().parents[2] / "reference" / "clustered.json").read_text("utf-8")
)


def test_stored_values_of_statsmodels():
    plain = line(ORACLE["x"], ORACLE["y"])
    clustered = line(ORACLE["x"], ORACLE["y"], ORACLE["clusters"])
    found = (plain.slope, plain.r2, plain.se, plain.p, clustered.se, clustered.p)
    names = ("beta", "r2", "se", "p", "se_clustered", "p_clustered")
    assert found == pytest.approx([ORACLE[name] for name in names], rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_statsmodels_and_scipy_agree_on_unbalanced_clusters(seed):
    rng = np.random.default_rng(seed)
    groups = np.sort(rng.integers(0, 7, 60))
    x = rng.normal(0.3, 0.2, 60)
    y = 0.1 - 0.5 * x + rng.normal(0, 0.1, 7)[groups] + rng.normal(0, 0.1, 60)
    fit = sm.OLS(y, sm.add_constant(x)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    found = line(x, y, [f"topic {group}" for group in groups])
    assert found.clusters == len(np.unique(groups)) == found.df + 1
    assert (found.intercept, found.slope) == pytest.approx(fit.params)
    assert (found.se, found.p, found.r2) == pytest.approx(
        (fit.bse[1], fit.pvalues[1], fit.rsquared)
    )
    assert found.interval() == pytest.approx(fit.conf_int()[1])
    plain, other = line(x, y), linregress(x, y)
    assert (plain.se, plain.p) == pytest.approx((other.stderr, other.pvalue))
    assert plain.df == 58


def test_points_without_a_value_are_left_out():
    whole = line([0, 1, 2, 5], [1, 0, 2, 2], [1, 1, 2, 3])
    gaps = line([0, 1, np.nan, 2, 5, 9], [1, 0, 4, 2, 2, np.nan], [1, 1, 4, 2, 3, 5])
    assert gaps == whole
    assert (gaps.n, gaps.clusters) == (4, 3)


def test_what_cannot_be_fitted_has_a_reason():
    short = line([1, 2], [1, 2])
    assert (short.note, short.n) == ("too_few_points", 2)
    assert np.isnan([short.slope, short.se, short.p, *short.interval()]).all()
    assert line([], [], []).note == "too_few_points"
    assert line(np.ones(5), np.arange(5)).note == "constant_predictor"
    flat = line(np.arange(5), np.ones(5), [0, 0, 1, 1, 2])
    assert (flat.slope, flat.intercept, flat.note) == (0, 1, "constant_outcome")
    assert np.isnan([flat.se, flat.p, flat.r2]).all()
    rounded = 0.3 + np.array([0, 1e-16, 0, 2e-16])
    assert line(rounded, np.arange(4)).note == "constant_predictor"
    assert line(np.arange(4), rounded).note == "constant_outcome"
    alone = line(np.arange(5), np.arange(5) ** 2, np.zeros(5))
    assert (alone.slope, alone.note) == (pytest.approx(4), "one_cluster")
    assert np.isnan([alone.se, alone.p, *alone.interval()]).all()


def of_pairs(above, below):
    covariance = np.cov(above, below) / len(above)
    return ratio(above.mean(), below.mean(), covariance, len(above) - 1)


def test_its_ends_are_where_the_t_test_of_pairs_rejects():
    """Of pairs it is exact: a - r b has the mean 0 for the true ratio r (Fieller 1954)."""
    rng = np.random.default_rng(4)
    below = rng.normal(1, 0.4, 12)
    above = 0.5 * below + rng.normal(0, 0.2, 12)
    found = of_pairs(above, below)
    assert found.low < found.estimate < found.high
    for end in (found.low, found.high):
        assert ttest_1samp(above - end * below, 0).pvalue == pytest.approx(0.05)
    assert found.p == pytest.approx(ttest_1samp(above, 0).pvalue)


def test_it_is_the_formula_that_is_printed_with_g():
    """As in Finney 1978, with g = t^2 var(b) / b^2, here without a covariance."""
    found, square = ratio(3.0, 2.0, [[0.25, 0.0], [0.0, 0.09]], 1e9), 1.959964**2
    g = square * 0.09 / 4
    half = np.sqrt(square) / 2 * np.sqrt((1 - g) * 0.25 + 1.5**2 * 0.09)
    ends = (1.5 - half) / (1 - g), (1.5 + half) / (1 - g)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-6)


def test_a_denominator_that_may_be_0_gives_no_interval():
    found = ratio(
        0.03, 0.099, [[1e-4, 0], [0, 0.0456**2]], 11
    )  # people's change over twelve topics
    assert found.estimate == pytest.approx(0.303, abs=0.001)
    assert np.isnan([found.low, found.high]).all()
    assert found.note == "denominator_may_be_0"
    assert ratio(1, 1, [[0, 0], [0, 1]], 3).note == "no_error"


def test_it_holds_the_truth():
    rng, held = np.random.default_rng(5), []
    for _ in range(1000):
        below = rng.normal(1, 0.5, 8)
        found = of_pairs(0.3 * below + rng.normal(0, 0.3, 8), below)
        held.append(np.isnan(found.low) or found.low <= 0.3 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97


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
