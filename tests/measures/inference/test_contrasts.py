"""Blocked contrasts against scipy's permutation tests and against all labellings, one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import combine_pvalues, permutation_test, ttest_1samp

from delibsim.measures.inference.contrasts import (
    Specified,
    block_differences,
    flipped_p,
    free_p,
    joint_test,
    over_clusters,
    pooled_p,
    relabelled,
    signed_sums,
)

DRAWS = 100_000
NEAR = 0.006  # more than three standard errors of a p from so many draws


def mean_difference(a, b):
    return np.mean(a) - np.mean(b)


def exact(a, b, kind):
    return permutation_test(
        (a, b), mean_difference, permutation_type=kind, n_resamples=np.inf
    ).pvalue


def sample(seed, size, shift=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(shift, 1, size), rng.normal(0, 1, size)


def one_block(a, b):
    first = np.arange(len(a) + len(b)) < len(a)
    return np.concatenate([a, b]), first, np.zeros(len(first), dtype=int)


@pytest.mark.parametrize("size", [4, 7])  # 70 labellings, which are listed; 3,432, which are drawn
def test_in_one_block_the_free_test_is_that_of_scipy(size):
    a, b = sample(size, size)
    assert free_p(*one_block(a, b), DRAWS, 1) == pytest.approx(exact(a, b, "independent"), abs=NEAR)


def test_without_blocks_the_pooled_test_is_that_of_scipy():
    a, b = sample(3, 6)
    assert pooled_p(a, b, DRAWS, 1) == pytest.approx(exact(a, b, "independent"), abs=NEAR)


def sums_apart(a, b):
    return np.sum(a) - np.sum(b)


def by_draw(differences, blocks, draws):
    """The exact p of scipy, a draw's weighted differences being one pair with 0."""
    weighted = differences / np.bincount(blocks)[blocks]
    sums = np.bincount(draws, weighted)
    return permutation_test(
        (sums, np.zeros(len(sums))), sums_apart, permutation_type="samples", n_resamples=np.inf
    ).pvalue


@pytest.mark.parametrize("size", [2, 9, 14])
def test_up_to_14_draws_are_enumerated_as_scipy_does(size):
    a, b = sample(5, size)
    found = flipped_p(a - b, np.zeros(size), np.arange(size), 10, 1)
    assert found == pytest.approx(exact(a, b, "samples"), abs=1e-12)


def test_of_more_draws_some_are_drawn():
    a, b = sample(5, 16, shift=0.4)
    found = flipped_p(a - b, np.zeros(16), np.arange(16), DRAWS, 1)
    assert found == pytest.approx(exact(a, b, "samples"), abs=NEAR)
    assert found * (DRAWS + 1) == pytest.approx(round(found * (DRAWS + 1)), abs=1e-6)


def test_the_pairs_of_a_draw_are_flipped_at_once():
    """Three models whose differences go together are no more evidence than one of them."""
    one, models = np.array([0.9, 0.4, 0.7, -0.2, 0.3]), 3
    differences = np.tile(one, models) + np.repeat([0.1, 0.0, -0.1], 5)
    blocks, draws = np.repeat([0, 1, 2], 5), np.tile(np.arange(5), models)
    found = flipped_p(differences, blocks, draws, 10, 1)
    assert found == pytest.approx(by_draw(differences, blocks, draws), abs=1e-12)
    assert found == flipped_p(one, np.zeros(5), np.arange(5), 10, 1) == 2 * 2 / 2**5
    assert flipped_p(differences, blocks, np.arange(15), DRAWS, 1) < found / 10


@pytest.mark.parametrize("size", [3, 17])
def test_several_sums_have_their_signs_flipped_together(size):
    values = np.random.default_rng(size).normal(size=(size, 2))
    found = signed_sums(values, 5_000, 4)
    assert found.shape == (2**3 if size == 3 else 5_000, 2)
    for k in range(2):
        assert np.allclose(found[:, k], signed_sums(values[:, k], 5_000, 4), atol=1e-12)
    if size == 3:
        every = np.array(list(product([-1, 1], repeat=3))) @ values
        assert sorted(map(tuple, found.round(9))) == sorted(map(tuple, every.round(9)))
    else:
        assert found.std(axis=0) == pytest.approx(np.linalg.norm(values, axis=0), rel=0.05)


def test_the_free_test_permutes_within_blocks_of_any_shape():
    rng = np.random.default_rng(8)
    blocks = [(rng.normal(0.3, 1, n), n_a) for n, n_a in ((4, 2), (5, 2), (4, 1))]
    every = []
    for values, n_a in blocks:
        own = []
        for chosen in combinations(range(len(values)), n_a):
            marks = np.isin(np.arange(len(values)), chosen)
            own.append(values[marks].mean() - values[~marks].mean())
        every.append(own)
    observed = sum(own[0] for own in every)
    sums = np.array([sum(one) for one in product(*every)])
    expected = np.mean(np.abs(sums) >= abs(observed) - 1e-12)
    values = np.concatenate([values for values, _ in blocks])
    first = np.concatenate([np.arange(len(values)) < n_a for values, n_a in blocks])
    numbers = np.repeat([0, 1, 2], [4, 5, 4])
    order = rng.permutation(len(values))  # the order of the runs does not matter
    found = free_p(values[order], first[order], numbers[order], DRAWS, 1)
    assert found == pytest.approx(expected, abs=NEAR)


def shared():
    """Two blocks with two sessions of a each and the same two sessions of b; one block apart."""
    rng = np.random.default_rng(12)
    alone, common, apart = rng.normal(0.4, 1, 4), rng.normal(0, 1, 2), rng.normal(0.2, 1, 3)
    values = np.concatenate([alone[:2], common, alone[2:], common, apart])
    first = np.array([True, True, False, False] * 2 + [True, False, False])
    blocks = np.repeat([0, 1, 2], [4, 4, 3])
    sessions = np.array([0, 1, 2, 3, 4, 5, 2, 3, 6, 7, 8])
    return values, first, blocks, sessions


def test_a_session_of_two_blocks_has_one_place_in_every_labelling():
    values, first, blocks, sessions = shared()
    joined = values[[0, 1, 4, 5, 2, 3]]  # the four of a, then the two that both blocks have
    sums = []
    for chosen in combinations(range(6), 2):
        a = [value for i, value in enumerate(joined) if i not in chosen]
        for one in range(3):
            apart = values[8:]
            other = apart[one] - (apart.sum() - apart[one]) / 2
            sums.append(2 * (np.mean(a) - np.mean(joined[list(chosen)])) + other)
    observed = block_differences(values, first, blocks).sum()
    expected = np.mean(np.abs(sums) >= abs(observed) - 1e-12)
    found = free_p(values, first, blocks, DRAWS, 1, sessions)
    assert found == pytest.approx(expected, abs=NEAR)


def test_equal_treatments_have_p_1():
    values, first, blocks = one_block(np.arange(5.0), np.arange(5.0))
    assert free_p(values, first, blocks, 100, 1) == 1
    assert flipped_p(np.zeros(5), np.zeros(5), np.arange(5), 100, 1) == 1


def test_the_smallest_p_is_that_of_no_draw_as_far_from_0():
    differences = np.full(60, 1.0)
    assert flipped_p(differences, np.zeros(60), np.arange(60), 999, 1) == 1 / 1000


def test_what_is_no_contrast_is_refused():
    with pytest.raises(ValueError, match="every block needs both treatments"):
        block_differences([1, 2, 3], [True, False, True], [0, 0, 1])
    with pytest.raises(ValueError, match="every block needs both treatments"):
        block_differences([], [], [])
    with pytest.raises(ValueError, match="must be left out"):
        block_differences([1, np.nan], [True, False], [0, 0])
    assert np.isnan(flipped_p([], [], [], 100, 1))


def all_signs(count):
    return 1.0 - 2.0 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)


def blocks_of(rng, topics=6, each=2):
    """Values under both treatments, one replicate a topic: labels, blocks, units and differences."""
    differences = rng.normal(0.3, 1, topics * each)
    values = np.concatenate([differences, np.zeros(topics * each)])
    blocks = np.tile(np.arange(topics * each), 2)
    first = np.repeat([True, False], topics * each)
    return values, first, blocks, np.tile(np.repeat(np.arange(topics), each), 2), differences


def test_labels_that_are_exchanged_turn_the_sign_of_their_differences():
    values, first, blocks, units, differences = blocks_of(np.random.default_rng(1))
    signs = all_signs(6)
    found = relabelled(values, first, blocks, units, signs)
    assert found == pytest.approx(signs[:, np.repeat(np.arange(6), 2)] * differences)


def test_a_block_that_is_left_with_one_label_has_no_difference():
    found = relabelled([1.0, 2.0], [True, False], [0, 0], [0, 1], [[1, 1], [1, -1]])
    assert found[0] == -1
    assert np.isnan(found[1])


def test_of_equal_clusters_it_is_student_s_t():
    rng = np.random.default_rng(2)
    differences = rng.normal(0.2, 1, (1, 12))
    clusters = np.repeat(np.arange(6), 2)
    one = over_clusters(differences, np.ones(12), clusters, 1.0, equal=True)
    theirs = ttest_1samp(differences[0].reshape(6, 2).mean(axis=1), 0)
    assert (one.p[0], one.df) == (pytest.approx(theirs.pvalue), 5)
    alike = over_clusters(differences, np.ones(12), clusters, 1.0, equal=False)
    assert alike.errors == pytest.approx(one.errors)
    weights = rng.uniform(1, 3, 12)
    other = over_clusters(differences, weights, clusters, 1.0, equal=False)
    assert other.estimates[0] == pytest.approx(np.average(differences[0], weights=weights))


def test_of_one_specification_the_median_is_the_test_of_flipped_signs():
    values, first, blocks, units, differences = blocks_of(np.random.default_rng(3))
    found = relabelled(values, first, blocks, units, all_signs(6))
    one = over_clusters(found, np.ones(12), units[:12], 1.0, equal=True)
    joint = joint_test([one])
    expected = flipped_p(differences, np.arange(12), units[:12], 100, 1)
    assert joint["median effect"].p == pytest.approx(expected)
    assert joint["averaged Z"].p >= 1 / 64


def test_the_statistics_are_those_of_scipy_and_by_hand():
    rng = np.random.default_rng(4)
    made = [Specified(rng.normal(0.5, 0.5, 9), np.full(9, 0.3), 5, 2.0) for _ in range(7)]
    joint = joint_test(made)
    effects = np.array([one.estimates[0] for one in made])
    p = np.array([one.p[0] for one in made])
    assert joint["median effect"].value == pytest.approx(np.median(effects) / 2)
    share = max(np.mean((p < 0.05) & (effects > 0)), np.mean((p < 0.05) & (effects < 0)))
    assert joint["share significant"].value == pytest.approx(share)
    one_sided = np.where(effects > 0, p / 2, 1 - p / 2)
    stouffer = combine_pvalues(one_sided, method="stouffer").statistic
    assert joint["averaged Z"].value == pytest.approx(abs(stouffer))


def test_without_an_error_there_is_no_p():
    alike = Specified(np.full(4, 0.1), np.full(4, np.nan), 3, 1.0)
    joint = joint_test([alike])
    assert np.isnan([joint["averaged Z"].p, joint["share significant"].p]).all()
    assert joint["median effect"].p == 1
