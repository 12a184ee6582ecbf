"""What is drawn: samples with known chances, and pairs of texts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from delibsim.measures.designs import (
    all_pairs,
    chances_by_doubt,
    drawn_by_doubt,
    effective_size,
    even_sizes,
    groups,
    random_pairs,
    ring,
    shown,
    sizes_of,
    spread_chances,
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


def check(pairs, n):
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    edges = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    assert connected_components(edges, directed=False)[0] == 1


@pytest.mark.parametrize(
    ("n", "g", "expected"), [(72, 8, 828), (53, 8, 578), (31, 8, 345), (16, 8, 120), (5, 5, 10)]
)
def test_groups_have_as_many_pairs_as_webis(n, g, expected):
    pairs = groups(n, g, seed=1)
    check(pairs, n)
    assert len(pairs) == expected


@given(st.integers(2, 30), st.data())
@settings(max_examples=60, deadline=None)
def test_every_design_is_connected_and_orders_are_balanced(n, data):
    seed = data.draw(st.integers(0, 99))
    designs = [all_pairs(n), groups(n, data.draw(st.integers(2, n)), seed)]
    if n > 2:
        k = 2 * data.draw(st.integers(1, (n - 1) // 2))
        designs.append(ring(n, k, seed))
        assert (np.bincount(designs[-1].ravel(), minlength=n) == k).all()
    m = data.draw(st.integers(n - 1, n * (n - 1) // 2))
    designs.append(random_pairs(n, m, seed))
    assert len(designs[-1]) == m
    for pairs in designs:
        check(pairs, n)
        sheets = shown(pairs, n, seed)
        assert np.array_equal(np.sort(sheets, axis=1), pairs)
        first = np.bincount(sheets[:, 0], minlength=n)
        second = np.bincount(sheets[:, 1], minlength=n)
        assert np.abs(first - second).max() <= 1
    assert np.array_equal(random_pairs(n, m, seed), designs[-1])


def test_random_pairs_are_spread_evenly_and_differ_between_seeds():
    pairs = random_pairs(50, 260, seed=1)
    times = np.bincount(pairs.ravel())
    assert times.max() - times.min() <= 1
    assert not np.array_equal(pairs, random_pairs(50, 260, seed=2))
    low, high = all_pairs(20).T
    turned = [shown(np.column_stack([low, high]), 20, seed)[:, 0] == low for seed in range(40)]
    assert np.abs(np.mean(turned, axis=0) - 0.5).max() < 0.35  # no pair has an order of its own


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: all_pairs(1), "two texts"),
        (lambda: ring(10, 3, 1), "nearest is 2"),
        (lambda: ring(10, 10, 1), "nearest is 8"),
        (lambda: ring(2, 2, 1), "design all"),
        (lambda: groups(5, 8, 1), "nearest is 5"),
        (lambda: groups(5, 1, 1), "nearest is 2"),
        (lambda: random_pairs(5, 3, 1), "nearest is 4"),
        (lambda: random_pairs(5, 11, 1), "nearest is 10"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_the_nearest(make, fault):
    with pytest.raises(ValueError, match=fault):
        make()


def test_texts_spread_over_groups_have_the_chances_that_are_told():
    """Drawn many times with groups and texts in a drawn order, each as often as its chance says."""
    lengths, n, rng = [6, 6, 5, 3, 1], 11, np.random.default_rng(2)
    drawn = np.zeros(len(lengths))
    for _ in range(4_000):
        order = rng.permutation(len(lengths))
        counts = even_sizes([lengths[i] for i in order], n)
        drawn[order] += np.array(counts) / np.array(lengths)[order]
    assert drawn / 4_000 == pytest.approx(spread_chances(lengths, n), abs=0.01)
    assert spread_chances(lengths, 21).tolist() == [1] * 5
