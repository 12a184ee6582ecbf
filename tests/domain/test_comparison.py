"""Pairs, sheets, votes and designs: what they are, and what is refused."""

from typing import Any

import pytest

from delibsim.domain.comparison import Design, Pair, Sheet, Vote
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import Reason

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
    assert Vote(SHEET, "judge", "logical", None, reason=Reason("refusal")).winner is None


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Pair("t", "t"), "paired with itself"),
        (lambda: Sheet("t", "t"), "paired with itself"),
        (lambda: Vote(SHEET, "judge", "logical", WRONG), "an outcome is a, b or tie"),
        (lambda: Vote(SHEET, "judge", "logical", None), "a reason why it is missing"),
        (lambda: Vote(SHEET, "judge", "logical", "a", reason=Reason("refusal")), "either"),
        (lambda: Design(WRONG), "there are: all, ring"),
        (lambda: Design("ring"), "needs neighbours"),
        (lambda: Design("all", size=4), "has no size"),
        (lambda: Design("all", order=WRONG), "there are: one, both"),
        (lambda: Design("all", runs=0), "at least once"),
        (lambda: Design("adaptive", pairs=10, probe=2), "0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(make, fault):
    with pytest.raises(WrongInput, match=fault):
        make()


def test_designs_that_can_be():
    for design in (
        Design("all"),
        Design("ring", neighbours=4),
        Design(size=8),
        Design("random", pairs=9),
    ):
        assert design.order == "one"
