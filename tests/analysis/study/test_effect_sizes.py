"""Contrasts adjusted for values before, tested for equivalence, and their sizes."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.formula.api as smf
from scipy.stats import ttest_1samp
from statsmodels.stats.weightstats import ttost_paired
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import _document, of_topics
from delibsim.analysis.study.effect_sizes import MARGINS, covariance, equivalence, sizes, smallest
from delibsim.analysis.study.sample import OutcomeMeasure
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.analysis.study.topic_means import noise_floor

STUDY = synthetic_study(topics=8, models=2, replicates=4)


def row_of(study, a="normative", b="none"):
    rows = covariance(study, DrawCounts()).rows
    return rows[(rows["outcome"] == "dri") & (rows["a"] == a) & (rows["b"] == b)].iloc[0]


def test_the_estimate_is_that_of_statsmodels():
    """In a balanced design, with a term for each block and treatment beside the common slope."""
    own = STUDY.rows[STUDY.rows["treatment"].isin(["normative", "none"])]
    fit = smf.ols("dri_post ~ dri_pre + C(topic) * C(model) * C(treatment)", own).fit()
    row = row_of(STUDY)
    assert row["slope"] == pytest.approx(fit.params["dri_pre"])
    sides = [own.assign(treatment=name, dri_pre=0.3) for name in ("normative", "none")]
    difference = fit.predict(sides[0]).mean() - fit.predict(sides[1]).mean()
    assert row["estimate"] == pytest.approx(difference)
    assert (row["df"], row["topics"], row["n"], row["note"]) == (7, 8, 128, "")


def test_equal_values_before_leave_student_s_t_over_topics():
    rows = STUDY.rows.assign(dri_pre=0.3)
    means = rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = means["normative"] - means["none"]
    row = row_of(replace(STUDY, rows=rows))
    assert (row["estimate"], row["slope"]) == (pytest.approx(own.mean()), 0)
    assert row["error"] == pytest.approx(own.std() / np.sqrt(8))


def test_what_is_undefined_says_why():
    result = covariance(STUDY, DrawCounts())
    assert list(result.rows.columns) == list(result.meanings)
    alone = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] == "topic0"])
    assert row_of(alone)["note"].startswith("one_topic")
    assert np.isnan(row_of(alone)["p"])
    few = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] < "topic3"])
    assert row_of(few)["note"].startswith("few_topics")
    without = replace(STUDY, rows=STUDY.rows.drop(columns="dri_pre"))
    assert "no column dri_pre" in row_of(without)["note"]


SMALL = synthetic_study(topics=12, models=3, replicates=3)


def test_it_is_the_test_of_statsmodels_over_topics():
    result = equivalence(SMALL, DrawCounts())
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.iloc[0]
    means = SMALL.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    p, (_, lower, _), (_, upper, _) = ttost_paired(
        means["normative"].to_numpy(), means["none"].to_numpy(), -0.02, 0.02
    )
    assert (row["a"], row["b"], row["margin"]) == ("normative", "none", 0.02)
    assert (row["p"], row["p_lower"], row["p_upper"]) == pytest.approx((p, lower, upper))
    assert row["equivalent"] == (p < 0.05)
    assert row["df"] == 11


def test_margins_are_about_a_fifth_of_what_people_changed_and_can_be_others():
    change = _document()["mean"]["change"]
    for outcome, margin in MARGINS.items():
        column = outcome.measure + "_relative" * (outcome.scale == "relative")
        if column in change:  # of the adjusted index no relative change of people is known
            assert margin == pytest.approx(abs(change[column]) / 5, abs=0.01)
    wide = equivalence(SMALL, DrawCounts(), {OutcomeMeasure("dri"): 0.5}).rows
    assert wide["margin"].tolist() == [0.5] * 3
    assert wide["equivalent"].tolist() == [True] * 3


def test_without_variance_nothing_is_decided():
    equal = replace(SMALL, rows=SMALL.rows.assign(dri_change=0.1))
    row = equivalence(equal, DrawCounts()).rows.iloc[0]
    assert row["estimate"] == 0
    assert row["equivalent"] is None
    assert np.isnan([row["low_90"], row["high_90"], row["p"]]).all()
    assert row["note"].startswith("equal_conditions: ")
    assert "undecided: no variance" in row["note"]
    moved = SMALL.rows["dri_change"].where(SMALL.rows["treatment"] == "none", 0.1)
    alike = SMALL.rows.assign(dri_change=moved.where(moved == 0.1, 0.0))
    row = equivalence(replace(SMALL, rows=alike), DrawCounts()).rows.iloc[0]
    assert row["equivalent"] is None
    assert row["note"].startswith("undecided: no variance")


LARGE = synthetic_study(topics=12, models=2, replicates=3)


def on_the_benchmark(study, topics=BENCHMARK):
    names = dict(zip([f"topic{k}" for k in range(12)], topics, strict=False))
    own = study.rows["topic"].map(names)
    return replace(study, rows=study.rows.assign(topic=own, survey=own)[own.notna()])


def size_of(study, outcome="dri"):
    rows = sizes(study, DrawCounts()).rows
    named = rows["outcome"].eq(outcome) & rows["scale"].eq("absolute") & rows["b"].eq("none")
    return rows[named & rows["a"].eq("normative")].iloc[0]


def test_an_effect_is_set_beside_the_noise_floor():
    result = sizes(LARGE, DrawCounts())
    assert list(result.rows.columns) == list(result.meanings)
    row = size_of(LARGE)
    means = LARGE.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = means["normative"] - means["none"]
    assert row["estimate"] == pytest.approx(own.mean())
    noise = noise_floor(LARGE, DrawCounts(resamples=10)).rows.iloc[0]["sd"]
    assert (row["noise_sd"], row["noise_of"]) == (pytest.approx(noise), "none")
    assert row["in_noise_sd"] == pytest.approx(own.mean() / noise)
    assert row["smallest_effect"] == pytest.approx(smallest(12) * own.std())
    assert "people's change is known on 0 topics" in row["note"]


def test_without_silent_sessions_the_noise_is_that_within_conditions():
    spoken = LARGE.rows[LARGE.rows["treatment"] != "none"]
    row = sizes(replace(LARGE, rows=spoken), DrawCounts()).rows.iloc[0]
    within = spoken.groupby(["topic", "model", "treatment"])["dri_change"].var().mean()
    assert row["noise_of"] == "within conditions"
    assert row["noise_sd"] == pytest.approx(within**0.5)


def test_a_share_of_people_s_change_is_not_defined_where_that_may_be_0():
    """People's mean change over the twelve topics is .099 [-.0015, .199] by t."""
    row = size_of(on_the_benchmark(LARGE))
    assert row["people"] == pytest.approx(0.099, abs=0.0005)
    assert "people's own change may be 0" in row["note"]
    assert np.isnan(row["share_of_people"])


def test_where_people_changed_the_share_has_fieller_s_interval():
    changed = [name for name in BENCHMARK if of_topics([name], "dri", "change")[0] > 0.05]
    assert len(changed) >= 5
    study = on_the_benchmark(LARGE, changed)
    row = size_of(study)
    assert row["share_low"] < row["share_of_people"] < row["share_high"]
    means = study.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = means["normative"] - means["none"]
    people = np.array(of_topics(list(own.index), "dri", "change"))
    for end in (row["share_low"], row["share_high"]):
        assert ttest_1samp(own.to_numpy() - end * people, 0).pvalue == pytest.approx(0.05)


def test_a_study_of_one_and_equal_values_have_reasons():
    one = sizes(replace(LARGE, rows=LARGE.rows.iloc[:2]), DrawCounts()).rows.iloc[0]
    assert one["note"].startswith("one_topic")
    assert "no_noise" in one["note"]
    equal = size_of(replace(LARGE, rows=LARGE.rows.assign(dri_change=0.1)))
    assert "no_variance" in equal["note"]
    assert np.isnan(equal[["in_noise_sd", "smallest_effect"]].astype(float)).all()
