"""Gains of agreement: by hand, with people's on the study's topics beside."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import decomposition

DRAWS = Draws(resamples=500)
STUDY = synthetic_study(topics=12, models=2, replicates=2)


def on_the_benchmark(study, survey=""):
    names = dict(zip([f"topic{k}" for k in range(12)], BENCHMARK, strict=True))
    topics = study.rows["topic"].map(names)
    return replace(study, rows=study.rows.assign(topic=topics, survey=survey + topics))


def gains(result):
    return result.rows.set_index(["population", "measure"])


def test_a_gain_is_the_mean_of_topics_each_counting_once():
    rows = STUDY.rows.drop(STUDY.rows.index[:5])
    found = gains(decomposition(replace(STUDY, rows=rows), DRAWS))
    own = rows[rows["treatment"] == "none"]
    row = found.loc["none", "consideration_agreement"]
    by_topic = own.groupby("topic")["consideration_agreement_change"].mean()
    assert row["gain"] == pytest.approx(by_topic.mean())
    assert (row["n"], row["topics"]) == (len(own), 12)
    assert row["low"] < row["gain"] < row["high"]


def test_people_s_gains_are_those_on_the_topics_of_the_study():
    """Over the twelve topics with their cases pooled: +.078 and +.112 (docs/human-reference.md)."""
    found = gains(decomposition(on_the_benchmark(STUDY), DRAWS))
    assert found.loc["people", "consideration_agreement"]["gain"] == pytest.approx(0.078, abs=5e-4)
    assert found.loc["people", "preference_agreement"]["gain"] == pytest.approx(0.112, abs=5e-4)
    assert tuple(found.loc["people", "preference_agreement"][["n", "topics"]]) == (407, 12)


def test_topics_without_people_and_one_topic_are_said():
    result = decomposition(STUDY, DRAWS)
    people = gains(result).loc["people", "preference_agreement"]
    assert (people["note"], people["n"]) == ("no_people_on_this_topic", 0)
    assert any("+0.077" in note and "16" in note for note in result.notes)
    one = gains(decomposition(synthetic_study(topics=1), DRAWS)).loc[
        "basic", "preference_agreement"
    ]
    assert one["note"] == "one_topic"
    assert np.isnan([one["low"], one["high"]]).all()


def test_a_measure_that_is_missing_everywhere_leaves_the_other():
    study = replace(STUDY, rows=STUDY.rows.assign(preference_agreement_change=np.nan))
    result = decomposition(study, DRAWS)
    found = gains(result)
    assert result.given
    assert found.loc["normative", "preference_agreement"]["note"] == "no_value"
    assert np.isfinite(found.loc["normative", "consideration_agreement"]["gain"])
    assert any("144 of 144 sessions" in note for note in result.notes)
    none = decomposition(replace(STUDY, rows=STUDY.rows[["topic", "treatment"]]), DRAWS)
    assert (none.why_not, len(none.rows)) == ("no_value", 0)
