"""Opinion change by population, with people's where the instrument is theirs."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import opinion_change

DRAWS = Draws(resamples=500)
STUDY = synthetic_study(topics=12, models=2, replicates=2)
NAMES = dict(zip([f"topic{k}" for k in range(12)], BENCHMARK, strict=True))


def on(survey):
    topics = STUDY.rows["topic"].map(NAMES)
    return replace(STUDY, rows=STUDY.rows.assign(topic=topics, survey=survey + topics))


def found(study):
    return opinion_change(study, DRAWS).rows.set_index(["population", "measure"])


def test_each_topic_counts_once():
    row = found(STUDY).loc["normative", "rank_stability"]
    own = STUDY.rows[STUDY.rows["treatment"] == "normative"]
    by_topic = own.groupby("topic")["rank_stability_change"].mean()
    assert row["mean"] == pytest.approx(by_topic.mean())
    assert row["low"] < row["mean"] < row["high"]
    assert (row["n"], row["topics"], row["note"]) == (48, 12, "")


def test_people_s_opinion_change_is_shown_on_their_own_instrument_only():
    own = found(on("deliberr."))
    for measure in ("opinion_change_c", "opinion_change_p", "rank_stability"):
        expected = np.mean(of_topics(BENCHMARK, measure, "change"))
        assert own.loc["people", measure]["mean"] == pytest.approx(expected)
    short = found(on(""))
    assert short.loc["people", "opinion_change_c"]["note"] == "another_instrument"
    assert np.isnan(short.loc["people", "opinion_change_c"]["mean"])
    assert short.loc["people", "rank_stability"]["n"] == 407


def test_a_study_without_these_measures_has_a_reason():
    columns = [name for name in STUDY.rows.columns if "opinion" not in name and "rank_" not in name]
    result = opinion_change(replace(STUDY, rows=STUDY.rows[columns]), DRAWS)
    assert (result.why_not, len(result.rows)) == ("no_value", 0)
    assert not found(STUDY).empty
