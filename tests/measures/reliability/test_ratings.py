"""Reliability against pingouin, krippendorff and the worked example of irrCAC
(tests/reference/debate.py made debate.json).
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from delibsim.measures.reliability.ratings import (
    agreement_of_labels,
    cronbach_alpha,
    gwet_ac1,
    krippendorff_alpha,
    krippendorff_alpha_interval,
    majority_agreement,
    raw_agreement,
    variance_inflation,
    why_inconsistent,
    why_undefined,
)

ORACLE = json.loads((Path(__file__).parents[2] / "reference" / "debate.json").read_text())
NA = math.nan
# The data set cac.raw4raters of the R package irrCAC 1.0 (Gwet), with the coefficients its manual
# prints.
FOUR_RATERS = [
    [1, 1, NA, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [NA, 5, 5, 5], [NA, NA, 1, 1], [NA, NA, 3, NA],
]  # fmt: skip


@pytest.mark.parametrize("name", ["winners", "three"])
def test_krippendorff_alpha_is_that_of_the_package_krippendorff(name):
    assert krippendorff_alpha(np.array(ORACLE[name]["ratings"], dtype=float)) == pytest.approx(
        ORACLE[name]["alpha"], abs=1e-12
    )


def test_alpha_of_an_interval_scale_is_that_of_the_package_krippendorff():
    ratings = np.array(ORACLE["interval"]["ratings"], dtype=float)
    expected = ORACLE["interval"]["alpha"]
    assert krippendorff_alpha_interval(ratings) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(krippendorff_alpha_interval([[1, NA], [NA, 2]]))
    assert math.isnan(krippendorff_alpha_interval([[1, 1], [1, 1]]))


def test_the_share_of_the_majority_counts_raters_and_not_pairs():
    four_of_five, three_of_five = [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]
    assert majority_agreement([four_of_five, three_of_five]) == pytest.approx(0.7)
    assert raw_agreement([four_of_five, three_of_five]) == pytest.approx((6 + 3 + 1) / 20)
    assert majority_agreement([[1, 0, NA], [1, NA, NA]]) == 0.5
    assert majority_agreement([[1, 1], [1, 1]]) == 1
    assert math.isnan(majority_agreement([[1, NA], [NA, 0]]))


def test_agreement_of_four_raters_is_what_the_manual_of_irrcac_prints():
    assert krippendorff_alpha(FOUR_RATERS) == pytest.approx(0.74342, abs=5e-6)
    assert gwet_ac1(FOUR_RATERS) == pytest.approx(0.77544, abs=5e-6)
    assert raw_agreement(FOUR_RATERS) == pytest.approx(0.81818, abs=5e-6)


def test_cronbach_is_that_of_pingouin():
    assert cronbach_alpha(ORACLE["cronbach"]["items"]) == pytest.approx(
        ORACLE["cronbach"]["alpha"], abs=1e-12
    )


def test_variance_inflation_is_that_of_statsmodels():
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.8], [0, 0, 1]])
    exog = np.column_stack([np.ones(50), x])
    assert variance_inflation(x) == pytest.approx(
        [variance_inflation_factor(exog, i) for i in (1, 2, 3)]
    )
    assert np.isnan(variance_inflation(np.column_stack([x, x[:, 0] + x[:, 1]]))).all()
    assert np.isnan(variance_inflation(x[:3])).all()


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[1, 1], [1, 1]], "one_category"),
        ([[1, NA], [NA, 0]], "too_few_ratings"),
        ([], "too_few_ratings"),
        ([[1, 1], [0, 1]], ""),
    ],
)
def test_agreement_that_cannot_be_computed_is_nan_with_a_reason(ratings, reason):
    table = np.array(ratings, dtype=float).reshape(-1, 2)
    assert why_undefined(table) == reason
    assert math.isnan(krippendorff_alpha(table)) == bool(reason)
    if reason == "too_few_ratings":
        assert math.isnan(raw_agreement(table))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[5, 5], [5, 5]], "no_variance"),
        ([[1, 2]], "too_few_ratings"),
        ([[1, NA], [2, 3]], "too_few_ratings"),
        ([[1, 2], [2, 3]], ""),
    ],
)
def test_consistency_that_cannot_be_computed_is_nan_with_a_reason(table, reason):
    assert why_inconsistent(table) == reason
    assert math.isnan(cronbach_alpha(table)) == bool(reason)


def test_a_table_has_two_dimensions():
    for measure in (krippendorff_alpha, cronbach_alpha):
        with pytest.raises(ValueError, match="shape"):
            measure([1, 2, 3])


LABEL = {"A": 1, "T": 0, "B": -1}


def labels(text):
    return [LABEL[letter] for letter in text]


def test_three_labels_as_scikit_learn_and_krippendorff_give_them():
    # PAIRS 11 K; alpha of these two from 25 equal and unequal pairs of values by hand.
    found = agreement_of_labels(labels("AABBTTABATBA"), labels("ABBBTATBATAA"))
    assert found.n == 12
    assert found.agreement == pytest.approx(0.666667, abs=1e-6)
    assert found.kappa == pytest.approx(0.489361702128, abs=1e-12)
    # By coincidences: 8 of 24 values disagree, and 24 * 23 - (10 * 9 + 8 * 7 + 6 * 5) by chance.
    assert found.alpha == pytest.approx(1 - 23 * 8 / (24**2 - 10**2 - 8**2 - 6**2), abs=1e-12)


def test_what_one_reaches_who_always_says_the_same():
    found = agreement_of_labels(labels("AABT"), labels("ABBB"))
    assert (found.always_a, found.always_tie) == (0.5, 0.25)
    assert found.chance == pytest.approx(0.5 * 0.25 + 0.25 * 0.75)
    # The margins 2 1 1 and 1 0 3 allow agreement on 1 + 0 + 1 of 4.
    assert found.most == pytest.approx((0.5 - found.chance) / (1 - found.chance))


def test_one_label_and_no_sheet_have_no_kappa():
    same = agreement_of_labels([1, 1], [1, 1])
    assert same.agreement == 1
    assert np.isnan([same.kappa, same.alpha, same.most]).all()
    none = agreement_of_labels([], [])
    assert none.n == 0
    assert np.isnan([none.agreement, none.kappa, none.always_a, none.chance]).all()
    with pytest.raises(ValueError, match="a label is 1"):
        agreement_of_labels([2], [1])
