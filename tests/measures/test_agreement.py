"""Agreement, opinion change and rank stability against R and scipy, and in their properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from delibsim.measures.agreement import (
    agreement,
    opinion_change,
    rank_stability,
    why_opinion_change_undefined,
    why_rank_stability_undefined,
    why_undefined,
)

pytestmark = pytest.mark.filterwarnings("error")

RATINGS = [[1.0, 2, 3], [3.0, 1, 2], [2.0, 2, 1]]
NONE = np.ones((0, 3))


@st.composite
def two_phases(draw):
    """Ratings of one group before and after."""
    shape = draw(st.integers(0, 5)), draw(st.integers(1, 6))
    ratings = arrays(float, shape, elements=st.integers(1, 5).map(float) | st.just(np.nan))
    return draw(ratings), draw(ratings)


def test_equal_to_r(reference):
    for group in reference["groups"]:
        pre, post = group["pre"], group["post"]
        for phase in (pre, post):
            assert agreement(phase["considerations"]) == pytest.approx(
                phase["consideration_agreement"], abs=1e-12
            )
            assert agreement(phase["preferences"]) == pytest.approx(
                phase["preference_agreement"], abs=1e-12
            )
        assert opinion_change(pre["considerations"], post["considerations"]) == pytest.approx(
            group["opinion_change_c"], abs=1e-12
        )
        assert opinion_change(pre["preferences"], post["preferences"]) == pytest.approx(
            group["opinion_change_p"], abs=1e-12
        )
        assert rank_stability(pre["preferences"], post["preferences"]) == pytest.approx(
            group["rank_stability"], abs=1e-12
        )
        assert rank_stability(pre["considerations"], post["considerations"]) == pytest.approx(
            group["consideration_stability"], abs=1e-12
        )


def test_kendall_with_ties_equals_r_and_scipy(reference):
    for vectors in reference["vectors"]:
        assert rank_stability([vectors["x"]], [vectors["y"]]) == pytest.approx(
            vectors["kendall"], abs=1e-12
        )
    rng = np.random.default_rng(2)
    pre, post = rng.integers(1, 6, (2, 20, 9)).astype(float)
    expected = np.mean(
        [kendalltau(before, after).statistic for before, after in zip(pre, post, strict=True)]
    )
    assert rank_stability(pre, post) == pytest.approx(expected, abs=1e-12)


def test_every_human_survey_equals_r(human, human_reference):
    for survey, phases in human.items():
        for phase, (considerations, preferences) in phases.items():
            expected = human_reference[survey][phase]
            assert agreement(considerations) == pytest.approx(
                expected["consideration_agreement"], abs=1e-12
            )
            assert agreement(preferences) == pytest.approx(
                expected["preference_agreement"], abs=1e-12
            )


def test_published_gains_over_the_sixteen_cases(human_cases, twelve):
    cases = [phases for (survey, _), phases in human_cases.items() if survey in twelve]
    assert len(cases) == 16
    for kind, gain in enumerate((0.077, 0.104)):
        assert (
            round(
                np.mean(
                    [
                        agreement(phases["post"][kind]) - agreement(phases["pre"][kind])
                        for phases in cases
                    ]
                ),
                3,
            )
            == gain
        )


@given(two_phases(), st.randoms(use_true_random=False))
def test_bounds_or_a_reason_and_order_does_not_matter(phases, random):
    pre, post = phases
    people, items = (random.sample(range(size), size) for size in pre.shape)
    shuffled = pre[people][:, items], post[people][:, items]
    for measure, why, least, most in (
        (lambda before, _: agreement(before), lambda before, _: why_undefined(before), -1, 1),
        (opinion_change, why_opinion_change_undefined, 0, 4),
        (rank_stability, why_rank_stability_undefined, -1, 1),
    ):
        value, reason = measure(pre, post), why(pre, post)
        assert isinstance(value, float)
        assert np.isnan(value) == (reason != "")
        assert reason or least - 1e-12 <= value <= most
        assert np.allclose(measure(*shuffled), value, rtol=0, atol=1e-12, equal_nan=True)
        assert np.allclose(measure(6 - pre, 6 - post), value, rtol=0, atol=1e-12, equal_nan=True)


def test_one_item_reversed_for_everybody_leaves_change_but_not_agreement():
    pre, post = (
        np.array([[5.0, 1, 3, 2], [4.0, 1, 3, 2]]),
        np.array([[5.0, 2, 3, 2], [1.0, 2, 3, 4]]),
    )
    reversed_pre, reversed_post = pre.copy(), post.copy()
    reversed_pre[:, 0], reversed_post[:, 0] = 6 - pre[:, 0], 6 - post[:, 0]
    assert opinion_change(reversed_pre, reversed_post) == opinion_change(pre, post)
    assert agreement(pre) == 1
    assert agreement(reversed_pre) == pytest.approx(3.75 / 4.5)


def test_many_groups_equal_one_at_a_time(random_groups):
    pre, post = random_groups(1)[0], random_groups(2)[0]
    pre[0, 1, 2, 3] = np.nan
    post[1, 0, 4] = 2
    for measure in (lambda before, _: agreement(before), opinion_change, rank_stability):
        together = measure(pre, post)
        assert together.shape == (3, 2)
        for batch in np.ndindex(3, 2):
            np.testing.assert_array_equal(together[batch], measure(pre[batch], post[batch]))
    assert np.isnan(opinion_change(pre, post)).sum() == 1
    assert np.isnan(rank_stability(pre, post)).sum() == 2


def test_same_answers_are_full_agreement_no_change_and_full_stability(random_groups):
    ratings, _ = random_groups(3)
    assert (agreement(np.repeat(ratings[..., :1, :], 4, axis=-2)) == 1).all()
    assert (opinion_change(ratings, ratings) == 0).all()
    assert (rank_stability(ratings, ratings) == 1).all()
    assert (rank_stability(ratings, -ratings) == -1).all()


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
    assert why_undefined(ratings) == why
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


def test_wrong_shapes_are_errors():
    for measure in (
        opinion_change,
        rank_stability,
        why_opinion_change_undefined,
        why_rank_stability_undefined,
    ):
        with pytest.raises(ValueError, match="not the same participants and items"):
            measure(RATINGS, RATINGS[:2])
    with pytest.raises(ValueError, match="one group"):
        why_undefined([RATINGS])
