"""Sessions counted: planned, held, analysed; what is missing by treatment; who was in the room."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.counts import COUNTED, attrition, counts, in_room, told_of_attrition
from delibsim.analysis.study.study_table import DrawCounts, StudyTable


def changed(study, rows):
    return StudyTable(study.study, rows.reset_index(drop=True), study.columns, study.paired)


def of(study, **condition):
    rows = counts(study, DrawCounts()).rows
    for name, value in condition.items():
        rows = rows[rows[name] == value]
    return rows


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
    notes = counts(changed(study, rows), DrawCounts()).notes
    assert notes == ["4 of 30 planned sessions are not analysed."]


def test_a_condition_with_missing_topics_is_named():
    study = synthetic_study(topics=3, models=2, replicates=2)
    rows = study.rows
    gone = (
        (rows["topic"] == "topic2") & (rows["treatment"] == "basic") & (rows["model"] == "model1")
    )
    lost = (rows["topic"] == "topic0") & (rows["treatment"] == "none") & (rows["model"] == "model0")
    rows = rows.assign(dri_change=rows["dri_change"].mask(lost))[~gone]
    found = counts(changed(study, rows), DrawCounts())
    empty = found.rows[found.rows["planned"] == 0]
    assert empty[["topic", "model", "treatment"]].values.tolist() == [["topic2", "model1", "basic"]]
    assert empty["missing"].tolist() == ["not planned"]
    assert "model1, basic: no session is planned on topic2." in found.notes
    assert "model0, none: no run is analysed on topic0." in found.notes


def test_a_duplicated_run_is_found():
    study = synthetic_study(topics=2, models=1, replicates=3)
    again = study.rows.iloc[[4]].assign(session="copy")
    found = counts(changed(study, pd.concat([study.rows, again])), DrawCounts())
    (note,) = found.notes
    assert note.startswith("Sessions of one topic, condition and replicate: ")
    assert "copy" in note
    as_replicate = again.assign(replicate=9)
    (note,) = counts(changed(study, pd.concat([study.rows, as_replicate])), DrawCounts()).notes
    assert "equal in every measure" in note
    assert "copy" in note


def test_a_study_without_the_index_is_counted_by_what_it_has():
    study = synthetic_study(topics=2, models=1, replicates=2)
    indices = [name for name in study.rows if name.startswith("dri")]
    found = counts(changed(study, study.rows.drop(columns=indices)), DrawCounts())
    assert "the outcome is diversity_change" in found.notes[-1]
    assert set(found.rows["analysed"]) == {2}
    bare = study.rows[["topic", "model", "setting", "treatment", "replicate", "status", "session"]]
    found = counts(changed(study, bare.assign(format="debate")), DrawCounts())
    assert set(found.rows["missing"]) == {"no outcome 2"}
    assert any("debates" in note for note in found.notes)


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
    result = attrition(study, DrawCounts())
    assert list(result.rows.columns) == list(result.meanings)
    row = result.rows.iloc[0]
    assert (row["a"], row["b"], row["missing"]) == ("basic", "none", "sessions")
    assert (row["missing_a"], row["of_a"], row["missing_b"], row["of_b"]) == (3, 4, 1, 4)
    assert row["p"] == pytest.approx(34 / 70)
    assert list(told_of_attrition({"attrition": result})) == []


def test_a_difference_is_told_in_the_summary():
    study = lacking(STUDY, "basic", 7, dri_change=np.nan, answers_missing=1)
    result = attrition(study, DrawCounts())
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
        " under none 0 of 8 (p = .001 by Fisher's test after Holm's correction, sessions taken as"
    )
    assert told[0].endswith("no outcome of the two can be compared.")
    given = contrasts(STUDY, DrawCounts(40, 40, 2))
    (first, _) = told_of_attrition({"attrition": result, "contrasts": given})
    assert first.endswith("their comparison is one of the sessions that lasted.")


def test_replicates_that_fail_together_are_one_failure():
    study = synthetic_study(topics=4, models=2, replicates=5)
    rows = study.rows.copy()
    own = (rows["topic"].isin(["topic0", "topic1"])) & (rows["model"] == rows["model"].iloc[0])
    rows.loc[own & (rows["treatment"] == "basic"), "status"] = "no run"
    result = attrition(replace(study, rows=rows), DrawCounts())
    row = result.rows.iloc[0]
    assert (row["missing_a"], row["missing_b"], row["blocks"]) == (10, 0, 8)
    assert row["p_holm"] < 0.01  # ten sessions of forty, but two blocks of eight
    assert row["p_blocks"] == 0.5
    assert list(told_of_attrition({"attrition": result})) == []


ROOM = synthetic_study(topics=2, models=1, replicates=2)
DRAWS = DrawCounts(resamples=50, permutations=50)


def with_people(stood_in, treatment):
    rows = ROOM.rows.copy()
    for column in COUNTED:
        rows[column] = pd.array([0] * len(rows), dtype="Int64")
    for column in ("minutes", "people_survey_seconds", "people_turn_seconds"):
        rows[column] = 12.0
    rows["people_seats"] = pd.array([3] * len(rows), dtype="Int64")
    rows.loc[rows["treatment"] == treatment, "people_stood_in"] = stood_in
    return replace(ROOM, rows=rows)


def test_seats_are_summed_over_held_sessions_by_condition():
    study = with_people(1, "basic")
    last = study.rows.index[study.rows["treatment"] == "basic"][0]
    study.rows.loc[last, ["people_stood_in", "minutes"]] = pd.NA
    (result,) = in_room(study, DRAWS)
    basic = result.rows[result.rows["treatment"] == "basic"]
    assert (basic["sessions"].sum(), basic["seats"].sum()) == (4, 12)
    assert (basic["stood_in"].sum(), basic["unknown"].sum()) == (3, 1)
    other = result.rows[result.rows["treatment"] != "basic"]
    assert other["stood_in"].sum() == 0
    assert set(result.rows["minutes"]) == {12.0}


def test_a_contrast_of_different_shares_of_stand_ins_is_told():
    uneven = contrasts(with_people(1, "basic"), DRAWS).notes
    told = [note for note in uneven if note.startswith("Stand-ins took different shares")]
    assert len(told) == 1
    assert "basic 4 of 12" in told[0]
    assert "none 0 of 12" in told[0]
    even = contrasts(with_people(0, "basic"), DRAWS).notes
    assert not any("Stand-ins" in note for note in even)
