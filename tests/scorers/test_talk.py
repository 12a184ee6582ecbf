"""Measures of talk and of movement, worked by hand."""

import numpy as np
import pytest

from delibsim.domain.transcript import Statement, Turn
from delibsim.measures.talk import mattr
from delibsim.scorers.movement import MovementScorer
from delibsim.scorers.talk import TalkScorer

SAID = (
    ("Ann", "The tram costs money. Why not buses?"),
    ("Bob", "But the tram is green."),
    ("Ann", "I don’t think so: buses, tram, money…"),
)
ALIKE = [([1, 7], [1, 2]), ([4, 4], [1, 2]), ([7, 1], [2, 1])]


def talked(by_hand, said=SAID):
    turns = [Statement(Turn(n, 1, name), text) for n, (name, text) in enumerate(said, 1)]
    return by_hand(ALIKE, ALIKE, transcript=turns)


def test_how_a_conversation_went(by_hand, as_table):
    # Words: 7, 5, 7. Ann 14, Bob 5, Cem 0: Gini (2 * (14 - 0)) / (3 * 19). A-B-A: the one third
    # turn returns. One question mark; "but" and "i don't think". Content words: tram, costs, money,
    # not, buses | tram, green | don, tram, think, buses, money (don and think are no function words).
    found = as_table(TalkScorer().score([talked(by_hand)]))
    expected = {
        ("talk.words", ""): 19 / 3,
        ("talk.words_spread", ""): np.std([7, 5, 7], ddof=1) / (19 / 3),
        ("talk.gini", ""): 28 / 57,
        ("talk.returns", ""): 1.0,
        ("talk.mattr", ""): "short_text",
        ("talk.questions", ""): 100 / 19,
        ("talk.disagreement", ""): 200 / 19,
    }
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert 0 < found["talk.adjacent", ""] < 1
    # Bob takes over tram of his two content words; Ann says nothing that Bob alone had said.
    assert found["talk.echo", ""] == pytest.approx(np.mean([1 / 2, 0]))


def test_nobody_or_one_alone_has_reasons_and_no_values(by_hand, as_table):
    silent = as_table(TalkScorer().score([talked(by_hand, ())]))
    assert set(silent.values()) == {"no_statements"}
    alone = as_table(TalkScorer().score([talked(by_hand, [("Ann", "tram " * 60)])]))
    assert (alone["talk.adjacent", ""], alone["talk.returns", ""]) == (
        "one_speaker",
        "too_few_turns",
    )
    assert alone["talk.mattr", ""] == pytest.approx(1 / 50)


def test_lexical_diversity_is_the_mean_over_all_windows():
    words = list("abacabadabacabaeabacabadabacabaf" * 3)
    every = [len(set(words[at : at + 50])) / 50 for at in range(len(words) - 49)]
    assert mattr(words) == pytest.approx(np.mean(every))


def test_how_ratings_moved(by_hand, as_table):
    # As shares of the scale 1 to 7 (ranks do not count): Ann moves C1 from 0 to 1/2, towards the
    # others' mean 3/4; Cem moves C2 from 0 to 0.. and C1 stays: one of six moved, the group by 1/6.
    post = [([4, 7], [2, 1]), *ALIKE[1:]]
    found = as_table(MovementScorer().score([by_hand(ALIKE, post)]))
    assert found["movement.drift", "change"] == pytest.approx((1 / 6 + 0) / 2)
    assert found["movement.moved", "change"] == pytest.approx(1 / 6)
    assert found["movement.toward", "change"] == pytest.approx(1.0)
    assert found["movement.level", "pre"] == pytest.approx(1 / 2)
    spreads = [np.std([0, 1 / 2, 1], ddof=1), np.std([1 / 2, 1 / 2, 1], ddof=1)]
    assert found["movement.spread", "change"] == pytest.approx((spreads[1] - spreads[0]) / 2)


def test_a_group_that_did_not_move_or_answer_has_a_reason(by_hand, as_table):
    found = as_table(MovementScorer().score([by_hand(ALIKE, ALIKE)]))
    assert found["movement.toward", "change"] == "no_movement"
    assert found["movement.moved", "change"] == 0
    lacking = [([None, 7], [1, 2]), *ALIKE[1:]]
    found = as_table(MovementScorer().score([by_hand(ALIKE, lacking)]))
    assert found["movement.drift", "change"] == found["movement.spread", "post"] == "missing_answer"
    assert found["movement.spread", "pre"] > 0
