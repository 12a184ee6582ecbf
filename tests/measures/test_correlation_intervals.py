"""Intervals of correlations by a jackknife over clusters: by hand with scipy, and their coverage."""

import numpy as np
import pytest
from scipy.stats import pearsonr, t

from delibsim.measures.correlations import correlation_interval, difference_interval

DRAWN = np.random.default_rng(6)
FIRST, SECOND, THIRD = DRAWN.normal(size=(3, 40))
SECOND, THIRD = 0.6 * FIRST + 0.8 * SECOND, 0.5 * FIRST + 0.9 * THIRD
TOPICS = np.repeat(np.arange(5), 8)


def by_hand(value):
    """The value, and that without each topic."""
    every = np.ones(40, dtype=bool)
    return value(every), np.array([value(topic != TOPICS) for topic in range(5)])


def test_the_interval_is_by_t_on_fishers_z_with_the_error_of_a_jackknife():
    whole, apart = by_hand(lambda kept: np.arctanh(pearsonr(FIRST[kept], SECOND[kept]).statistic))
    error = np.sqrt(4 / 5 * ((apart - apart.mean()) ** 2).sum())
    ends = np.tanh(whole + np.array([-1, 1]) * t.ppf(0.975, 4) * error)
    found = correlation_interval(FIRST, SECOND, TOPICS)
    assert (found.low, found.high, found.df) == pytest.approx((*ends, 4))

    def difference(kept):
        return (
            pearsonr(FIRST[kept], SECOND[kept]).statistic
            - pearsonr(FIRST[kept], THIRD[kept]).statistic
        )

    whole, apart = by_hand(difference)
    half = t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((apart - apart.mean()) ** 2).sum())
    found = difference_interval((FIRST, SECOND), (FIRST, THIRD), TOPICS)
    assert (found.low, found.high) == pytest.approx((whole - half, whole + half))


def test_what_is_not_defined_has_no_interval():
    assert np.isnan(correlation_interval(FIRST, FIRST, TOPICS).low)  # r is 1
    assert np.isnan(correlation_interval(FIRST, SECOND, np.zeros(40)).low)  # one cluster
    assert np.isnan(correlation_interval([], [], []).low)


@pytest.mark.parametrize("topics", [3, 8])
def test_it_holds_the_mean_correlation_over_topics_that_differ(topics):
    rng = np.random.default_rng(topics)
    inside = 0
    for _ in range(200):
        r = np.tanh(np.arctanh(0.5) + rng.normal(0, 0.1, topics))[:, None]
        x, noise = rng.normal(size=(2, topics, 15))
        y = r * x + np.sqrt(1 - r**2) * noise
        found = correlation_interval(x.ravel(), y.ravel(), np.repeat(np.arange(topics), 15))
        inside += found.low < 0.5 < found.high
    assert 0.9 <= inside / 200 <= 0.99
