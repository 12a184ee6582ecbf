"""Schemes: what no coder could apply is refused, and the digest is that of every word. Codes and
samples: a level, or a reason why there is none. Pairs, sheets, votes and designs: what they
are, and what is refused.
"""

from dataclasses import replace
from typing import Any

import pytest

from delibsim.domain.coding import Code, Sample
from delibsim.domain.comparison import Pair, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason
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


REFUSED = Reason("refusal", "the model declined")


def test_a_sample_has_a_level_or_a_reason():
    assert Sample("t1", "h", "reasons", "m", 1, 0).level == 0
    assert Sample("t1", "h", "reasons", "m", 1, None, missing=REFUSED).missing == REFUSED
    for level, missing in ((None, None), (0, REFUSED)):
        with pytest.raises(ValueError, match="t1, reasons, m 1"):
            Sample("t1", "h", "reasons", "m", 1, level, missing=missing)


def test_a_code_has_a_level_or_a_reason():
    assert Code("t1", "reasons", "Ann", "human", 2).missing is None
    for level, missing in ((None, None), (0, REFUSED)):
        with pytest.raises(ValueError, match="t1, reasons, Ann"):
            Code("t1", "reasons", "Ann", "human", level, missing)


SHEET = Sheet("t2", "t1", "topic")
WRONG: Any = "A"


def test_a_pair_has_no_order_and_a_sheet_has_one():
    assert SHEET.pair == SHEET.turned.pair == Pair("t1", "t2", "topic")
    assert SHEET.turned != SHEET
    assert (SHEET.pair.one, SHEET.pair.other) == ("t1", "t2")
    assert Pair("t1", "t2", "other") != SHEET.pair


def test_the_winner_of_a_vote():
    winners = [Vote(SHEET, "judge", "logical", outcome).winner for outcome in ("a", "b", "tie")]
    assert winners == ["t2", "t1", None]
    assert Vote(SHEET, "judge", "logical", None, missing=Reason("refusal")).winner is None


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Pair("t", "t"), "paired with itself"),
        (lambda: Sheet("t", "t"), "paired with itself"),
        (lambda: Vote(SHEET, "judge", "logical", WRONG), "an outcome is a, b or tie"),
        (lambda: Vote(SHEET, "judge", "logical", None), "a reason why it is missing"),
        (lambda: Vote(SHEET, "judge", "logical", "a", missing=Reason("refusal")), "either"),
    ],
)
def test_what_cannot_be_is_refused(make, fault):
    with pytest.raises(WrongInput, match=fault):
        make()
