"""Corrections for several tests against statsmodels."""

import math

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from delibsim.measures.inference.means import benjamini_hochberg, holm


@pytest.mark.parametrize("size", [1, 3, 12])
@pytest.mark.parametrize(("corrected", "theirs"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_it_is_that_of_statsmodels(corrected, theirs, size):
    p = np.random.default_rng(size).beta(0.5, 4, size)
    assert corrected(p.tolist()) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)


def test_the_published_families_of_three_come_out():
    """Normative against none .005 becomes .015 (DEFINITIONS 7)."""
    assert holm([0.005, 0.079, 0.349])[0] == pytest.approx(0.015)


@pytest.mark.parametrize("corrected", [holm, benjamini_hochberg])
def test_what_is_nan_is_no_member_of_the_family(corrected):
    found = corrected([0.01, math.nan, 0.04])
    assert found[0] == pytest.approx(0.02)
    assert found[2] == pytest.approx(0.04)
    assert math.isnan(found[1])
    assert corrected([]) == []
    assert np.isnan(corrected([math.nan])).all()
