"""What votes say without a model: outcomes, repeats, circular triads."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_votes import REFERENCE

from delibsim.measures.bradley_terry.counts import (
    both_orders,
    circular_triads,
    counted,
    majority,
    repeats,
    triads,
    zeta,
)

LABELS = "BTA"


def test_three_runs_and_their_majority():
    expected = REFERENCE["labels"]
    runs = [[LABELS.index(label) - 1 for label in expected[run]] for run in ("one", "two", "three")]
    found = repeats(np.array(runs).T)
    assert (found.equal, found.some, found.different) == (6, 6, 0)
    assert not found.identical
    assert repeats([runs[0], runs[0]]).identical is False
    assert repeats(np.array([runs[0], runs[0]]).T).identical
    first = np.tile(np.arange(12), 3)
    votes = counted(13, first, np.full(36, 12), np.concatenate(runs))
    outcomes = "".join(LABELS[outcome + 1] for outcome in majority(votes))
    assert outcomes == "AABBTTABATBA"


def test_both_orders_agree_name_one_text_or_are_ties():
    # Pairs: 0-1 won by 0 in both, 0-2 always the first shown, 1-2 ties in both, 0-3 in one only.
    first = [0, 1, 0, 2, 1, 2, 0]
    second = [1, 0, 2, 0, 2, 1, 3]
    found = both_orders(counted(4, first, second, [1, -1, 1, 1, 0, 0, 1]))
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert found.outcome.tolist() == [1, 0, 0]
    assert found.agree.tolist() == [True, False, True]
    assert found.consistency == pytest.approx(2 / 3)
    assert np.isnan(both_orders(counted(2, [0], [1], [1])).consistency)


def test_five_texts_by_hand():
    assert (circular_triads([4, 3, 2, 1, 0]), zeta([4, 3, 2, 1, 0])) == (0, 1)
    assert (circular_triads([2, 2, 2, 2, 2]), zeta([2, 2, 2, 2, 2])) == (5, 0)
    assert zeta([2, 2, 1, 1]) == 0  # n = 4 has at most two
    assert np.isnan(zeta([1, 0]))


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=21, max_size=21))
def test_counted_one_by_one(outcomes):
    pairs = list(combinations(range(7), 2))
    wins = np.zeros((7, 7), dtype=int)
    for (i, j), outcome in zip(pairs, outcomes, strict=True):
        wins[i, j], wins[j, i] = outcome == 1, outcome == -1
    whole = circular = 0
    for three in combinations(range(7), 3):
        inside = wins[np.ix_(three, three)]
        whole += inside.sum() == 3
        circular += inside.sum() == 3 and (inside.sum(axis=1) == 1).all()
    found = triads(7, *np.nonzero(wins))
    assert (found.triangles, found.circular) == (whole, circular)
    if wins.sum() == 21:
        assert circular_triads(wins.sum(axis=1)) == circular


def test_what_is_no_tournament_is_refused():
    assert np.isnan(triads(3, [0], [1]).share)
    with pytest.raises(ValueError, match="twice"):
        triads(3, [0, 1], [1, 0])
    with pytest.raises(ValueError, match="itself"):
        triads(3, [1], [1])
    for wins in ([2, 2, 2], [3, 0, 0], [1.5, 1.5, 0]):
        with pytest.raises(ValueError, match="numbers of wins"):
            circular_triads(wins)
