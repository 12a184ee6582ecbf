"""Packs on pages at the command line: handed out, looked at, and reported as those from paper."""

import csv
import json

from rated import all_of, desk_of, hand_in_next, person, study_of_debates

from delibsim.store.runs import Runs


def taken_part(runs, task, whole=1, partly=0):
    desk = desk_of(runs)
    for n in range(whole):
        all_of(desk, desk.join(person(desk.register, f"w{n}"), task))
    for n in range(partly):
        held = desk.join(person(desk.register, f"p{n}"), task)
        for _ in range(3):
            hand_in_next(desk, held)
    desk.register.close()


def test_debates_are_rated_on_pages_and_reported_like_those_on_paper(home, delibsim, tmp_path):
    study_of_debates(home)
    done = delibsim("rate", "handout", "d", "--online", "--raters", "3", "--n", "4")
    assert done.code == 0
    assert "8 debates for 3 raters, 4 each: on pages" in done.out
    task = done.out.split("Task")[1].split()[0]
    assert f"delibsim people invite d --rater {task} --open" in done.out
    assert delibsim("people", "invite", "d", "--rater", "none", "--open").code == 2
    (home / "people.yaml").write_text(
        "consent: I take part.\nwithdrawal: delete\n", encoding="utf-8"
    )
    assert delibsim("people", "invite", "d", "--rater", task, "--open").code == 0
    taken_part(Runs(home / "runs", "d"), task, whole=2, partly=1)
    times = home / "times.csv"
    shown = delibsim("people", "raters", "d", "--json", "--times", str(times))
    assert shown.code == 0
    rows = json.loads(shown.out)["places"]
    assert [(row["whole"], row["kept"], row["state"]) for row in rows] == [
        (4, 4, "done"),
        (4, 4, "done"),
        (1, 1, "taken"),
    ]
    with times.open(newline="") as lines:
        pages = list(csv.DictReader(lines))
    assert len(pages) == 8 + 8 + 3
    assert all(float(page["seconds"]) >= 0 for page in pages)
    assert "w0" in delibsim("people", "raters", "d", "--task", task).out
    report = delibsim("rate", "report", "d", "source=people", "--json")
    assert report.code in (0, 3)
    assert task in report.out
    assert delibsim("rate", "handout", "d", "--raters", "1", "-o", "pack").code == 0
    assert delibsim("people", "raters", "d", "--task", "none").code == 2


def test_nobody_has_come_yet(home, delibsim):
    study_of_debates(home)
    delibsim("rate", "handout", "d", "--online", "--raters", "1")
    done = delibsim("people", "raters", "d")
    assert done.code == 4
    assert "free" in done.out
