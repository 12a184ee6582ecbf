"""All analyses of a study at once: the JSON contract, and every kind of input that is not whole."""

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.findings import analyses, findings
from delibsim.analysis.study.read_table import read_table
from delibsim.analysis.study.report import in_words
from delibsim.analysis.study.study_table import Draws, StudyTable

FEW = Draws(40, 40, 8)
KEYS = [
    "study", "runs", "contrasts", "questions", "noise_floor", "icc", "by_model", "by_topic",
    "mixed", "ceiling", "people", "missing",
]  # fmt: skip


def table(**more):
    """A study held elsewhere: the columns that a table must have."""
    rows = synthetic_study(topics=4, models=2, replicates=2, **more).rows
    kept = rows[["topic", "model", "treatment", "replicate", "dri_pre", "dri_post"]]
    return kept.rename(columns={"dri_pre": "pre", "dri_post": "post"})


@pytest.fixture
def analysed(tmp_path):
    """The findings of a table."""

    def call(rows):
        rows.to_csv(tmp_path / "study.csv", index=False)
        return findings(read_table(tmp_path / "study.csv"), FEW)

    return call


def test_json_has_the_members_of_the_contract_at_full_precision(analysed):
    found = analysed(table())
    plain = found.plain()
    assert (found.whole, found.something) == (True, True)
    assert list(plain) == KEYS
    told = {*found.results["contrasts"].rows.columns, "null_citizen"} - {"family"}
    assert set(plain["contrasts"][0]) == told
    assert plain["runs"] == {"planned": 48, "held": 48, "valid": 48, "analysed": 48}
    assert {one["scale"] for one in plain["contrasts"]} == {"absolute", "relative"}
    rows = table().assign(change=lambda own: own["post"] - own["pre"])
    means = rows.groupby(["topic", "model", "treatment"])["change"].mean().unstack()
    expected = (means["normative"] - means["none"]).mean()
    assert plain["contrasts"][0]["estimate"] == pytest.approx(expected, abs=1e-12)
    assert plain["noise_floor"]["dri"]["n"] == 16


def test_the_null_citizen_stands_beside_the_contrasts_of_the_json_and_never_among_them():
    """Whether its sessions are in the study, or are those of its twin."""
    own, twin = (
        synthetic_study(topics=3, models=2, replicates=2, seed=null, null=bool(null)).rows
        for null in (0, 1)
    )
    means = twin.groupby("treatment")["dri_change"].mean()
    both = StudyTable("both", pd.concat([own, twin], ignore_index=True), ())
    for study in (both, StudyTable("twinned", own, (), twin=twin)):
        found = findings(study, FEW, [contrasts])
        plain = found.plain()["contrasts"]
        names = [(one["outcome"], one["scale"], one["a"], one["b"]) for one in plain]
        assert len(names) == len(set(names))
        assert plain[0]["null_citizen"] == pytest.approx(means["normative"] - means["none"])
        assert in_words(found)[1].startswith("The null citizen, which understands no language,")
        beside = {row["null_citizen"] for row in found.plain()["questions"][:2]}
        assert beside == {plain[0]["null_citizen"]}


def test_one_treatment(analysed):
    found = analysed(table(effects={"basic": 0.1}))
    plain = found.plain()
    assert found.something
    assert plain["contrasts"] == []
    assert "contrasts" in {one.get("analysis") for one in plain["missing"]}
    assert plain["ceiling"]
    assert "No treatments can be compared" in " ".join(in_words(found))


def test_one_topic(analysed):
    rows = table()
    found = analysed(rows[rows["topic"] == "topic0"])
    for one in found.plain()["contrasts"]:
        assert one["low"] < one["estimate"] < one["high"]
        assert (one["unit"], one["df"], one["topics"]) == ("draw", 1, 1)
        assert (one["p_topics"], one["p_holm"], one["published_low"]) == (None, None, None)
    text = " ".join(in_words(found))
    assert "raised" not in text
    assert "lowered" not in text


def test_one_model(analysed):
    rows = table()
    plain = analysed(rows[rows["model"] == "model0"]).plain()
    assert {one["model"] for one in plain["by_model"]} == {"model0"}


def test_an_unfinished_study_is_partial_and_says_what_is_missing(analysed):
    rows = table()
    rows.loc[(rows["topic"] == "topic1") & (rows["treatment"] == "basic"), "post"] = np.nan
    found = analysed(rows)
    plain = found.plain()
    assert not found.whole
    assert (plain["runs"]["planned"], plain["runs"]["analysed"]) == (48, 44)
    told = [one for one in plain["missing"] if "condition" in one]
    assert sum(one["sessions"] for one in told) == 4
    assert all("topic1" in one["condition"] for one in told)
    by_pair = {(one["a"], one["b"]): one["topics"] for one in plain["contrasts"]}
    assert (by_pair["normative", "none"], by_pair["basic", "none"]) == (4, 3)


def test_an_unbalanced_study_counts_blocks_and_not_runs(analysed):
    rows = table()
    found = analysed(rows[(rows["replicate"] == 1) | (rows["topic"] != "topic2")])
    assert {one["blocks"] for one in found.plain()["contrasts"]} == {8}


def test_equal_conditions(analysed):
    rows = table(effects={"basic": 0.0})
    found = analysed(pd.concat([rows, rows.assign(treatment="normative")]))
    contrast = found.plain()["contrasts"][0]
    assert (contrast["estimate"], contrast["p_holm"], contrast["verb"]) == (0, None, "none")
    assert contrast["note"].startswith("equal_conditions: ")
    assert "gave the same Deliberative Reason Index in every pair" in " ".join(in_words(found))


def test_a_measure_that_a_whole_condition_lacks(analysed):
    rows = table()
    rows.loc[rows["treatment"] == "none", ["pre", "post"]] = np.nan
    found = analysed(rows)
    known = [one for one in found.plain()["contrasts"] if one["estimate"] is not None]
    assert {(one["a"], one["b"]) for one in known} == {("normative", "basic")}
    assert not found.whole


def test_a_table_without_any_value_gives_nothing(analysed):
    found = analysed(table().assign(pre=np.nan, post=np.nan))
    assert (found.something, found.runs["analysed"]) == (False, 0)


def test_another_measure_than_the_index(analysed):
    rows = table().assign(outcome="diversity")
    found = analysed(rows.assign(pre=rows["pre"].abs(), post=rows["post"].abs()))
    assert {one["outcome"] for one in found.plain()["contrasts"]} == {"diversity"}
    assert found.whole


def test_a_margin_of_ones_own_is_that_of_equivalence(analysed):
    study = synthetic_study(topics=4, models=2, replicates=2)
    rows = findings(study, FEW, analyses(0.5)).rows("equivalence")
    assert {
        row["margin"] for row in rows if row["scale"] == "absolute" and row["outcome"] == "dri"
    } == {0.5}
