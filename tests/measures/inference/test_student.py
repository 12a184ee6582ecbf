"""Means and jackknives over a few units, against statsmodels and Student's own example."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.weightstats import DescrStatsW

from delibsim.measures.inference.regression import line
from delibsim.measures.inference.student import jackknifed, mean_of_units


def test_a_mean_is_that_of_statsmodels():
    values = np.random.default_rng(1).normal(0.1, 0.3, 7)
    found, other = mean_of_units(values), DescrStatsW(values)
    assert found.interval() == pytest.approx(other.tconfint_mean())
    assert found.p == pytest.approx(other.ttest_mean(0)[1])
    assert (found.df, found.n) == (6, 7)


def test_the_jackknife_of_a_slope_is_hc3_where_every_point_is_a_cluster():
    """HC3 has no factor (n - 1) / n: MacKinnon and White 1985."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=9), rng.normal(size=9)
    whole = line(x, y).slope
    without = [line(np.delete(x, i), np.delete(y, i)).slope for i in range(9)]
    found = jackknifed(whole, without)
    other = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3").bse[1]
    assert found.error == pytest.approx(other * np.sqrt(8 / 9))
    assert found.df == 8


@pytest.mark.parametrize(
    ("values", "note"),
    [([], "no_units"), ([0.3], "one_unit"), ([0.1] * 4, "no_variance"), ([0.0] * 4, "no_variance")],
)
def test_what_is_undefined_says_why(values, note):
    for found in (mean_of_units(values), jackknifed(np.mean(values) if values else np.nan, values)):
        assert found.note == note
        assert np.isnan([found.p, *found.interval()]).all()
    assert jackknifed(0.1, [0.1, np.nan]).note == "unstable"


@pytest.mark.parametrize("topics", [2, 3, 6, 12])
def test_the_interval_holds_the_truth(topics):
    rng = np.random.default_rng(topics)
    ends = [mean_of_units(rng.normal(0.3, 1, topics)).interval() for _ in range(1000)]
    assert 0.93 <= np.mean([low <= 0.3 <= high for low, high in ends]) <= 0.97
