"""The report as a page: its first table, its parts, and what it does not show."""

from dataclasses import replace

import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.effects import OVER_DRAWS, OVER_TOPICS
from delibsim.analysis.study.findings import findings
from delibsim.analysis.study.report import headline, page_of
from delibsim.analysis.study.study_table import Draws

FEW = Draws(40, 40, 8)
STUDY = synthetic_study(topics=5, models=2, replicates=2)


@pytest.fixture(scope="module")
def found():
    return findings(STUDY, FEW, [contrasts])


def test_the_first_table_holds_the_questions_about_the_primary_outcome(found):
    table = headline(found.results)
    assert table.title.startswith("Change of the Deliberative Reason Index,")
    assert list(table.meanings) == list(table.rows.columns)
    assert table.rows["question"].tolist() == [OVER_TOPICS, OVER_DRAWS] * 3
    own = found.results["questions"].rows
    own = own[(own["role"] == "primary") & (own["scale"] == "absolute")]
    assert table.rows["estimate"].tolist() == own["estimate"].tolist()
    other = findings(replace(STUDY, primary="diversity"), FEW, [contrasts])
    assert "perspective diversity" in headline(other.results).title.lower()


def test_a_primary_outcome_that_the_study_has_not_leaves_the_first_one():
    other = findings(replace(STUDY, primary="nothing"), FEW, [contrasts])
    assert headline(other.results).title.startswith("Change of the Deliberative Reason Index,")


def test_the_first_table_is_that_of_models_where_citizens_stand_beside():
    twinned = findings(replace(STUDY, twin=STUDY.rows.iloc[:30]), FEW, [contrasts])
    table = headline(twinned.results).rows
    assert len(table) == 6
    assert table["null_citizen"].notna().all()


def test_without_contrasts_there_is_no_first_table():
    one = replace(STUDY, rows=STUDY.rows[STUDY.rows["treatment"] == "none"])
    found = findings(one, FEW, [contrasts])
    page = page_of(found, FEW)
    assert headline(found.results) is page.headline is None
    (part,) = [part for part in page.parts if part.id == "not-shown"]
    assert any("one treatment only (none)" in str(entry) for entry in part.entries)
    assert not any("one_treatment" in str(entry) for entry in part.entries)


def test_the_page_shows_the_questions_and_writes_the_contrasts(found):
    page = page_of(found, FEW)
    shown = [table.name for part in page.parts for table in part.tables]
    assert "questions" in shown
    assert "contrasts" not in shown
    assert page.headline.name == "questions"
    assert page.summary[-1].startswith("60 sessions were planned (5 topics, 2 models, 3 treatm")
