"""Contrasts of mean strengths: other programs' errors, and how often intervals hold the truth."""

import numpy as np
import pytest
from pair_votes import simulated
from scipy.stats import ttest_ind

from delibsim.measures.bradley_terry.counts import counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.stability import stretch
from delibsim.measures.bradley_terry.strengths import (
    Stretch,
    cluster_weights,
    contrast_of_strengths,
)
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import random_pairs, shown


def test_strengths_without_errors_are_data_as_for_welch():
    a, b = np.array([1.2, 0.4, 2.5, 1.1]), np.array([0.3, 0.9, 0.1])
    found = contrast_of_strengths([*a, *b], np.zeros((7, 7)), [1] * 4 + [0] * 3, ["x"] * 7)
    welch = ttest_ind(a, b, equal_var=False)
    assert found.estimate == pytest.approx(a.mean() - b.mean())
    assert found.p == pytest.approx(welch.pvalue)
    assert found.df == pytest.approx(welch.df)
    ends = welch.confidence_interval()
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_the_errors_of_strengths_alone_are_those_of_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(4)
    pairs = shown(random_pairs(8, 24, 1), 8, 1)
    outcome = np.where(rng.random(24) < 0.6, 1, -1)
    found = uncertainty(fit(counted(8, *pairs.T, outcome), Model("bt", penalty=None)), False)
    design = np.zeros((24, 8))
    design[np.arange(24), pairs[:, 0]], design[np.arange(24), pairs[:, 1]] = 1, -1
    logit = sm.Logit(outcome == 1, design[:, 1:]).fit(disp=0)
    covariance = np.zeros((8, 8))
    covariance[1:, 1:] = logit.cov_params()
    # Four sessions of two texts each; the contrast needs no anchor.
    c = np.array([1, 1, 1, 1, -1, -1, -1, -1]) / 4
    names, weights = cluster_weights([0, 0, 1, 1, 2, 2, 3, 3])
    assert names == [0, 1, 2, 3]
    means = weights @ found.fit.scores
    contrast = contrast_of_strengths(means, found.covariance(weights), [1, 1, 0, 0], [0] * 4)
    assert contrast.of_strengths == pytest.approx(np.sqrt(c @ covariance @ c), rel=1e-5)
    assert contrast.estimate == pytest.approx(c[1:] @ logit.params, rel=1e-5)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_covariance_of_scores_is_that_of_its_rows_and_differences(clustered):
    pairs = shown(random_pairs(20, 60, 1), 20, 1)
    votes, _ = simulated(20, np.concatenate([pairs, pairs]), seed=2)
    found = uncertainty(fit(votes, Model(order=True)), clustered)
    covariance = found.covariance(np.eye(20))
    for texts, rows in found.rows():
        assert covariance[texts] == pytest.approx(rows)
    assert np.sqrt(np.diag(covariance)) == pytest.approx(found.scores)
    one = np.zeros((1, 20))
    one[0, [3, 7]] = 1, -1
    assert found.covariance(one)[0, 0] ** 0.5 == pytest.approx(found.difference_errors([(3, 7)])[0])


def test_blocks_are_held_fixed_and_one_session_each_gives_no_error():
    means, first, blocks = [1.0, 2.0, 11.0, 12.0], [1, 0, 1, 0], ["x", "x", "y", "y"]
    found = contrast_of_strengths(means, np.eye(4), first, blocks)
    assert (found.estimate, found.note) == (-1.0, "no_replicates")
    assert found.of_strengths == pytest.approx(1.0)  # sqrt(4 / 16 * 4)
    assert np.isnan(found.error)
    with pytest.raises(ValueError, match="no cluster of one"):
        contrast_of_strengths([1.0, 2.0], np.eye(2), [1, 1], [0, 0])


def study(seed, effect=1.0, sessions=4, texts=4, each=12):
    """One topic under two conditions: session means, their covariance, and the stretch."""
    rng = np.random.default_rng([seed, 7])
    n = 2 * sessions * texts
    session = np.repeat(np.arange(2 * sessions), texts)
    first = np.arange(2 * sessions) < sessions
    truth = rng.normal(0, 0.5, 2 * sessions)[session] + rng.normal(0, 1, n)
    truth += effect * first[session]
    sheets = shown(random_pairs(n, n * each // 2, seed), n, seed)
    d = truth[sheets[:, 0]] - truth[sheets[:, 1]] + rng.logistic(size=len(sheets)) + 0.4
    votes = counted(n, *sheets.T, np.where(d > 0.3, 1, np.where(d < -0.3, -1, 0)))
    model = Model(order=True)
    found = uncertainty(fit(votes, model))
    _, weights = cluster_weights(session.tolist())
    parts = weights @ found.fit.scores, found.covariance(weights), first, [0] * len(first)
    return parts, stretch(votes, model, seed, splits=2)


def test_intervals_of_an_effect_hold_the_truth_and_those_of_the_strengths_alone_do_not():
    inside, alone, estimates = [], [], []
    for seed in range(120):
        parts, factor = study(seed)
        found = contrast_of_strengths(*parts, factor)
        inside.append(found.low < 1 < found.high)
        alone.append(abs(found.estimate - 1) < 1.96 * found.of_strengths)
        estimates.append(contrast_of_strengths(*parts).estimate)
    assert np.mean(inside) > 0.89  # .95 less three errors of 120 studies
    assert np.mean(alone) < 0.85
    assert np.mean(estimates) > 1.1  # as they are, scores of few votes are too far apart


def test_few_votes_a_text_stretch_scores_and_many_hardly():
    factors = []
    for each in (8, 30):
        votes, truth = simulated(60, shown(random_pairs(60, 30 * each, 1), 60, 1), seed=3)
        scores = fit(votes, Model(order=True)).scores
        found = stretch(votes, Model(order=True), seed=1, splits=5)
        factors.append(found.factor)
        assert found.factor == pytest.approx(scores @ truth / (truth @ truth), abs=0.25)
    assert factors[0] > factors[1] > 1
    nothing = stretch(counted(2, [0], [1], [1]), Model(), seed=1)
    assert nothing == Stretch()
