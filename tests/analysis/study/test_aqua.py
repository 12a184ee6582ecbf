"""Discourse quality by AQuA, and the intraclass correlation by topic."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel
from synthetic_study import synthetic_study

from delibsim.analysis.study.aqua import aqua, icc
from delibsim.analysis.study.study_table import DrawCounts
from delibsim.measures.aqua import HIGHEST, LOWEST

DRAWS = DrawCounts(permutations=2000)


def scored(models=11, sds=(0.12, 0.13)):
    """A study of the published size whose scores have the published mean and these spreads."""
    study = synthetic_study(models=models)
    rows = study.rows
    rng = np.random.default_rng(4)
    rows["aqua.score"] = np.nan
    for treatment, sd in zip(("basic", "normative"), sds, strict=True):
        own = rows["treatment"] == treatment
        drawn = rng.normal(size=own.sum())
        rows.loc[own, "aqua.score"] = 2.939 + sd * (drawn - drawn.mean()) / drawn.std(ddof=1)
    return study


STUDY = scored()


def test_the_published_p_against_people_come_out():
    """Published are .0176 and .0180 pooled, .0066 and .0068 by Welch, and [-.071, -.011]."""
    result = aqua(STUDY, DRAWS)
    assert list(result.rows.columns) == list(result.meanings)
    assert list(zip(result.rows["a"], result.rows["b"], strict=True)) == [
        ("normative", "basic"),
        ("normative", "people"),
        ("basic", "people"),
    ]
    people = result.rows.iloc[1:]
    assert people["p_pooled"].tolist() == pytest.approx([0.0180, 0.0176], abs=0.0015)
    assert people["p_welch"].tolist() == pytest.approx([0.0068, 0.0066], abs=0.0015)
    assert people["published_low"].tolist() == pytest.approx([-0.071] * 2, abs=0.001)
    assert people["published_high"].tolist() == pytest.approx([-0.011] * 2, abs=0.001)
    assert people["n_a"].tolist() == [660, 660]
    assert people["n_b"].tolist() == [910, 910]
    assert people["note"].str.startswith("by_t: ").all()
    assert (people["p_equivalence"] < 0.001).all()


def test_treatments_are_compared_by_permuting_labels():
    study = scored(models=2)
    own = study.rows["treatment"] == "normative"
    study.rows.loc[own, "aqua.score"] += 0.02
    row = aqua(study, DRAWS).rows.iloc[0]
    groups = [
        study.rows.loc[study.rows["treatment"] == name, "aqua.score"]
        for name in ("normative", "basic")
    ]
    assert row["difference"] == pytest.approx(0.02)
    assert row["p_pooled"] == pytest.approx(ttest_ind(*groups).pvalue, abs=0.03)
    assert row["p_welch"] == pytest.approx(ttest_ind(*groups, equal_var=False).pvalue)
    assert row["note"] == ""
    means = study.rows.groupby(["treatment", "topic"])["aqua.score"].mean()
    over_topics = ttest_rel(means["normative"], means["basic"])
    assert (row["p"], row["df"], row["topics"]) == (pytest.approx(over_topics.pvalue), 11, 12)


def test_scores_on_the_scale_of_0_to_4_are_turned():
    rows = STUDY.rows.copy()
    rows["aqua.sum"] = rows["aqua.score"] / 5 * (HIGHEST - LOWEST) + LOWEST
    rows["aqua.score"] *= 0.8
    result = aqua(replace(STUDY, rows=rows), DRAWS)
    assert result.rows["difference"].tolist() == pytest.approx(
        aqua(STUDY, DRAWS).rows["difference"].tolist(), abs=1e-12
    )
    assert "scored on the scale of 0 to 4" in " ".join(result.notes)


def test_what_is_missing_or_undefined_says_so():
    rows = scored(models=1).rows
    rows.loc[rows.index[rows["treatment"] == "basic"][:5], "aqua.score"] = np.nan
    found = aqua(replace(STUDY, rows=rows), DRAWS).rows
    assert found["note"].str.contains("missing: 5 of ").tolist() == [True, False, True]
    rows.loc[rows["treatment"] == "basic", "aqua.score"] = np.nan
    found = aqua(replace(STUDY, rows=rows), DRAWS).rows
    assert found["note"].str.startswith("too_few_sessions").tolist() == [True, False, True]
    assert found["p_pooled_holm"].isna().tolist() == [True, False, True]
    assert aqua(synthetic_study(models=1), DRAWS).why_not == "not_scored"


FEW = DrawCounts(resamples=200)
ALIKE = synthetic_study(topics=150, models=2, replicates=2, sd_pair=0, sd_slope=0, sd_model=0.1)


def test_the_truth_is_recovered_after_fixed_effects():
    """Topics have a variance of .0025, residuals of .01: a share of .2."""
    result = icc(ALIKE, FEW)
    assert list(result.rows.columns) == list(result.meanings)
    raw, adjusted = result.rows.iloc[0], result.rows.iloc[1]
    assert adjusted["adjusted_for"] == "model and treatment"
    assert adjusted["icc"] == pytest.approx(0.2, abs=0.05)
    assert adjusted["low"] < 0.2 < adjusted["high"]
    assert raw["adjusted_for"] == "nothing"
    assert raw["icc"] < adjusted["icc"]
    assert (raw["topics"], raw["n"], raw["note"]) == (150, 1800, "")


def test_aqua_is_of_sessions_in_which_somebody_speaks():
    rows = ALIKE.rows.copy()
    spoken = rows["treatment"] != "none"
    rows["aqua.score"] = rows["dri_change"].where(spoken)
    rows.loc[rows.index[1], "aqua.score"] = np.nan
    found = icc(replace(ALIKE, rows=rows), FEW).rows.set_index("outcome").loc["aqua.score"]
    assert found["n"].tolist() == [1199, 1199]
    assert found["note"].str.startswith("missing: 1 of 1200 sessions").all()
