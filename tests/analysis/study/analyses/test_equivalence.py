"""Equivalence of treatments against statsmodels, on synthetic studies."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired
from synthetic_study import synthetic_study

from delibsim.analysis.human.reference import _document
from delibsim.analysis.study.effect_sizes import MARGINS, equivalence
from delibsim.analysis.study.sample import Outcome
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study(topics=12, models=3, replicates=3)


def test_it_is_the_test_of_statsmodels_over_topics():
    result = equivalence(STUDY, Draws())
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.iloc[0]
    means = STUDY.rows.groupby(["treatment", "topic"])["dri_change"].mean()
    p, (_, lower, _), (_, upper, _) = ttost_paired(
        means["normative"].to_numpy(), means["none"].to_numpy(), -0.02, 0.02
    )
    assert (row["a"], row["b"], row["margin"]) == ("normative", "none", 0.02)
    assert (row["p"], row["p_lower"], row["p_upper"]) == pytest.approx((p, lower, upper))
    assert row["equivalent"] == (p < 0.05)
    assert row["df"] == 11


def test_margins_are_about_a_fifth_of_what_people_changed_and_can_be_others():
    change = _document()["mean"]["change"]
    for outcome, margin in MARGINS.items():
        column = outcome.measure + "_relative" * (outcome.scale == "relative")
        if column in change:  # of the adjusted index no relative change of people is known
            assert margin == pytest.approx(abs(change[column]) / 5, abs=0.01)
    wide = equivalence(STUDY, Draws(), {Outcome("dri"): 0.5}).rows
    assert wide["margin"].tolist() == [0.5] * 3
    assert wide["equivalent"].tolist() == [True] * 3


def test_without_variance_nothing_is_decided():
    equal = replace(STUDY, rows=STUDY.rows.assign(dri_change=0.1))
    row = equivalence(equal, Draws()).rows.iloc[0]
    assert row["estimate"] == 0
    assert row["equivalent"] is None
    assert np.isnan([row["low_90"], row["high_90"], row["p"]]).all()
    assert row["note"].startswith("equal_conditions: ")
    assert "undecided: no variance" in row["note"]
    moved = STUDY.rows["dri_change"].where(STUDY.rows["treatment"] == "none", 0.1)
    alike = STUDY.rows.assign(dri_change=moved.where(moved == 0.1, 0.0))
    row = equivalence(replace(STUDY, rows=alike), Draws()).rows.iloc[0]
    assert row["equivalent"] is None
    assert row["note"].startswith("undecided: no variance")


def test_what_is_undefined_says_why():
    alone = replace(STUDY, rows=STUDY.rows[STUDY.rows["topic"] == "topic0"])
    row = equivalence(alone, Draws()).rows.iloc[0]
    assert row["note"].startswith("one_topic: ")
    assert row["equivalent"] is None
    assert np.isnan(row["p"])
    none = replace(STUDY, rows=STUDY.rows[STUDY.rows["treatment"] == "none"])
    assert equivalence(none, Draws()).why_not == "one_treatment"
