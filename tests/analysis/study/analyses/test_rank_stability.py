"""Stability of ranks by rounds of speech."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.study_table import Draws
from delibsim.analysis.study.topic_means import rank_stability

DRAWS = Draws(resamples=500)
BASE = synthetic_study(topics=6, models=2, replicates=2)


def longer(rounds, tau, **settings):
    rows = BASE.rows[BASE.rows["treatment"] == "normative"]
    return rows.assign(rounds=rounds, rank_stability_change=tau, **settings)


def test_rounds_are_compared_on_the_same_topics_models_and_treatments():
    rows = pd.concat([BASE.rows, longer(4, 0.6), longer(6, 0.5)], ignore_index=True)
    result = rank_stability(replace(BASE, rows=rows), DRAWS)
    found = result.rows.set_index("rounds")
    assert list(found.index) == [0, 2, 4, 6]
    assert (found.loc[4, "mean"], found.loc[6, "mean"]) == pytest.approx((0.6, 0.5))
    own = BASE.rows[BASE.rows["treatment"] == "normative"]
    assert found.loc[2, "mean"] == pytest.approx(own["rank_stability_change"].mean())
    assert tuple(found.loc[2, ["n", "topics"]]) == (24, 6)
    assert found.loc[2, "low"] < found.loc[2, "mean"] < found.loc[2, "high"]
    assert found.loc[0, "n"] == 24
    assert any("24 sessions" in note for note in result.notes), "those of basic"


def test_one_number_of_rounds_is_one_row():
    study = replace(BASE, rows=BASE.rows[BASE.rows["rounds"] > 0])
    found = rank_stability(study, DRAWS).rows
    assert list(found["rounds"]) == [2]
    assert found["n"].iloc[0] == 48


def test_rounds_on_different_topics_are_not_compared():
    other = longer(4, 0.6, topic="elsewhere")
    own = BASE.rows[BASE.rows["rounds"] > 0]
    result = rank_stability(replace(BASE, rows=pd.concat([own, other])), DRAWS)
    assert set(result.rows["note"]) == {"no_common_block"}
    assert result.rows["mean"].isna().all()


def test_what_is_missing_has_a_reason():
    rows = BASE.rows
    none = replace(BASE, rows=rows.assign(rank_stability_change=np.nan))
    assert rank_stability(none, DRAWS).why_not == "no_value"
    unknown = replace(BASE, rows=rows.drop(columns=["rounds"]))
    assert rank_stability(unknown, DRAWS).why_not == "no_rounds"
    gone = rows.assign(
        rank_stability_change=rows["rank_stability_change"].where(rows["rounds"] > 0)
    )
    found = rank_stability(replace(BASE, rows=gone), DRAWS).rows.set_index("rounds")
    assert found.loc[0, "note"] == "no_value"
