"""Draws hold the chances that they state, whoever counts; strata are shared out without a rest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.designs import (
    chances_by_doubt,
    drawn_by_doubt,
    effective_size,
    even_sizes,
    sizes_of,
)

STRATA = st.lists(st.integers(0, 50), min_size=1, max_size=8)


def test_chances_are_those_worked_out_by_hand():
    doubt = [0, 0.8, 0, 0.3, 1, 0, 0.2, 0.8, 0, 0.1]
    expected = [0.2, 0.7, 0.2, 0.3875, 0.825, 0.2, 0.325, 0.7, 0.2, 0.2625]
    assert chances_by_doubt(doubt, 4) == pytest.approx(expected)


def test_without_doubt_all_is_at_random_and_no_chance_exceeds_one():
    assert chances_by_doubt([0.0] * 4, 2).tolist() == [0.5] * 4
    assert chances_by_doubt([9.0, 0.1, 0.1], 2)[0] == 1
    assert chances_by_doubt([], 2).tolist() == []


@pytest.mark.parametrize("doubt", [[-0.1, 1], [float("nan"), 1]])
def test_doubt_that_is_none_is_refused(doubt):
    with pytest.raises(ValueError, match="doubt is a number"):
        chances_by_doubt(doubt, 1)


def test_texts_are_drawn_as_often_as_their_chance_says():
    doubt = np.array([0, 0.8, 0, 0.3, 1, 0, 0.2, 0.8, 0, 5])
    chances = chances_by_doubt(doubt, 4)
    starts = (np.arange(2000) + 0.5) / 2000
    drawn, at_random = np.zeros(10), np.zeros(10)
    for start in starts:
        places, random = drawn_by_doubt(chances, 4, start)
        drawn[places] += 1
        at_random[random] += 1
        assert set(random) <= set(places)
        assert len(places) in (int(chances.sum()), int(chances.sum()) + 1)
    assert drawn / 2000 == pytest.approx(chances, abs=0.002)
    assert at_random / 2000 == pytest.approx(0.2, abs=0.002)


@given(STRATA, st.integers(0, 60))
@settings(max_examples=50)
def test_sizes_add_up_and_no_stratum_gives_more_than_it_has(strata, n):
    n = min(n, sum(strata))
    for sizes in (sizes_of(strata, n), even_sizes(strata, n)):
        assert sum(sizes) == n
        assert all(0 <= size <= most for size, most in zip(sizes, strata, strict=True))


def test_more_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match="4 cannot be drawn from 3"):
        sizes_of([1, 2], 4)
    assert even_sizes([1, 2], 4) == [1, 2]


def test_a_proportional_draw_is_worth_its_size_and_another_less():
    assert effective_size([0.6, 0.4], [6, 4]) == pytest.approx(10)
    assert effective_size([0.9, 0.1], [5, 5]) < 10
    assert np.isnan(effective_size([0.5, 0.5], [3, 0]))
