"""The measures of a group (index, agreement, change, diversity) against R, against the human table,
and in their properties.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist
from scipy.stats import kendalltau, spearmanr

from delibsim.measures import agreement as group_measures
from delibsim.measures.agreement import (
    agreement,
    diversity,
    diversity_range_normalised,
    diversity_standardised,
    opinion_change,
    rank_stability,
    why_diversity_undefined,
    why_opinion_change_undefined,
    why_rank_stability_undefined,
)
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
INDICES = [dri, dri_adjusted]
PHASES = ("pre", "post")
RATINGS, RANKS = [[1.0, 2, 3], [3.0, 1, 2], [2.0, 2, 1]], [[1.0, 2], [2.0, 1], [1.0, 2]]
NONE = np.ones((0, 3))
OF_A_PHASE = {
    "rc": lambda c, p: rank_correlations(c),
    "rp": lambda c, p: rank_correlations(p),
    "dri": dri,
    "dri_adjusted": dri_adjusted,
    "individual": individual_dri,
    "individual_adjusted": lambda c, p: individual_dri(c, p, adjusted=True),
    "consideration_agreement": lambda c, p: agreement(c),
    "preference_agreement": lambda c, p: agreement(p),
    "diversity": lambda c, p: diversity(side_by_side((c, p))),
}
"""Measures of considerations and preferences, by their names in the references."""


@st.composite
def groups(draw, least=0, missing=True):
    """Considerations before, and after, and preferences of one group: small, with ties, often with
    participants who rate everything alike, and some answers `missing`.
    """
    n, items = draw(st.integers(least, 6)), draw(st.integers(1, 8))
    rating = st.integers(1, 7).map(float)
    if missing:
        rating |= st.just(np.nan)
    shapes = (n, items), (n, items), (n, draw(st.integers(2, 5)))
    return [draw(arrays(float, shape, elements=rating)) for shape in shapes]


def side_by_side(phase):
    return np.concatenate(phase, axis=-1)


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def same(first, second):
    return np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True)


# Reference values


def test_measures_of_a_phase_equal_r(reference):
    assert reference["source"].startswith("R version")
    found = [group[phase] for group in reference["groups"] for phase in PHASES]
    for phase in (reference["toy"], *found):
        both = phase["considerations"], phase["preferences"]
        known = OF_A_PHASE.keys() & phase
        assert len(known) >= 6
        for name in known:
            near(OF_A_PHASE[name](*both), phase[name])
    assert all(OF_A_PHASE.keys() - {"diversity"} <= phase.keys() for phase in found)
    assert any(abs(phase["dri"] - phase["dri_adjusted"]) > 0.01 for phase in found)


def test_measures_of_a_group_equal_r(reference):
    for group in reference["groups"]:
        pre, post = group["pre"], group["post"]
        for index, key in ((dri, "relative"), (dri_adjusted, "relative_adjusted")):
            both = (index(one["considerations"], one["preferences"]) for one in (pre, post))
            near(relative_change(*both), group[key])
        for measure, kind, key in (
            (opinion_change, "considerations", "opinion_change_c"),
            (opinion_change, "preferences", "opinion_change_p"),
            (rank_stability, "preferences", "rank_stability"),
            (rank_stability, "considerations", "consideration_stability"),
        ):
            near(measure(pre[kind], post[kind]), group[key])
        answers = side_by_side([pre["considerations"], pre["preferences"]])
        near(diversity(answers), pre["diversity"])
        near(diversity_standardised(answers, answers), group["standardised_own"])
        sample = diversity_standardised(answers, answers, ddof=1)
        near(sample, group["standardised_own_sample"])
        near(diversity_standardised(answers[:3], answers), group["standardised_first_three"])
        scaled = diversity_range_normalised(answers, group["lows"], group["highs"])
        near(scaled, group["range_normalised"])


def test_correlations_with_ties_equal_r_and_scipy(reference):
    for vectors in reference["vectors"]:
        near(rank_correlations([vectors["x"], vectors["y"]])[0, 1], vectors["spearman"])
        near(rank_stability([vectors["x"]], [vectors["y"]]), vectors["kendall"])
    ratings = np.random.default_rng(1).integers(1, 6, (9, 30)).astype(float)
    near(rank_correlations(ratings), spearmanr(ratings, axis=1).statistic)
    pre, post = np.random.default_rng(2).integers(1, 6, (2, 20, 9)).astype(float)
    expected = [kendalltau(*both).statistic for both in zip(pre, post, strict=True)]
    near(rank_stability(pre, post), np.mean(expected))
    answers = np.random.default_rng(3).normal(size=(12, 50))
    near(diversity(answers), pdist(answers).mean())


def test_worked_by_hand():
    # Two people who agree fully on considerations and not at all on preferences: rc 1, rp -1.
    assert dri([[1, 2, 3], [1, 2, 3]], [[1, 2], [2, 1]]) == -3
    assert dri([[1, 2, 3], [2, 4, 6]], [[1, 2], [1, 2]]) == 1
    # rc 0 and rp 0: consistent by noise alone. Plain calls it perfect; adjusted gives weight 0, D =
    # 1 and so 1 - 2 * sqrt(2).
    noise = [[1, 2, 3, 4], [2, 4, 1, 3]]
    assert dri(noise, noise) == 1
    near(dri_adjusted(noise, noise), 1 - 2 * np.sqrt(2))
    # rc = rp = 0.1 (squared rank differences sum to 18): no distance, weight 0.1 / 0.2, so D = 1/2.
    weak = [[1, 2, 3, 4, 5], [1, 4, 5, 3, 2]]
    near(rank_correlations(weak)[0, 1], 0.1)
    near(dri_adjusted(weak, weak), 1 - np.sqrt(2))
    assert diversity([[0, 0], [3, 4]]) == 5
    near(diversity([[0, 0], [3, 4], [0, 0]]), 10 / 3)
    assert diversity_range_normalised([[1, 1], [7, 5]], 1, [7, 5]) == 1
    near(diversity_range_normalised([[1, 1], [7, 1]], [1, 1], [7, 5]), np.sqrt(0.5))
    # z-scores of the first item: -1.2247, 0, 1.2247; of the second the same.
    population = np.array([[1.0, 10], [3.0, 30], [5.0, 50]])
    near(diversity_standardised(population[:2], population), np.sqrt(2 * 1.5))
    near(diversity_standardised(population[:2], population, ddof=1), np.sqrt(2))


# Human data

TABLE = {
    "fnqcj": (11, -0.044, 0.498, 19.437, 16.854),
    "fremantle": (41, 0.211, 0.338, 19.043, 17.378),
    "ccps": (31, 0.532, 0.636, 20.585, 17.719),
    "energy_futures": (29, 0.356, 0.431, 25.204, 23.310),
    "acp": (45, 0.118, 0.019, 23.867, 24.498),
}


def test_human_table(human, twelve):
    for survey, expected in TABLE.items():
        phases = [human[survey][phase] for phase in PHASES]
        values = [measure(*phase) for measure in (dri, OF_A_PHASE["diversity"]) for phase in phases]
        assert (len(phases[0][0]), *(round(value, 3) for value in values)) == expected
    for phase, index, spread in (("pre", 0.301, 18.780), ("post", 0.400, 17.567)):
        own = [human[survey][phase] for survey in twelve]
        assert round(np.mean([dri(*one) for one in own]), 3) == index
        assert round(np.mean([diversity(side_by_side(one)) for one in own]), 3) == spread
    before = [side_by_side(human[survey]["pre"]) for survey in twelve]
    assert sum(map(len, before)) == 407
    standardised = [diversity_standardised(one, one) for one in before]
    assert np.mean(standardised) == pytest.approx(9.5, abs=0.1)  # as the published text says


def test_every_human_survey_equals_r(human, human_reference):
    assert human.keys() == human_reference.keys()
    for survey, phases in human.items():
        for phase, both in phases.items():
            expected, answers = human_reference[survey][phase], side_by_side(both)
            for name in OF_A_PHASE.keys() & expected:
                near(OF_A_PHASE[name](*both), expected[name])
            standardised = expected["diversity_standardised"]
            reason = "constant_item" if standardised is None else ""
            assert why_diversity_undefined(answers, answers) == reason
            found = diversity_standardised(answers, answers)
            near(found, np.nan if standardised is None else standardised)


def test_published_gains_over_the_sixteen_cases(human_cases, twelve):
    cases = [phases for (survey, _), phases in human_cases.items() if survey in twelve]
    assert len(cases) == 16
    for kind, gain in enumerate((0.077, 0.104)):
        gains = [agreement(one["post"][kind]) - agreement(one["pre"][kind]) for one in cases]
        assert round(np.mean(gains), 3) == gain


# Properties

BOUNDED = (
    (lambda c, d, p: dri(c, p), lambda c, d, p: why_undefined(c, p), -3, 1),
    (lambda c, d, p: dri_adjusted(c, p), lambda c, d, p: why_undefined(c, p), -3, 1),
    (lambda c, d, p: agreement(c), lambda c, d, p: group_measures.why_undefined(c), -1, 1),
    (lambda c, d, p: opinion_change(c, d), lambda c, d, p: why_opinion_change_undefined(c, d), 0, 6),
    (lambda c, d, p: rank_stability(c, d), lambda c, d, p: why_rank_stability_undefined(c, d), -1, 1),
    (lambda c, d, p: diversity(c), lambda c, d, p: why_diversity_undefined(c), 0, np.inf),
    (lambda c, d, p: diversity_range_normalised(c, 1, 7), lambda c, d, p: why_diversity_undefined(c), 0, 1),
    (lambda c, d, p: diversity_standardised(c, c), lambda c, d, p: why_diversity_undefined(c, c), 0, np.inf),
)  # fmt: skip
"""Measures of considerations before and after and of preferences, why each is undefined, and its
bounds.
"""


@given(groups(), st.randoms(use_true_random=False))
def test_bounds_or_a_reason_and_order_does_not_matter(group, random):
    before, after, preferences = group
    people, items, options = (
        random.sample(range(size), size) for size in (*before.shape, preferences.shape[1])
    )
    shuffled = before[people][:, items], after[people][:, items], preferences[people][:, options]
    reversed_ = 8 - before, 8 - after, 1 + preferences.shape[1] - preferences
    for measure, why, least, most in BOUNDED:
        value, reason = measure(*group), why(*group)
        assert isinstance(value, float)
        assert np.isnan(value) == (reason != "")
        assert reason or least - 1e-12 <= value <= most + 1e-12
        assert same(measure(*shuffled), value)
        assert same(measure(*reversed_), value)


@given(groups(least=2, missing=False), st.integers(-6, 6), st.integers(1, 3), st.randoms())
def test_what_changes_no_index(group, shift, stretch, random):
    considerations, _, preferences = group
    order = random.sample(range(len(considerations)), len(considerations))
    for adjusted, index in enumerate(INDICES):
        expected = index(considerations, preferences)
        assert same(index(stretch * considerations + shift, preferences), expected)
        individuals = individual_dri(considerations, preferences, adjusted=bool(adjusted))
        assert individuals.shape == (len(considerations),)
        assert same(individuals.mean(), expected)
        again = individual_dri(considerations[order], preferences[order], adjusted=bool(adjusted))
        assert same(again, individuals[order])


def test_many_groups_equal_one_at_a_time(random_groups):
    considerations, preferences = random_groups(3)
    after = random_groups(2)[0]
    considerations[0, 1, 2, 3] = np.nan
    preferences[1, 0, 4] = 2
    after[1, 0, 4] = 2
    population = np.nan_to_num(considerations, nan=1.0).reshape(-1, considerations.shape[-1])
    measures = [measure for measure, _, _, _ in BOUNDED[:-1]]
    measures += [lambda c, d, p, own=own: own(c, p) for own in OF_A_PHASE.values()]
    measures.append(lambda c, d, p: diversity_standardised(c, population))
    group = considerations, after, preferences
    for measure in measures:
        together = measure(*group)
        assert together.shape[:2] == (3, 2)
        assert np.isnan(together).any() or measure in measures[-9:]
        for batch in np.ndindex(3, 2):
            alone = measure(*(part[batch] for part in group))
            np.testing.assert_array_equal(together[batch], alone)
    assert np.isnan(dri(considerations, preferences)).sum() == 2
    assert np.isnan(opinion_change(considerations, after)).sum() == 1
    assert np.isnan(rank_stability(considerations, after)).sum() == 2
    assert np.isnan(diversity(considerations)).sum() == 1
    assert dri(np.ones((0, 5, 4)), np.ones((0, 5, 3))).shape == (0,)


def test_same_answers_are_full_agreement_no_change_and_full_stability(random_groups):
    ratings, _ = random_groups(4, considerations=43)
    turned = rank_correlations(np.concatenate([ratings, 8 - ratings], axis=-2))
    assert (np.diagonal(rank_correlations(ratings), axis1=-2, axis2=-1) == 1).all()
    assert (np.diagonal(turned, 5, axis1=-2, axis2=-1) == -1).all()
    assert (agreement(np.repeat(ratings[..., :1, :], 4, axis=-2)) == 1).all()
    assert (opinion_change(ratings, ratings) == 0).all()
    assert (rank_stability(ratings, ratings) == 1).all()
    assert (rank_stability(ratings, -ratings) == -1).all()


@pytest.mark.parametrize(
    ("pre", "post", "expected"),
    [(0.2, 0.6, 0.5), (0.5, -0.25, -0.5), (0.3, 0.3, 0), (1, 1, np.nan), (-1, -1.5, np.nan),
     (-1, -1, 0), (1, 0, -0.5), (np.nan, 0, np.nan)],
)  # fmt: skip
def test_relative_change(pre, post, expected):
    value = relative_change(pre, post)
    assert isinstance(value, float)
    assert value == pytest.approx(expected, abs=1e-15, nan_ok=True)
    assert same(relative_change([pre, 0.0], [post, 0.5]), [expected, 0.5])


# Undefined stays undefined


@pytest.mark.parametrize(
    ("considerations", "preferences", "why"),
    [
        (RATINGS, RANKS, ""),
        (RATINGS[:2], RANKS[:2], ""),
        (RATINGS[:1], RANKS[:1], "too_few_participants"),
        (NONE, np.ones((0, 2)), "too_few_participants"),
        ([*RATINGS[:2], [np.nan, 2, 1]], RANKS, "missing_answer"),
        (RATINGS, [*RANKS[:2], [1, np.nan]], "missing_answer"),
        ([*RATINGS[:2], [4, 4, 4]], RANKS, "constant_considerations"),
        (RATINGS, [*RANKS[:2], [2, 2]], "constant_preferences"),
        ([*RATINGS[:2], [4, 4, 4]], [*RANKS[:2], [np.nan, 2]], "missing_answer"),
        ([*RATINGS[:2], [4, 4, 4]], [*RANKS[:2], [2, 2]], "constant_considerations"),
        ([[0.1], [0.2]], RANKS[:2], "constant_considerations"),
    ],
)
def test_an_undefined_index_names_its_reason(considerations, preferences, why):
    assert why_undefined(considerations, preferences) == why
    for index in INDICES:
        assert np.isnan(index(considerations, preferences)) == (why != "")
    null = permutation_null(considerations, preferences, permutations=3)
    assert np.isnan([null.observed, null.p, *null.null]).all() == (why != "")
    assert null.null.shape == (3,)


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        (RATINGS, ""),
        (RATINGS[:1], "too_few_participants"),
        (NONE, "too_few_participants"),
        ([*RATINGS, [1, np.nan, 2]], "missing_answer"),
        ([*RATINGS, [1, 1, 1]], "constant_ratings"),
        ([*RATINGS, [1, 1, 1], [np.nan, 1, 1]], "missing_answer"),
    ],
)
def test_undefined_agreement_names_its_reason(ratings, why):
    assert group_measures.why_undefined(ratings) == why
    assert np.isnan(agreement(ratings)) == (why != "")


@pytest.mark.parametrize(
    ("pre", "post", "why_change", "why_stability"),
    [
        (RATINGS, RATINGS, "", ""),
        (RATINGS[:1], RATINGS[:1], "", ""),
        (NONE, NONE, "too_few_participants", "too_few_participants"),
        (RATINGS[:1], [[1, np.nan, 2]], "missing_answer", "missing_answer"),
        ([[1, np.nan, 2]], RATINGS[:1], "missing_answer", "missing_answer"),
        (RATINGS[:2], [RATINGS[0], [3, 3, 3]], "", "constant_ratings"),
        ([[3, 3, 3]], RATINGS[:1], "", "constant_ratings"),
    ],
)
def test_undefined_change_names_its_reason(pre, post, why_change, why_stability):
    assert why_opinion_change_undefined(pre, post) == why_change
    assert why_rank_stability_undefined(pre, post) == why_stability
    assert np.isnan(opinion_change(pre, post)) == (why_change != "")
    assert np.isnan(rank_stability(pre, post)) == (why_stability != "")


@pytest.mark.parametrize(
    ("answers", "population", "why"),
    [
        (RATINGS, None, ""),
        (RATINGS, RATINGS, ""),
        (RATINGS[:1], RATINGS, "too_few_participants"),
        (NONE, RATINGS, "too_few_participants"),
        ([*RATINGS, [1, np.nan, 2]], None, "missing_answer"),
        (RATINGS, [*RATINGS, [1, np.nan, 2]], "missing_answer"),
        (RATINGS, [[0.1, 1, 2], [0.1, 2, 1], [0.1, 1, 1]], "constant_item"),
        (RATINGS, RATINGS[:1], "constant_item"),
        (RATINGS, NONE, "constant_item"),
    ],
)
def test_undefined_diversity_names_its_reason(answers, population, why):
    assert why_diversity_undefined(answers, population) == why
    if population is None:
        assert np.isnan(diversity(answers)) == (why != "")
        return
    for ddof in (0, 1):
        assert np.isnan(diversity_standardised(answers, population, ddof)) == (why != "")


def test_only_the_pairs_of_the_undefined_participant_lack_a_correlation():
    correlations = rank_correlations([*RATINGS, [4, 4, 4]])
    assert np.isnan(correlations[3]).all()
    assert np.isnan(correlations[:, 3]).all()
    assert np.isfinite(correlations[:3, :3]).all()


@pytest.mark.parametrize(
    ("measure", "given", "message"),
    [
        (dri, (RATINGS, RANKS[:2]), "not the same participants"),
        (why_undefined, (RATINGS, RANKS[:1]), "not the same participants"),
        (dri, ([1.0, 2.0], [1.0, 2.0]), "participants, items"),
        (dri, (np.ones((3, 0)), RANKS), "at least one item"),
        (why_undefined, ([RATINGS], [RANKS]), "one group"),
        (permutation_null, ([RATINGS], [RANKS]), "one group"),
        (permutation_null, (RATINGS, RANKS, 0), "permutations"),
        (opinion_change, (RATINGS, RATINGS[:2]), "not the same participants and items"),
        (rank_stability, (RATINGS, RATINGS[:2]), "not the same participants and items"),
        (why_opinion_change_undefined, (RATINGS, RATINGS[:2]), "not the same participants"),
        (why_rank_stability_undefined, (RATINGS, RATINGS[:2]), "not the same participants"),
        (group_measures.why_undefined, ([RATINGS],), "one group"),
        (diversity_standardised, (RATINGS, [[1.0, 2], [2.0, 3]]), "not the same items"),
        (diversity_standardised, (RATINGS, RATINGS, 2), "ddof"),
        (diversity_range_normalised, (RATINGS, 1, [7, 7, 1]), "end above its beginning"),
        (why_diversity_undefined, ([RATINGS],), "one group"),
    ],
)
def test_wrong_shapes_and_scales_are_errors(measure, given, message):
    with pytest.raises(ValueError, match=message):
        measure(*given)
