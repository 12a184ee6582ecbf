"""Sizes of effects: noise, people, and the smallest effect that could have been found."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.study.effect_sizes import sizes, smallest
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import noise_floor

STUDY = synthetic_study(topics=12, models=2, replicates=3)


def on_the_benchmark(study, topics=BENCHMARK):
    names = dict(zip([f"topic{k}" for k in range(12)], topics, strict=False))
    own = study.rows["topic"].map(names)
    return replace(study, rows=study.rows.assign(topic=own, survey=own)[own.notna()])


def row_of(study, outcome="dri"):
    rows = sizes(study, Draws()).rows
    named = rows["outcome"].eq(outcome) & rows["scale"].eq("absolute") & rows["b"].eq("none")
    return rows[named & rows["a"].eq("normative")].iloc[0]


def test_an_effect_is_set_beside_the_noise_floor():
    result = sizes(STUDY, Draws())
    assert list(result.rows.columns) == list(result.meanings)
    row = row_of(STUDY)
    means = STUDY.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = means["normative"] - means["none"]
    assert row["estimate"] == pytest.approx(own.mean())
    noise = noise_floor(STUDY, Draws(resamples=10)).rows.iloc[0]["sd"]
    assert (row["noise_sd"], row["noise_of"]) == (pytest.approx(noise), "none")
    assert row["in_noise_sd"] == pytest.approx(own.mean() / noise)
    assert row["smallest_effect"] == pytest.approx(smallest(12) * own.std())
    assert "people's change is known on 0 topics" in row["note"]


def test_without_silent_sessions_the_noise_is_that_within_conditions():
    spoken = STUDY.rows[STUDY.rows["treatment"] != "none"]
    row = sizes(replace(STUDY, rows=spoken), Draws()).rows.iloc[0]
    within = spoken.groupby(["topic", "model", "treatment"])["dri_change"].var().mean()
    assert row["noise_of"] == "within conditions"
    assert row["noise_sd"] == pytest.approx(within**0.5)


def test_a_share_of_people_s_change_is_not_defined_where_that_may_be_0():
    """People's mean change over the twelve topics is .099 [-.0015, .199] by t."""
    row = row_of(on_the_benchmark(STUDY))
    assert row["people"] == pytest.approx(0.099, abs=0.0005)
    assert "people's own change may be 0" in row["note"]
    assert np.isnan(row["share_of_people"])


def test_where_people_changed_the_share_has_fieller_s_interval():
    changed = [name for name in BENCHMARK if of_topics([name], "dri", "change")[0] > 0.05]
    assert len(changed) >= 5
    study = on_the_benchmark(STUDY, changed)
    row = row_of(study)
    assert row["share_low"] < row["share_of_people"] < row["share_high"]
    means = study.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    own = means["normative"] - means["none"]
    people = np.array(of_topics(list(own.index), "dri", "change"))
    for end in (row["share_low"], row["share_high"]):
        assert ttest_1samp(own.to_numpy() - end * people, 0).pvalue == pytest.approx(0.05)


def test_a_study_of_one_and_equal_values_have_reasons():
    one = sizes(replace(STUDY, rows=STUDY.rows.iloc[:2]), Draws()).rows.iloc[0]
    assert one["note"].startswith("one_topic")
    assert "no_noise" in one["note"]
    equal = row_of(replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1)))
    assert "no_variance" in equal["note"]
    assert np.isnan(equal[["in_noise_sd", "smallest_effect"]].astype(float)).all()
