"""Instruments nobody could answer are refused; the parts of the others are where they should be."""

import pytest

from delibsim.domain.survey import Item, Survey

TWO = (Item("C1", "consideration", "One"), Item("C2", "consideration", "Two"))
OPTIONS = (Item("P1", "preference", "This"), Item("P2", "preference", "That"))


def test_item_ids_used_twice_are_named():
    again = (
        Item("C2", "consideration", "Again"),
        Item("P1", "preference", "Again"),
        Item("C2", "preference", "And again"),
    )
    with pytest.raises(ValueError, match=r"item ids must be unique; used more than once: C2, P1$"):
        Survey("s", TWO + OPTIONS + again)


def test_a_label_that_no_reply_could_be_read_by_is_named():
    with pytest.raises(ValueError, match=r"not 'cost'"):
        Survey("s", (Item("cost", "consideration", "One"), *TWO, *OPTIONS))


@pytest.mark.parametrize("items", [TWO, OPTIONS, TWO[:1] + OPTIONS, TWO + OPTIONS[:1], ()])
def test_less_than_two_of_a_kind_is_refused(items):
    with pytest.raises(ValueError, match="at least two considerations and two preferences"):
        Survey("s", items)


@pytest.mark.parametrize(
    "forced",
    [(1, 2, 0), (0, 1, 0), (1, 1), (1, 0, 0, 1), (), (3, 0, -1)],
    ids=[
        "too many",
        "too few",
        "a value without count",
        "a count without value",
        "empty",
        "negative",
    ],
)
def test_a_forced_distribution_that_does_not_add_up_is_refused(forced):
    with pytest.raises(
        ValueError,
        match=r"forced_distribution must hold 3 counts \(one a scale point\) that add up to 2",
    ) as caught:
        Survey("s", TWO + OPTIONS, 1, 3, forced)
    assert str(list(forced)) in str(caught.value)
