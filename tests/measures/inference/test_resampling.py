"""The bootstrap over clusters against scipy's, and its edges."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from delibsim.measures.inference.resampling import (
    cluster_interval,
    percentile_interval,
    resampled_counts,
    resampled_means,
)


def test_of_single_values_the_interval_is_that_of_scipy():
    values = np.random.default_rng(2).normal(0.03, 0.1, 12)
    there = bootstrap((values,), np.mean, n_resamples=50_000, method="percentile", rng=1)
    found = cluster_interval(values, np.arange(12), 50_000, seed=1)
    assert found == pytest.approx(tuple(there.confidence_interval), abs=0.002)


def test_all_values_of_a_cluster_are_drawn_together():
    means = resampled_means([1, 1, 1, 5], ["a", "a", "a", "b"], 4000, seed=3)
    shares = {float(value): float(np.mean(means == value)) for value in (1, 2, 5)}
    assert shares == pytest.approx({1.0: 0.25, 2.0: 0.5, 5.0: 0.25}, abs=0.03)


def test_the_draws_are_as_many_as_asked_for_whatever_the_parts():
    parts = list(resampled_counts(600_000, 10, 0))
    assert [len(part) for part in parts] == [1] * 10
    assert all((part.sum(axis=1) == 600_000).all() for part in parts)


def test_one_cluster_has_no_interval():
    assert np.isnan(cluster_interval([1, 2], ["a", "a"], 100, 1)).all()
    assert np.isnan(percentile_interval([np.nan, np.nan])).all()
