"""Levels of ensembles: the cases of the definitions, and rules that hold whatever the samples."""

import itertools
import math
from collections import Counter
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delibsim.measures.ensemble import (
    RULES,
    counts_of,
    effective_votes,
    ensemble_levels,
    entropies,
    entropy,
    error_correlation,
    flips,
    level_shares,
    margin,
    mean_half_down,
    mode,
    model_levels,
    rule_of,
    stability,
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


SAMPLES = [[[2, 2, 2, 1, 2], [1, 1, 1, 1, 2], [2, 2, 2, 2, 2], [2, 1, 2, 2, 2]]]


def votes(levels, q=3):
    """Counts and levels of one text on which each model has one sample."""
    array = np.array([levels], dtype=float)
    return counts_of(array[..., None], q), array


def test_entropy_is_parted_into_that_within_and_that_between_models():
    counts = counts_of(SAMPLES, 3)
    levels = model_levels(counts, asked=5)
    found = np.concatenate(entropies(counts, levels))
    assert found == pytest.approx([0.88129090, 0.54144607, 0.33984483], abs=5e-9)
    alone = level_shares(*votes((2, 1, 2, 2)))
    assert entropy(alone)[0] == pytest.approx(0.81127812, abs=5e-9)
    assert level_shares(counts, levels)[0] == pytest.approx([0, 0.3, 0.7])
    assert margin(level_shares(counts, levels))[0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((2, 1, 2, 2), 0.73828125),
        ((0, 1, 1, 2), 0.6875),
        ((0, 0, 2, 2), 0.6875),
        ((0, 0, 0, 2), 0.94921875),
    ],
)
def test_stability_is_exact(levels, expected):
    assert stability(*votes(levels))[0] == expected
    assert stability(*votes(levels), "pooled")[0] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.sampled_from(RULES))
def test_stability_is_the_share_of_all_draws_one_by_one(levels, rule):
    whole = ensemble_levels(*votes(levels), rule)[0]
    drawn = np.array(list(itertools.product(levels, repeat=len(levels))), dtype=float)
    again = ensemble_levels(counts_of(drawn[..., None], 3), drawn, rule)
    assert stability(*votes(levels), rule)[0] == pytest.approx((again == whole).mean())


def test_names_that_tie_in_a_draw_do_not_stay():
    counts, levels = votes((0, 0, 1))
    # All draws of three: 27; the mode stays where two or three of them are level 0: 8 + 12.
    assert stability(counts, levels, "mode", ordered=False)[0] == pytest.approx(20 / 27)
    assert math.isnan(stability(*votes((0, 1)), "mode", ordered=False)[0])


@pytest.mark.parametrize(
    ("levels", "expected"),
    [((0, 0, 2, 2), 2), ((0, 1, 1, 2), 0), ((0, 0, 0, 2), 0), ((0, 1, 2), 2), ((0, 0, NA, 2), 0)],
)
def test_flips_counts_the_models_whose_absence_changes_the_level(levels, expected):
    assert flips(*votes(levels))[0] == expected
    by_hand = 0
    voting = [level for level in levels if not math.isnan(level)]
    for i in range(len(voting)):
        by_hand += median_low(voting[:i] + voting[i + 1 :]) != median_low(voting)
    assert by_hand == expected


def test_one_vote_alone_has_no_flips_and_no_vote_no_certainty():
    assert math.isnan(flips(*votes((1,)))[0])
    counts, levels = votes((NA, NA))
    for found in (stability(counts, levels), *entropies(counts, levels)):
        assert math.isnan(found[0])


def test_effective_votes_are_those_of_the_definitions():
    errors = [[int(digit) for digit in one] for one in ("01001001", "01001010", "01000001")]
    errors.append([1, 1, 0, 0, 1, 0, 0, 0])
    assert error_correlation(errors) == pytest.approx(0.40724973, abs=5e-9)
    assert effective_votes(errors) == pytest.approx(1.80038323, abs=5e-9)
    assert math.isnan(effective_votes(np.zeros((3, 10))))
    assert math.isnan(effective_votes([[0, 1], [1, 0]]))  # one errs wherever the other does not


def test_planted_samples_give_the_stability_of_models_that_were_really_drawn_anew():
    rng = np.random.default_rng(7)
    levels = rng.integers(0, 3, (1, 5)).astype(float)
    counts, _ = votes(levels[0])
    drawn = levels[0][rng.integers(0, 5, (20_000, 5))]
    again = Counter(ensemble_levels(counts_of(drawn[..., None], 3), drawn).tolist())
    level = ensemble_levels(counts, levels)[0]
    assert again[level] / 20_000 == pytest.approx(stability(counts, levels)[0], abs=0.01)
