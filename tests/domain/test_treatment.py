"""Treatments and procedures: the base design is the default, and nothing in the domain changes once
made. Reasons as fields, and the text of files. Instruments nobody could answer are refused; the
parts of the others are where they should be.
"""

import dataclasses
import importlib
import pkgutil

import pytest
from hypothesis import given
from strategies import reasons

import delibsim.domain
from delibsim.domain.reason import Reason, reason_from_text
from delibsim.domain.survey import Item, Survey
from delibsim.domain.treatment import Procedure, Treatment


@pytest.mark.parametrize("limit", [-1, -7])
def test_numbers_below_their_range_are_refused(limit):
    with pytest.raises(ValueError, match=f"rounds must be from 0 to 1,000, not {limit}"):
        Treatment("basic", rounds=limit)
    with pytest.raises(ValueError, match=f"reasks must be 0 or more, not {limit}"):
        Procedure(reasks=limit)
    with pytest.raises(
        ValueError, match=f"longest_statement must be 1 or more, or null, not {limit}"
    ):
        Procedure(longest_statement=limit)


def nouns():
    modules = [
        importlib.import_module(f"delibsim.domain.{found.name}")
        for found in pkgutil.iter_modules(delibsim.domain.__path__)
    ]
    return [
        thing
        for module in modules
        for thing in vars(module).values()
        if dataclasses.is_dataclass(thing)
    ]


def test_every_noun_is_frozen():
    changeable = [noun.__name__ for noun in nouns() if not noun.__dataclass_params__.frozen]
    assert len(nouns()) > 10
    assert changeable == []


def test_a_length_that_is_asked_for_must_be_read():
    with pytest.raises(
        ValueError, match=r"words \(150\) cannot be more than longest_statement \(100\)"
    ):
        Procedure(longest_statement=100)
    assert Procedure(words=None, longest_statement=100).words is None
    with pytest.raises(ValueError, match="words must be 1 or more"):
        Procedure(words=0)


def test_a_treatment_is_no_paraphrase_of_itself():
    assert Treatment("normative_a", paraphrase_of="normative").paraphrase_of == "normative"
    with pytest.raises(ValueError, match="normative cannot be a paraphrase of itself"):
        Treatment("normative", paraphrase_of="normative")


@given(reasons)
def test_a_reason_is_read_back_from_its_text(reason):
    assert reason_from_text(str(reason)) == reason


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("refusal", "refusal", ""),
        ("unreadable: C1 is missing; C2: 9", "unreadable", "C1 is missing; C2: 9"),
        ("no reason was recorded", "no reason was recorded", ""),
    ],
)
def test_texts_of_files_are_read_and_written_alike(text, code, detail):
    reason = reason_from_text(text)
    assert reason == Reason(code, detail)
    assert str(reason) == text


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
