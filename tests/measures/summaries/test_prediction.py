"""Errors, order and calibration against scipy, scikit-learn and cases worked by hand."""

import math

import numpy as np
import pytest
from scipy.stats import linregress, pearsonr

from delibsim.measures.summaries.prediction import calibration, errors, mean_defined, ordering
from delibsim.measures.summaries.texts import fit_ridge

GOLDEN = (
    [1, 2, 2, 3, 4, 5, 5, 3, 4, 2],
    [0.30, 0.42, 0.38, 0.55, 0.61, 0.70, 0.52, 0.47, 0.66, 0.49],
)


def test_golden_errors_of_the_definitions():
    y = (np.array(GOLDEN[0]) + 1) / 8
    found = errors(y, GOLDEN[1])
    assert found.mae / 8 == pytest.approx(0.0625, abs=1e-6)
    assert found.rmse / 8 == pytest.approx(0.088332, abs=1e-6)
    assert errors([np.nan], [0.5]).n == 0


def test_order_by_hand():
    said = [0.75, 0.25, 0.5, 0.5, 0.25, 0.75, 0.5]
    predicted = [0.6, 0.5, 0.2, 0.9, 0.4, 0.4, 0.1]
    found = ordering(said, predicted, list("aabbccd"))
    assert (found.n, found.ties) == (2, 1)
    assert found.accuracy == 0.75  # one ordered, one predicted tie
    expected = pearsonr([0.5, 0.0, -0.5], [0.1, -0.7, 0.0])[0]
    assert found.correlation == pytest.approx(expected)
    assert math.isnan(ordering([0.5], [0.5], ["a"]).accuracy)


def test_calibration_is_the_regression_of_people_on_the_judge():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.2, 0.8, 400)
    y = 0.1 + 0.5 * p + rng.normal(0, 0.05, 400)
    found = calibration(y, p)
    line = linregress(p, y)
    assert (found.slope, found.intercept) == pytest.approx((line.slope, line.intercept))
    bins = np.array_split(np.argsort(p), 10)
    by_hand = np.mean([abs(y[own].mean() - p[own].mean()) for own in bins])
    assert found.error == pytest.approx(by_hand)
    xs, ys = np.array(found.steps).T
    assert (np.diff(xs) >= 0).all()
    assert (np.diff(ys) >= 0).all()
    assert math.isnan(calibration(y, np.full(400, 0.5)).slope)


def test_the_mean_says_how_many_it_leaves_out():
    assert mean_defined([np.nan, np.nan])[1] == 2
    assert math.isnan(mean_defined([np.nan])[0])


def test_the_baseline_finds_what_is_there_and_keeps_missing_apart():
    rng = np.random.default_rng(2)
    words = "tram late money school road loud people pay".split()
    triples, scores = [], []
    for _ in range(600):
        opinion = " ".join(rng.choice(words, 4))
        summary = " ".join(rng.choice(words, rng.integers(2, 12)))
        triples.append(("q", opinion, summary))
        shared = len(set(opinion.split()) & set(summary.split())) / len(set(opinion.split()))
        scores.append([shared, len(summary.split()) / 12, np.nan, np.nan])
    table = np.array(scores)
    found = fit_ridge(triples[:400], table[:400]).predict(triples[400:])
    assert pearsonr(found[:, 0], table[400:, 0])[0] > 0.6
    assert pearsonr(found[:, 1], table[400:, 1])[0] > 0.6
    assert np.isnan(found[:, 2:]).all()
