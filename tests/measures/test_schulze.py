"""The method of Schulze: the published example, and brute force over all paths."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from cases import cases_of
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.schulze import schulze

CASES = cases_of(__file__)
BALLOTS = CASES["BALLOTS"]
PATHS = {"AB": 28, "BA": 25, "AE": 24, "EA": 25, "CB": 29, "BC": 28, "DE": 24, "ED": 31}


def test_the_published_example():
    votes = [
        [one.index(name) + 1 for name in "ABCDE"] for one, n in BALLOTS.items() for _ in range(n)
    ]
    found = schulze(votes)
    assert "".join("ABCDE"[one] for one in found.order) == "EACBD"
    for (a, b), strength in PATHS.items():
        assert found.paths["ABCDE".index(a), "ABCDE".index(b)] == strength
    assert (found.tied, found.condorcet) == ((4,), None)


def widest(preferred, a, b):
    """The strength of the strongest path, over all simple paths."""
    n, best = len(preferred), 0
    rest = [one for one in range(n) if one not in (a, b)]
    for size in range(len(rest) + 1):
        for between in permutations(rest, size):
            path = (a, *between, b)
            links = list(pairwise(path))
            if all(preferred[i, j] > preferred[j, i] for i, j in links):
                best = max(best, min(preferred[i, j] for i, j in links))
    return best


@given(
    st.integers(2, 4).flatmap(
        lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=5)
    ),
    st.integers(0, 9),
)
@settings(max_examples=80, deadline=None)
def test_paths_are_those_of_brute_force_and_a_condorcet_winner_wins(ballots, seed):
    found = schulze(ballots, seed)
    n = len(ballots[0])
    for a, b in permutations(range(n), 2):
        assert found.paths[a, b] == widest(found.preferred, a, b)
    assert sorted(found.order) == list(range(n))
    assert found.order[0] in found.tied
    beats = found.paths > found.paths.T
    for above, below in pairwise(found.order):
        assert not beats[below, above]
    if found.condorcet is not None:
        assert found.order[0] == found.condorcet


def test_a_ballot_that_leaves_a_candidate_out_is_refused():
    with pytest.raises(ValueError, match="every voter"):
        schulze([[1, np.nan]])
