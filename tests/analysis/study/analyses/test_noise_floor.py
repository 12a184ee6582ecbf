"""The noise floor of synthetic studies."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.weightstats import DescrStatsW
from synthetic_study import synthetic_study

from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import noise_floor

DRAWS = Draws(resamples=500)
STUDY = synthetic_study(topics=4, models=3, replicates=3)


def test_it_describes_the_sessions_in_which_nobody_speaks():
    result = noise_floor(STUDY, DRAWS)
    assert list(result.rows.columns) == list(result.meanings)
    assert result.rows["outcome"].tolist() == ["dri", "dri_adjusted", "diversity"]
    own = STUDY.rows[STUDY.rows["treatment"] == "none"]
    row = result.rows.iloc[0]
    values = own["dri_change"]
    assert (row["n"], row["treatment"], row["note"]) == (36, "none", "few_topics")
    assert np.isnan([row["published_low"], row["published_high"]]).all()
    topics = DescrStatsW(own.groupby("topic")["dri_change"].mean())
    assert (row["low"], row["high"]) == pytest.approx(topics.tconfint_mean())
    assert row["mean"] == pytest.approx(values.mean())
    assert row["sd"] == pytest.approx(values.std())
    assert row["mean_absolute"] == pytest.approx(values.abs().mean())
    within = own.groupby(["topic", "model"])["dri_change"].std().mean()
    assert row["within_block_sd"] == pytest.approx(within)


def test_a_known_noise_is_recovered():
    study = synthetic_study(sd_topic=0, sd_model=0, sd_pair=0, sd_residual=0.1)
    row = noise_floor(study, DRAWS).rows.iloc[0]
    assert row["sd"] == pytest.approx(0.1, abs=0.01)
    assert row["within_block_sd"] == pytest.approx(0.094, abs=0.01)  # c4(5) x 0.1
    assert row["mean_absolute"] == pytest.approx(0.08, abs=0.01)
    assert row["low"] < 0 < row["high"]


def test_what_is_missing_is_counted():
    rows = STUDY.rows.copy()
    none = rows.index[rows["treatment"] == "none"]
    rows.loc[none[:2], "dri_change"] = np.nan
    row = noise_floor(replace(STUDY, rows=rows), DRAWS).rows.iloc[0]
    assert row["n"] == 34
    assert "missing: 2 of 36 sessions have no value (2 no reason given)" in row["note"]
    assert "no_replication: 1 of 12 blocks have one session only" in row["note"]


def test_one_topic_gives_no_interval():
    rows = STUDY.rows[STUDY.rows["topic"] == "topic0"]
    row = noise_floor(replace(STUDY, rows=rows), DRAWS).rows.iloc[0]
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["note"].startswith("one_topic: ")


def test_without_a_control_there_is_none():
    rows = STUDY.rows[STUDY.rows["treatment"] != "none"]
    result = noise_floor(replace(STUDY, rows=rows), DRAWS)
    assert (result.why_not, len(result.rows)) == ("no_control", 0)
    assert noise_floor(replace(STUDY, rows=rows.iloc[:0]), DRAWS).why_not == "no_sessions"


def test_one_session_has_a_mean_and_nothing_else():
    none = STUDY.rows.index[STUDY.rows["treatment"] == "none"]
    row = noise_floor(replace(STUDY, rows=STUDY.rows.drop(none[1:])), DRAWS).rows.iloc[0]
    assert (row["n"], row["mean"]) == (1, STUDY.rows.loc[none[0], "dri_change"])
    assert np.isnan(row[["sd", "low", "high", "within_block_sd"]].astype(float)).all()
    assert "one_topic: " in row["note"]
