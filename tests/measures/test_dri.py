"""The Deliberative Reason Index against R, against the human table, and in its properties."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from delibsim.measures.dri import (
    dri,
    dri_adjusted,
    individual_dri,
    permutation_null,
    rank_correlations,
    relative_change,
    why_undefined,
)

pytestmark = pytest.mark.filterwarnings("error")

TWELVE_DIGITS = {"rtol": 1e-12, "atol": 1e-12}
INDICES = [dri, dri_adjusted]


@st.composite
def one_group(draw, least=2):
    """A group's considerations and preferences: small, with ties, and often with participants who
    rate everything alike.
    """
    n = draw(st.integers(least, 6))
    rating = st.integers(1, 7).map(float)
    return draw(arrays(float, (n, draw(st.integers(2, 8))), elements=rating)), draw(
        arrays(float, (n, draw(st.integers(2, 5))), elements=rating)
    )


def same(first, second):
    return np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True)


# Reference values


def phases(reference):
    return [
        reference["toy"],
        *(group[phase] for group in reference["groups"] for phase in ("pre", "post")),
    ]


def test_reference_names_its_source(reference):
    assert reference["source"].startswith("R version")


def test_correlations_and_indices_equal_r(reference):
    for phase in phases(reference):
        both = phase["considerations"], phase["preferences"]
        np.testing.assert_allclose(rank_correlations(both[0]), phase["rc"], **TWELVE_DIGITS)
        np.testing.assert_allclose(rank_correlations(both[1]), phase["rp"], **TWELVE_DIGITS)
        np.testing.assert_allclose(dri(*both), phase["dri"], **TWELVE_DIGITS)
        np.testing.assert_allclose(dri_adjusted(*both), phase["dri_adjusted"], **TWELVE_DIGITS)
        np.testing.assert_allclose(individual_dri(*both), phase["individual"], **TWELVE_DIGITS)
        np.testing.assert_allclose(
            individual_dri(*both, adjusted=True), phase["individual_adjusted"], **TWELVE_DIGITS
        )


def test_the_reference_tells_the_two_indices_apart(reference):
    assert any(abs(phase["dri"] - phase["dri_adjusted"]) > 0.01 for phase in phases(reference))


def test_relative_change_equals_r(reference):
    for group in reference["groups"]:
        for index, key in ((dri, "relative"), (dri_adjusted, "relative_adjusted")):
            pre, post = (
                index(group[phase]["considerations"], group[phase]["preferences"])
                for phase in ("pre", "post")
            )
            np.testing.assert_allclose(relative_change(pre, post), group[key], **TWELVE_DIGITS)


def test_spearman_with_ties_equals_r_and_scipy(reference):
    for vectors in reference["vectors"]:
        ours = rank_correlations([vectors["x"], vectors["y"]])[0, 1]
        assert ours == pytest.approx(vectors["spearman"], abs=1e-12)
    rng = np.random.default_rng(1)
    ratings = rng.integers(1, 6, (9, 30)).astype(float)
    np.testing.assert_allclose(
        rank_correlations(ratings), spearmanr(ratings, axis=1).statistic, **TWELVE_DIGITS
    )


def test_worked_by_hand():
    # Two people who agree fully on considerations and not at all on preferences: rc 1, rp -1.
    assert dri([[1, 2, 3], [1, 2, 3]], [[1, 2], [2, 1]]) == -3
    assert dri([[1, 2, 3], [2, 4, 6]], [[1, 2], [1, 2]]) == 1
    # rc 0 and rp 0: consistent by noise alone. Plain calls it perfect; adjusted gives weight 0, D =
    # 1 and so 1 - 2 * sqrt(2).
    noise = [[1, 2, 3, 4], [2, 4, 1, 3]]
    assert dri(noise, noise) == 1
    assert dri_adjusted(noise, noise) == pytest.approx(1 - 2 * np.sqrt(2), abs=1e-12)
    # rc = rp = 0.1 (squared rank differences sum to 18): no distance, weight 0.1 / 0.2, so D = 1/2.
    weak = [[1, 2, 3, 4, 5], [1, 4, 5, 3, 2]]
    assert rank_correlations(weak)[0, 1] == pytest.approx(0.1)
    assert dri_adjusted(weak, weak) == pytest.approx(1 - np.sqrt(2), abs=1e-12)


# Human data

TABLE = {
    "fnqcj": (11, -0.044, 0.498),
    "fremantle": (41, 0.211, 0.338),
    "ccps": (31, 0.532, 0.636),
    "energy_futures": (29, 0.356, 0.431),
    "acp": (45, 0.118, 0.019),
}


def test_human_table(human, twelve):
    for survey, (n, pre, post) in TABLE.items():
        assert len(human[survey]["pre"][0]) == n
        assert round(dri(*human[survey]["pre"]), 3) == pre
        assert round(dri(*human[survey]["post"]), 3) == post
    assert round(np.mean([dri(*human[survey]["pre"]) for survey in twelve]), 3) == 0.301
    assert round(np.mean([dri(*human[survey]["post"]) for survey in twelve]), 3) == 0.400
    assert sum(len(human[survey]["pre"][0]) for survey in twelve) == 407


def test_every_human_survey_equals_r(human, human_reference):
    assert human.keys() == human_reference.keys()
    for survey, phase in itertools.product(human, ("pre", "post")):
        expected = human_reference[survey][phase]
        np.testing.assert_allclose(dri(*human[survey][phase]), expected["dri"], **TWELVE_DIGITS)
        np.testing.assert_allclose(
            dri_adjusted(*human[survey][phase]), expected["dri_adjusted"], **TWELVE_DIGITS
        )


# Properties


@given(one_group(), st.randoms(use_true_random=False))
def test_order_of_participants_and_items_does_not_matter(group, random):
    considerations, preferences = group
    order, c, p = (
        random.sample(range(size), size)
        for size in (len(considerations), considerations.shape[1], preferences.shape[1])
    )
    for index in INDICES:
        assert same(
            index(considerations[order][:, c], preferences[order][:, p]),
            index(considerations, preferences),
        )
    assert same(
        individual_dri(considerations[order], preferences[order]),
        individual_dri(considerations, preferences)[order],
    )


@given(one_group(), st.integers(-6, 6), st.integers(1, 3))
def test_shifting_stretching_or_reversing_the_whole_scale_changes_nothing(group, shift, stretch):
    considerations, preferences = group
    for index in INDICES:
        expected = index(considerations, preferences)
        assert same(index(stretch * considerations + shift, preferences), expected)
        assert same(index(8 - considerations, preferences), expected)
        assert same(index(considerations, 1 + preferences.shape[1] - preferences), expected)


def test_reversing_or_shifting_one_item_for_everybody_does_change_the_index():
    # Correlations run between participants across items, so the coding of a single item matters: it
    # must be that of the instrument.
    considerations = np.array([[7.0, 1, 4, 2], [6.0, 2, 5, 1], [1.0, 7, 3, 6]])
    preferences = np.array([[1.0, 2, 3], [2.0, 1, 3], [3.0, 2, 1]])
    reversed_item, shifted_item = considerations.copy(), considerations.copy()
    reversed_item[:, 0] = 8 - reversed_item[:, 0]
    shifted_item[:, 0] -= 4
    for index in INDICES:
        expected = index(considerations, preferences)
        assert abs(index(reversed_item, preferences) - expected) > 0.05
        assert abs(index(shifted_item, preferences) - expected) > 0.05


@given(one_group(least=0))
def test_bounds_or_a_reason(group):
    why = why_undefined(*group)
    for index in INDICES:
        value = index(*group)
        assert isinstance(value, float)
        assert np.isnan(value) == (why != "")
        assert why or -3 - 1e-12 <= value <= 1 + 1e-12


@given(one_group(least=0))
def test_mean_of_individuals_is_the_group(group):
    for adjusted, index in enumerate(INDICES):
        individuals = individual_dri(*group, adjusted=bool(adjusted))
        assert individuals.shape == (len(group[0]),)
        if len(individuals):
            assert same(individuals.mean(), index(*group))


def test_many_groups_equal_one_at_a_time(random_groups):
    considerations, preferences = random_groups(3)
    considerations[0, 1, 2, 3] = np.nan
    preferences[1, 0, 4] = 2
    measures = [
        *INDICES,
        individual_dri,
        lambda c, p: individual_dri(c, p, adjusted=True),
        lambda c, _: rank_correlations(c),
    ]
    for measure in measures:
        together = measure(considerations, preferences)
        for batch in np.ndindex(3, 2):
            np.testing.assert_array_equal(
                together[batch], measure(considerations[batch], preferences[batch])
            )
    assert np.isnan(dri(considerations, preferences)).sum() == 2


def test_no_groups_give_no_values():
    assert dri(np.ones((0, 5, 4)), np.ones((0, 5, 3))).shape == (0,)


def test_equal_orders_correlate_at_exactly_one(random_groups):
    ratings, _ = random_groups(4, considerations=43)
    assert (np.diagonal(rank_correlations(ratings), axis1=-2, axis2=-1) == 1).all()
    assert (
        np.diagonal(
            rank_correlations(np.concatenate([ratings, 8 - ratings], axis=-2)),
            5,
            axis1=-2,
            axis2=-1,
        )
        == -1
    ).all()


@pytest.mark.parametrize(
    ("pre", "post", "expected"),
    [
        (0.2, 0.6, 0.5),
        (0.5, -0.25, -0.5),
        (0.3, 0.3, 0),
        (1, 1, np.nan),
        (-1, -1.5, np.nan),
        (-1, -1, 0),
        (1, 0, -0.5),
        (np.nan, 0, np.nan),
    ],
)
def test_relative_change(pre, post, expected):
    value = relative_change(pre, post)
    assert isinstance(value, float)
    assert value == pytest.approx(expected, abs=1e-15, nan_ok=True)
    assert same(relative_change([pre, 0.0], [post, 0.5]), [expected, 0.5])


# Undefined stays undefined

RATINGS, RANKS = [[1.0, 2, 3], [3.0, 1, 2], [2.0, 2, 1]], [[1.0, 2], [2.0, 1], [1.0, 2]]


@pytest.mark.parametrize(
    ("considerations", "preferences", "why"),
    [
        (RATINGS, RANKS, ""),
        (RATINGS[:2], RANKS[:2], ""),
        (RATINGS[:1], RANKS[:1], "too_few_participants"),
        (np.ones((0, 3)), np.ones((0, 2)), "too_few_participants"),
        ([*RATINGS[:2], [np.nan, 2, 1]], RANKS, "missing_answer"),
        (RATINGS, [*RANKS[:2], [1, np.nan]], "missing_answer"),
        ([*RATINGS[:2], [4, 4, 4]], RANKS, "constant_considerations"),
        (RATINGS, [*RANKS[:2], [2, 2]], "constant_preferences"),
        ([*RATINGS[:2], [4, 4, 4]], [*RANKS[:2], [np.nan, 2]], "missing_answer"),
        ([*RATINGS[:2], [4, 4, 4]], [*RANKS[:2], [2, 2]], "constant_considerations"),
        ([[0.1], [0.2]], RANKS[:2], "constant_considerations"),
    ],
)
def test_undefined_is_nan_with_its_reason(considerations, preferences, why):
    assert why_undefined(considerations, preferences) == why
    for index in INDICES:
        assert np.isnan(index(considerations, preferences)) == (why != "")
    null = permutation_null(considerations, preferences, permutations=3)
    assert np.isnan([null.observed, null.p, *null.null]).all() == (why != "")
    assert null.null.shape == (3,)


def test_only_the_pairs_of_the_undefined_participant_lack_a_correlation():
    correlations = rank_correlations([*RATINGS, [4, 4, 4]])
    assert np.isnan(correlations[3]).all()
    assert np.isnan(correlations[:, 3]).all()
    assert np.isfinite(correlations[:3, :3]).all()


def test_wrong_shapes_are_errors():
    with pytest.raises(ValueError, match="not the same participants"):
        dri(RATINGS, RANKS[:2])
    with pytest.raises(ValueError, match="not the same participants"):
        why_undefined(RATINGS, RANKS[:1])
    with pytest.raises(ValueError, match="participants, items"):
        dri([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="at least one item"):
        dri(np.ones((3, 0)), RANKS)
    with pytest.raises(ValueError, match="one group"):
        why_undefined([RATINGS], [RANKS])
    with pytest.raises(ValueError, match="one group"):
        permutation_null([RATINGS], [RANKS])
    with pytest.raises(ValueError, match="permutations"):
        permutation_null(RATINGS, RANKS, permutations=0)


# Permutation null


@pytest.mark.parametrize("adjusted", [False, True])
def test_null_has_the_values_and_shares_of_all_shuffles(reference, adjusted):
    toy = reference["toy"]
    every = np.array(toy["every_shuffle_adjusted" if adjusted else "every_shuffle"])
    drawn = permutation_null(
        toy["considerations"], toy["preferences"], permutations=24_000, seed=5, adjusted=adjusted
    )
    assert drawn.observed == pytest.approx(toy["dri_adjusted" if adjusted else "dri"], abs=1e-12)
    assert drawn.p == pytest.approx(toy["p_adjusted" if adjusted else "p"], abs=0.015)
    for value in every:
        share = np.mean(np.isclose(every, value, atol=1e-9))
        assert np.mean(np.isclose(drawn.null, value, atol=1e-9)) == pytest.approx(share, abs=0.015)
    assert np.isclose(drawn.null[:, None], every, atol=1e-9).any(axis=1).all()


@pytest.mark.parametrize("adjusted", [False, True])
def test_null_of_a_large_group_is_that_of_a_plain_loop(random_groups, adjusted):
    considerations, preferences = random_groups(7, batch=(), n=40, considerations=20, preferences=7)
    null = permutation_null(
        considerations, preferences, permutations=4_000, seed=2, adjusted=adjusted
    ).null
    index = INDICES[adjusted]
    rng = np.random.default_rng(0)
    plain_loop = [index(considerations, preferences[rng.permutation(40)]) for _ in range(400)]
    error = np.hypot(np.std(plain_loop) / 20, np.std(null) / np.sqrt(4_000))
    assert abs(np.mean(null) - np.mean(plain_loop)) < 4 * error
    assert np.std(null) == pytest.approx(np.std(plain_loop), rel=0.2)


@given(one_group(), st.booleans(), st.integers(0, 2**32))
def test_p_is_a_share_and_seeds_reproduce(group, adjusted, seed):
    first, again = (
        permutation_null(*group, permutations=30, seed=seed, adjusted=adjusted) for _ in range(2)
    )
    np.testing.assert_array_equal(first.null, again.null)
    if why_undefined(*group):
        assert np.isnan(first.p)
    else:
        assert 0 <= first.p <= 1
        assert first.p == again.p == np.mean(first.null >= first.observed - 1e-10)


def test_seeds_differ_and_more_permutations_extend_fewer(random_groups):
    group = random_groups(8, batch=(), n=60)
    long = permutation_null(*group, permutations=2_500, seed=3).null
    np.testing.assert_array_equal(
        permutation_null(*group, permutations=100, seed=3).null, long[:100]
    )
    assert not np.array_equal(permutation_null(*group, permutations=100, seed=4).null, long[:100])


def test_a_pair_always_ties_with_itself(random_groups):
    assert permutation_null(*random_groups(9, batch=(), n=2), permutations=50).p == 1


def test_consistent_humans_beat_their_null(human):
    result = permutation_null(*human["ccps"]["post"], permutations=1_000, seed=1)
    assert result.p < 0.05
    assert result.observed == pytest.approx(dri(*human["ccps"]["post"]), abs=1e-12)
