"""Which random terms a design can tell apart."""

import numpy as np

from delibsim.measures.inference.reml import estimable, independent, term

TOPIC, REPLICATE, TREATMENT = (part.ravel() for part in np.indices((4, 3, 2)))
FIXED = np.column_stack([np.ones(24), TREATMENT]).astype(float)
PAIR = TOPIC * 10 + REPLICATE


def test_terms_that_data_can_tell_apart_are_kept():
    terms = [term("topic", TOPIC), term("pair", PAIR), term("slope", TOPIC, TREATMENT)]
    kept, left_out = estimable(FIXED, terms)
    assert [one.name for one in kept] == ["topic", "pair", "slope"]
    assert left_out == {}


def test_a_term_with_one_level_is_left_out():
    assert estimable(FIXED, [term("model", np.zeros(24))]) == ([], {"model": "one_level"})


def test_a_term_that_repeats_another_or_the_residual_is_left_out():
    again = term("again", TOPIC + 7)
    rows = term("row", np.arange(24))
    kept, left_out = estimable(FIXED, [term("topic", TOPIC), again, rows])
    assert [one.name for one in kept] == ["topic"]
    assert left_out == {"again": "not_identified", "row": "not_identified"}


def test_a_term_within_the_fixed_effects_is_left_out():
    assert estimable(FIXED, [term("treatment", TREATMENT)])[1] == {"treatment": "not_identified"}


def test_columns_without_anything_new_are_not_independent():
    columns = np.column_stack([FIXED, 1 - TREATMENT, np.zeros(24), TOPIC])
    assert independent(columns) == [0, 1, 4]
