"""`delibsim people try`: a study with people, tried by citizens at another speed."""

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

from delibsim.people.dry import seconds_of

TABLE = (
    "study=hall",
    "topic=ccps",
    "rounds=1",
    "group.size=3",
    "group.models=[person,person,citizen]",
)
DECLARED = "consent: I take part.\ntyping: 40\nturn:\n  minutes: 60\n  binds: true\n"


def test_citizens_take_the_seats_and_nothing_is_kept(delibsim, home):
    (home / "people.yaml").write_text(DECLARED, encoding="utf-8")
    done = delibsim("people", "try", *TABLE, "--speed", "1000", "--port", "0")
    assert done.code == 0, done.err
    assert "complete; about" in done.out
    assert "minutes with people" in done.out
    assert "/office" in done.err
    assert "1 of 1 session complete; nothing was kept." in done.err
    assert not (home / "runs").exists()


def test_a_limit_that_binds_is_seen_before_people_come(delibsim, home):
    hurried = DECLARED.replace("minutes: 60", "minutes: 0.0001").replace("turn:", "survey:")
    (home / "people.yaml").write_text(hurried, encoding="utf-8")
    done = delibsim("people", "try", *TABLE, "--speed", "200", "--port", "0")
    assert done.code == 4
    assert "partial; about" in done.out


def test_what_cannot_be_tried_is_wrong_input(delibsim, home):
    assert "there is no people.yaml" in delibsim("people", "try", *TABLE).err
    (home / "people.yaml").write_text(DECLARED, encoding="utf-8")
    done = delibsim("people", "try", "study=hall", "topic=ccps")
    assert done.code == 2
    assert "model=person" in done.err


def test_a_speech_takes_as_long_as_its_words_and_a_survey_as_its_lines():
    assert seconds_of("turn 3", " ".join(["word"] * 80)) == 120
    assert seconds_of("survey post", "Q1: 3\nQ2: 4") == 12


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
