"""What commands print fits the terminal: no line is longer than it is wide, no word is broken."""

import re

import pytest
from pseudo_terminal import AtTerminal

from delibsim.cli.table import wrapped
from delibsim.cli.terminal import console

WIDTHS = (80, 100, 140)
UNBOUNDED = 10_000
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
STUDY = (
    ("topics",),
    ("topics", "ccps"),
    ("surveys",),
    ("surveys", "ccps"),
    ("status",),
    ("status", "s"),
    ("status", "s", "--watch"),
    ("show", "s"),
    ("show", "s", "--call", "all"),
    ("show", "s", "--call", "Participant 1/pre/0"),
    ("score", "s"),
    ("export", "s"),
    ("replay", "s"),
    ("retry", "s"),
    ("personas", "show", "values"),
    ("run", "-q", "study=s", "topic=ccps", "group.size=2", "rounds=1", "seed=7"),
    ("run", "-q", "-m", "study=m", "topic=ccps,acp", "group.size=2", "rounds=1"),
    ("estimate", "-m", "+experiment=main_grid"),
    ("estimate", "study=e", "group=five_families_reasoning", "topic=ccps"),
    ("preregister", "s", "--to", "plan.md"),
    ("human", "nowhere"),
    ("topics", "nothing_of_that_name"),
    ("score", "nothing_of_that_name"),
    ("new", "topic", "a_topic_of_ours"),
)


def printed(delibsim, monkeypatch, words, width):
    """What a command prints on a terminal of this width."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(width))
    answer = delibsim(*words)
    return COLOUR.sub("", answer.out), COLOUR.sub("", answer.err)


@pytest.mark.parametrize("words", STUDY, ids=" ".join)
def test_every_command_fits(delibsim, study, home, monkeypatch, words):
    if words[0] == "run":  # what was held before is told in other words
        assert delibsim(*words).code == 0
    whole, _ = printed(delibsim, monkeypatch, words, UNBOUNDED)
    known = set(whole.split())
    for width in WIDTHS:
        if words[0] == "new":
            (home / "topics" / "a_topic_of_ours.yaml").unlink()
        out, _ = printed(delibsim, monkeypatch, words, width)
        assert [line for line in out.splitlines() if len(line) > width] == []
        broken = [word for word in out.split() if word not in known and "/" not in word]
        assert broken == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_debate_a_sweep_and_a_fault_fit_a_real_terminal(tmp_path, width):
    sweep = ("run", "-m", "study=m", "topic=ccps,acp", "group.models=[citizen,citizen_eloquent]")
    for code, words in (
        (0, ("run", "study=d", "format=debate", "motion=voting", "audience=1")),
        (0, (*sweep, "group.size=2", "rounds=1")),
        (2, ("run", "topic=nothing_of_that_name_is_a_topic_here")),
        (2, ("status", "nothing_of_that_name_is_a_study_here")),
    ):
        terminal = AtTerminal(tmp_path, width, *words)
        assert terminal.end() == code, terminal.shown[-2000:]
        assert [line for line in terminal.lines() if len(line) > width] == []
        if code:
            text = " ".join(terminal.shown.split())
            assert "nothing_of_that_name_is_a" in text
            assert re.search(r"unknown (topic|study)", text)


def test_a_line_goes_on_below_what_stands_behind_its_label():
    lines = wrapped(
        "Time       openai: at least two hours, bound by tokens a minute", 40, console()
    )
    assert lines == [
        "Time       openai: at least two hours,",
        "           bound by tokens a minute",
    ]
    assert wrapped("one two three", 8, console()) == ["one two", "three"]


def test_where_there_is_no_terminal_a_message_stays_on_one_line(delibsim, study):
    assert delibsim("status", "s", "--runs", "runs").code == 0
    error = delibsim("run", "topic=nothing_of_that_name_is_a_topic_here").err
    assert error.count("\n") == 1
    assert len(error) > 100
