"""Levels of ensembles: the cases of the definitions, and rules that hold whatever the samples."""

import math
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.ensemble import (
    RULES,
    counts_of,
    ensemble_levels,
    lower_median,
    mean_half_down,
    mode,
    model_levels,
    rule_of,
)

NA = math.nan


def of_levels(levels, rule="lower", **options):
    """The ensemble's level where each model has one sample, which is its level."""
    counts = counts_of(np.array([levels], dtype=float)[..., None], 4)
    return ensemble_levels(counts, [levels], rule, **options)[0]


@pytest.mark.parametrize(
    ("levels", "level"),
    [((0, 0, 2, 2), 0), ((0, 1, 1, 2), 1), ((2, 2, 1, 1), 1), ((0, 0, 0, 2), 0), ((3,), 3)],
)
def test_the_lower_median_never_lies_between_two_levels(levels, level):
    assert of_levels(levels) == level == median_low(levels)


@pytest.mark.parametrize(
    ("levels", "mean", "most"),
    [((0, 0, 1, 1), 0, 0), ((0, 3, 3, 3), 2, 3), ((1, 1, 2, 3), 2, 1), ((0, 1, 2, 3), 1, 0)],
)
def test_the_mean_is_rounded_half_down_and_the_lowest_mode_is_taken(levels, mean, most):
    assert of_levels(levels, "mean") == mean
    assert of_levels(levels, "mode") == most


def test_the_mean_of_an_interval_scale_is_that_of_its_values():
    weights = [[1, 0, 1]]  # of the values 0, 1 and 10: 5 lies nearer to 1
    assert mean_half_down(weights).tolist() == [1]
    assert mean_half_down(weights, [0, 6, 10]).tolist() == [1]
    assert mean_half_down([[3, 0, 1]], [0, 5, 10]).tolist() == [0]  # 2.5, half-way


def test_pooled_samples_weigh_alike_by_model_even_if_one_lost_samples():
    samples = [[[2, 2, 2, 2, 2], [0, 0, 0, NA, NA], [0, 2, 2, 2, 2]]]
    counts = counts_of(samples, 3)
    levels = model_levels(counts, asked=5)
    assert levels.tolist() == [[2, 0, 2]]
    assert ensemble_levels(counts, levels, "pooled").tolist() == [2]
    two = counts[:, :2]
    # By number of samples 5 of 8 would be at level 2; by model it is half and half.
    assert ensemble_levels(two, levels[:, :2], "pooled").tolist() == [0]


def test_a_lost_sample_leaves_an_even_number_and_the_lower_median():
    assert lower_median(counts_of([[0, 0, 2, 2, NA]], 3)).tolist() == [0]


@pytest.mark.parametrize(("readable", "level"), [(3, 1), (2, NA), (0, NA)])
def test_a_model_needs_half_of_its_samples_rounded_up(readable, level):
    samples = [[[1] * readable + [NA] * (5 - readable)]]
    found = model_levels(counts_of(samples, 3), asked=5)[0, 0]
    assert found == pytest.approx(level, nan_ok=True)


def test_the_ensemble_needs_half_of_its_models():
    assert of_levels((1, 1, NA, NA)) == 1
    assert math.isnan(of_levels((1, NA, NA, NA)))
    assert math.isnan(of_levels((NA, NA)))


def test_names_have_a_mode_or_none_and_no_median():
    assert math.isnan(mode([[2, 2, 0]], ordered=False)[0])
    assert of_levels((3, 3, 1, 0), "mode", ordered=False) == 3
    with pytest.raises(ValueError, match="needs levels in order"):
        of_levels((3, 3, 1, 0), "lower", ordered=False)
    assert rule_of("pooled", ordered=False) == "mode"
    with pytest.raises(ValueError, match="unknown rule 'median'"):
        rule_of("median", ordered=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=6))
def test_every_rule_gives_a_declared_level_whatever_the_order_of_models(samples):
    counts = counts_of([samples], 4)
    levels = model_levels(counts, asked=5)
    assert levels[0].tolist() == list(map(median_low, samples))
    for rule in RULES:
        found = ensemble_levels(counts, levels, rule)
        assert found[0] in range(4)
        turned = ensemble_levels(counts[:, ::-1], levels[:, ::-1], rule)
        assert turned.tolist() == found.tolist()
    assert ensemble_levels(counts, levels)[0] == median_low(levels[0].tolist())
