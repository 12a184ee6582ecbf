"""Strengths of compared texts as scores: by text, as means by participant and run, or why not."""

import math
from dataclasses import replace

import pytest

from delibsim.domain.annotation import annotated
from delibsim.domain.comparison import TextScore, measure_of_pairs
from delibsim.domain.score import Score, Scorer
from delibsim.domain.transcript import Statement, Turn
from delibsim.scorers.answers import Pairs, strengths_of_texts
from delibsim.testing import a_run

VALUES = {"one/1": 1.0, "one/2": -0.5, "one/3": 2.0}


def compared(*scores):
    """A run in which the first participant speaks twice, with these scores of texts."""
    run = a_run("one", participants=2)
    again = Statement(Turn(3, 2, "Participant 1"), "Once more.")
    run = replace(run, transcript=(*run.transcript, again))
    return annotated(run, compared=scores)


def of(values, note="", apart=""):
    return [TextScore("ab", "logical", id, v, note, apart) for id, v in values.items()]


def test_the_scorer_keeps_the_contract_and_says_nothing_of_runs_that_nobody_compared():
    assert isinstance(Pairs(), Scorer)
    assert Pairs().score([a_run()]) == []
    one = compared(*of(VALUES))
    assert Pairs().score([a_run("two"), one]) == Pairs().score([one, a_run("two")])
    assert Pairs.on_request


def test_texts_and_means_by_participant_and_run():
    found = Pairs().score([compared(*of(VALUES))])
    assert found == [
        Score("pairs.ab.logical", "statement", "one/1", 1.0, coder="ab"),
        Score("pairs.ab.logical", "statement", "one/2", -0.5, coder="ab"),
        Score("pairs.ab.logical", "statement", "one/3", 2.0, coder="ab"),
        Score("pairs.ab.logical", "participant", "one/Participant 1", 1.5, coder="ab"),
        Score("pairs.ab.logical", "participant", "one/Participant 2", -0.5, coder="ab"),
        Score("pairs.ab.logical", "run", "one", 2.5 / 3, coder="ab"),
    ]
    assert measure_of_pairs("ab", "logical").holds(-40.0)


def test_what_nobody_judged_is_no_part_of_a_mean_and_participants_may_be_the_texts():
    texts = {"one/Participant 1": 1.0, "one/Participant 2": math.nan}
    scores = [
        replace(one, note="not_judged") if one.value != one.value else one for one in of(texts)
    ]
    *people, run = Pairs().score([compared(*scores)])
    assert [(one.unit, one.note) for one in people] == [
        ("participant", ""),
        ("participant", "not_judged"),
    ]
    assert (run.value, run.note) == (1.0, "")


@pytest.mark.parametrize("apart", ["within_session", "not_connected"])
def test_a_run_has_no_mean_where_it_would_say_nothing(apart):
    *others, run = Pairs().score([compared(*of(VALUES, apart=apart))])
    assert math.isnan(run.value)
    assert run.note == apart
    assert not any(one.note for one in others)


def test_imported_texts_are_scored_each_for_itself():
    found = list(strengths_of_texts(of({"t1": 0.5, "t2": -0.5})))
    assert [(one.unit, one.target, one.value) for one in found] == [
        ("text", "t1", 0.5),
        ("text", "t2", -0.5),
    ]
