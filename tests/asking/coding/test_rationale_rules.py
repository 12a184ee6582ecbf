"""What a rationale concludes is read where it says so, and is left unread where it does not."""

import pytest
from cases import cases_of

from delibsim.asking.kinds.audit import (
    concluded,
    entry_texts,
    is_of_reasons,
    is_unstable,
    misquoted,
    proposed_kind,
    quotations,
)
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


TEXT = "We can’t wait: trees cool the street in summer, and shade is free — for everyone."


@pytest.mark.parametrize("rationale", CASES["what_stands_in_the_text_is_no_misquotation"])
def test_what_stands_in_the_text_is_no_misquotation(rationale):
    assert misquoted(rationale, TEXT) == []


@pytest.mark.parametrize(
    ("rationale", "made_up"),
    [
        ("It says “trees cost money”.", ["trees cost money"]),
        ("It says “shade is free ... trees cool”.", ["shade is free ... trees cool"]),
        ("It says 'rees cool the stree' twice.", ["rees cool the stree"]),
        ('It says "trees cool the street" and "it\'s late".', ["it's late"]),
    ],
)
def test_words_that_are_not_in_the_text_are_named(rationale, made_up):
    assert misquoted(rationale, TEXT) == made_up


def test_anchors_and_context_may_be_quoted():
    levels = (Level(0, "none", "A claim stands alone."), Level(1, "some", "A reason is given."))
    dimension = Dimension("d", "D", "ordinal", levels, brief="How far it is backed.")
    rationale = "It meets “a reason is given” and answers “I hate trees”, as “how far it is” says."
    also = [*entry_texts(dimension), "I hate trees, said the other."]
    assert misquoted(rationale, TEXT, also) == []
    assert misquoted(rationale, TEXT) == quotations(rationale)


def ordinal(id, name, q):
    levels = tuple(Level(k, f"l{k}", f"A{k}.") for k in range(q))
    return Dimension(id, name, "ordinal", levels)


CA = ordinal("counterarguments", "Counterarguments", 3)
LJ = ordinal("justification", "Level of justification", 4)
TOPIC = Dimension("topic", "T", "nominal", (Level("a", "a", "A."), Level("b", "b", "B.")))


@pytest.mark.parametrize(
    ("dimension", "ensemble", "person", "rationale", "unstable", "kind"),
    [
        (CA, 0, 2, "No opposing view is named.", False, "strict"),
        (CA, 0, 2, "It doesn't mention the other side.", True, "strict"),
        (CA, 0, 2, "The other side is there.", False, "other"),
        (CA, 0, 2, "It says “no, never” and there is no doubt about it.", False, "other"),
        (CA, 0, 2, "The other side is there.", True, "unstable"),
        (CA, 0, 1, "No opposing view is named.", False, "acknowledged"),
        (CA, 1, 2, "", True, "acknowledged"),
        (CA, 2, 0, "", False, "over_read"),
        (LJ, 2, 1, "", False, "over_graded"),
        (LJ, 0, 2, "No reason is given.", False, "other"),
        (LJ, 0, 3, "No reason is given.", False, "strict"),
        (TOPIC, "a", "b", "Nothing.", False, "other"),
        (TOPIC, "b", "a", "", True, "unstable"),
    ],
)
def test_a_disagreement_has_one_kind(dimension, ensemble, person, rationale, unstable, kind):
    assert proposed_kind(dimension, ensemble, person, [rationale], unstable) == kind


def test_agreement_has_no_kind():
    with pytest.raises(ValueError, match="no disagreement"):
        proposed_kind(CA, 1, 1, [], False)


def test_a_dimension_of_reasons_is_known_by_its_names():
    assert is_of_reasons(LJ)
    assert is_of_reasons(ordinal("r", "Reasons given", 2))
    assert not is_of_reasons(CA)
    assert not is_of_reasons(ordinal("x", "Counterreasons", 2))


def test_models_are_unstable_that_give_three_levels_or_waver():
    assert is_unstable([0, 1, 2], [[0], [1], [2]])
    assert is_unstable([0, 0], [[0, 0, 1], [0]])
    assert not is_unstable([0, 1], [[0, 0], [1]])
