"""Analysis of covariance against statsmodels, and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.formula.api as smf
from synthetic_study import synthetic_study

from delibsim.analysis.study.effect_sizes import adjusted, covariance
from delibsim.analysis.study.sample import Outcome
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study(topics=8, models=2, replicates=4)


def row_of(study, a="normative", b="none"):
    rows = covariance(study, Draws()).rows
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


def test_the_interval_holds_the_truth():
    held = []
    for seed in range(60):
        rows = synthetic_study(topics=6, models=2, replicates=2, seed=seed).rows
        row = adjusted(rows, Outcome("dri"), "normative", "none")
        held.append(row["low"] <= 0.03 <= row["high"])
    assert np.mean(held) >= 0.87


def test_what_is_undefined_says_why():
    result = covariance(STUDY, Draws())
    assert list(result.rows.columns) == list(result.meanings)
    alone = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] == "topic0"])
    assert row_of(alone)["note"].startswith("one_topic")
    assert np.isnan(row_of(alone)["p"])
    few = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] < "topic3"])
    assert row_of(few)["note"].startswith("few_topics")
    without = replace(STUDY, rows=STUDY.rows.drop(columns="dri_pre"))
    assert "no column dri_pre" in row_of(without)["note"]
