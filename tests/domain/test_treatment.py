"""Treatments and procedures: the base design is the default, and nothing in the domain changes once
made.
"""

import dataclasses
import importlib
import pkgutil

import pytest

import delibsim.domain
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
