"""Calibration of the ensemble beside people, by hand."""

import math

import pytest

from delibsim.measures.ensemble import bins, brier, calibration_error
from delibsim.measures.inference.means import wilson


def test_bins_hold_their_upper_end_and_the_first_its_lower_one():
    found = bins([0, 0.2, 0.21, 1, math.nan, 0.5], [1, 0, 1, 1, 1, math.nan])
    assert [one.n for one in found] == [2, 1, 0, 0, 1]
    first = found[0]
    assert (first.above, first.to, first.confidence, first.agrees) == (0, 0.2, 0.1, 0.5)
    assert (first.low, first.high) == wilson(1, 2)
    assert math.isnan(found[2].agrees)
    assert math.isnan(found[2].low)


def test_scores_by_hand():
    sure, right = [0.9, 0.9, 0.3, 0.3], [1, 0, 0, 0]
    assert brier(sure, right) == pytest.approx((0.01 + 0.81 + 0.09 + 0.09) / 4)
    assert calibration_error(sure, right) == pytest.approx((2 * 0.4 + 2 * 0.3) / 4)
    assert math.isnan(brier([], []))
    assert math.isnan(calibration_error([math.nan], [1]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier([1.2], [1])
