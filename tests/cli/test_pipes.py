"""Where there is no terminal, a text that somebody wrote stays on one line."""

from importlib.resources import files
from pathlib import Path

import pytest

LONG = 100
ROOT = Path(__file__).parents[2]


@pytest.fixture
def debate(delibsim, home):
    """A debate; what `run` printed of it."""
    return delibsim("run", "-q", "study=d", "format=debate", "motion=voting", "audience=1").out


def test_the_speeches_of_a_debate_are_not_broken(delibsim, debate):
    said = delibsim("show", "d", "--json").json["transcript"]
    texts = [one["text"] for one in said]
    assert max(map(len, texts)) > LONG
    shown = delibsim("show", "d").out
    for text in texts:
        for line in text.splitlines():
            assert line.rstrip() in debate
            assert line.rstrip() in shown


def test_a_topic_is_not_broken(delibsim, home):
    out = delibsim("list", "topics", "ccps").out
    for line in (ROOT / "topics" / "ccps.yaml").read_text(encoding="utf-8").splitlines():
        assert line.rstrip() in out


def test_one_session_is_one_session(delibsim, study, small):
    again = delibsim("run", "-q", "-m", "study=s", *small).out
    assert "study s: 1 session, 1 complete" in again
    for out in (again, delibsim("estimate", "study=s", *small).out, delibsim("score", "s").out):
        assert "1 sessions" not in out
        assert "(s)" not in out


@pytest.mark.parametrize("named", ["", "0", "wide", "-5"])
def test_a_width_that_is_none_is_no_width(delibsim, study, monkeypatch, named):
    whole = delibsim("score", "s").out
    monkeypatch.setenv("COLUMNS", named)
    assert delibsim("score", "s").out == whole


def test_what_is_to_be_a_file_has_its_own_lines_whatever_the_width(delibsim, home, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    example = files("delibsim") / "data" / "people" / "example.people.yaml.txt"
    assert delibsim("serve", "--example").out == example.read_text(encoding="utf-8")
