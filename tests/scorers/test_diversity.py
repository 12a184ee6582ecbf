"""Perspective diversity of runs, worked by hand."""

from math import sqrt

import pytest

from delibsim.scorers.diversity import Diversity

PRE = (((1, 2, 3), (1, 2, 3)), ((1, 3, 2), (2, 3, 1)), ((3, 2, 1), (3, 1, 2)))
POST = (((1, 2, 3), (1, 2, 3)), ((2, 4, 6), (1, 2, 3)), ((2, 3, 4), (1, 2, 3)))


def value(scores, measure, phase, target="hand"):
    (found,) = [
        score
        for score in scores
        if (score.measure, score.phase, score.target) == (measure, phase, target)
    ]
    return found.note or found.value


def test_raw_diversity(by_hand, as_table):
    # pre, squared differences of considerations and ranks: AB 0 1 1, 1 1 4: 8; AC 4 0 4, 4 1 1: 14;
    # BC 4 1 1, 1 4 1: 12. post: AB 1 4 9: 14; AC 1 1 1: 3; BC 0 1 4: 5; ranks are alike.
    found = as_table(Diversity().score([by_hand(PRE, POST)]))
    pre, post = (sqrt(8) + sqrt(14) + sqrt(12)) / 3, (sqrt(14) + sqrt(3) + sqrt(5)) / 3
    assert found["diversity", "pre"] == pytest.approx(pre, abs=1e-12)
    assert found["diversity", "post"] == pytest.approx(post, abs=1e-12)
    assert found["diversity", "change"] == pytest.approx(post - pre, abs=1e-12)


def test_diversity_by_the_range_of_the_format(by_hand, as_table):
    # Ratings run from 1 to 7 (width 6, squared 36), ranks from 1 to 3 (width 2, squared 4); six
    # items. pre: AB 2/36 + 6/4, AC 8/36 + 6/4, BC 6/36 + 6/4; post: AB 14/36, AC 3/36, BC 5/36.
    found = as_table(Diversity().score([by_hand(PRE, POST)]))
    pre = sum(sqrt((c / 36 + 6 / 4) / 6) for c in (2, 8, 6)) / 3
    post = sum(sqrt(c / 36 / 6) for c in (14, 3, 5)) / 3
    assert found["diversity_range_normalised", "pre"] == pytest.approx(pre, abs=1e-12)
    assert found["diversity_range_normalised", "post"] == pytest.approx(post, abs=1e-12)
    assert found["diversity_range_normalised", "change"] == pytest.approx(post - pre, abs=1e-12)


def test_diversity_standardised_over_all_who_answered(by_hand):
    # Alone, the group is its own population. Variances (of the population): C1 1 1 3: 8/9; C2 2 3
    # 2: 2/9; C3 and all ranks 2/3. AB: 0 + 1/(2/9) + 1/(2/3) + 6/(2/3) = 4.5 + 1.5 + 9 = 15; AC:
    # 4/(8/9) + 0 + 4/(2/3) + 9 = 19.5; BC: 4.5 + 4.5 + 1.5 + 9 = 19.5.
    scores = Diversity().score([by_hand(PRE, PRE)])
    assert value(scores, "diversity_standardised", "pre") == pytest.approx(
        (sqrt(15) + 2 * sqrt(19.5)) / 3, abs=1e-12
    )


def test_the_population_is_everybody_with_complete_answers_in_that_survey_and_phase(by_hand):
    # Beside the group, two more runs of the survey: one far away in C1, and one whose first
    # participant left an answer out and is therefore no part of the population.
    alone = by_hand(PRE, PRE)
    far = by_hand(tuple(((7, *c[1:]), p) for c, p in PRE), PRE, id="far")
    holey = by_hand((((None, 2, 3), (1, 2, 3)), *PRE[1:]), PRE, id="holey")

    # The population before: C1 1 1 3 7 7 7 1 3, mean 30/8 = 3.75, squares 168, variance 21 - 225/16
    # = 6.9375. C2 2 3 2 2 3 2 3 2: mean 19/8, squares 47, variance 47/8 - 361/64 = 15/64. C3 3 2 1
    # 3 2 1 2 1: 15/8, squares 33: 39/64. P1 1 2 3 1 2 3 2 3: 17/8, squares 41: 39/64. P2 2 3 1 2 3
    # 1 3 1: 16/8, squares 38: 3/4. P3 3 1 2 3 1 2 1 2: 15/8, squares 33: 39/64.
    def distance(*squares):
        return sqrt(
            sum(
                d / v
                for d, v in zip(
                    squares, (6.9375, 15 / 64, 39 / 64, 39 / 64, 3 / 4, 39 / 64), strict=True
                )
            )
        )

    expected = (
        distance(0, 1, 1, 1, 1, 4) + distance(4, 0, 4, 4, 1, 1) + distance(4, 1, 1, 1, 4, 1)
    ) / 3
    scores = Diversity().score([far, alone, holey])
    assert value(scores, "diversity_standardised", "pre") == pytest.approx(expected, abs=1e-12)
    assert value(scores, "diversity_standardised", "pre", "holey") == "missing_answer"
    # The raw measure knows no population; other surveys are none.
    assert value(scores, "diversity", "pre") == value(
        Diversity().score([alone]), "diversity", "pre"
    )
    apart = Diversity().score([alone, by_hand(POST, POST, id="other", survey="coffee")])
    assert value(apart, "diversity_standardised", "pre") == value(
        Diversity().score([alone]), "diversity_standardised", "pre"
    )


def test_an_item_on_which_all_agree_cannot_be_standardised(by_hand, as_table):
    found = as_table(Diversity().score([by_hand(PRE, POST)]))  # after: all rank alike
    assert found["diversity_standardised", "post"] == "constant_item"
    assert (
        "diversity_standardised",
        "change",
    ) not in found  # two populations: their difference would be no change of the group
    assert isinstance(found["diversity_standardised", "pre"], float)


def test_a_missing_answer_leaves_every_measure_of_the_phase_undefined(by_hand, as_table):
    holey = (POST[0], (POST[1][0], (1, None, 3)), POST[2])
    found = as_table(Diversity().score([by_hand(PRE, holey)]))
    assert {value for (_, phase), value in found.items() if phase != "pre"} == {"missing_answer"}
    assert all(isinstance(value, float) for (_, phase), value in found.items() if phase == "pre")


def test_runs_of_two_studies_may_go_by_one_name(by_hand):
    # Two studies with other seeds name their sessions alike; each run keeps its own numbers.
    one, other = by_hand(PRE, PRE), by_hand(POST, POST)
    values = [
        score.value
        for score in Diversity().score([one, other])
        if (score.measure, score.phase) == ("diversity", "pre")
    ]
    alone = [value(Diversity().score([run]), "diversity", "pre") for run in (one, other)]
    assert values == alone
