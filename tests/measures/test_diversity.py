"""Perspective diversity against R, against the human table, and in its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from delibsim.measures.agreement import (
    diversity,
    diversity_range_normalised,
    diversity_standardised,
    why_diversity_undefined,
)

pytestmark = pytest.mark.filterwarnings("error")

ANSWERS = [[1.0, 2, 3], [3.0, 1, 2], [2.0, 2, 1]]

TABLE = {
    "fnqcj": (19.437, 16.854),
    "fremantle": (19.043, 17.378),
    "ccps": (20.585, 17.719),
    "energy_futures": (25.204, 23.310),
    "acp": (23.867, 24.498),
}


def side_by_side(phase):
    return np.concatenate(phase, axis=-1)


@st.composite
def one_group(draw, least=0):
    """Answers of one group on a scale of 1 to 7, some missing."""
    shape = draw(st.integers(least, 5)), draw(st.integers(1, 6))
    return draw(arrays(float, shape, elements=st.integers(1, 7).map(float) | st.just(np.nan)))


def same(first, second):
    return np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True)


def test_equal_to_r(reference):
    for group in reference["groups"]:
        answers = side_by_side([group["pre"]["considerations"], group["pre"]["preferences"]])
        assert diversity(answers) == pytest.approx(group["pre"]["diversity"], abs=1e-12)
        assert diversity_standardised(answers, answers) == pytest.approx(
            group["standardised_own"], abs=1e-12
        )
        assert diversity_standardised(answers, answers, ddof=1) == pytest.approx(
            group["standardised_own_sample"], abs=1e-12
        )
        assert diversity_standardised(answers[:3], answers) == pytest.approx(
            group["standardised_first_three"], abs=1e-12
        )
        assert diversity_range_normalised(answers, group["lows"], group["highs"]) == pytest.approx(
            group["range_normalised"], abs=1e-12
        )


def test_human_table(human, twelve):
    for survey, expected in TABLE.items():
        assert (
            tuple(
                round(diversity(side_by_side(human[survey][phase])), 3) for phase in ("pre", "post")
            )
            == expected
        )
    assert (
        round(np.mean([diversity(side_by_side(human[survey]["pre"])) for survey in twelve]), 3)
        == 18.780
    )
    assert (
        round(np.mean([diversity(side_by_side(human[survey]["post"])) for survey in twelve]), 3)
        == 17.567
    )


def test_every_human_survey_equals_r(human, human_reference):
    for survey, phases in human.items():
        for phase, answers in phases.items():
            expected, answers = human_reference[survey][phase], side_by_side(answers)
            assert diversity(answers) == pytest.approx(expected["diversity"], abs=1e-12)
            standardised = expected["diversity_standardised"]
            assert why_diversity_undefined(answers, answers) == (
                "constant_item" if standardised is None else ""
            )
            assert diversity_standardised(answers, answers) == pytest.approx(
                np.nan if standardised is None else standardised, abs=1e-12, nan_ok=True
            )


def test_standardised_humans_lie_near_the_published_text(human, twelve):
    standardised = [
        diversity_standardised(
            side_by_side(human[survey]["pre"]), side_by_side(human[survey]["pre"])
        )
        for survey in twelve
    ]
    assert np.mean(standardised) == pytest.approx(9.5, abs=0.1)


def test_worked_by_hand_and_equal_to_scipy():
    assert diversity([[0, 0], [3, 4]]) == 5
    assert diversity([[0, 0], [3, 4], [0, 0]]) == pytest.approx(10 / 3)
    assert diversity_range_normalised([[1, 1], [7, 5]], 1, [7, 5]) == 1
    assert diversity_range_normalised([[1, 1], [7, 1]], [1, 1], [7, 5]) == pytest.approx(
        np.sqrt(0.5)
    )
    rng = np.random.default_rng(3)
    answers = rng.normal(size=(12, 50))
    assert diversity(answers) == pytest.approx(pdist(answers).mean(), abs=1e-12)


def test_standardised_is_measured_against_the_population():
    population = np.array([[1.0, 10], [3.0, 30], [5.0, 50]])
    # z-scores of the first item: -1.2247, 0, 1.2247; of the second the same.
    assert diversity_standardised(population[:2], population) == pytest.approx(np.sqrt(2 * 1.5))
    assert diversity_standardised(population[:2], population, ddof=1) == pytest.approx(np.sqrt(2))


@given(one_group(), st.randoms(use_true_random=False), st.integers(-5, 5))
def test_order_and_the_coding_of_an_item_do_not_matter(answers, random, shift):
    people, items = (random.sample(range(size), size) for size in answers.shape)
    recoded = answers.copy()
    recoded[:, 0] = shift - recoded[:, 0]
    population = np.arange(1.0, 4)[:, None] * np.arange(1.0, answers.shape[1] + 1)
    recoded_population = population.copy()
    recoded_population[:, 0] = shift - recoded_population[:, 0]
    assert same(diversity(answers[people][:, items]), diversity(answers))
    assert same(diversity(recoded), diversity(answers))
    assert same(
        diversity_standardised(recoded, recoded_population),
        diversity_standardised(answers, population),
    )
    assert same(
        diversity_range_normalised(recoded, 1, 7), diversity_range_normalised(answers, 1, 7)
    )


@given(one_group())
def test_bounds_or_a_reason(answers):
    why = why_diversity_undefined(answers)
    for value in (diversity(answers), diversity_range_normalised(answers, 1, 7)):
        assert isinstance(value, float)
        assert np.isnan(value) == (why != "")
        assert why or value >= 0
    assert why or diversity_range_normalised(answers, 1, 7) <= 1 + 1e-12
    assert np.isnan(diversity_standardised(answers, answers)) == (
        why_diversity_undefined(answers, answers) != ""
    )


@given(one_group(least=2), st.integers(2, 4))
def test_range_normalised_does_not_grow_with_items_or_width(answers, times):
    expected = diversity_range_normalised(answers, 1, 7)
    assert same(diversity_range_normalised(np.tile(answers, times), 1, 7), expected)
    assert same(diversity_range_normalised(answers * times, times, 7 * times), expected)


def test_many_groups_equal_one_at_a_time(random_groups):
    answers = side_by_side(random_groups(5))
    population = answers.reshape(-1, answers.shape[-1]).copy()
    answers[1, 1, 0, 0] = np.nan
    for measure in (
        diversity,
        lambda group: diversity_standardised(group, population),
        lambda group: diversity_range_normalised(group, 1, 7),
    ):
        together = measure(answers)
        assert together.shape == (3, 2)
        assert np.isnan(together).sum() == 1
        for batch in np.ndindex(3, 2):
            np.testing.assert_array_equal(together[batch], measure(answers[batch]))


@pytest.mark.parametrize(
    ("answers", "population", "why"),
    [
        (ANSWERS, None, ""),
        (ANSWERS, ANSWERS, ""),
        (ANSWERS[:1], ANSWERS, "too_few_participants"),
        (np.ones((0, 3)), ANSWERS, "too_few_participants"),
        ([*ANSWERS, [1, np.nan, 2]], None, "missing_answer"),
        (ANSWERS, [*ANSWERS, [1, np.nan, 2]], "missing_answer"),
        (ANSWERS, [[0.1, 1, 2], [0.1, 2, 1], [0.1, 1, 1]], "constant_item"),
        (ANSWERS, ANSWERS[:1], "constant_item"),
        (ANSWERS, np.ones((0, 3)), "constant_item"),
    ],
)
@pytest.mark.parametrize("ddof", [0, 1])
def test_undefined_is_nan_with_its_reason(answers, population, why, ddof):
    assert why_diversity_undefined(answers, population) == why
    value = (
        diversity(answers)
        if population is None
        else diversity_standardised(answers, population, ddof=ddof)
    )
    assert np.isnan(value) == (why != "")


def test_wrong_shapes_and_scales_are_errors():
    with pytest.raises(ValueError, match="not the same items"):
        diversity_standardised(ANSWERS, [[1.0, 2], [2.0, 3]])
    with pytest.raises(ValueError, match="ddof"):
        diversity_standardised(ANSWERS, ANSWERS, ddof=2)
    with pytest.raises(ValueError, match="end above its beginning"):
        diversity_range_normalised(ANSWERS, 1, [7, 7, 1])
    with pytest.raises(ValueError, match="one group"):
        why_diversity_undefined([ANSWERS])
