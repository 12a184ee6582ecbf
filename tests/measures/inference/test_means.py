"""Means and their differences by t: units, strata, pairs, samples, equivalence, corrections. The
bootstrap over clusters against scipy's, and its edges. How far two samples lie apart: against
Welch's t, by the densities, and where nothing is known.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.stats import bootstrap, norm, ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

from delibsim.measures.inference.apart import Sessions, apart, classified, overlapping
from delibsim.measures.inference.means import (
    UNDEFINED,
    SampleStatistics,
    benjamini_hochberg,
    cohens_d,
    equivalence,
    equivalence_of_mean,
    holm,
    jackknifed,
    least_squares,
    mean_of_units,
    mean_within,
    paired_difference,
    pooled,
    welch,
    wilson,
)
from delibsim.measures.inference.resampling import (
    cluster_interval,
    line,
    percentile_interval,
    resampled_counts,
    resampled_means,
)


@pytest.mark.parametrize("size", [2, 5, 12])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_over_units_it_is_the_t_test_of_scipy(size, level):
    values = np.random.default_rng(size).normal(0.03, 0.06, size)
    theirs = ttest_1samp(values, 0)
    found = mean_of_units(values, level)
    assert (found.estimate, found.df) == (pytest.approx(values.mean()), theirs.df)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    ends = theirs.confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(size))


def test_within_strata_it_is_a_contrast_of_stratum_means():
    """Least squares on an indicator of each stratum; strata of unequal size and weight."""
    rng = np.random.default_rng(7)
    strata = np.repeat([2, 0, 5, 9], [3, 5, 1, 4])
    values = rng.normal(strata * 0.1, 0.4)
    share = {2: 0.5, 0: 0.2, 5: 0.1, 9: -0.4}
    sizes = {stratum: (strata == stratum).sum() for stratum in share}
    weights = np.array([share[stratum] / sizes[stratum] for stratum in strata])
    fit = sm.OLS(values, (strata[:, None] == list(share)).astype(float)).fit()
    theirs = fit.t_test(list(share.values()))
    order = rng.permutation(len(values))
    found = mean_within(values[order], strata[order], weights[order])
    assert found.df == fit.df_resid == 9
    assert found.estimate == pytest.approx(theirs.effect.item())
    assert found.error == pytest.approx(theirs.sd.item())
    assert found.p == pytest.approx(theirs.pvalue.item())
    assert (found.low, found.high) == pytest.approx(tuple(theirs.conf_int()[0]))


@pytest.mark.parametrize(
    ("values", "strata", "estimate", "df"),
    [
        ([], [], np.nan, np.nan),
        ([0.1], [0], 0.1, np.nan),  # one value says nothing of the error
        ([0.1, 0.3], [0, 1], 0.2, np.nan),  # nor does one in each stratum
        ([0.1 + 0.2, 0.3], [0, 0], 0.3, 1),  # rounding is no variance
        ([0.0, 0.0], [0, 0], 0.0, 1),
        ([0.1, 0.1, 0.4, 0.4], [0, 0, 1, 1], 0.25, 2),  # strata differ, values within do not
    ],
)
def test_without_variance_there_is_a_mean_and_no_error(values, strata, estimate, df):
    if values:
        found = mean_within(values, strata, np.full(len(values), 1 / len(values)))
    else:
        found = mean_of_units(values)
    assert (found.estimate, found.df) == pytest.approx((estimate, df), nan_ok=True)
    assert np.isnan([found.error, found.low, found.high, found.p]).all()


VALUES = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=20), st.sampled_from([0.9, 0.95]))
def test_it_is_that_of_the_paired_t_test(pairs, level):
    first, second = map(np.array, zip(*pairs, strict=True))
    found = paired_difference(first, second, level)
    differences = first - second
    assert (found.n, found.mean) == (len(pairs), pytest.approx(differences.mean(), abs=1e-9))
    if math.isnan(found.low):
        assert np.ptp(differences) < 1e-9
        return
    low, high = stats.ttest_rel(first, second).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


def test_without_two_different_pairs_there_is_no_interval():
    assert math.isnan(paired_difference([], []).mean)
    one = paired_difference([2.0], [1.0])
    assert (one.mean, math.isnan(one.sd), math.isnan(one.low)) == (1.0, True, True)
    equal = paired_difference([0.3, 0.4], [0.1, 0.2])
    assert (equal.sd, math.isnan(equal.low)) == (0.0, True)


def test_pairs_have_two_values():
    with pytest.raises(ValueError, match="two values each"):
        paired_difference([1.0, 2.0], [1.0])


PEOPLE = SampleStatistics(2.980, 0.431, 910)
GROUPS = [
    SampleStatistics(2.939, sd, 660) for sd in (0.12, 0.13)
]  # of two treatments, as published


def samples():
    rng = np.random.default_rng(3)
    return rng.normal(0.3, 1, 20), rng.normal(0, 3, 35)


def test_both_are_those_of_scipy():
    a, b = samples()
    for equal, function in ((True, pooled), (False, welch)):
        there = ttest_ind(a, b, equal_var=equal)
        found = function(SampleStatistics.of(a), SampleStatistics.of(b))
        assert found.p == pytest.approx(there.pvalue, abs=1e-12)
        assert found.interval() == pytest.approx(tuple(there.confidence_interval()), abs=1e-12)


def test_the_published_p_of_models_against_people_follow_from_mean_sd_and_n():
    """Published are .0176 and .0180 with a pooled variance, .0066 and .0068 by Welch."""
    assert [pooled(group, PEOPLE).p for group in GROUPS] == pytest.approx(
        [0.0176, 0.0180], abs=0.0015
    )
    assert [welch(group, PEOPLE).p for group in GROUPS] == pytest.approx(
        [0.0066, 0.0068], abs=0.0015
    )
    for group in GROUPS:
        assert welch(group, PEOPLE).interval() == pytest.approx((-0.071, -0.011), abs=0.001)


def test_of_a_slope_it_is_hc3_where_every_point_is_a_cluster():
    """HC3 has no factor (n - 1) / n: MacKinnon and White 1985."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=9), rng.normal(size=9)
    whole = line(x, y).slope
    without = [line(np.delete(x, i), np.delete(y, i)).slope for i in range(9)]
    found = jackknifed(whole, without)
    other = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3").bse[1]
    assert found.error == pytest.approx(other * np.sqrt(8 / 9))
    assert found.df == 8


def test_of_a_mean_it_is_student_s():
    values = np.random.default_rng(1).normal(0.1, 0.3, 7)
    found, other = (jackknifed(values.mean(), (values.sum() - values) / 6), DescrStatsW(values))
    assert (found.low, found.high) == pytest.approx(other.tconfint_mean())
    assert found.p == pytest.approx(other.ttest_mean(0)[1])


@pytest.mark.parametrize("without", [[], [0.3], [0.1, 0.1, 0.1], [0.1, np.nan]])
def test_where_nothing_varies_or_one_is_undefined_there_is_no_error(without):
    found = jackknifed(0.1, without)
    assert found.estimate == 0.1
    assert np.isnan([found.error, found.low, found.high, found.p]).all()


def test_by_hand():
    """Means 4 and 2, sums of squares 8 and 2 on 2 + 1 degrees of freedom: 2 / sqrt(10 / 3)."""
    assert cohens_d([2, 4, 6], [1, 3]) == pytest.approx(2 / np.sqrt(10 / 3))
    assert cohens_d([1, 3], [2, 4, 6]) == pytest.approx(-2 / np.sqrt(10 / 3))


def test_it_is_t_without_the_sizes_of_the_groups():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.5, 1, 20), rng.normal(0, 2, 31)
    t = ttest_ind(a, b).statistic
    assert cohens_d(a, b) == pytest.approx(t * np.sqrt(1 / 20 + 1 / 31))


def test_it_is_undefined_without_variance_or_with_one_value():
    assert np.isnan(cohens_d([1, 1], [0, 0]))
    assert np.isnan(cohens_d([1], [0, 2]))
    assert np.isnan(cohens_d([], []))


@pytest.mark.parametrize("shift", [0.0, 0.015, -0.04])
def test_it_is_that_of_statsmodels(shift):
    rng = np.random.default_rng(6)
    first, second = rng.normal(shift, 0.03, 12), rng.normal(0, 0.01, 12)
    found = equivalence_of_mean(first - second, 0.02)
    p, (_, p_lower, _), (_, p_upper, _) = ttost_paired(first, second, -0.02, 0.02)
    assert (found.p, found.p_lower, found.p_upper) == pytest.approx((p, p_lower, p_upper), abs=1e-9)
    assert found.estimate == pytest.approx((first - second).mean())


@pytest.mark.parametrize("value", [0.0, 0.01, 0.3])
def test_without_variance_nothing_is_decided(value):
    assert equivalence_of_mean(np.full(5, value), 0.02) is UNDEFINED
    assert equivalence(value, 0.0, 4, 0.02) is UNDEFINED
    assert np.isnan(UNDEFINED.p)


def test_what_is_undefined_is_nan_and_a_margin_is_above_0():
    assert math.isnan(equivalence_of_mean([0.1], 0.02).p)
    assert math.isnan(equivalence_of_mean([0.1, 0.1], 0.02).p)
    assert math.isnan(equivalence_of_mean([0.1 + 0.2, 0.3], 0.02).p)  # equal but for rounding
    assert math.isnan(equivalence_of_mean([0.0], 0.02).p)
    with pytest.raises(ValueError, match="above 0"):
        equivalence_of_mean([0.1], 0.0)


KEPT = json.loads((Path(__file__).parents[2] / "reference" / "coding.json").read_text("utf-8"))


@pytest.mark.parametrize("row", KEPT["wilson"])
def test_the_interval(row):
    found = wilson(row["successes"], row["n"])
    assert found == pytest.approx((row["low"], row["high"]), abs=5e-8)


def test_no_trials_have_no_interval_and_more_successes_than_trials_are_refused():
    assert all(map(math.isnan, wilson(0, 0)))
    with pytest.raises(ValueError, match="3 of 2 is no proportion"):
        wilson(3, 2)


@pytest.mark.parametrize("size", [1, 3, 12])
@pytest.mark.parametrize(("corrected", "theirs"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_a_correction_is_that_of_statsmodels(corrected, theirs, size):
    p = np.random.default_rng(size).beta(0.5, 4, size)
    assert corrected(p.tolist()) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)


def test_the_published_families_of_three_come_out():
    """Normative against none .005 becomes .015 (DEFINITIONS 7)."""
    assert holm([0.005, 0.079, 0.349])[0] == pytest.approx(0.015)


@pytest.mark.parametrize("corrected", [holm, benjamini_hochberg])
def test_what_is_nan_is_no_member_of_the_family(corrected):
    found = corrected([0.01, math.nan, 0.04])
    assert found[0] == pytest.approx(0.02)
    assert found[2] == pytest.approx(0.04)
    assert math.isnan(found[1])
    assert corrected([]) == []
    assert np.isnan(corrected([math.nan])).all()


@pytest.mark.parametrize("seed", range(5))
def test_errors_of_least_squares_are_those_of_statsmodels_and_a_perfect_fit_has_none(seed):
    x = sm.add_constant(np.random.default_rng(seed).normal(size=(9, 2)))
    y = np.random.default_rng(seed + 50).normal(size=9)
    theirs = sm.OLS(y, x).fit(cov_type="HC1")
    slopes, errors = least_squares(x, y)
    assert (slopes, errors) == (pytest.approx(theirs.params), pytest.approx(theirs.bse))
    assert np.isnan(least_squares(x, x @ [0.3, 0.7, 0.1])[1]).all()


def test_of_single_values_the_interval_is_that_of_scipy():
    values = np.random.default_rng(2).normal(0.03, 0.1, 12)
    there = bootstrap((values,), np.mean, n_resamples=50_000, method="percentile", rng=1)
    found = cluster_interval(values, np.arange(12), 50_000, seed=1)
    assert found == pytest.approx(tuple(there.confidence_interval), abs=0.002)


def test_all_values_of_a_cluster_are_drawn_together():
    means = resampled_means([1, 1, 1, 5], ["a", "a", "a", "b"], 4000, seed=3)
    shares = {float(value): float(np.mean(means == value)) for value in (1, 2, 5)}
    assert shares == pytest.approx({1.0: 0.25, 2.0: 0.5, 5.0: 0.25}, abs=0.03)


def test_the_draws_are_as_many_as_asked_for_whatever_the_parts():
    parts = list(resampled_counts(600_000, 10, 0))
    assert [len(part) for part in parts] == [1] * 10
    assert all((part.sum(axis=1) == 600_000).all() for part in parts)


def test_one_cluster_has_no_interval():
    assert np.isnan(cluster_interval([1, 2], ["a", "a"], 100, 1)).all()
    assert np.isnan(percentile_interval([np.nan, np.nan])).all()


def sample(values, topics=None, draws=None):
    found = np.asarray(values, dtype=float)
    topics = np.zeros(len(found), dtype=int) if topics is None else np.asarray(topics)
    return Sessions(found, topics, np.arange(len(found)) if draws is None else np.asarray(draws))


def test_of_independent_sessions_of_one_topic_it_is_welchs_test():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40), rng.normal(0.5, 2, size=200)
    found = apart(sample(a), sample(b))
    assert found.difference.estimate == pytest.approx(a.mean() - b.mean())
    assert found.difference.error == pytest.approx(
        np.sqrt(a.var(ddof=1) / 40 + b.var(ddof=1) / 200)
    )
    assert found.difference.p == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue, rel=0.15)
    both = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert found.g.estimate == pytest.approx((a.mean() - b.mean()) / both, rel=0.01)
    assert found.spread.estimate == pytest.approx(np.log(a.std(ddof=1) / b.std(ddof=1)))
    assert found.unit == "draws"


@pytest.mark.parametrize(("g", "ratio"), [(0.7, 1.0), (-1.5, 0.4), (0.0, 3.0)])
def test_the_overlap_is_the_area_below_both_densities(g, ratio):
    here, there = norm(g, ratio * np.sqrt(2 / (1 + ratio**2))), norm(0, np.sqrt(2 / (1 + ratio**2)))
    area = quad(lambda x: min(here.pdf(x), there.pdf(x)), -12, 12, limit=500)[0]
    assert overlapping(g, ratio) == pytest.approx(area, abs=1e-5)


def test_sessions_of_a_draw_count_as_little_as_they_are_alike():
    rng = np.random.default_rng(2)
    of_draws = rng.normal(size=10)
    b = sample(rng.normal(size=12))
    once = apart(sample(of_draws), b).difference
    copied = apart(sample(np.repeat(of_draws, 6), draws=np.repeat(np.arange(10), 6)), b).difference
    assert copied.error == pytest.approx(once.error)


def test_with_one_session_a_topic_intervals_rest_on_topics():
    rng = np.random.default_rng(3)
    topics = np.arange(8)
    level = 10.0 * topics
    a, b = level + rng.normal(size=8), level + rng.normal(size=8)
    found = apart(sample(a, topics), sample(b, topics))
    assert found.unit == "topics"
    assert found.difference.error == pytest.approx((a - b).std(ddof=1) / np.sqrt(8))


def test_few_sessions_and_equal_values_have_estimates_and_no_interval():
    few = apart(sample([1, 2, 3]), sample([2, 3, 5, 7, 1, 0]))
    assert (few.note, np.isnan(few.g.low), few.g.estimate < 0) == ("too_few_sessions", True, True)
    equal = apart(sample([1.0] * 8), sample(np.arange(8.0)))
    assert equal.note == "no_variance"
    assert np.isnan(equal.spread.estimate)
    assert np.isnan(equal.overlap).all()
    assert np.isfinite([equal.difference.p, equal.g.low]).all()


def test_a_classifier_finds_what_was_planted_and_nothing_else():
    rng = np.random.default_rng(5)
    n = 24
    values, first = rng.normal(size=(n, 4)), np.arange(n) < n // 2
    topics, draws = np.arange(n) % 2, np.arange(n)
    chance = classified(values, first, topics, draws, 99, 1)
    assert chance is not None
    assert chance.p > 0.05
    assert chance.chance == pytest.approx(0.5, abs=0.08)
    values[first, 2] += 3
    found = classified(values, first, topics, draws, 99, 1)
    assert found is not None
    assert (found.accuracy > 0.85, found.p) == (True, 0.01)
    assert np.abs(found.weights).argmax() == 2
    assert found.weights[2] > 0
    assert classified(values, draws < 4, topics, draws, 9, 1) is None
