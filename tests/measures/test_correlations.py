"""Agreement of scores and labels: scipy, scikit-learn, formulas as published, and golden values.
Resampled correlations are those of numpy over the same draws. Intervals of correlations by a
jackknife over clusters: by hand with scipy, and their coverage.
"""

import numpy as np
import pytest
from pair_votes import REFERENCE
from scipy import stats
from scipy.stats import pearsonr, t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar as of_statsmodels

from delibsim.measures.correlations import (
    agreement_of_scores,
    correlation_interval,
    difference_interval,
    kappa_max,
    mcnemar,
    resampled_correlations,
    spearman_brown,
    williams,
)
from delibsim.measures.inference.resampling import resampled_counts
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

RNG = np.random.default_rng(1)


def test_scores_as_scipy_correlates_them():
    x = RNG.integers(0, 8, 40).astype(float)
    y = x + RNG.integers(0, 6, 40)
    found = agreement_of_scores(np.append(x, np.nan), np.append(y, 1.0))
    assert found.n == 40
    assert found.r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert found.rho == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.tau == pytest.approx(stats.kendalltau(x, y).statistic)
    assert found.rmse == pytest.approx(np.sqrt(2 * (1 - found.r)))
    assert found.mae == pytest.approx(np.abs(stats.zscore(x) - stats.zscore(y)).mean())


def test_scores_that_do_not_vary_have_no_correlation():
    last_bit = 1 + np.finfo(float).eps
    for one, other in (
        ([1, 2], [1, 2]),
        ([1, 1, 1], [1, 2, 3]),
        ([1, last_bit, 1], [1, 2, 3]),
        ([0, 1e-17, -1e-17], [1, 2, 3]),
        ([1, 2, np.nan], [1, np.nan, 2]),
    ):
        found = agreement_of_scores(one, other)
        assert np.isnan([found.r, found.rho, found.tau, found.mae, found.rmse]).all()


def test_the_reliability_of_the_whole():
    assert spearman_brown(0.485) == pytest.approx(0.6532, abs=5e-5)
    assert np.isnan(spearman_brown(-1))


def test_williams_as_computed_from_the_formula():
    found = williams(0.474, 0.442, 0.892, 1269)
    assert found.t == pytest.approx(2.784342, abs=6e-7)
    assert found.df == 1266
    assert found.p == pytest.approx(2 * stats.t.sf(found.t, 1266))
    assert williams(0.4, 0.4, 0.5, 50).p == 1
    assert np.isnan(williams(0.9, -0.9, 0.9, 50).p)  # these cannot be together
    assert np.isnan(williams(0.5, 0.4, 0.3, 3).t)


def test_mcnemar_as_statsmodels_computes_it():
    for one, other in ((8, 2), (1, 9), (4, 4), (0, 3)):
        expected = of_statsmodels([[5, one], [other, 7]], exact=True).pvalue
        assert mcnemar(one, other) == pytest.approx(expected)
    assert mcnemar(0, 0) == 1


def test_the_largest_kappa_at_given_margins():
    first = [0] * 50 + [1] * 50
    second = [0] * 50 + [0] * 20 + [1] * 30  # as alike as these margins allow
    assert kappa_max([0.5, 0.5], [0.7, 0.3]) == pytest.approx(cohen_kappa_score(first, second))
    assert kappa_max([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]) == pytest.approx(1)
    assert np.isnan(kappa_max([1, 0], [1, 0]))
    with pytest.raises(ValueError, match="add up"):
        kappa_max([0.5, 0.4], [0.5, 0.5])


def test_labels_of_runs_and_judges():
    expected = REFERENCE["labels"]
    runs = np.array(
        [["ATB".index(label) for label in expected[run]] for run in ("one", "two", "three")]
    ).T
    two = codes_of(runs[:, :2], range(3))
    assert coefficient(two, "percent").value == pytest.approx(expected["agreement"], abs=6e-7)
    assert coefficient(two, "kappa").value == pytest.approx(expected["kappa"], abs=6e-13)
    alpha = coefficient(codes_of(runs, range(3)), "alpha", "nominal")
    assert alpha.value == pytest.approx(expected["alpha"], abs=6e-13)


def test_each_draw_is_the_correlation_of_the_texts_that_were_drawn():
    rng = np.random.default_rng(3)
    x = 1e6 + rng.normal(size=30)  # a large mean takes no digits
    y = x + rng.normal(size=30)
    topics = rng.integers(0, 9, 30)
    found = resampled_correlations(x, y, topics, 40, seed=5)
    codes = np.unique(topics, return_inverse=True)[1]
    counts = np.concatenate(list(resampled_counts(codes.max() + 1, 40, 5)))
    for times, r in zip(counts.astype(int), found, strict=True):
        texts = np.repeat(np.arange(30), times[codes])
        assert r == pytest.approx(np.corrcoef(x[texts], y[texts])[0, 1], abs=1e-8)


def test_what_does_not_vary_in_a_draw_and_a_single_topic_have_none():
    found = resampled_correlations([1, 1, 2], [1, 2, 3], [0, 1, 2], 200, seed=1)
    assert np.isnan(found).any()
    assert not np.isnan(found).all()
    assert np.isnan(resampled_correlations([1, 2, 3], [1, 3, 2], [0, 0, 0], 5, seed=1)).all()


DRAWN = np.random.default_rng(6)
FIRST, SECOND, THIRD = DRAWN.normal(size=(3, 40))
SECOND, THIRD = 0.6 * FIRST + 0.8 * SECOND, 0.5 * FIRST + 0.9 * THIRD
TOPICS = np.repeat(np.arange(5), 8)


def by_hand(value):
    """The value, and that without each topic."""
    every = np.ones(40, dtype=bool)
    return value(every), np.array([value(topic != TOPICS) for topic in range(5)])


def test_the_interval_is_by_t_on_fishers_z_with_the_error_of_a_jackknife():
    whole, apart = by_hand(lambda kept: np.arctanh(pearsonr(FIRST[kept], SECOND[kept]).statistic))
    error = np.sqrt(4 / 5 * ((apart - apart.mean()) ** 2).sum())
    ends = np.tanh(whole + np.array([-1, 1]) * t.ppf(0.975, 4) * error)
    found = correlation_interval(FIRST, SECOND, TOPICS)
    assert (found.low, found.high, found.df) == pytest.approx((*ends, 4))

    def difference(kept):
        return (
            pearsonr(FIRST[kept], SECOND[kept]).statistic
            - pearsonr(FIRST[kept], THIRD[kept]).statistic
        )

    whole, apart = by_hand(difference)
    half = t.ppf(0.975, 4) * np.sqrt(4 / 5 * ((apart - apart.mean()) ** 2).sum())
    found = difference_interval((FIRST, SECOND), (FIRST, THIRD), TOPICS)
    assert (found.low, found.high) == pytest.approx((whole - half, whole + half))


def test_what_is_not_defined_has_no_interval():
    assert np.isnan(correlation_interval(FIRST, FIRST, TOPICS).low)  # r is 1
    assert np.isnan(correlation_interval(FIRST, SECOND, np.zeros(40)).low)  # one cluster
    assert np.isnan(correlation_interval([], [], []).low)


@pytest.mark.parametrize("topics", [3, 8])
def test_it_holds_the_mean_correlation_over_topics_that_differ(topics):
    rng = np.random.default_rng(topics)
    inside = 0
    for _ in range(200):
        r = np.tanh(np.arctanh(0.5) + rng.normal(0, 0.1, topics))[:, None]
        x, noise = rng.normal(size=(2, topics, 15))
        y = r * x + np.sqrt(1 - r**2) * noise
        found = correlation_interval(x.ravel(), y.ravel(), np.repeat(np.arange(topics), 15))
        inside += found.low < 0.5 < found.high
    assert 0.9 <= inside / 200 <= 0.99
