"""Where there is no terminal, a text that somebody wrote stays on one line."""

import pytest

from delibsim.store.instruments.library import Library

LONG = 100


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
    topic = Library().topic("ccps")
    out = delibsim("topics", "ccps").out
    for line in topic.background.splitlines():
        assert line.rstrip() in out
    assert max(map(len, out.splitlines())) > LONG


def test_what_was_said_in_a_deliberation_is_not_broken(delibsim, study):
    out = delibsim("show", "s").out
    (first, *_) = delibsim("show", "s", "--json").json["transcript"]
    assert first["text"].splitlines()[0] in out


def test_one_session_is_one_session(delibsim, study, small):
    again = delibsim("run", "-q", "-m", "study=s", *small).out
    assert "study s: 1 session, 1 complete" in again
    for out in (again, delibsim("estimate", "study=s", *small).out, delibsim("score", "s").out):
        assert "1 sessions" not in out
        assert "(s)" not in out
