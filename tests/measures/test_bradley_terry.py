"""Bradley-Terry strengths against published data and other implementations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delibsim.measures.bradley_terry.fit import bradley_terry, comparisons

CITATIONS = [[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]]
"""How often the journal in the row was cited by that in the column: Biometrika, Communications in
Statistics, JASA, JRSS-B. Stigler (1994), https://doi.org/10.1214/ss/1177010655, as in the R package
BradleyTerry2."""


def won(wins):
    table = np.asarray(wins)
    return [(i, j) for i, j in np.argwhere(table) for _ in range(table[i, j])]


def test_the_citations_of_journals():
    # R BradleyTerry2 1.1-2 and choix 0.4.1 (ilsr_pairwise, mm_pairwise, opt_pairwise) give these.
    expected = [0.78992205, -2.15915044, 0.31035228, 1.05887611]
    assert bradley_terry(4, won(CITATIONS)) == pytest.approx(expected, abs=5e-9)


def test_the_penalty_is_that_of_choix():
    # choix 0.4.1, opt_pairwise(alpha=0.1)
    expected = [0.78893714, -2.15605750, 0.30976452, 1.05735584]
    assert bradley_terry(4, won(CITATIONS), alpha=0.1) == pytest.approx(expected, abs=5e-9)


def test_an_item_that_won_all_has_no_strength_without_a_penalty():
    data = [(0, 1)] * 3 + [(1, 2)] * 2 + [(2, 1)]
    assert np.isnan(bradley_terry(3, data)).all()
    # maximised with 30 digits
    expected = [0.756806548083, -0.329741559643, -0.427064988439]
    assert bradley_terry(3, data, alpha=0.5) == pytest.approx(expected, abs=1e-11)


def test_two_groups_that_never_met_have_none():
    assert np.isnan(bradley_terry(4, [(0, 1), (1, 0), (2, 3), (3, 2)])).all()
    assert np.isnan(bradley_terry(2, [])).all()
    assert bradley_terry(2, [], alpha=0.1) == pytest.approx([0, 0])


@pytest.mark.parametrize(
    ("data", "fault"), [([(0, 3)], "from 0 to 2"), ([(-1, 0)], "from 0"), ([(1, 1)], "itself")]
)
def test_what_is_no_comparison_is_refused(data, fault):
    with pytest.raises(ValueError, match=fault):
        bradley_terry(3, data)


def test_an_upset_of_an_overwhelming_favourite_converges():
    strengths = bradley_terry(2, [(0, 1)] * 100_000 + [(1, 0)])
    assert strengths[0] - strengths[1] == pytest.approx(np.log(100_000), rel=1e-10)


PAIRS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda pair: pair[0] != pair[1]),
    min_size=1,
)


@given(PAIRS)
def test_at_the_maximum_every_item_won_as_often_as_expected(data):
    strengths = bradley_terry(5, data, alpha=0.1)
    design = comparisons(5, data)
    expected = 1 / (1 + np.exp(-design @ strengths))
    gradient = (design * (1 - expected)[:, None]).sum(axis=0) - 0.2 * strengths
    assert gradient == pytest.approx(np.zeros(5), abs=1e-8)
    assert strengths.sum() == pytest.approx(0, abs=1e-9)
