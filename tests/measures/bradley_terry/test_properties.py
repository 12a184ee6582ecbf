"""What must hold for any votes: names, order, groups, doubling, and swapped sheets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.uncertainty import uncertainty

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
