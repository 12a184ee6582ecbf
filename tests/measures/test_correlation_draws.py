"""Resampled correlations are those of numpy over the same draws."""

import numpy as np
import pytest

from delibsim.measures.correlations import resampled_correlations
from delibsim.measures.inference.resampling import resampled_counts


def test_each_draw_is_the_correlation_of_the_texts_that_were_drawn():
    rng = np.random.default_rng(3)
    x = 1e6 + rng.normal(size=30)  # a large mean takes no digits
    y = x + rng.normal(size=30)
    topics = rng.integers(0, 9, 30)
    found = resampled_correlations(x, y, topics, 40, seed=5)
    codes = np.unique(topics, return_inverse=True)[1]
    counts = np.concatenate(list(resampled_counts(codes.max() + 1, 40, 5)))
    for times, r in zip(counts.astype(int), found, strict=True):
        texts = np.repeat(np.arange(30), times[codes])
        assert r == pytest.approx(np.corrcoef(x[texts], y[texts])[0, 1], abs=1e-8)


def test_what_does_not_vary_in_a_draw_and_a_single_topic_have_none():
    found = resampled_correlations([1, 1, 2], [1, 2, 3], [0, 1, 2], 200, seed=1)
    assert np.isnan(found).any()
    assert not np.isnan(found).all()
    assert np.isnan(resampled_correlations([1, 2, 3], [1, 3, 2], [0, 0, 0], 5, seed=1)).all()
