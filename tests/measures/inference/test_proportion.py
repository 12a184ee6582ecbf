"""The Wilson interval against values of statsmodels 0.15.0, and the mirror image of one."""

import json
import math
from pathlib import Path

import pytest

from delibsim.measures.inference.means import wilson

KEPT = json.loads((Path(__file__).parents[2] / "reference" / "coding.json").read_text("utf-8"))


@pytest.mark.parametrize("row", KEPT["wilson"])
def test_the_interval(row):
    found = wilson(row["successes"], row["n"])
    assert found == pytest.approx((row["low"], row["high"]), abs=5e-8)


def test_no_trials_have_no_interval_and_more_successes_than_trials_are_refused():
    assert all(map(math.isnan, wilson(0, 0)))
    with pytest.raises(ValueError, match="3 of 2 is no proportion"):
        wilson(3, 2)
