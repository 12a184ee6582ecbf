"""The jackknife over clusters, against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.weightstats import DescrStatsW

from delibsim.measures.inference.means import jackknifed
from delibsim.measures.inference.regression import line


def test_of_a_slope_it_is_hc3_where_every_point_is_a_cluster():
    """HC3 has no factor (n - 1) / n: MacKinnon and White 1985."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=9), rng.normal(size=9)
    whole = line(x, y).slope
    without = [line(np.delete(x, i), np.delete(y, i)).slope for i in range(9)]
    found = jackknifed(whole, without)
    other = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3").bse[1]
    assert found.error == pytest.approx(other * np.sqrt(8 / 9))
    assert found.df == 8


def test_of_a_mean_it_is_student_s():
    values = np.random.default_rng(1).normal(0.1, 0.3, 7)
    found, other = (
        jackknifed(values.mean(), (values.sum() - values) / 6),
        DescrStatsW(values),
    )
    assert (found.low, found.high) == pytest.approx(other.tconfint_mean())
    assert found.p == pytest.approx(other.ttest_mean(0)[1])


@pytest.mark.parametrize("without", [[], [0.3], [0.1, 0.1, 0.1], [0.1, np.nan]])
def test_where_nothing_varies_or_one_is_undefined_there_is_no_error(without):
    found = jackknifed(0.1, without)
    assert found.estimate == 0.1
    assert np.isnan([found.error, found.low, found.high, found.p]).all()
