"""The mean difference of pairs against scipy's paired t test, and where it has no interval."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from delibsim.measures.inference.means import paired_difference

VALUES = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=20), st.sampled_from([0.9, 0.95]))
def test_it_is_that_of_the_paired_t_test(pairs, level):
    first, second = map(np.array, zip(*pairs, strict=True))
    found = paired_difference(first, second, level)
    differences = first - second
    assert (found.n, found.mean) == (len(pairs), pytest.approx(differences.mean(), abs=1e-9))
    if math.isnan(found.low):
        assert np.ptp(differences) < 1e-9
        return
    low, high = stats.ttest_rel(first, second).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-9)


def test_without_two_different_pairs_there_is_no_interval():
    assert math.isnan(paired_difference([], []).mean)
    one = paired_difference([2.0], [1.0])
    assert (one.mean, math.isnan(one.sd), math.isnan(one.low)) == (1.0, True, True)
    equal = paired_difference([0.3, 0.4], [0.1, 0.2])
    assert (equal.sd, math.isnan(equal.low)) == (0.0, True)


def test_pairs_have_two_values():
    with pytest.raises(ValueError, match="two values each"):
        paired_difference([1.0, 2.0], [1.0])
