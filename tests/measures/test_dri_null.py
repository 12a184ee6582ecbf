"""The null of the index, by shuffling preferences among participants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measures.test_groups import INDICES, groups

from delibsim.measures.dri import dri, permutation_null, why_undefined

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("adjusted", [False, True])
def test_null_has_the_values_and_shares_of_all_shuffles(reference, adjusted):
    toy = reference["toy"]
    every = np.array(toy["every_shuffle_adjusted" if adjusted else "every_shuffle"])
    drawn = permutation_null(
        toy["considerations"], toy["preferences"], permutations=24_000, seed=5, adjusted=adjusted
    )
    assert drawn.observed == pytest.approx(toy["dri_adjusted" if adjusted else "dri"], abs=1e-12)
    assert drawn.p == pytest.approx(toy["p_adjusted" if adjusted else "p"], abs=0.015)
    for value in every:
        share = np.mean(np.isclose(every, value, atol=1e-9))
        assert np.mean(np.isclose(drawn.null, value, atol=1e-9)) == pytest.approx(share, abs=0.015)
    assert np.isclose(drawn.null[:, None], every, atol=1e-9).any(axis=1).all()


@pytest.mark.parametrize("adjusted", [False, True])
def test_null_of_a_large_group_is_that_of_a_plain_loop(random_groups, adjusted):
    considerations, preferences = random_groups(7, batch=(), n=40, considerations=20, preferences=7)
    null = permutation_null(
        considerations, preferences, permutations=4_000, seed=2, adjusted=adjusted
    ).null
    index = INDICES[adjusted]
    rng = np.random.default_rng(0)
    plain_loop = [index(considerations, preferences[rng.permutation(40)]) for _ in range(400)]
    error = np.hypot(np.std(plain_loop) / 20, np.std(null) / np.sqrt(4_000))
    assert abs(np.mean(null) - np.mean(plain_loop)) < 4 * error
    assert np.std(null) == pytest.approx(np.std(plain_loop), rel=0.2)


@given(groups(least=2, missing=False), st.booleans(), st.integers(0, 2**32))
def test_p_is_a_share_and_seeds_reproduce(group, adjusted, seed):
    both = group[0], group[2]
    first, again = (permutation_null(*both, 30, seed, adjusted) for _ in range(2))
    np.testing.assert_array_equal(first.null, again.null)
    if why_undefined(*both):
        assert np.isnan(first.p)
    else:
        assert 0 <= first.p <= 1
        assert first.p == again.p == np.mean(first.null >= first.observed - 1e-10)


def test_seeds_differ_and_more_permutations_extend_fewer(random_groups):
    group = random_groups(8, batch=(), n=60)
    long = permutation_null(*group, permutations=2_500, seed=3).null
    np.testing.assert_array_equal(
        permutation_null(*group, permutations=100, seed=3).null, long[:100]
    )
    assert not np.array_equal(permutation_null(*group, permutations=100, seed=4).null, long[:100])


def test_consistent_humans_beat_their_null(human):
    result = permutation_null(*human["ccps"]["post"], permutations=1_000, seed=1)
    assert result.p < 0.05
    assert result.observed == pytest.approx(dri(*human["ccps"]["post"]), abs=1e-12)
