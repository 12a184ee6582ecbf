"""The models of a vote: probabilities add up, and derivatives are those of finite differences. What
must hold for any votes: names, order, groups, doubling, and swapped sheets.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.likelihood import (
    Dummy,
    Normal,
    information,
    probabilities,
    terms,
)
from delibsim.measures.bradley_terry.uncertainty import uncertainty

KINDS = ("bt", "rao_kupper", "davidson", "crowd")
D = np.array([-6.0, -0.7, 0.0, 0.4, 3.0])
T = np.array([-1.0, 0.2, -0.4, 0.5, -2.0])
STEP = 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_add_up_to_1_and_make_the_likelihood(kind):
    won, tied, lost = probabilities(kind, D, T)
    assert won + tied + lost == pytest.approx(np.ones(5), abs=1e-12)
    assert (np.stack([won, lost]) > 0).all()
    votes = (np.full(5, 2.0), np.full(5, 3.0) * (tied > 0), np.full(5, 1.0))
    ties = votes[1] * np.log(np.where(tied > 0, tied, 1))
    expected = votes[0] * np.log(won) + ties + votes[2] * np.log(lost)
    assert terms(kind, votes, D, T).value == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_finite_differences(kind):
    ties = np.full(5, 3.0 if kind in ("rao_kupper", "davidson") else 0.0)
    votes = (np.full(5, 2.0), ties, np.full(5, 1.0))
    found = terms(kind, votes, D, T)
    by_d = [terms(kind, votes, D + step, T) for step in (STEP, -STEP)]
    by_t = [terms(kind, votes, D, T + step) for step in (STEP, -STEP)]

    def slope(two, name):
        return (getattr(two[0], name) - getattr(two[1], name)) / (2 * STEP)

    for name, expected in (
        ("d", slope(by_d, "value")),
        ("t", slope(by_t, "value")),
        ("dd", slope(by_d, "d")),
        ("dt", slope(by_t, "d")),
        ("tt", slope(by_t, "t")),
    ):
        assert getattr(found, name) == pytest.approx(expected, abs=1e-7), name


@pytest.mark.parametrize("kind", KINDS)
def test_expected_derivatives_are_means_over_the_outcomes(kind):
    chances = probabilities(kind, D, T)
    mean = {"dd": 0.0, "dt": 0.0, "tt": 0.0}
    for outcome, chance in enumerate(chances):
        if not chance.any():
            continue
        votes = tuple(np.full(5, float(outcome == place)) for place in range(3))
        one = terms(kind, votes, D, T)
        for name in mean:
            mean[name] = mean[name] + chance * getattr(one, name)
    vote = (np.ones(5), np.zeros(5), np.zeros(5))
    found = terms(kind, vote, D, T, expected=True)
    for name, value in mean.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-10), name
    assert information(kind, D, T) == pytest.approx(-mean["dd"], abs=1e-10)


@pytest.mark.parametrize("penalty", [Dummy(0.3, 1.0), Normal(2.0)])
def test_penalties_have_the_derivatives_that_they_say(penalty):
    s = np.array([-2.0, 0.0, 1.5])
    _, first, second = penalty.terms(s)
    for place in range(3):
        moved = [s + step * np.eye(3)[place] for step in (STEP, -STEP)]
        values = [penalty.terms(one) for one in moved]
        assert first[place] == pytest.approx((values[0][0] - values[1][0]) / (2 * STEP), abs=1e-8)
        assert second[place] == pytest.approx(
            (values[0][1][place] - values[1][1][place]) / (2 * STEP), abs=1e-8
        )


TEXTS = 5
PAIR = st.tuples(st.integers(0, TEXTS - 1), st.integers(0, TEXTS - 1)).filter(
    lambda pair: pair[0] != pair[1]
)
VOTE = st.tuples(PAIR, st.sampled_from([1, 0, -1]), st.integers(0, 1))
VOTES = st.lists(VOTE, min_size=4, max_size=40)
MODELS = st.sampled_from(
    [Model(order=True), Model("davidson", order=True), Model("bt", order=True, ties="half")]
)


def arrays(votes):
    first = np.array([pair[0] for pair, _, _ in votes])
    second = np.array([pair[1] for pair, _, _ in votes])
    return (
        first,
        second,
        np.array([vote[1] for vote in votes]),
        np.array([vote[2] for vote in votes]),
    )


def same(one, other):
    assert one == pytest.approx(other, abs=1e-7, nan_ok=True)


@settings(max_examples=40, deadline=None)
@given(VOTES, MODELS, st.randoms(use_true_random=False))
def test_the_order_of_votes_and_the_names_of_texts_change_nothing(votes, model, random):
    first, second, outcome, _ = arrays(votes)
    found = fit(counted(TEXTS, first, second, outcome), model)
    order = random.sample(range(len(votes)), len(votes))
    names = np.array(random.sample(range(TEXTS), TEXTS))
    renamed = counted(TEXTS, names[first[order]], names[second[order]], outcome[order])
    again = fit(renamed, model)
    same(again.scores[names], found.scores)
    same(again.delta, found.delta)
    same(again.theta, found.theta)
    same(uncertainty(again).scores[names], uncertainty(found).scores)


@settings(max_examples=40, deadline=None)
@given(VOTES, MODELS)
def test_swapped_sheets_turn_delta_round_and_no_score(votes, model):
    first, second, outcome, _ = arrays(votes)
    found = fit(counted(TEXTS, first, second, outcome), model)
    swapped = fit(counted(TEXTS, second, first, -outcome), model)
    same(swapped.scores, found.scores)
    same(swapped.delta, -found.delta)
