"""Contrasts of synthetic studies with known effects, and of studies with faults."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from synthetic_study import synthetic_study

from delibsim.analysis.study.analyses.contrasts import MEANINGS, contrasts
from delibsim.analysis.study.draws import Draws

DRAWS = Draws(permutations=500, resamples=500)
COLUMNS = (
    "population outcome scale a b estimate low high p_paired p_free p p_holm family blocks topics"
    " models pairs note"
)
STUDY = synthetic_study(topics=4, models=3, replicates=3)


def found(rows, draws=DRAWS, **changed):
    return contrasts(replace(STUDY, rows=rows.reset_index(drop=True), **changed), draws)


def row(result, a="normative", b="none", outcome="dri", scale="absolute", population="models"):
    rows = result.rows
    mine = rows[
        (rows["a"] == a)
        & (rows["b"] == b)
        & (rows["outcome"] == outcome)
        & (rows["scale"] == scale)
        & (rows["population"] == population)
    ]
    assert len(mine) == 1
    return mine.iloc[0]


def test_the_columns_are_those_that_figures_and_report_read():
    result = contrasts(STUDY, DRAWS)
    assert list(result.rows.columns) == COLUMNS.split() == list(MEANINGS)
    assert set(zip(result.rows["outcome"], result.rows["scale"], strict=True)) == {
        ("dri", "absolute"),
        ("dri", "relative"),
        ("dri_adjusted", "absolute"),
        ("dri_adjusted", "relative"),
        ("diversity", "absolute"),
    }
    assert not result.rows["note"].any()
    assert result.given


def test_strengths_of_compared_texts_are_contrasted_by_topic():
    rows = STUDY.rows.copy()
    place = rows["topic"].astype("category").cat.codes.astype(float)
    sign = rows["treatment"].map({"none": 0.0, "basic": 1.0, "normative": 2.0})
    rows["pairs.ab.logical"] = sign * (1 + place)
    rows["pairs.ab.logical_note"] = ""
    told = row(found(rows), outcome="pairs.ab.logical", scale="strength")
    assert told["estimate"] == pytest.approx(2 * (1 + 2 + 3 + 4) / 4)
    assert told["topics"] == 4
    assert 2 <= told["low"] < told["estimate"] < told["high"] <= 8
    assert told["family"] == "published contrasts: pairs.ab.logical (strength), models"


def test_known_effects_are_recovered():
    study = synthetic_study({"none": 0, "basic": 0.05, "normative": 0.1}, topics=12, sd_slope=0)
    result = contrasts(study, DRAWS)
    for (a, b), effect in {
        ("normative", "none"): 0.1,
        ("basic", "none"): 0.05,
        ("normative", "basic"): 0.05,
    }.items():
        mine = row(result, a, b)
        assert mine["estimate"] == pytest.approx(effect, abs=0.02)
        assert mine["low"] < effect < mine["high"]
        assert mine["p"] < 0.01
    assert (mine["blocks"], mine["topics"], mine["models"], mine["pairs"]) == (48, 12, 4, 240)


def test_the_estimate_is_the_unweighted_mean_over_blocks_also_of_an_unbalanced_study():
    rows = STUDY.rows.drop([1, 4, 8, 20, 21])
    means = rows.groupby(["topic", "model", "treatment"])["dri_change"].mean().unstack()
    expected = (means["normative"] - means["none"]).mean()
    assert row(found(rows))["estimate"] == pytest.approx(expected, abs=1e-12)


def test_holm_is_over_the_three_contrasts_of_one_outcome_and_scale():
    rows = contrasts(STUDY, DRAWS).rows
    for _, family in rows.groupby(["outcome", "scale"]):
        expected = multipletests(family["p"], method="holm")[1]
        assert family["p_holm"].tolist() == pytest.approx(expected.tolist())
        assert family["family"].nunique() == 1
    assert rows["family"].nunique() == 5


def test_pairs_that_share_seeds_are_tested_as_pairs_and_others_are_not():
    paired = row(contrasts(STUDY, DRAWS))
    assert paired["p"] == paired["p_paired"] != paired["p_free"]
    result = found(STUDY.rows, paired=False)
    free = row(result)
    assert np.isnan(free["p_paired"])
    assert (free["p"], free["pairs"]) == (free["p_free"], 0)
    assert "do not share seeds" in " ".join(result.notes)


def test_equal_seeds_give_equal_tables_whatever_the_order_of_the_rows():
    first, second = (
        contrasts(STUDY, DRAWS).rows,
        found(STUDY.rows.sample(frac=1, random_state=1)).rows,
    )
    numbers = first.select_dtypes("number").columns
    assert np.allclose(first[numbers], second[numbers], equal_nan=True)
    other = contrasts(STUDY, replace(DRAWS, seed=1)).rows
    assert first["low"].tolist() != other["low"].tolist()


def test_the_null_citizen_stands_beside_the_models():
    rows = pd.concat([STUDY.rows, STUDY.rows.assign(null=True, model="citizen")])
    result = found(rows)
    assert len(result.rows) == 30
    assert row(result, population="null citizen")["models"] == 1
    assert row(result)["estimate"] == row(contrasts(STUDY, DRAWS))["estimate"]


def test_a_study_of_citizens_alone_says_that_it_is_the_null_model():
    result = found(STUDY.rows.assign(null=True))
    assert set(result.rows["population"]) == {"null citizen"}
    assert "no finding about language models" in " ".join(result.notes)


def test_a_population_with_one_treatment_is_named():
    citizens = STUDY.rows[STUDY.rows["treatment"] == "none"].assign(null=True)
    result = found(pd.concat([STUDY.rows, citizens]))
    assert "null citizen: one treatment only (none)" in " ".join(result.notes)


def test_a_sign_error_in_one_block_moves_the_estimate_by_what_it_is_worth():
    rows = STUDY.rows.copy()
    wrong = (rows["topic"] == "topic1") & (rows["model"] == "model0")
    block = rows[wrong].groupby("treatment")["dri_change"].mean()
    rows.loc[wrong, "dri_change"] *= -1
    moved = row(found(rows))["estimate"] - row(contrasts(STUDY, DRAWS))["estimate"]
    assert moved == pytest.approx(-2 * (block["normative"] - block["none"]) / 12)


def test_a_duplicated_run_is_named_and_makes_no_pair():
    result = found(pd.concat([STUDY.rows, STUDY.rows.iloc[[4]]]))
    mine = row(result, "basic", "none")
    assert mine["pairs"] == 35
    assert "duplicated_runs: 1 replicate (topic0 model0 basic r2)" in mine["note"]
    assert "the paired test is of the mean" in mine["note"]
    assert row(result)["note"] == ""
    assert row(result)["pairs"] == 36


def test_a_condition_with_missing_topics_is_named_and_counted():
    rows = STUDY.rows
    gone = (rows["treatment"] == "normative") & rows["topic"].isin(["topic1", "topic3"])
    mine = row(found(rows[~gone]))
    assert (mine["blocks"], mine["topics"], mine["pairs"]) == (6, 2, 18)
    assert "no_normative: 6 blocks (topic1 model0; topic1 model1;" in mine["note"]
    assert "1 more) have no value under normative" in mine["note"]
    assert row(found(rows[~gone]), "basic", "none")["note"] == ""


def test_a_session_without_a_value_is_counted_with_its_reason_and_unmakes_its_pair():
    rows = STUDY.rows.copy()
    rows["dri_note"] = ""
    rows.loc[2, ["dri_change", "dri_note"]] = [np.nan, "constant_row: R1"]
    mine = row(found(rows))
    assert "missing: 1 of 72 sessions have no value (1 constant_row)" in mine["note"]
    assert "unpaired: 1 session (topic0 model0 none r1) has no counterpart" in mine["note"]
    assert mine["pairs"] == 35
    assert row(found(rows), scale="relative")["pairs"] == 36


def test_a_measure_missing_for_a_whole_condition_gives_a_row_that_says_so():
    rows = STUDY.rows.copy()
    rows.loc[rows["treatment"] == "basic", "dri_change"] = np.nan
    result = found(rows)
    mine = row(result, "basic", "none")
    assert np.isnan([mine["estimate"], mine["low"], mine["p"], mine["p_holm"]]).all()
    assert mine["note"].startswith("no_block: ")
    assert (mine["blocks"], mine["pairs"]) == (0, 0)
    alone = row(result)
    assert alone["p_holm"] == alone["p"]  # the family has one test left


def test_equal_conditions_have_p_1_and_say_so():
    rows = STUDY.rows.assign(dri_change=0.1)
    mine = row(found(rows))
    assert (mine["estimate"], mine["p_paired"], mine["p_free"], mine["p_holm"]) == (0, 1, 1, 1)
    assert mine["note"] == "equal_conditions: equal by construction or in fact"


def test_rounding_does_not_make_equal_conditions_differ():
    rows = STUDY.rows.assign(dri_change=0.1).drop([0, 5, 9, 13, 22])
    mine = row(found(rows))
    assert (mine["estimate"], mine["p_paired"], mine["p_free"]) == (0, 1, 1)
    assert mine["note"].startswith("equal_conditions: ")


def test_one_topic_gives_an_estimate_and_p_and_no_interval():
    mine = row(found(STUDY.rows[STUDY.rows["topic"] == "topic0"]))
    assert np.isnan([mine["low"], mine["high"]]).all()
    assert mine["note"].startswith("one_topic: ")
    assert 0 < mine["p"] <= 1


def test_one_model_works():
    mine = row(found(STUDY.rows[STUDY.rows["model"] == "model0"]))
    assert (mine["models"], mine["blocks"], mine["note"]) == (1, 4, "")


def test_other_treatments_are_compared_in_pairs_and_none_is_left_out():
    other = {"treatment": {"basic": "x", "normative": "y"}}
    result = found(STUDY.rows.replace(other))
    dri = result.rows[(result.rows["outcome"] == "dri") & (result.rows["scale"] == "absolute")]
    assert list(zip(dri["a"], dri["b"], strict=True)) == [("x", "none"), ("y", "none"), ("y", "x")]
    fourth = STUDY.rows[STUDY.rows["treatment"] == "basic"].assign(treatment="strict")
    result = found(pd.concat([STUDY.rows, fourth]))
    dri = result.rows[(result.rows["outcome"] == "dri") & (result.rows["scale"] == "absolute")]
    assert len(dri) == 6
    assert dri["family"].str.startswith("published contrasts").sum() == 3
    assert dri["family"].str.startswith("other pairs").sum() == 3


def test_settings_are_held_equal():
    rows = STUDY.rows.assign(setting="rounds=2")
    more = STUDY.rows.assign(setting="rounds=4")
    mine = row(found(pd.concat([rows, more])))
    assert (mine["blocks"], mine["topics"], mine["note"]) == (24, 4, "")


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (STUDY.rows.iloc[:0], "no_sessions"),
        (STUDY.rows[STUDY.rows["treatment"] == "none"], "one_treatment"),
        (STUDY.rows[["topic", "model", "setting", "treatment", "replicate"]], "no_value"),
        (STUDY.rows[["topic", "model", "treatment"]].assign(format="debate"), "debates"),
    ],
)
def test_a_study_without_contrasts_says_why(rows, code):
    result = found(rows)
    assert (result.why_not, len(result.rows), result.given) == (code, 0, False)
    assert result.detail.endswith(".")
    assert list(result.rows.columns) == list(MEANINGS)


def test_a_bare_table_is_enough():
    bare = STUDY.rows[["topic", "model", "setting", "treatment", "replicate", "dri_change"]]
    result = found(bare)
    assert len(result.rows) == 3
    assert any("no column diversity_change" in note for note in result.notes)
    assert result.plain()[0]["population"] == "models"
