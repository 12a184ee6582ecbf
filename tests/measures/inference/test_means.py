"""Means with an error by t, against scipy and a regression of statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp

from delibsim.measures.inference.means import mean_of_units, mean_within


@pytest.mark.parametrize("size", [2, 5, 12])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_over_units_it_is_the_t_test_of_scipy(size, level):
    values = np.random.default_rng(size).normal(0.03, 0.06, size)
    theirs = ttest_1samp(values, 0)
    found = mean_of_units(values, level)
    assert (found.estimate, found.df) == (pytest.approx(values.mean()), theirs.df)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-9)
    ends = theirs.confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(size))


def test_within_strata_it_is_a_contrast_of_stratum_means():
    """Least squares on an indicator of each stratum; strata of unequal size and weight."""
    rng = np.random.default_rng(7)
    strata = np.repeat([2, 0, 5, 9], [3, 5, 1, 4])
    values = rng.normal(strata * 0.1, 0.4)
    share = {2: 0.5, 0: 0.2, 5: 0.1, 9: -0.4}
    sizes = {stratum: (strata == stratum).sum() for stratum in share}
    weights = np.array([share[stratum] / sizes[stratum] for stratum in strata])
    fit = sm.OLS(values, (strata[:, None] == list(share)).astype(float)).fit()
    theirs = fit.t_test(list(share.values()))
    order = rng.permutation(len(values))
    found = mean_within(values[order], strata[order], weights[order])
    assert found.df == fit.df_resid == 9
    assert found.estimate == pytest.approx(theirs.effect.item())
    assert found.error == pytest.approx(theirs.sd.item())
    assert found.p == pytest.approx(theirs.pvalue.item())
    assert (found.low, found.high) == pytest.approx(tuple(theirs.conf_int()[0]))


@pytest.mark.parametrize(
    ("values", "strata", "estimate", "df"),
    [
        ([], [], np.nan, np.nan),
        ([0.1], [0], 0.1, np.nan),  # one value says nothing of the error
        ([0.1, 0.3], [0, 1], 0.2, np.nan),  # nor does one in each stratum
        ([0.1 + 0.2, 0.3], [0, 0], 0.3, 1),  # rounding is no variance
        ([0.0, 0.0], [0, 0], 0.0, 1),
        ([0.1, 0.1, 0.4, 0.4], [0, 0, 1, 1], 0.25, 2),  # strata differ, values within do not
    ],
)
def test_without_variance_there_is_a_mean_and_no_error(values, strata, estimate, df):
    if values:
        found = mean_within(values, strata, np.full(len(values), 1 / len(values)))
    else:
        found = mean_of_units(values)
    assert (found.estimate, found.df) == pytest.approx((estimate, df), nan_ok=True)
    assert np.isnan([found.error, found.low, found.high, found.p]).all()
