"""The joint test of specifications: by hand, against scipy, and against one specification alone."""

import numpy as np
import pytest
from scipy.stats import combine_pvalues, ttest_1samp

from delibsim.measures.inference.contrasts import (
    Specified,
    flipped_p,
    joint_test,
    over_clusters,
    relabelled,
)


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
