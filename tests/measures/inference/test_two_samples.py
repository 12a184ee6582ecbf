"""Differences of means against scipy, and against published tests of AQuA."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from delibsim.measures.inference.means import Sample, pooled, welch

PEOPLE = Sample(2.980, 0.431, 910)
GROUPS = [Sample(2.939, sd, 660) for sd in (0.12, 0.13)]  # of two treatments, as published


def samples():
    rng = np.random.default_rng(3)
    return rng.normal(0.3, 1, 20), rng.normal(0, 3, 35)


def test_both_are_those_of_scipy():
    a, b = samples()
    for equal, function in ((True, pooled), (False, welch)):
        there = ttest_ind(a, b, equal_var=equal)
        found = function(Sample.of(a), Sample.of(b))
        assert found.p == pytest.approx(there.pvalue, abs=1e-12)
        assert found.interval() == pytest.approx(tuple(there.confidence_interval()), abs=1e-12)


def test_the_published_p_of_models_against_people_follow_from_mean_sd_and_n():
    """Published are .0176 and .0180 with a pooled variance, .0066 and .0068 by Welch."""
    assert [pooled(group, PEOPLE).p for group in GROUPS] == pytest.approx(
        [0.0176, 0.0180], abs=0.0015
    )
    assert [welch(group, PEOPLE).p for group in GROUPS] == pytest.approx(
        [0.0066, 0.0068], abs=0.0015
    )
    for group in GROUPS:
        assert welch(group, PEOPLE).interval() == pytest.approx((-0.071, -0.011), abs=0.001)
