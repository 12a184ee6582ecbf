"""Fieller's interval: its ends are the ratios that scipy's t test rejects at exactly .05."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from delibsim.measures.inference.regression import ratio


def of_pairs(above, below):
    covariance = np.cov(above, below) / len(above)
    return ratio(above.mean(), below.mean(), covariance, len(above) - 1)


def test_its_ends_are_where_the_t_test_of_pairs_rejects():
    """Of pairs it is exact: a - r b has the mean 0 for the true ratio r (Fieller 1954)."""
    rng = np.random.default_rng(4)
    below = rng.normal(1, 0.4, 12)
    above = 0.5 * below + rng.normal(0, 0.2, 12)
    found = of_pairs(above, below)
    assert found.low < found.estimate < found.high
    for end in (found.low, found.high):
        assert ttest_1samp(above - end * below, 0).pvalue == pytest.approx(0.05)
    assert found.p == pytest.approx(ttest_1samp(above, 0).pvalue)


def test_it_is_the_formula_that_is_printed_with_g():
    """As in Finney 1978, with g = t^2 var(b) / b^2, here without a covariance."""
    found, square = ratio(3.0, 2.0, [[0.25, 0.0], [0.0, 0.09]], 1e9), 1.959964**2
    g = square * 0.09 / 4
    half = np.sqrt(square) / 2 * np.sqrt((1 - g) * 0.25 + 1.5**2 * 0.09)
    ends = (1.5 - half) / (1 - g), (1.5 + half) / (1 - g)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-6)


def test_a_denominator_that_may_be_0_gives_no_interval():
    found = ratio(
        0.03, 0.099, [[1e-4, 0], [0, 0.0456**2]], 11
    )  # people's change over twelve topics
    assert found.estimate == pytest.approx(0.303, abs=0.001)
    assert np.isnan([found.low, found.high]).all()
    assert found.note == "denominator_may_be_0"
    assert ratio(1, 1, [[0, 0], [0, 1]], 3).note == "no_error"


def test_it_holds_the_truth():
    rng, held = np.random.default_rng(5), []
    for _ in range(1000):
        below = rng.normal(1, 0.5, 8)
        found = of_pairs(0.3 * below + rng.normal(0, 0.3, 8), below)
        held.append(np.isnan(found.low) or found.low <= 0.3 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.97
