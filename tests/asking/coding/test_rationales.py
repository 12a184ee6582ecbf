"""What a rationale concludes is read where it says so, and is left unread where it does not."""

import pytest
from cases import cases_of

from delibsim.asking.kinds.audit import concluded
from delibsim.domain.scheme import Dimension, Level

CASES = cases_of(__file__)
REASONS = Dimension(
    "justification",
    "Level of justification",
    "ordinal",
    (
        Level(0, "none", "No reason."),
        Level(1, "inferior", "A weak reason."),
        Level(2, "qualified", "An argument."),
        Level(3, "sophisticated", "Several linked premises."),
    ),
)
KIND = Dimension(
    "kind",
    "Kind",
    "nominal",
    (Level("billing", "billing", "Money."), Level("delivery", "late delivery", "Parcels.")),
)


@pytest.mark.parametrize(("rationale", "level"), CASES["a_level_that_is_concluded_is_read"])
def test_a_level_that_is_concluded_is_read(rationale, level):
    assert concluded(rationale, REASONS) == level


@pytest.mark.parametrize("rationale", CASES["what_is_not_concluded_is_not_read"])
def test_what_is_not_concluded_is_not_read(rationale):
    assert concluded(rationale, REASONS) is None


@pytest.mark.parametrize(
    ("rationale", "level"),
    [
        ("The message belongs to late delivery.", "delivery"),
        ("It fits 'billing', as a refund is asked for.", "billing"),
        ("It is not about billing.", None),
        ("Billing is mentioned.", None),
    ],
)
def test_names_of_a_nominal_dimension_are_read_alike(rationale, level):
    assert concluded(rationale, KIND) == level


def test_a_long_rationale_is_read_in_little_time():
    assert concluded("it meets the the the " * 10_000 + "level 2.", REASONS) is None
    assert concluded("level 2 " * 10_000, REASONS) is None
    assert concluded("It meets level 1. " * 5_000, REASONS) == 1
