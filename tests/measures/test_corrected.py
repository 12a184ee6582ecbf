"""Corrected means: values of ppi_py 0.2.3, a case by hand, and their coverage."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from delibsim.measures.corrected import (
    bins,
    brier,
    calibration_error,
    corrected_mean,
    plain_mean,
    weighted_mean,
)
from delibsim.measures.inference.means import wilson


def digits(text):
    return [int(digit) for digit in text]


KEPT = json.loads((Path(__file__).parents[1] / "reference" / "coding.json").read_text("utf-8"))
PPI = KEPT["ppi"]
PEOPLE, MODELS, OTHERS = (digits(PPI[name]) for name in ("people", "models", "others"))


def test_the_corrected_mean_is_that_of_ppi():
    found = corrected_mean(PEOPLE, MODELS, OTHERS)
    assert found.estimate == PPI["estimate"]
    assert (found.low, found.high) == pytest.approx((PPI["low"], PPI["high"]), abs=5e-9)
    assert (found.n, found.total) == (8, 28)
    alone = plain_mean(PEOPLE)
    assert (alone.estimate, alone.low) == pytest.approx((1.5, 1.010009), abs=5e-7)
    assert alone.high == pytest.approx(1.989991, abs=5e-7)


def test_texts_drawn_by_doubt_weigh_by_their_chances():
    chances = [0.2, 0.7, 0.2, 0.3875, 0.825, 0.2, 0.325, 0.7, 0.2, 0.2625]
    people = np.full(10, np.nan)
    people[[1, 4, 7, 9]] = [2, 1, 1, 1]
    found = weighted_mean(digits("2102120122"), people, chances)
    assert found.estimate == pytest.approx(1.06190476, abs=5e-9)
    assert (found.n, found.total) == (4, 10)


def test_too_few_codes_have_no_interval():
    assert math.isnan(corrected_mean([1], [1], OTHERS).estimate)
    assert math.isnan(weighted_mean([1, 2], [1, math.nan], [1, 1]).estimate)
    assert plain_mean([2]).estimate == 2
    assert math.isnan(plain_mean([2]).low)
    with pytest.raises(ValueError, match="chance of a drawn text"):
        weighted_mean([1, 2], [1, 2], [0, 1])


def coverage(estimates, truth):
    inside = [found.low <= truth <= found.high for found in estimates]
    return sum(inside) / len(inside)


def test_corrected_means_cover_under_a_biased_ensemble_and_a_draw_by_doubt():
    rng = np.random.default_rng(11)
    trials, size, n = 600, 900, 250
    at_random, by_doubt, models_alone = [], [], []
    for _ in range(trials):
        truth = rng.choice([0, 1, 2], size, p=[0.3, 0.4, 0.3]).astype(float)
        doubt = rng.random(size)
        wrong = rng.random(size) < doubt * 0.6
        model = np.where(wrong, np.maximum(truth - 1, 0), truth)  # too low, where in doubt
        read = rng.permutation(size)[:n]
        rest = np.setdiff1d(np.arange(size), read)
        at_random.append(corrected_mean(truth[read], model[read], model[rest]))
        chances = np.minimum(1, n * (0.5 * doubt / doubt.sum() + 0.5 / size))
        drawn = rng.random(size) < chances
        people = np.where(drawn, truth, np.nan)
        by_doubt.append(weighted_mean(model, people, chances))
        models_alone.append(plain_mean(model))
    assert coverage(at_random, 1.0) == pytest.approx(0.95, abs=0.025)
    assert coverage(by_doubt, 1.0) == pytest.approx(0.95, abs=0.025)
    assert coverage(models_alone, 1.0) < 0.1


def test_bins_hold_their_upper_end_and_the_first_its_lower_one():
    found = bins([0, 0.2, 0.21, 1, math.nan, 0.5], [1, 0, 1, 1, 1, math.nan])
    assert [one.n for one in found] == [2, 1, 0, 0, 1]
    first = found[0]
    assert (first.above, first.to, first.confidence, first.agrees) == (0, 0.2, 0.1, 0.5)
    assert (first.low, first.high) == wilson(1, 2)
    assert math.isnan(found[2].agrees)
    assert math.isnan(found[2].low)


def test_scores_by_hand():
    sure, right = [0.9, 0.9, 0.3, 0.3], [1, 0, 0, 0]
    assert brier(sure, right) == pytest.approx((0.01 + 0.81 + 0.09 + 0.09) / 4)
    assert calibration_error(sure, right) == pytest.approx((2 * 0.4 + 2 * 0.3) / 4)
    assert math.isnan(brier([], []))
    assert math.isnan(calibration_error([math.nan], [1]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        brier([1.2], [1])


def test_a_confidence_that_is_right_as_often_as_it_says_has_no_error():
    rng = np.random.default_rng(5)
    sure = rng.random(40_000)
    right = (rng.random(40_000) < sure).astype(float)
    assert calibration_error(sure, right) < 0.01
    assert calibration_error(1 - sure, right) > 0.4
    assert all(abs(one.agrees - one.confidence) < 0.02 for one in bins(sure, right))
