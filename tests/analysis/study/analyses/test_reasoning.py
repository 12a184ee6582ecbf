"""Reasoning models against others of their family, on a study whose difference is known."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.analyses.reasoning import MEANINGS, reasoning
from delibsim.analysis.study.draws import Draws

DRAWS = Draws(resamples=300)
STUDY = synthetic_study(topics=8, models=5, sd_model=0, sd_slope=0)
ROWS = STUDY.rows.copy()
ROWS.loc[ROWS["reasoning"] & (ROWS["family"] == "family0"), "dri_change"] += 0.2


def of(rows):
    return reasoning(replace(STUDY, rows=rows), DRAWS)


def test_a_known_difference_is_recovered_within_its_family_and_pooled():
    result = of(ROWS)
    assert list(result.rows.columns) == list(MEANINGS)
    rows = result.rows[result.rows["outcome"] == "dri"].set_index("family")
    assert rows.index.tolist() == ["family0", "family1", "all"]
    assert rows.loc["family0", "estimate"] == pytest.approx(0.2, abs=0.05)
    assert rows.loc["family0", "p"] < 0.001
    assert rows.loc["family1", "estimate"] == pytest.approx(0, abs=0.05)
    pooled = rows.loc[["family0", "family1"], "estimate"].mean()
    assert rows.loc["all", "estimate"] == pytest.approx(pooled)
    assert rows["n"].tolist() == [8, 8, 16]
    assert "left out: family2" in " ".join(result.notes)


def test_only_normative_sessions_count():
    normative = ROWS[ROWS["treatment"] == "normative"]
    pd.testing.assert_frame_equal(of(ROWS).rows, of(normative).rows)


def test_models_of_unknown_kind_are_named():
    rows = ROWS.assign(reasoning=ROWS["reasoning"].astype(object))
    rows.loc[rows["model"] == "model0", "reasoning"] = None
    result = of(rows)
    assert set(result.rows["family"]) == {"family1", "all"}
    assert "not known whether they reason: model0" in " ".join(result.notes)


def test_sessions_without_a_value_are_counted():
    rows = ROWS.copy()
    rows.loc[rows.index[rows["treatment"] == "normative"][:3], "dri_change"] = np.nan
    pooled = of(rows).rows.set_index(["outcome", "family"]).loc[("dri", "all")]
    assert pooled["note"] == "missing: 3 of 160 sessions have no value (3 no reason given)"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (ROWS.iloc[:0], "no_sessions"),
        (ROWS.drop(columns="reasoning"), "not_known"),
        (ROWS[ROWS["treatment"] == "none"], "no_normative"),
        (ROWS[ROWS["model"] == "model0"], "no_family"),
    ],
)
def test_without_a_comparison_it_says_why(rows, code):
    assert of(rows).why_not == code
