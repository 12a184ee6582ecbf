"""The report on a study: all analyses, its page and its JSON; two studies beside each other."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.comparison import report_on_two
from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effects import OVER_DRAWS, OVER_TOPICS
from delibsim.analysis.study.finding import headline
from delibsim.analysis.study.read_table import read_table
from delibsim.analysis.study.report import analyses, findings, in_words, study_report
from delibsim.analysis.study.study_table import DrawCounts, StudyTable

FEW = DrawCounts(40, 40, 8)
STUDY = synthetic_study(topics=5, models=2, replicates=2)


@pytest.fixture(scope="module")
def found():
    return findings(STUDY, FEW, [contrasts])


def test_the_first_table_holds_the_questions_about_the_primary_outcome(found):
    table = headline(found.results)
    assert table.title == "Difference in the change of the Deliberative Reason Index"
    assert list(table.meanings) == list(table.rows.columns)
    assert table.rows["question"].tolist() == [OVER_TOPICS, OVER_DRAWS] * 3
    own = found.results["questions"].rows
    own = own[(own["role"] == "primary") & (own["scale"] == "absolute")]
    assert table.rows["estimate"].tolist() == own["estimate"].tolist()
    other = findings(replace(STUDY, primary="diversity"), FEW, [contrasts])
    assert "perspective diversity" in headline(other.results).title.lower()


def test_the_first_table_is_that_of_models_where_citizens_stand_beside():
    twinned = findings(replace(STUDY, twin=STUDY.rows.iloc[:30]), FEW, [contrasts])
    table = headline(twinned.results).rows
    assert len(table) == 6
    assert table["null_citizen"].notna().all()


def test_the_page_shows_the_questions_and_writes_the_contrasts(found):
    page = study_report(found, FEW).page()
    shown = [table.name for part in page.parts for table in part.tables]
    assert "questions" in shown
    assert "contrasts" not in shown
    assert page.summary[-1].startswith("60 sessions were planned (5 topics, 2 models, 3 treatm")


KEYS = [
    "study", "runs", "finding", "contrasts", "questions", "noise_floor", "icc", "by_model", "by_topic",
    "mixed", "ceiling", "people", "effects", "missing",
]  # fmt: skip


def table(**more):
    """A study held elsewhere: the columns that a table must have."""
    rows = synthetic_study(topics=4, models=2, replicates=2, **more).rows
    kept = rows[["topic", "model", "treatment", "replicate", "dri_pre", "dri_post"]]
    return kept.rename(columns={"dri_pre": "pre", "dri_post": "post"})


def plain_of(found):
    return study_report(found, FEW).plain()


@pytest.fixture
def analysed(tmp_path):
    """The findings of a table."""

    def call(rows):
        rows.to_csv(tmp_path / "study.csv", index=False)
        return findings(read_table(tmp_path / "study.csv"), FEW)

    return call


def test_json_has_the_members_of_the_contract_at_full_precision(analysed):
    found = analysed(table())
    plain = plain_of(found)
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
        plain = plain_of(found)["contrasts"]
        names = [(one["outcome"], one["scale"], one["a"], one["b"]) for one in plain]
        assert len(names) == len(set(names))
        assert plain[0]["null_citizen"] == pytest.approx(means["normative"] - means["none"])
        assert in_words(found)[1].startswith("The null citizen, which understands no language,")
        beside = {row["null_citizen"] for row in plain_of(found)["questions"][:2]}
        assert beside == {plain[0]["null_citizen"]}


def test_one_treatment(analysed):
    found = analysed(table(effects={"basic": 0.1}))
    plain = plain_of(found)
    assert found.something
    assert plain["contrasts"] == []
    assert "contrasts" in {one.get("analysis") for one in plain["missing"]}
    assert plain["ceiling"]
    assert "No treatments can be compared" in " ".join(in_words(found))


def test_an_unfinished_study_is_partial_and_says_what_is_missing(analysed):
    rows = table()
    rows.loc[(rows["topic"] == "topic1") & (rows["treatment"] == "basic"), "post"] = np.nan
    found = analysed(rows)
    plain = plain_of(found)
    assert not found.whole
    assert (plain["runs"]["planned"], plain["runs"]["analysed"]) == (48, 44)
    told = [one for one in plain["missing"] if "condition" in one]
    assert sum(one["sessions"] for one in told) == 4
    assert all("topic1" in one["condition"] for one in told)
    by_pair = {(one["a"], one["b"]): one["topics"] for one in plain["contrasts"]}
    assert (by_pair["normative", "none"], by_pair["basic", "none"]) == (4, 3)


def test_a_table_without_any_value_gives_nothing(analysed):
    found = analysed(table().assign(pre=np.nan, post=np.nan))
    assert (found.something, found.runs["analysed"]) == (False, 0)


def test_another_measure_than_the_index(analysed):
    rows = table().assign(outcome="diversity")
    found = analysed(rows.assign(pre=rows["pre"].abs(), post=rows["post"].abs()))
    assert {one["outcome"] for one in plain_of(found)["contrasts"]} == {"diversity"}
    assert found.whole


def test_a_margin_of_ones_own_is_that_of_equivalence(analysed):
    study = synthetic_study(topics=4, models=2, replicates=2)
    rows = findings(study, FEW, analyses(0.5)).rows("equivalence")
    assert {
        row["margin"] for row in rows if row["scale"] == "absolute" and row["outcome"] == "dri"
    } == {0.5}


def drawn(**more):
    return findings(synthetic_study(topics=4, models=2, replicates=2, **more), FEW, [contrasts])


def test_the_difference_is_the_mean_over_shared_topics():
    first, second = (drawn(seed=1), drawn(seed=2, effects={"none": 0.2, "own": 0.0}))
    second.study.rows["topic"] = second.study.rows["topic"].replace({"topic3": "elsewhere"})
    both = report_on_two(first, second)
    (row,) = [one for one in both.results["differences"].plain() if one["outcome"] == "dri"]
    assert (row["treatment"], row["topics"]) == ("none", 3)

    def means(own):
        rows = own.study.rows[own.study.rows["treatment"] == "none"]
        return rows.groupby(["topic", "model"])["dri_change"].mean().groupby("topic").mean()

    expected = (means(second) - means(first)).dropna()
    assert len(expected) == 3
    assert row["difference"] == pytest.approx(expected.mean())
    assert row["difference"] == pytest.approx(row["second"] - row["first"])
    told = " ".join(both.data)
    for said in ("topics topic3", "topics elsewhere", "treatments own", "not recorded"):
        assert said in told


def test_a_study_beside_itself_does_not_differ():
    both = report_on_two(drawn(), drawn())
    assert all(row["difference"] == 0 for row in both.results["differences"].plain())
    assert "synthetic (1)" in both.results["contrasts_of_both"].rows["study"].to_list()
    assert all("no clear difference" in one or "no difference" in one for one in both.summary)


def test_one_shared_topic_gives_no_interval_and_no_claim():
    first, second = drawn(seed=1), drawn(seed=2)
    names = {f"topic{i}": f"other{i}" for i in range(1, 4)}
    second.study.rows["topic"] = second.study.rows["topic"].replace(names)
    assert all("no difference is claimed" in one for one in report_on_two(first, second).summary)


def test_nothing_shared_is_said():
    first, second = drawn(), drawn()
    second.study.rows["topic"] = "other " + second.study.rows["topic"]
    page = report_on_two(first, second).page()
    assert page.summary == ["The studies share nothing that could be compared."]
    assert "not-shown" in [part.id for part in page.parts]
