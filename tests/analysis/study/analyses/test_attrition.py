"""Attrition against R's fisher.test, and what the summary says of it."""

from dataclasses import replace

import numpy as np
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.counts import attrition, told_of_attrition
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study({"none": 0.0, "basic": 0.0}, topics=4, models=1, replicates=2)


def lacking(study, treatment, count, **values):
    """The study with these values in the first sessions of a treatment."""
    rows = study.rows.copy()
    first = rows.index[rows["treatment"] == treatment][:count]
    for name, value in values.items():
        rows.loc[first, name] = value
    return replace(study, rows=rows)


def test_the_p_is_that_of_fisher_s_tea():
    """Fisher 1935, The design of experiments: a table of 3, 1, 1, 3 has p = 34 / 70."""
    rows = STUDY.rows.groupby("treatment").head(4)
    study = lacking(replace(STUDY, rows=rows), "basic", 3, status="no run")
    study = lacking(study, "none", 1, status="no run")
    result = attrition(study, Draws())
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.iloc[0]
    assert (row["a"], row["b"], row["missing"]) == ("basic", "none", "sessions")
    assert (row["missing_a"], row["of_a"], row["missing_b"], row["of_b"]) == (3, 4, 1, 4)
    assert row["p"] == pytest.approx(34 / 70)
    assert list(told_of_attrition({"attrition": result})) == []


def test_a_difference_is_told_in_the_summary():
    study = lacking(STUDY, "basic", 7, dri_change=np.nan, answers_missing=1)
    result = attrition(study, Draws())
    assert result.rows["missing"].tolist() == [
        "sessions",
        "sessions with missing answers",
        "values of the outcome",
    ]
    assert result.rows["p"].iloc[0] == 1
    told = list(told_of_attrition({"attrition": result}))
    assert len(told) == 2
    assert told[0].startswith(
        "Attrition differs by treatment: under basic 7 of 8 sessions that were held lack answers,"
        " under none 0 of 8 (p = .001 by"
    )
    assert told[0].endswith("no outcome of the two can be compared.")
    given = contrasts(STUDY, Draws(40, 40, 2))
    (first, _) = told_of_attrition({"attrition": result, "contrasts": given})
    assert first.endswith("their comparison is one of the sessions that lasted.")


def test_what_cannot_be_compared_says_why():
    alone = replace(STUDY, rows=STUDY.rows[STUDY.rows["treatment"] == "none"])
    assert attrition(alone, Draws()).why_not == "one_treatment"
    nobody = attrition(lacking(STUDY, "basic", 8, status="not begun"), Draws())
    assert nobody.rows["note"].iloc[-1].startswith("no_session")
    assert nobody.rows["p"].iloc[0] < 0.001
