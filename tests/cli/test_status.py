"""`delibsim status`: how a study stands, and an exit code that says the same."""

import os
import shutil


def test_a_partial_study_says_what_is_missing_and_why(delibsim, partial):
    answer = delibsim("status", "p", "--json")
    assert answer.code == 3
    assert answer.json["states"] == {"partial": 1}
    assert answer.json["calls"] == {"ok": 3, "refusal": 3}
    assert {gap["reason"] for gap in answer.json["sessions"][0]["missing"]} == {
        "refusal: against my policy"
    }
    shown = delibsim("status", "p")
    assert shown.code == 3
    lines = shown.out.splitlines()
    assert "missing: 54 answers in 1 session: the model refused (against my policy)" in lines
    assert "missing: 1 silent turn in 1 session: the model refused (against my policy)" in lines
    refused = "not ok: citizen refused: 1 session, 3 calls (against my policy)"
    assert [line.partition(";")[0] for line in lines if line.startswith("not ok")] == [refused]


def test_a_study_in_which_nothing_was_finished(delibsim, study):
    (study / "run.json").unlink()
    log = study / "exchanges.jsonl"
    log.write_bytes(log.read_bytes()[:-50])
    answer = delibsim("status", "s")
    assert answer.code == 4
    assert "1 cut off" in answer.out
    assert "1 damaged line in its log" in answer.out
    assert (
        "goes on when its `delibsim run` command is given again, or with `delibsim run runs/s --retry`.\n"
        in answer.out
    )
    assert delibsim("status", "s", "--json").json["sessions"][0]["damaged_lines"] == 1
    assert delibsim("run", "runs/s", "--retry", "-q").code == 0


def test_a_study_of_which_a_part_is_cut_off_or_damaged(delibsim, study):
    for name, damage in (
        ("cut", None),
        ("broken-run", "run.json"),
        ("broken-plan", "session.json"),
    ):
        folder = shutil.copytree(study, study.parent / name)
        if damage:
            (folder / damage).write_text("{", encoding="utf-8")
        else:
            (folder / "run.json").unlink()
    answer = delibsim("status", "s", "--json")
    assert answer.code == 3
    assert answer.json["states"] == {"complete": 1, "cut off": 1, "damaged": 2}
    faults = {entry["session"]: entry["fault"] for entry in answer.json["sessions"]}
    assert "runs/s/broken-run/run.json: " in faults["broken-run"]
    assert "runs/s/broken-plan/session.json: " in faults["broken-plan"]
    shown = delibsim("status", "s")
    assert shown.code == 3
    assert "damaged" in shown.out


def test_what_an_earlier_look_found_is_what_the_files_say(delibsim, study, partial):
    name = study.name
    kept = study.parent / "sessions.jsonl"
    assert kept.is_file()  # written when the run was
    by_run = delibsim("status", "s", "--json").json
    kept.unlink()
    assert delibsim("status", "s", "--json").json == by_run
    assert kept.read_text().count("\n") == 1  # written by the look
    assert delibsim("status", "s", "--json").json == by_run
    assert '"status":{' not in (partial.parent / "sessions.jsonl").read_text()  # it is not well
    run = (study / "run.json").read_bytes()
    log = (study / "exchanges.jsonl").read_bytes()
    for file, bytes_, found in (
        ("run.json", run.replace(b'"complete"', b'"complex!"'), {"damaged": 1}),
        ("exchanges.jsonl", log[:-50], {"complete": 1}),
        ("withdrawn.json", b"{}", {"withdrawn": 1}),
    ):
        (study / file).write_bytes(bytes_)
        answer = delibsim("status", "s", "--json").json
        assert answer["states"] == found
        assert answer["sessions"][0]["damaged_lines"] == (file == "exchanges.jsonl")
        (study / "run.json").write_bytes(run)
        (study / "exchanges.jsonl").write_bytes(log)
    (study / "withdrawn.json").unlink()
    kept.write_text(f'{{"edition":1,"session":"{name}","files":[],"status":3}}\n[]\n{{')
    assert delibsim("status", "s", "--json").json == by_run


def test_a_task_whose_settings_cannot_be_read_is_told_and_the_rest_is_there(delibsim, study):
    folder = study.parent / "annotations" / "codes-x"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "task.json")
    (folder / "exchanges.jsonl").touch()
    answer = delibsim("status", "s")
    assert answer.code == 3
    assert "damaged: runs/s/annotations/codes-x/task.json" in answer.out
    assert "s: 1 complete" in answer.out
