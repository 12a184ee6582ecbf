"""Schemes: what no coder could apply is refused, and the digest is that of every word."""

from dataclasses import replace

import pytest

from delibsim.domain.scheme import Dimension, Example, Level, Scheme

LEVELS = (Level(0, "none", "No reason."), Level(1, "some", "A reason."))
REASONS = Dimension("reasons", "Reasons", "ordinal", LEVELS)
PLAIN = Scheme("plain", "Plain", "own", "1", (REASONS,))


def test_what_is_asked_is_fixed_by_every_word_of_the_scheme():
    reworded = replace(REASONS, levels=(LEVELS[0], replace(LEVELS[1], anchor="Any reason.")))
    assert PLAIN.sha256 == replace(PLAIN).sha256
    assert PLAIN.sha256 != replace(PLAIN, dimensions=(reworded,)).sha256
    assert PLAIN.dimension("reasons") is REASONS
    with pytest.raises(KeyError, match="no dimension logic"):
        PLAIN.dimension("logic")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"id": "Reasons"}, "cannot be an id"),
        ({"levels": LEVELS[:1]}, "two levels at least"),
        ({"levels": (LEVELS[0], LEVELS[0])}, "one value"),
        ({"levels": (LEVELS[0], Level(2, "two", "Two."))}, "consecutive"),
        ({"levels": (LEVELS[1], LEVELS[0])}, "the lowest first"),
        ({"levels": (LEVELS[0], Level("1", "one", "One."))}, "numbers"),
        ({"levels": (LEVELS[0], Level(True, "one", "One."))}, "numbers"),
        ({"scale": "nominal"}, "names"),
        ({"levels": (LEVELS[0], Level(1, "one", " "))}, "no anchor"),
        ({"examples": (Example("We must.", 2),)}, "level 2, which is none"),
    ],
)
def test_a_dimension_that_nobody_could_code_is_refused(changed, fault):
    with pytest.raises(ValueError, match=fault):
        replace(REASONS, **changed)


def test_a_scheme_has_dimensions_of_different_ids():
    with pytest.raises(ValueError, match="no dimension"):
        replace(PLAIN, dimensions=())
    with pytest.raises(ValueError, match="one id"):
        replace(PLAIN, dimensions=(REASONS, REASONS))


def test_interval_levels_need_not_be_neighbours():
    tens = (Level(0, "none", "None."), Level(2.5, "some", "Some."), Level(10, "all", "All."))
    assert replace(REASONS, scale="interval", levels=tens).values == (0, 2.5, 10)
