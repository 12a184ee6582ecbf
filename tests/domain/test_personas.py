"""Who gets which persona and which model: balanced, in proportion, real people, groups of a wanted
diversity.
"""

import math
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.domain.participant import (
    CANDIDATES,
    Personas,
    group_of_diversity,
    models_in_seats,
    personas_in_seats,
)

FIVE = Personas("five", tuple("abcde"), "balanced", (13, 10, 5, 2, 1))
PEOPLE = Personas(
    "people",
    tuple(f"person {k}" for k in range(23)),
    "people",
    answers=tuple((float(k % 7), float(k // 7)) for k in range(23)),
)


def distance(personas, seats):
    pairs = [math.dist(personas.answers[a], personas.answers[b]) for a, b in combinations(seats, 2)]
    return sum(pairs) / len(pairs)


@given(st.integers(1, 7), st.integers(2, 9))
def test_over_as_many_replicates_as_models_every_model_sits_in_every_seat_equally_often(
    models, size
):
    names = [f"m{k}" for k in range(models)]
    held = [models_in_seats(names, size, replicate) for replicate in range(1, models + 1)]
    for seat in range(size):
        assert Counter(group[seat] for group in held) == dict.fromkeys(names, 1)


@given(st.integers(1, 12), st.integers(2, 12), st.integers(1, 50), st.integers(0, 2**63))
def test_a_balanced_group_has_every_persona_as_often_as_the_others(k, size, replicate, seed):
    seats = personas_in_seats(Personas("p", ("text",) * k, "balanced"), size, replicate, seed)
    counts = [Counter(seats)[place] for place in range(k)]
    assert len(seats) == size
    assert max(counts) - min(counts) <= 1
    assert seats == personas_in_seats(
        Personas("p", ("text",) * k, "balanced"), size, replicate, seed
    )


def test_balanced_seats_are_drawn_anew_for_each_replicate_and_in_turn_they_are_not():
    held = {personas_in_seats(FIVE, 5, replicate, 1) for replicate in range(1, 20)}
    assert len(held) > 10
    in_turn = Personas("in turn", tuple("abc"))
    assert {personas_in_seats(in_turn, 5, replicate, replicate) for replicate in range(1, 9)} == {
        (0, 1, 2, 0, 1)
    }


def test_a_sample_in_proportion_has_the_shares_of_the_sizes():
    personas = Personas("shares", tuple("abcde"), "proportional", (13, 10, 5, 2, 1))
    drawn = Counter(
        place
        for replicate in range(1, 2001)
        for place in personas_in_seats(personas, 5, replicate, 3)
    )
    for place, size in enumerate(personas.sizes):
        assert drawn[place] / 10_000 == pytest.approx(size / 31, abs=0.015)


@given(st.integers(2, 23), st.integers(0, 2**63))
def test_groups_of_people_are_disjoint_as_long_as_people_last(size, seed):
    groups = [
        personas_in_seats(PEOPLE, size, replicate, seed) for replicate in range(1, 23 // size + 1)
    ]
    seated = [place for group in groups for place in group]
    assert len(set(seated)) == len(seated) == size * (23 // size)
    again = personas_in_seats(PEOPLE, size, len(groups) + 1, seed)
    assert len(set(again)) == size


@pytest.mark.parametrize(("wanted", "share"), [("low", 0.1), ("high", 0.9)])
@pytest.mark.parametrize(
    "personas",
    [
        PEOPLE,
        Personas("means", tuple("abc"), "balanced", answers=((0.0, 0.0), (3.0, 0.0), (0.0, 9.0))),
    ],
)
def test_a_group_of_low_or_high_diversity_lies_where_a_tenth_of_random_groups_are_beyond(
    personas, wanted, share
):
    drawn = group_of_diversity(personas, 4, wanted, math.nan, (1, 5))
    assert (
        drawn.reached
        == pytest.approx(drawn.target)
        == pytest.approx(distance(personas, drawn.seats))
    )
    if personas is PEOPLE:
        assert len(set(drawn.seats)) == 4
        random = [
            distance(PEOPLE, personas_in_seats(PEOPLE, 4, replicate, 8))
            for replicate in range(1, CANDIDATES + 1)
        ]
        assert sum(value < drawn.reached for value in random) / CANDIDATES == pytest.approx(
            share, abs=0.04
        )


def test_a_matched_group_comes_as_near_to_the_people_as_the_draws_allow_and_says_how_near():
    people = distance(PEOPLE, range(23))
    drawn = group_of_diversity(PEOPLE, 5, "matched", people, (2, 5))
    assert (drawn.wanted, drawn.target, drawn.people) == ("matched", people, people)
    assert drawn.reached == pytest.approx(people, abs=0.05)
    far = group_of_diversity(PEOPLE, 5, "matched", 1000.0, (2, 5))
    assert far.reached < 10, "what cannot be met is not claimed"
    others = {
        group_of_diversity(PEOPLE, 5, "matched", people, (replicate, 5)).seats
        for replicate in range(1, 8)
    }
    assert len(others) == 7, "every replicate is another group"


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Personas("p", ("a", " ")), "a persona is a text that is not empty"),
        (
            lambda: Personas("p", ("a",), "random"),
            "seating is one of in_turn, balanced, proportional, people, not random",
        ),
        (lambda: Personas("p", ("a", "b"), "balanced", (1,)), "1 sizes for 2 personas"),
        (lambda: Personas("p", ("a",), "balanced", (0,)), "sizes are whole numbers from 1"),
        (lambda: Personas("p", ("a",), "proportional"), "needs the sizes"),
        (lambda: personas_in_seats(PEOPLE, 24, 1, 0), "23 people for a group of 24"),
        (lambda: group_of_diversity(PEOPLE, 24, "low", 1.0, (1, 0)), "23 people for a group of 24"),
        (
            lambda: group_of_diversity(FIVE, 5, "low", 1.0, (1, 0)),
            "do not come from people's answers",
        ),
        (
            lambda: group_of_diversity(PEOPLE, 5, "matched", math.nan, (1, 0)),
            "the answers they were built from are not here",
        ),
    ],
)
def test_what_cannot_be_seated_is_said(make, fault):
    with pytest.raises(ValueError, match=fault):
        make()
