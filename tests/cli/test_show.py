"""`delibsim show`: a run to be read, whatever was said in it."""

import hashlib
import json
import re
import shutil
import unicodedata

import pytest
from pseudo_terminal import AtTerminal

from delibsim import Runs
from delibsim.cli.show import FORMS, share
from delibsim.domain.errors import WrongInput
from delibsim.store.codec import run_from_json

ESC = "\x1b"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HOSTILE = (
    f"{ESC}[31mred{ESC}[0m {ESC}]0;owned\x07 [bold]loud[/bold] [link=https://x]here[/link] :smile:"
    " \u202egnp.exe \u200bhidden\r\bback\x9b2J"
)


def change_run(session, change):
    path = session / "run.json"
    run = json.loads(path.read_text(encoding="utf-8"))
    change(run)
    path.write_text(json.dumps(run, ensure_ascii=False), encoding="utf-8")
    (session / "SHA256SUMS").unlink()


def test_answers_can_be_left_out(delibsim, study):
    answer = delibsim("show", "s", "--no-answers")
    assert answer.code == 0
    assert "Answers before > after" not in answer.out
    assert "Round 1" in answer.out


def test_a_run_can_be_named_in_every_way_a_user_would(delibsim, study, home, monkeypatch):
    shown = delibsim("show", "s").out
    for place in (
        "s/ccps.normative.citizen_rounds1_size2.r1",
        study,
        study / "run.json",
        "runs/s/ccps.normative.citizen_rounds1_size2.r1",
        "runs/s",
        study.parent,
    ):
        assert delibsim("show", place).out == shown
    monkeypatch.chdir(study)
    assert delibsim("show", ".").out == shown
    monkeypatch.chdir(home.parent)
    assert delibsim("show", "s", "--dir", home / "runs").out == shown


def test_a_study_with_several_sessions_asks_which(delibsim, study, small):
    assert delibsim("run", "-q", "study=s", *small, "replicate=2").code == 0
    answer = delibsim("show", "s")
    assert answer.code == 2
    assert "s/ccps.normative.citizen_rounds1_size2.r1" in answer.err
    assert "s/ccps.normative.citizen_rounds1_size2.r2" in answer.err


def test_foreign_text_is_printed_inert(delibsim, study):
    def spoil(run):
        run["transcript"][0]["text"] = HOSTILE
        run["session"]["topic"]["question"] = HOSTILE
        run["session"]["survey"]["items"][0]["text"] = HOSTILE
        run["session"]["participants"][0]["persona"] = HOSTILE

    change_run(study, spoil)
    answer = delibsim("show", "s")
    assert answer.code == 0
    assert not set(answer.out) & set(f"{ESC}\x07\x08\r\x9b\u202e\u200b")
    shown = " ".join(answer.out.split())
    assert shown.count("[bold]loud[/bold] [link=https://x]here[/link] :smile:") == 4


def test_names_are_printed_inert_too(delibsim, study):
    path = study / "run.json"
    whole = path.read_text(encoding="utf-8")
    (study / "SHA256SUMS").unlink()
    path.write_text(whole.replace('"citizen"', json.dumps(f"mod{ESC}[1mel[red]")), encoding="utf-8")
    answer = delibsim("show", "s")
    assert answer.code == 0
    assert ESC not in answer.out
    assert "mod[1mel[red]" in answer.out
    path.write_text(
        whole.replace('"Participant 1"', json.dumps(f"Ann{ESC}[2J[red]")), encoding="utf-8"
    )
    answer = delibsim("show", "s")
    assert ESC not in answer.out + answer.err


def test_a_silence_is_shown_with_its_reason_and_missing_answers_too(delibsim, partial):
    answer = delibsim("show", "p")
    shown = " ".join(answer.out.split())
    assert answer.code == 0
    assert "(no statement: refusal: against my policy)" in shown
    assert "missing: Participant 1, before: refusal: against my policy" in shown
    assert "? > ?" in shown
    assert delibsim("show", "p", "--json").json["status"] == "partial"


def test_a_session_without_speech_says_so(delibsim, small):
    assert delibsim("run", "-q", "study=s", *small, "treatment=none").code == 0
    assert "Nobody spoke in this session." in delibsim("show", "s").out


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1}', '{"schema": 99}', ""])
def test_a_damaged_run_is_named_and_left_alone(delibsim, study, text):
    (study / "run.json").write_text(text, encoding="utf-8")
    answer = delibsim("show", "s")
    assert (answer.code, answer.out) == (2, "")
    assert "runs/s/ccps.normative.citizen_rounds1_size2.r1/run.json: " in answer.err
    assert (study / "run.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("line", [b'{"torn": "li', b"{}", b'{"purpose": {}}', b"null"])
def test_a_run_whose_log_has_a_damaged_line_is_still_shown(delibsim, study, line):
    shown = delibsim("show", "s").out
    log = study / "exchanges.jsonl"
    log.write_bytes(log.read_bytes() + line + b"\n")
    answer = delibsim("show", "s")
    assert answer.code == 0
    cost = [line for line in shown.splitlines() if line not in answer.out.splitlines()]
    assert [line.split()[0] for line in cost] == ["Calls:"], "of a damaged log the cost is unknown"
    calls = delibsim("show", "s", "--call", "all", "--json")
    assert calls.code == 0


def test_single_calls_are_shown_whole(delibsim, study):
    records = [
        json.loads(line)
        for line in (study / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    ids = ["{participant}/{occasion}/{attempt}".format(**record["purpose"]) for record in records]
    listed = delibsim("show", "s", "--call", "all")
    assert listed.code == 0
    assert [line.split("  ")[0] for line in listed.out.splitlines()] == ids
    first = delibsim("show", "s", "--call", ids[0])
    for message in records[0]["messages"]:
        assert message["content"].strip() in first.out
    assert records[0]["completion"]["text"] in first.out
    assert delibsim("show", "s", "--call", ids[0], "--json").json == records[0]
    unknown = delibsim("show", "s", "--call", "Participant 1/pree/0")
    assert unknown.code == 2
    assert "did you mean Participant 1/pre/0" in unknown.err


LONG = {
    "fifty thousand words": "word " * 50_000,
    "one word without end": "w" * 250_000,
    "zero width": "a\u200b\u2060" * 100_000,
    "right to left": "\u202eabc \u05d0\u05d1 " * 40_000,
    "control characters": "a\x1b[2J\x00\x9b" * 50_000,
}


@pytest.mark.parametrize("case", LONG)
def test_a_speech_without_end_is_cut_for_display_and_kept_as_it_came(delibsim, study, case):
    text = LONG[case].strip()
    change_run(study, lambda run: run["transcript"][0].update(text=text))
    answer = delibsim("show", "s", "--no-answers")
    assert answer.code == 0
    assert len(answer.out) < 20_000
    assert not {c for c in answer.out if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"}
    assert f"({len(text):,} characters in all); the rest is shown with --whole" in answer.out
    whole = delibsim("show", "s", "--no-answers", "--whole").out
    assert "--whole" not in whole
    letter = next(c for c in text if c.isalnum())
    assert whole.count(letter) >= text.count(letter)
    assert delibsim("show", "s", "--json").json["transcript"][0]["text"] == text


def test_of_who_answered_nothing_no_change_is_told(delibsim, partial):
    out = delibsim("show", "p").out
    (line,) = [line for line in out.splitlines() if line.startswith("Participant 1  0/0 of 27")]
    assert line.split()[3:8] == ["of", "27", "-", "-", "-"]
    assert "missing_answer (a participant has no readable answer to an item)" in " ".join(
        out.split()
    )


def test_a_terminal_has_a_pager_and_a_pipe_has_none(delibsim, study, home, monkeypatch):
    monkeypatch.setenv("PAGER", "sh -c 'cat > paged.txt'")
    piped = delibsim("show", "s").out
    assert not (home / "paged.txt").exists()
    terminal = AtTerminal(home, 80, "show", "s", pager="sh -c 'cat > paged.txt'")
    assert terminal.end() == 0
    assert terminal.shown.strip() == ""
    paged = COLOUR.sub("", (home / "paged.txt").read_text(encoding="utf-8"))
    assert sorted(paged.split()) == sorted(piped.split())  # tables wrap elsewhere at 80 columns
    assert max(map(len, paged.splitlines())) <= 80
    gone = AtTerminal(home, 80, "show", "s", pager="true")  # which reads nothing
    assert gone.end() == 0


def test_one_run_is_written_once_in_every_form_and_what_cannot_be_is_said(delibsim, study, home):
    """A file is what is printed; none is written over, through a link, or into no folder."""
    place = Runs(study.parents[1], "s"), study.name
    digest = hashlib.sha256((study / "run.json").read_bytes()).hexdigest()
    for form in FORMS:
        share(place, form, home / form)
        text = (home / form).read_text(encoding="utf-8")
        assert form == "csv" or digest in text
        with pytest.raises(WrongInput, match="is there already and is left as it is"):
            share(place, form, home / form)
    assert run_from_json(json.dumps(json.loads((home / "json").read_text())["run"])) == (
        run_from_json((study / "run.json").read_bytes())
    )
    assert max(map(len, (home / "text").read_text(encoding="utf-8").splitlines()[:-5])) <= 80
    (home / "link").symlink_to(home / "nowhere")
    for to, said in ((home / "link", "take another name"), (home / "no/run.md", "no folder")):
        with pytest.raises(WrongInput, match=said):
            share(place, "markdown", to)
    with pytest.raises(WrongInput, match="There are: cite, csv, html, json, markdown, text"):
        share(place, "pdf", None)
    assert not (home / "nowhere").exists()


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
