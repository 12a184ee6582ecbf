"""Treatments and procedures: the base design is the default, and nothing in the domain changes once
made.
"""

import dataclasses
import importlib
import pkgutil

import pytest

import delibsim.domain
from delibsim.domain.participant import Participant
from delibsim.domain.survey import Item, Survey, Topic
from delibsim.domain.treatment import Network, Procedure, Treatment


def test_the_base_design_is_the_default():
    # Two rounds, full transcript, shuffled items, both surveys with what came before; three re-asks
    # (docs/studies.md).
    treatment, procedure = Treatment("basic"), Procedure()
    assert (treatment.rounds, treatment.interaction, treatment.paraphrase_of) == (2, True, "")
    assert (
        procedure.shuffle_items,
        procedure.show_transcript,
        procedure.show_answers,
        procedure.recall,
    ) == (True,) * 4
    assert (procedure.instructions, procedure.background, procedure.words) == ("turns", True, 150)
    assert (procedure.reasks, procedure.longest_statement, procedure.audience) == (
        3,
        600,
        Network("complete"),
    )


def test_an_instrument_is_unvalidated_and_an_item_unreversed_unless_it_says_so():
    items = tuple(
        Item(f"{k}{i}", kind, "text")
        for k, kind in (("C", "consideration"), ("P", "preference"))
        for i in (1, 2)
    )
    survey = Survey("s", items)
    assert (survey.scale_min, survey.scale_max, survey.forced_distribution, survey.validated) == (
        1,
        7,
        None,
        False,
    )
    assert not any(item.reverse for item in survey.items)


def test_a_participant_is_a_citizen_without_persona_unless_it_says_so():
    assert Participant("Ann") == Participant("Ann", persona="", model="citizen", role="citizen")
    assert Topic("t", "Why?") == Topic("t", "Why?", background="", survey="")


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


def test_the_ends_of_their_ranges_are_allowed():
    assert Treatment("none", rounds=0).rounds == 0
    assert (
        Procedure(reasks=0).reasks,
        Procedure(words=1, longest_statement=1).longest_statement,
    ) == (0, 1)
    assert Procedure(longest_statement=None).longest_statement is None
    with pytest.raises(ValueError, match="longest_statement"):
        Procedure(longest_statement=0)


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
