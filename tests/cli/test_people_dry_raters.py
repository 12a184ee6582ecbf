"""`delibsim people try STUDY --raters`: every sheet of a task filled in a copy of the study."""

import pytest
from rated import (
    all_of,
    codes_online,
    debates_online,
    desk_of,
    pairs_online,
    person,
    study_of_debates,
    summaries_online,
)


def debates(home):
    runs = study_of_debates(home)
    return runs, debates_online(runs)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("made", "kind", "places", "sheets"),
    [
        (debates, "debates", 4, 16),
        (codes_online, "texts", 2, 8),
        (pairs_online, "pairs", 2, 16),
        (summaries_online, "summaries", 8, 8),
    ],
)
def test_every_sheet_is_filled_and_nothing_is_kept(delibsim, home, made, kind, places, sheets):
    runs, task = made(home)
    before = files(runs.folder)
    done = delibsim("people", "try", runs.study, "--raters", "--json")
    assert done.code == 0, done.err
    (found,) = done.json["tasks"]
    minutes = found.pop("minutes")
    counts = {"places": places, "sheets": sheets, "kept": sheets, "not_kept": 0}
    assert found == {"task": task, "kind": kind, **counts}
    assert 0.5 < minutes < 60
    assert files(runs.folder) == before


def test_a_task_that_people_have_begun_is_refused(delibsim, home):
    runs, task = debates(home)
    desk = desk_of(runs)
    person(desk.register, "ann")
    all_of(desk, desk.join("ann", task))
    desk.register.close()
    done = delibsim("people", "try", runs.study, "--raters")
    assert done.code == 2
    assert f"people have begun the task {task}" in done.err


def test_a_study_without_tasks_says_how_one_is_handed_out(delibsim, home):
    runs = study_of_debates(home)
    done = delibsim("people", "try", runs.study, "--raters")
    assert done.code == 2
    assert "delibsim rate handout d --online" in done.err
