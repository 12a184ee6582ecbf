"""The Deliberative Reason Index of runs, worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from delibsim.scorers.dri import DRI
from delibsim.testing import a_run


def test_the_index_before_after_and_in_change(by_hand, as_table, example):
    # pre:  |RC - RP| = AB 0.5, AC 0, BC 0.5; mean 1/3; dri = 1 - 2/3 = 1/3.
    # Ann (AB, AC) 1 - 2 * 0.25 = 0.5, Bob (AB, BC) 1 - 2 * 0.5 = 0, Cem (AC, BC) 0.5; their mean is
    # 1/3. post: |RC - RP| = 0 everywhere; dri 1. Every correlation is beyond 0.2, so nothing is
    # discounted and adjusted equals plain. change 2/3; relative: 2/3 of the 2/3 there was room for
    # = 1.
    found = as_table(DRI().score([by_hand(*example)]))
    expected = {
        ("dri", "pre"): 1 / 3, ("dri", "post"): 1.0, ("dri", "change"): 2 / 3, ("dri_relative", "change"): 1.0,
        ("dri_adjusted", "pre"): 1 / 3, ("dri_adjusted", "post"): 1.0, ("dri_adjusted", "change"): 2 / 3,
        ("dri_individual", "pre", "Ann"): 0.5, ("dri_individual", "pre", "Bob"): 0.0, ("dri_individual", "pre", "Cem"): 0.5,
        ("dri_individual", "post", "Ann"): 1.0, ("dri_individual", "post", "Bob"): 1.0, ("dri_individual", "post", "Cem"): 1.0,
    }  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_loss_is_relative_to_the_room_below(by_hand, as_table, example):
    # From 1 to 1/3: change -2/3, of the room 1 + 1 = 2 down to -1: -1/3.
    pre, post = example
    found = as_table(DRI().score([by_hand(post, pre)]))
    assert found["dri", "change"] == pytest.approx(-2 / 3)
    assert found["dri_relative", "change"] == pytest.approx(-1 / 3)


def test_weak_correlations_are_discounted_in_the_adjusted_index(by_hand, as_table):
    # Five items: RC = 1 - 6 * 18 / 120 = 0.1 (ranks 1 2 3 4 5 against 3 1 5 4 2: d = 2 1 2 0 3,
    # squares 18). Four options: RP = 1 - 6 * 10 / 60 = 0 (ranks 1 2 3 4 against 2 4 1 3: d = 1 2 2
    # 1, squares 10). dri = 1 - 2 * 0.1 = 0.8. Adjusted: d = 0.1 / sqrt(2), w = 0.1 / 0.2 = 0.5, D =
    # 1 - (1 - d) / 2 = 0.5 + 0.05 / sqrt(2), (L - 2 D) / L with L = 1 / sqrt(2) is 1 - 2 sqrt(2) D
    # = 1 - sqrt(2) - 0.1 = 0.9 - sqrt(2).
    answers = (((1, 2, 3, 4, 5), (1, 2, 3, 4)), ((3, 1, 5, 4, 2), (2, 4, 1, 3)))
    found = as_table(DRI().score([by_hand(answers, answers)]))
    assert found["dri", "pre"] == pytest.approx(0.8)
    assert found["dri_adjusted", "pre"] == pytest.approx(0.9 - math.sqrt(2))
    assert found["dri_adjusted", "change"] == 0.0


def test_without_room_the_relative_change_is_undefined_with_the_reason(by_hand, as_table, example):
    found = as_table(DRI().score([by_hand(example[1], example[1])]))
    assert found["dri", "change"] == 0.0
    assert found["dri_relative", "change"] == "zero_denominator"


def test_one_missing_answer_leaves_the_phase_undefined_and_the_other_as_it_is(
    by_hand, as_table, example
):
    pre, (ann, bob, cem) = example
    holey = (ann, ((2, None, 6), bob[1]), cem)
    found = as_table(DRI().score([by_hand(pre, holey)]))
    assert found["dri", "pre"] == pytest.approx(1 / 3)
    undefined = {key for key, value in found.items() if value == "missing_answer"}
    assert undefined == {key for key in found if key[1] != "pre"}


def test_all_ratings_alike_are_answers_without_an_index(by_hand, as_table, example):
    pre, (ann, bob, cem) = example
    constant = (ann, ((4, 4, 4), bob[1]), cem)
    found = as_table(DRI().score([by_hand(pre, constant)]))
    assert {value for key, value in found.items() if key[1] != "pre"} == {"constant_considerations"}
    assert found["dri", "pre"] == pytest.approx(1 / 3)


@quick
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_the_mean_over_participants_is_the_value_of_the_group(seed, participants):
    scores = DRI().score([a_run(participants=participants, seed=seed)])
    for phase in ("pre", "post"):
        own = [
            score.value
            for score in scores
            if (score.measure, score.phase) == ("dri_individual", phase)
        ]
        (group,) = [
            score.value for score in scores if (score.measure, score.phase) == ("dri", phase)
        ]
        assert len(own) == participants
        assert np.mean(own) == pytest.approx(group, abs=1e-12)


@quick
@given(st.integers(0, 10_000))
def test_no_run_bears_on_the_scores_of_another(seed):
    one, other = a_run("one", seed=seed), a_run("other", participants=3, seed=seed + 1)
    assert DRI().score([one, other]) == DRI().score([one]) + DRI().score([other])
