"""Counts find what is missing and what is there twice, and never hide it."""

import numpy as np
import pandas as pd
from synthetic_study import synthetic_study

from delibsim.analysis.study.counts import counts
from delibsim.analysis.study.study_table import Draws, StudyTable


def changed(study, rows):
    return StudyTable(study.study, rows.reset_index(drop=True), study.columns, study.paired)


def of(study, **condition):
    rows = counts(study, Draws()).rows
    for name, value in condition.items():
        rows = rows[rows[name] == value]
    return rows


def test_a_whole_study_is_counted_and_nothing_is_missing():
    study = synthetic_study(topics=3, models=2, replicates=4)
    found = counts(study, Draws())
    assert len(found.rows) == 3 * 2 * 3
    for name in ("planned", "held", "valid", "analysed"):
        assert found.rows[name].tolist() == [4] * 18
    assert set(found.rows["missing"]) == {""}
    assert found.notes == []


def test_every_session_that_is_not_analysed_has_its_reason():
    study = synthetic_study(topics=2, models=1, replicates=5)
    rows = study.rows.copy()
    rows["dri_note"] = None
    own = rows.index[(rows["topic"] == "topic0") & (rows["treatment"] == "none")]
    for place, status in zip(own, ("no run", "damaged", "not begun"), strict=False):
        rows.loc[place, "status"] = status
        rows.loc[place, "dri_change"] = np.nan
    rows.loc[own[3], ["dri_change", "dri_note"]] = [np.nan, "missing_answer"]
    (row,) = of(changed(study, rows), topic="topic0", treatment="none").to_dict("records")
    kinds = [row[name] for name in ("planned", "held", "valid", "analysed")]
    assert kinds == [5, 3, 2, 1]
    assert row["missing"] == "damaged 1; missing_answer 1; no run 1; not begun 1"
    notes = counts(changed(study, rows), Draws()).notes
    assert notes == ["4 of 30 planned sessions are not analysed."]


def test_a_condition_with_missing_topics_is_named():
    study = synthetic_study(topics=3, models=2, replicates=2)
    rows = study.rows
    gone = (
        (rows["topic"] == "topic2") & (rows["treatment"] == "basic") & (rows["model"] == "model1")
    )
    lost = (rows["topic"] == "topic0") & (rows["treatment"] == "none") & (rows["model"] == "model0")
    rows = rows.assign(dri_change=rows["dri_change"].mask(lost))[~gone]
    found = counts(changed(study, rows), Draws())
    empty = found.rows[found.rows["planned"] == 0]
    assert empty[["topic", "model", "treatment"]].values.tolist() == [["topic2", "model1", "basic"]]
    assert empty["missing"].tolist() == ["not planned"]
    assert "model1, basic: no session is planned on topic2." in found.notes
    assert "model0, none: no run is analysed on topic0." in found.notes


def test_a_duplicated_run_is_found():
    study = synthetic_study(topics=2, models=1, replicates=3)
    again = study.rows.iloc[[4]].assign(session="copy")
    found = counts(changed(study, pd.concat([study.rows, again])), Draws())
    (note,) = found.notes
    assert note.startswith("Sessions of one topic, condition and replicate: ")
    assert "copy" in note
    as_replicate = again.assign(replicate=9)
    (note,) = counts(changed(study, pd.concat([study.rows, as_replicate])), Draws()).notes
    assert "equal in every measure" in note
    assert "copy" in note


def test_a_study_without_the_index_is_counted_by_what_it_has():
    study = synthetic_study(topics=2, models=1, replicates=2)
    indices = [name for name in study.rows if name.startswith("dri")]
    found = counts(changed(study, study.rows.drop(columns=indices)), Draws())
    assert "the outcome is diversity_change" in found.notes[-1]
    assert set(found.rows["analysed"]) == {2}
    bare = study.rows[["topic", "model", "setting", "treatment", "replicate", "status", "session"]]
    found = counts(changed(study, bare.assign(format="debate")), Draws())
    assert set(found.rows["missing"]) == {"no outcome 2"}
    assert any("debates" in note for note in found.notes)
