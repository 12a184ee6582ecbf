"""`delibsim show RUN RUN`: two runs beside each other, on a terminal and as JSON."""

import json
import shutil

import pytest

ESC = "\x1b"


@pytest.fixture
def edited(study):
    """A copy of the complete study, `t`, in which one statement and one answer are others."""
    other = study.parents[1] / "t"
    shutil.copytree(study.parent, other)
    path = other / study.name / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    statement = run["transcript"][1]
    statement["text"] = f"{statement['text']} {ESC}[31mI mean it. [bold]Really[/bold]"
    answers = run["responses"][2]["answers"]
    answers["C1"] = 8 - answers["C1"] if answers["C1"] != 4 else 5
    path.write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")
    (path.parent / "SHA256SUMS").unlink()
    return other


def test_what_differs_is_printed_and_what_is_the_same_is_counted(delibsim, edited):
    answer = delibsim("show", "s", "t")
    assert (answer.code, answer.err) == (0, "")
    out = answer.out
    assert "1 of 2 turns the same, word for word" in out
    assert "The settings are the same." in out
    assert "{+ [31mI mean it. [bold]Really[/bold]+}" in out
    assert ESC not in out
    (row,) = [line for line in out.splitlines() if line.startswith("C1 ")]
    assert " | " in row
    assert "=" in row
    assert not [line for line in out.splitlines() if line.startswith("C2 ")]
    whole = delibsim("show", "s", "t", "--whole").out
    assert [line for line in whole.splitlines() if line.startswith("C2 ")]


def test_a_partial_run_is_compared_and_what_is_missing_is_said(delibsim, study, partial):
    answer = delibsim("show", "s", "p")
    assert answer.code == 0
    assert "(no statement: refusal: against my policy)" in answer.out
    assert "?>?" in answer.out
    assert "no value in B: Deliberative Reason Index" in answer.out
    assert "nan" not in answer.out.lower().split()


def test_a_run_that_cannot_be_read_is_named(delibsim, study, partial):
    (partial / "run.json").write_text("{", encoding="utf-8")
    answer = delibsim("show", "s", "p")
    assert (answer.code, answer.out) == (2, "")
    assert "run.json: " in answer.err
    assert delibsim("show", "s", "nowhere").code == 2


def test_a_fork_and_its_parent_say_what_the_fork_has_otherwise(delibsim, study, home):
    (home / "say.txt").write_text("Wait a moment.", encoding="utf-8")
    assert delibsim("fork", "s", "--at", "2", "study=f", "--say", "2=say.txt").code in (0, 3)
    (fork,) = (home / "runs" / "f" / "forks").glob("*/run.json")
    out = delibsim("show", study, fork.parent).out
    assert f"B is fork 1 of s/{study.name} at 2: turn 2 said as given" in out
    assert "1 of 2 turns the same, word for word" in out
    assert "(given by the fork B)" in out
    assert "0 of 54 answers different before" in out
    assert delibsim("replay", fork, "--recorded").code == 0
