"""Cohen's d by hand and against its relation to t."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from delibsim.measures.inference.means import cohens_d


def test_by_hand():
    """Means 4 and 2, sums of squares 8 and 2 on 2 + 1 degrees of freedom: 2 / sqrt(10 / 3)."""
    assert cohens_d([2, 4, 6], [1, 3]) == pytest.approx(2 / np.sqrt(10 / 3))
    assert cohens_d([1, 3], [2, 4, 6]) == pytest.approx(-2 / np.sqrt(10 / 3))


def test_it_is_t_without_the_sizes_of_the_groups():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.5, 1, 20), rng.normal(0, 2, 31)
    t = ttest_ind(a, b).statistic
    assert cohens_d(a, b) == pytest.approx(t * np.sqrt(1 / 20 + 1 / 31))


def test_it_is_undefined_without_variance_or_with_one_value():
    assert np.isnan(cohens_d([1, 1], [0, 0]))
    assert np.isnan(cohens_d([1], [0, 2]))
    assert np.isnan(cohens_d([], []))
