"""Agreement of labels: values of other programs, and shares counted by hand."""

import numpy as np
import pytest

from delibsim.measures.reliability.ratings import agreement_of_labels

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
