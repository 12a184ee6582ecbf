"""Quotations are looked for in what the coder was shown; what stands nowhere there is made up."""

import pytest
from cases import cases_of

from delibsim.asking.kinds.audit import entry_texts, misquoted, quotations
from delibsim.domain.scheme import Dimension, Level

CASES = cases_of(__file__)
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
