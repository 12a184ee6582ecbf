"""What must hold for any votes: names, order, groups, doubling, and swapped sheets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.bradley_terry.counts import counted, tabled
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


@settings(max_examples=20, deadline=None)
@given(VOTES)
def test_the_names_of_judges_change_nothing(votes):
    first, second, outcome, judge = arrays(votes)
    model = Model(judges="own_bias", theta=0.4, order=True)
    found = fit(counted(TEXTS, first, second, outcome, judge), model)
    again = fit(counted(TEXTS, first, second, outcome, 1 - judge), model)
    same(again.scores, found.scores)
    if found.counts.judges == again.counts.judges == 2:
        same(again.delta[::-1], found.delta)


@settings(max_examples=40, deadline=None)
@given(VOTES, MODELS)
def test_swapped_sheets_turn_delta_round_and_no_score(votes, model):
    first, second, outcome, _ = arrays(votes)
    found = fit(counted(TEXTS, first, second, outcome), model)
    swapped = fit(counted(TEXTS, second, first, -outcome), model)
    same(swapped.scores, found.scores)
    same(swapped.delta, -found.delta)


@settings(max_examples=20, deadline=None)
@given(VOTES, VOTES)
def test_another_group_changes_no_score_where_theta_is_fixed(votes, others):
    first, second, outcome, _ = arrays(votes)
    model = Model(theta=0.3)
    alone = fit(counted(TEXTS, first, second, outcome), model)
    more = arrays(others)
    both = counted(
        2 * TEXTS,
        np.append(first, more[0] + TEXTS),
        np.append(second, more[1] + TEXTS),
        np.append(outcome, more[2]),
    )
    found = fit(both, model)
    same(found.scores[:TEXTS], alone.scores)
    errors = [uncertainty(one, clustered=False).scores for one in (found, alone)]
    same(errors[0][:TEXTS], errors[1])
    for part in np.flatnonzero(found.graph.sizes > 1):
        assert found.scores[found.graph.component == part].sum() == pytest.approx(0, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=18, max_size=18),
    st.sampled_from(["rao_kupper", "davidson"]),
)
def test_doubled_votes_divide_model_based_errors_by_the_root_of_2(numbers, kind):
    table = np.array(numbers, dtype=float).reshape(3, 6)
    sheets = ([0, 1, 0, 1, 2, 2], [1, 2, 2, 0, 1, 0])
    model = Model(kind, order=True, penalty=None)
    once, twice = (fit(tabled(3, *sheets, *(times * table)), model) for times in (1, 2))
    same(twice.scores, once.scores)
    errors = [uncertainty(found, clustered=False) for found in (once, twice)]
    assert errors[1].scores * np.sqrt(2) == pytest.approx(errors[0].scores, rel=1e-7)
    assert errors[1].delta().error * np.sqrt(2) == pytest.approx(errors[0].delta().error, rel=1e-7)
    # Votes on one pair are one cluster, however many they are.
    by_pair = [uncertainty(found, clustered=True).scores for found in (once, twice)]
    assert by_pair[1] == pytest.approx(by_pair[0], rel=1e-6)


@given(VOTES)
@settings(max_examples=20, deadline=None)
def test_rao_kupper_with_a_small_threshold_counts_a_tie_as_a_win_each(votes):
    first, second, outcome, _ = arrays(votes)
    counts = counted(TEXTS, first, second, outcome)
    each = fit(counts, Model("bt", ties="each")).scores
    assert fit(counts, Model(theta=1e-7)).scores == pytest.approx(each, abs=1e-5, nan_ok=True)
