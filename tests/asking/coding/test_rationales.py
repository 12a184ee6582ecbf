"""What a rationale concludes is read where it says so, and is left unread where it does not."""

import pytest

from delibsim.asking.kinds.rationale_rules import concluded
from delibsim.domain.scheme import Dimension, Level

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


@pytest.mark.parametrize(
    ("rationale", "level"),
    [
        ("The text meets level 2.", 2),
        ("It satisfies the anchor for level 2, because a premise is named.", 2),
        ("One premise carries the claim. The speech therefore scores 2.", 2),
        ("A claim stands alone, which fits level 0.", 0),
        ("It aligns with the anchor 'qualified'.", 2),
        ("This corresponds to the “inferior” level.", 1),
        ("justification = 3", 3),
        ("Score: 1", 1),
        ("The level is 2 (qualified).", 2),
        ("Level 2 is satisfied.", 2),
        ("Level 1 applies here.", 1),
        ("The reasoning reaches level two.", 2),
        ("I assign a score of 3 here.", 3),
        # A neighbouring level that is named in order to reject it.
        ("It meets level 1, not level 2.", 1),
        ("It does not meet level 3, so it fits level 2.", 2),
        ("Level 3 would require several premises; the text meets level 2.", 2),
        ("The text meets level 2 rather than level 3.", 2),
        ("Rather than level 3, it fits level 2.", 2),
        ("It is more than a bare claim (level 0) but falls short of level 2, so it meets level 1.", 1),
        ("It goes beyond level 1 and satisfies level 2. To reach level 3 links are needed.", 2),
        ("The text meets level 2. It would meet level 3 if the links were spelled out.", 2),
        ("It fits level 2. Level 3 is not satisfied.", 2),
        ("It scores 1; it fails to meet level 2.", 1),
        # The last one counts.
        ("At first sight it fits level 1. On a second reading it fits level 2.", 2),
        ("It meets level 2, as no premise is missing.", 2),
    ],
)  # fmt: skip
def test_a_level_that_is_concluded_is_read(rationale, level):
    assert concluded(rationale, REASONS) == level


@pytest.mark.parametrize(
    "rationale",
    [
        "",
        "Several premises are named and linked.",
        "The text does not meet level 2.",
        "It fails to satisfy level 2.",
        "It cannot be said to meet level 3.",
        "To meet level 3, the links would have to be spelled out.",
        "It would meet level 3 if the links were spelled out.",
        "It might fit level 2.",
        "Does it meet level 2?",
        "It falls short of level 2.",
        "It stays below level 2.",
        "The argument is almost level 3.",
        "Level 3 is not reached.",
        "The text meets 2 criteria.",
        "The speaker gives 3 examples.",
        "It fits level 1 or 2.",
        "It scores between 1 and 2.",
        "It scores 2.5.",
        "It scores 2/3.",
        "The tone is qualified and the claim inferior.",
        "None of the reasons is linked.",
        'The speaker says "this scores 3".',
        "The speaker says “my text meets level 3”.",
        "Level 2 was considered.",
        "It isn't level 2.",
        "It meets neither level 2 nor level 3.",
    ],
)
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
