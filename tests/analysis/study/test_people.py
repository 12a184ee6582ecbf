"""People beside models, against scipy and the published figures of people."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from synthetic_study import synthetic_study

from delibsim.analysis.human.reference import of_topics
from delibsim.analysis.result import entry
from delibsim.analysis.study.people import people
from delibsim.analysis.study.study_table import DrawCounts

TOPICS = {"topic0": "ccps", "topic1": "acp", "topic2": "bep", "topic3": "nowhere"}
MADE = synthetic_study(topics=4, models=2, replicates=3)
ROWS = MADE.rows.assign(topic=MADE.rows["topic"].map(TOPICS), survey=MADE.rows["topic"].map(TOPICS))
STUDY = replace(MADE, rows=ROWS)


def row_of(study, **wanted):
    rows = people(study, DrawCounts()).rows
    for name, value in wanted.items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row


def test_a_row_is_the_paired_test_over_topics_of_models_less_people():
    row = row_of(STUDY, outcome="dri", phase="change", treatment="normative")
    known = ["acp", "bep", "ccps"]
    own = ROWS[ROWS["treatment"] == "normative"].groupby("topic")["dri_change"].mean()[known]
    theirs = np.array(of_topics(known, "dri", "change"))
    test = ttest_rel(own.to_numpy(), theirs)
    assert row["topics"] == 3
    assert (row["here"], row["people"]) == pytest.approx((own.mean(), theirs.mean()))
    assert (row["difference"], row["p"]) == pytest.approx(((own - theirs).mean(), test.pvalue))
    ends = test.confidence_interval()
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    assert row["note"] == "no_people_on_this_topic (1 of 4 topics)"


def test_models_count_alike_whatever_their_sessions():
    few = ROWS[(ROWS["model"] == "model0") | (ROWS["replicate"] == 1)]
    row = row_of(replace(STUDY, rows=few), outcome="dri", phase="pre", treatment="none")
    blocks = few[few["treatment"] == "none"].groupby(["topic", "model"])["dri_pre"].mean()
    expected = blocks.groupby("topic").mean()[["acp", "bep", "ccps"]].mean()
    assert row["here"] == pytest.approx(expected)


def test_people_stand_only_beside_the_instrument_that_they_answered():
    row = row_of(STUDY, outcome="diversity", phase="pre", treatment="none")
    assert (row["topics"], row["note"].split(" ")[0]) == (0, "another_instrument")
    assert np.isnan(row["here"])
    original = STUDY.rows.assign(survey="deliberr." + STUDY.rows["topic"])
    row = row_of(replace(STUDY, rows=original), outcome="diversity", phase="pre", treatment="none")
    expected = np.mean(of_topics(["acp", "bep", "ccps"], "diversity", "pre"))
    assert row["people"] == pytest.approx(expected)


def test_citizens_and_models_have_rows_of_their_own():
    both = replace(STUDY, rows=pd.concat([ROWS, ROWS.assign(null=True)], ignore_index=True))
    result = people(both, DrawCounts())
    assert list(result.rows.columns) == list(entry("study/people").columns)
    assert set(result.rows["population"]) == {"models", "null citizen"}
