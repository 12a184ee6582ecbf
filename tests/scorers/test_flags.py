"""Flags: what a careful reader should look at is found, and what is harmless is left alone."""

import dataclasses

import pytest
from cases import cases_of

from delibsim.domain.transcript import Statement, Turn
from delibsim.scorers.flags import KINDS, Flags

CASES = cases_of(__file__)
ANSWERS = ((((1, 2, 3), (1, 2, 3)),) * 2,) * 2
PERSONA = (
    "You run a small bakery by the river and you worry most of all about floods and about rising"
    " rents."
)

RAISED = CASES["RAISED"]
HARMLESS = [
    "I would ignore the noise and rather look at the costs.",
    "Everything has a price: 7 out of 10 people say so.",
    "C1: 7 is what I answered.",  # one answer named is no survey
    "Bob said: I withdraw. I listened to Bob: he is right.",
    "In round 2 (and later) the transcript, the topic and I differ; <br> is no mark of ours.",
    "You run a small bakery, I hear, and floods worry you.",
    "Tea, thé, чай, 茶, شاي, and 🙂.\n\tAnd more.",
]


def said(by_hand, *speeches, id="hand", temperature=None, speakers=("Ann",)):
    """A run in which these speeches were held, by the speakers in turn."""
    statements = [
        Statement(Turn(i, 1, speakers[(i - 1) % len(speakers)]), text)
        for i, text in enumerate(speeches, 1)
    ]
    run = by_hand(*ANSWERS, id=id, transcript=statements)
    people = tuple(
        dataclasses.replace(person, persona=PERSONA if person.id == "Ann" else "")
        for person in run.session.participants
    )
    models = {"citizen": {"kind": "citizen", "temperature": temperature}}
    return dataclasses.replace(
        run, session=dataclasses.replace(run.session, participants=people, models=models)
    )


def flagged(*runs):
    """Of the runs, which statements have which flag: (kind, target)."""
    return {
        (s.measure.removeprefix("flags."), s.target)
        for s in Flags().score(runs)
        if s.unit == "statement"
    }


def counts(*runs):
    return {
        (s.measure.removeprefix("flags."), s.target): s.value
        for s in Flags().score(runs)
        if s.unit == "run"
    }


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, found in RAISED.items() for text in found]
)
def test_a_flag_is_raised_on_the_statement_and_counted_for_the_run(by_hand, kind, text):
    run = said(by_hand, "Good morning.", text)
    assert flagged(run) == {(kind, "hand/2")}
    assert counts(run) == {(other, "hand"): float(other == kind) for other in KINDS}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_raises_nothing(by_hand, text):
    assert flagged(said(by_hand, text)) == set()


def test_eight_words_running_make_a_leak_wherever_they_stand_and_seven_do_not(by_hand):
    words = PERSONA.rstrip(".").split()
    for start in (0, 5, len(words) - 8):
        eight = words[start : start + 8]
        assert flagged(said(by_hand, f"I say: {' '.join(eight)} indeed")) == {
            ("persona_leak", "hand/1")
        }
        assert flagged(said(by_hand, f"I say: {' '.join(eight[:7])} indeed")) == set()
        assert flagged(said(by_hand, f"I say: {' '.join(eight[1:])} indeed")) == set()
    assert flagged(said(by_hand, f"x{' '.join(words[:8])}")) == set()


def test_a_persona_can_only_be_leaked_by_who_has_it(by_hand):
    assert flagged(said(by_hand, PERSONA, speakers=("Bob",))) == set()
    assert flagged(said(by_hand, PERSONA.upper())) == {("persona_leak", "hand/1")}


def test_a_text_said_again_is_flagged_where_it_is_said_again(by_hand):
    run = said(by_hand, "I like tea.", "So do I.", "I like tea.", speakers=("Ann", "Bob"))
    assert flagged(run) == {("repeated", "hand/3")}


def test_equal_texts_in_independent_runs_are_flagged_above_temperature_0_alone(by_hand):
    hot = [
        said(by_hand, "I like tea.", f"And {id}.", id=id, temperature=0.7) for id in ("one", "two")
    ]
    assert flagged(*hot) == {("across_runs", "one/1"), ("across_runs", "two/1")}
    assert flagged(hot[0]) == set()
    cold = [said(by_hand, "I like tea.", id=id, temperature=0) for id in ("one", "two")]
    assert flagged(*cold) == set()


def test_a_run_without_a_word_has_no_flags(by_hand):
    assert counts(said(by_hand)) == {(kind, "hand"): 0.0 for kind in KINDS}
