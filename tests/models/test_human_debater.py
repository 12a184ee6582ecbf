"""A person who debates at the terminal: words counted, time told, rules as for everybody, stopped
and resumed.
"""

import asyncio
import os
import re
from dataclasses import replace

import warm
from debates import debate, scripted

from delibsim.engine.hold import hold
from delibsim.models.person.person import Human

SPEECH = ["word " * 60, "more " * 60, "!done"]


def at_the_terminal(session, *lines):
    """The voices of a session whose proposition is a person who says these lines, and everything
    the person was shown.
    """
    said, shown = iter(lines), []

    async def ask(text):
        shown.append(text)
        try:
            return next(said) + "\n"
        except StopIteration:
            raise EOFError from None

    return {**scripted(session), "human": Human(ask=ask)}, shown


def with_a_person(tmp_path):
    session = debate(tmp_path)
    people = (replace(session.participants[0], model="human"), *session.participants[1:])
    return replace(
        session, participants=people, models={**session.models, "human": {"kind": "human"}}
    )


def test_a_person_reads_the_debate_and_sees_words_and_time(tmp_path):
    session = with_a_person(tmp_path)
    voices, shown = at_the_terminal(session, *SPEECH * 3)
    run = asyncio.run(hold(session, voices))
    assert run.status == "complete"
    assert run.transcript[0].text.split() == ["word"] * 60 + ["more"] * 60
    assert "This house would make voting compulsory." in shown[0]
    assert "You speak for the motion." in shown[0]
    assert [re.search(r"\[(\d+) words, \d+:\d\d\] > $", text)[1] for text in shown[:3]] == [
        "0",
        "60",
        "120",
    ]
    assert run.transcript[1].text in shown[3]
    assert not re.search(r"citizen|model", "".join(shown))


def test_a_speech_that_breaks_a_rule_is_asked_again_as_everybodys_is(tmp_path):
    session = with_a_person(tmp_path)
    voices, shown = at_the_terminal(session, "Too short.", "!done", *SPEECH * 3)
    run = asyncio.run(hold(session, voices))
    assert len(run.transcript[0].text.split()) == 120
    assert "the speech has 2 words; at least 100 are asked for" in shown[2]


def test_a_person_stops_and_goes_on_in_that_turn(tmp_path):
    command = [
        "run",
        "-q",
        "format=debate",
        "motion=voting",
        "proposition=human",
        "study=p",
    ]

    def at_terminal(*lines):
        with warm.typed("\n".join(lines) + "\n") as said:
            return warm.run(command, tmp_path, os.environ, said)

    code, _, errors = at_terminal(*SPEECH, "!later")
    assert code == 3
    assert "turn 3" in errors
    assert "Stopped. What was recorded is kept; the same command goes on from there." in errors
    code, output, errors = at_terminal(*SPEECH, *SPEECH)
    assert code == 0, errors[-500:]
    assert errors.count("opening speech") == 0
    assert "Proposition, closing (120 words)" in output
