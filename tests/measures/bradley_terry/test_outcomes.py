"""One outcome from several votes."""

import numpy as np
import pytest
from pair_votes import REFERENCE

from delibsim.measures.bradley_terry.counts import both_orders, counted, majority, repeats

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
