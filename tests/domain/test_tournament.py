"""Designs of tournaments: what balance means is counted, not assumed."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from delibsim.domain.errors import WrongInput
from delibsim.domain.format import Match, against_baseline, round_robin

TEN = [f"motion{i}" for i in range(10)]


def assert_balanced(matches, pairs, motions):
    per_motion = Counter(m.motion for m in matches)
    assert set(per_motion) == set(motions)
    assert len(set(per_motion.values())) == 1
    per_pair = Counter(frozenset((m.proposition, m.opposition)) for m in matches)
    assert set(per_pair) == {frozenset(pair) for pair in pairs}
    assert len(set(per_pair.values())) == 1
    as_seated = Counter((m.proposition, m.opposition) for m in matches)
    for a, b in pairs:
        assert as_seated[a, b] == as_seated[b, a]
    assert len(set(matches)) == len(matches)


@quick
@given(st.integers(2, 7), st.integers(1, 11), st.integers(0, 5))
def test_a_round_robin_is_balanced_whatever_the_numbers(debaters, motions, seed):
    names, subjects = [f"d{i}" for i in range(debaters)], [f"m{i}" for i in range(motions)]
    matches = round_robin(names, subjects, seed=seed)
    pairs = list(combinations(names, 2))
    assert_balanced(matches, pairs, subjects)
    assert len(matches) == len(pairs) * (motions if motions % 2 == 0 else 2 * motions)


@quick
@given(st.integers(2, 5), st.integers(1, 6), st.integers(1, 13))
def test_a_number_of_meetings_is_balanced_or_refused_with_numbers_that_are_not(
    debaters, motions, meetings
):
    names, subjects = [f"d{i}" for i in range(debaters)], [f"m{i}" for i in range(motions)]
    pairs = list(combinations(names, 2))
    try:
        matches = round_robin(names, subjects, meetings)
    except WrongInput as error:
        offered = [
            int(n)
            for n in str(error)
            .rpartition("can: ")[2]
            .removesuffix(" meetings of each pair")
            .split(" or ")
        ]
        for n in offered:
            assert_balanced(round_robin(names, subjects, n), pairs, subjects)
        assert (
            not any(lower < meetings for lower in offered)
            or max(n for n in offered if n < meetings) < meetings
        )
    else:
        assert_balanced(matches, pairs, subjects)
        assert len(matches) == len(pairs) * meetings


def test_twice_on_every_motion_means_once_on_each_side():
    matches = round_robin(["a", "b", "c"], TEN, meetings=20)
    assert {m.replicate for m in matches} == {1}
    assert len({(m.motion, m.proposition, m.opposition) for m in matches}) == 60
    assert {m.replicate for m in round_robin(["a", "b"], TEN, meetings=40)} == {1, 2}


def test_challengers_meet_the_baseline_and_nobody_else():
    matches = against_baseline("base", ["a", "b", "c"], TEN)
    assert_balanced(matches, [("base", x) for x in "abc"], TEN)


def test_the_draw_depends_on_names_and_seed_alone():
    drawn = round_robin(["a", "b", "c"], TEN, seed=3)
    assert drawn == round_robin(["c", "a", "b"], TEN[::-1], seed=3)
    assert drawn != round_robin(["a", "b", "c"], TEN, seed=4)
    assert isinstance(drawn[0], Match)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: round_robin(["a", "b"], TEN, meetings=5),
            "5 meetings of a pair cannot be split evenly between the sides",
        ),
        (
            lambda: round_robin(["a", "b"], TEN, meetings=12),
            "the nearest that can: 10 or 20 meetings",
        ),
        (lambda: round_robin(["a", "b"], TEN, meetings=1), "the nearest that can: 10 meetings"),
        (lambda: round_robin(["a", "b", "a"], TEN), "'a' is named twice"),
        (lambda: round_robin(["a"], TEN), "at least 2 must be named, not 1"),
        (lambda: round_robin(["a", "b"], []), "at least 1 must be named, not 0"),
        (lambda: against_baseline("a", ["a", "b"], TEN), "cannot challenge itself"),
        (lambda: against_baseline("a", [], TEN), "at least 1 must be named"),
        (lambda: round_robin(["a", "b"], TEN, meetings=0), "the nearest that can: 10 meetings"),
    ],
)
def test_what_cannot_be_balanced_is_refused_with_the_nearest_that_can(make, message):
    with pytest.raises(WrongInput, match=message):
        make()
