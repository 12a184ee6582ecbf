"""Who was in the room: sums by condition worked by hand; shares that differ are told aloud."""

from dataclasses import replace

import pandas as pd
from synthetic_study import synthetic_study

from delibsim.analysis.study.contrasts import contrasts
from delibsim.analysis.study.counts import COUNTED, in_room
from delibsim.analysis.study.study_table import Draws

STUDY = synthetic_study(topics=2, models=1, replicates=2)
DRAWS = Draws(resamples=50, permutations=50)


def with_people(stood_in, treatment):
    rows = STUDY.rows.copy()
    for column in COUNTED:
        rows[column] = pd.array([0] * len(rows), dtype="Int64")
    for column in ("minutes", "people_survey_seconds", "people_turn_seconds"):
        rows[column] = 12.0
    rows["people_seats"] = pd.array([3] * len(rows), dtype="Int64")
    rows.loc[rows["treatment"] == treatment, "people_stood_in"] = stood_in
    return replace(STUDY, rows=rows)


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


def test_a_study_of_models_has_no_such_table():
    assert in_room(STUDY, DRAWS) == ()
    none = STUDY.rows.assign(people_seats=pd.array([0] * len(STUDY.rows), dtype="Int64"))
    assert in_room(replace(STUDY, rows=none), DRAWS) == ()
