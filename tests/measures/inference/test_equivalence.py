"""Equivalence tests against statsmodels."""

import math

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

from delibsim.measures.inference.means import (
    UNDEFINED,
    equivalence,
    equivalence_of_mean,
)


@pytest.mark.parametrize("shift", [0.0, 0.015, -0.04])
def test_it_is_that_of_statsmodels(shift):
    rng = np.random.default_rng(6)
    first, second = rng.normal(shift, 0.03, 12), rng.normal(0, 0.01, 12)
    found = equivalence_of_mean(first - second, 0.02)
    p, (_, p_lower, _), (_, p_upper, _) = ttost_paired(first, second, -0.02, 0.02)
    assert (found.p, found.p_lower, found.p_upper) == pytest.approx((p, p_lower, p_upper), abs=1e-9)
    assert found.estimate == pytest.approx((first - second).mean())


def test_the_interval_of_90_percent_lies_within_the_margin_where_p_is_below_5_percent():
    rng = np.random.default_rng(7)
    verdicts = set()
    for _ in range(200):
        found = equivalence_of_mean(rng.normal(0.003, 0.02, 8), 0.02)
        within = found.low > -0.02 and found.high < 0.02
        assert within == (found.p < 0.05)
        verdicts.add(within)
    assert verdicts == {True, False}


@pytest.mark.parametrize("value", [0.0, 0.01, 0.3])
def test_without_variance_nothing_is_decided(value):
    assert equivalence_of_mean(np.full(5, value), 0.02) is UNDEFINED
    assert equivalence(value, 0.0, 4, 0.02) is UNDEFINED
    assert np.isnan(UNDEFINED.p)


def test_what_is_undefined_is_nan_and_a_margin_is_above_0():
    assert math.isnan(equivalence_of_mean([0.1], 0.02).p)
    assert math.isnan(equivalence_of_mean([0.1, 0.1], 0.02).p)
    assert math.isnan(equivalence_of_mean([0.1 + 0.2, 0.3], 0.02).p)  # equal but for rounding
    assert math.isnan(equivalence_of_mean([0.0], 0.02).p)
    with pytest.raises(ValueError, match="above 0"):
        equivalence_of_mean([0.1], 0.0)
