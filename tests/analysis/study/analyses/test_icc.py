"""The intraclass correlation of synthetic studies, whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.aqua import icc
from delibsim.analysis.study.study_table import Draws

DRAWS = Draws(resamples=200)
STUDY = synthetic_study(topics=150, models=2, replicates=2, sd_pair=0, sd_slope=0, sd_model=0.1)


def test_the_truth_is_recovered_after_fixed_effects():
    """Topics have a variance of .0025, residuals of .01: a share of .2."""
    result = icc(STUDY, DRAWS)
    assert list(result.rows.columns) == list(result.meanings)
    raw, adjusted = result.rows.iloc[0], result.rows.iloc[1]
    assert adjusted["adjusted_for"] == "model and treatment"
    assert adjusted["icc"] == pytest.approx(0.2, abs=0.05)
    assert adjusted["low"] < 0.2 < adjusted["high"]
    assert raw["adjusted_for"] == "nothing"
    assert raw["icc"] < adjusted["icc"]
    assert (raw["topics"], raw["n"], raw["note"]) == (150, 1800, "")


def test_aqua_is_of_sessions_in_which_somebody_speaks():
    rows = STUDY.rows.copy()
    spoken = rows["treatment"] != "none"
    rows["aqua.score"] = rows["dri_change"].where(spoken)
    rows.loc[rows.index[1], "aqua.score"] = np.nan
    found = icc(replace(STUDY, rows=rows), DRAWS).rows.set_index("outcome").loc["aqua.score"]
    assert found["n"].tolist() == [1199, 1199]
    assert found["note"].str.startswith("missing: 1 of 1200 sessions").all()


def test_what_is_undefined_says_why():
    alone = STUDY.rows[STUDY.rows["topic"] == "topic0"]
    assert icc(replace(STUDY, rows=alone), DRAWS).rows["note"].str.startswith("one_topic").all()
    equal = icc(replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1)), DRAWS).rows.iloc[0]
    assert equal["note"].startswith("no_variance")
    assert np.isnan(equal["icc"])
    assert icc(replace(STUDY, rows=STUDY.rows.iloc[:0]), DRAWS).why_not == "no_sessions"


def test_below_five_topics_there_is_no_interval():
    few = STUDY.rows[STUDY.rows["topic"].isin([f"topic{i}" for i in range(4)])]
    row = icc(replace(STUDY, rows=few), DRAWS).rows.iloc[1]
    assert np.isnan([row["low"], row["high"]]).all()
    assert np.isfinite(row["icc"])
    assert row["note"].startswith("few_topics: ")
