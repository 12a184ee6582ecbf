"""Whose sessions are described, and what is said of those without a value."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
from small_study import held_study
from synthetic_study import synthetic_study

from delibsim.analysis.study.sample import (
    ALL_MODELS,
    kinds_of_participants,
    notes_of,
    pooled_wordings,
    populations,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.sample import CITIZENS as NULL
from delibsim.conduct.analysed import study_table

MODELS = synthetic_study(topics=2, models=2, replicates=2)
CITIZENS = synthetic_study(topics=2, models=1, replicates=2, null=True)
BOTH = replace(MODELS, rows=pd.concat([MODELS.rows, CITIZENS.rows], ignore_index=True))


def sizes(study):
    return {population.name: len(population.rows) for population in populations(study)}


def test_the_null_citizen_is_a_population_of_its_own():
    conditions = {"none": 8, "basic": 8, "normative": 8}
    assert sizes(MODELS) == {ALL_MODELS: 24, **conditions}
    assert sizes(BOTH) == {ALL_MODELS: 24, **conditions, NULL: 12}
    assert notes_of(BOTH) == notes_of(MODELS) == []


def test_the_twin_gives_the_citizens_of_a_study_that_has_none():
    twinned = replace(MODELS, twin=CITIZENS.rows)
    assert kinds_of_participants(twinned)[NULL] is CITIZENS.rows
    assert sizes(twinned)[NULL] == 12
    own = replace(BOTH, twin=MODELS.rows)
    assert kinds_of_participants(own)[NULL]["null"].all(), "its own citizens come first"


def test_paraphrases_count_under_their_treatment():
    told = MODELS.rows["treatment"].map({"basic": "normative"})
    held = MODELS.rows.assign(paraphrase_of=told)
    expected = {ALL_MODELS: 24, "none": 8, "normative": 16}
    assert sizes(replace(MODELS, rows=held)) == expected
    assert pooled_wordings(held)["paraphrase"].tolist() == MODELS.rows["treatment"].tolist()
    nothing = MODELS.rows.assign(paraphrase_of=None)
    assert pooled_wordings(nothing) is nothing


def test_a_held_study_knows_its_paraphrases_and_so_do_sessions_that_were_never_begun(tmp_path):
    settings = "topic=ccps", "treatment=none,normative,normative_a", "group.size=3", "rounds=1"
    runs = held_study(tmp_path, *settings, "replicate=1,2")
    gone = next(name for name in runs.sessions() if "normative_a" in name)
    shutil.rmtree(runs.path(gone))
    study = study_table(runs)
    told = study.rows.groupby("treatment")["paraphrase_of"].agg(lambda own: own.tolist())
    assert told["normative_a"] == ["normative"] * 2
    assert all(value is None or value is pd.NA for value in [*told["none"], *told["normative"]])
    assert sizes(study) == {"none": 2, "normative": 4, NULL: 6}


def test_a_study_of_citizens_only_is_its_own_population_and_is_said_to_be_one():
    assert sizes(CITIZENS) == {"none": 4, "basic": 4, "normative": 4, NULL: 12}
    (said,) = notes_of(CITIZENS)
    assert "no finding about language models" in said


def test_a_treatment_with_the_name_of_a_population_is_told_apart():
    rows = MODELS.rows.replace({"treatment": {"basic": "people"}})
    assert "people (treatment)" in sizes(replace(MODELS, rows=rows))


def test_a_session_that_is_there_twice_is_said():
    twice = replace(MODELS, rows=pd.concat([MODELS.rows, MODELS.rows.iloc[:1]]))
    (said,) = notes_of(twice)
    assert "duplicate" in said


def test_sessions_without_a_value_are_counted_with_their_reasons():
    rows = MODELS.rows.copy()
    rows["dri_note"] = ""
    rows.loc[[0, 1], "dri_change"] = np.nan
    rows.loc[0, "dri_note"] = "missing_answer"
    rows.loc[1, "status"] = "not begun"
    (said,) = without_value(rows, ("dri_pre", "dri_change"))
    assert said.startswith("2 of 24 sessions have no dri_pre and dri_change")
    assert "missing_answer: 1" in said
    assert "not begun: 1" in said
    assert without_value(MODELS.rows, ("dri_change",)) == []


def test_what_no_session_has_gets_a_reason():
    assert why_no_value(MODELS, ("dri_change",)) == ("", "")
    assert why_no_value(MODELS, ("dri_change", "aqua.score"))[0] == "no_value"
    assert (
        why_no_value(replace(MODELS, rows=MODELS.rows.iloc[:0]), ("dri_change",))[0]
        == "no_sessions"
    )
    debates = replace(MODELS, rows=MODELS.rows.assign(format="debate"))
    assert why_no_value(debates, ("dri_change",))[0] == "debates"
