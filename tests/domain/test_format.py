"""Formats: what each declares fits what is held and asked under it."""

import pytest

from delibsim.domain.errors import WrongInput
from delibsim.domain.format import DEBATE, DELIBERATION, FORMATS, format_named
from delibsim.domain.participant import AUDIENCE, SIDES
from delibsim.domain.transcript import Turn
from delibsim.engine.hold import FORUMS


def test_every_format_has_a_forum_and_no_forum_is_without_a_format():
    assert list(FORUMS) == list(FORMATS)


@pytest.mark.parametrize("format", FORMATS.values(), ids=list(FORMATS))
def test_every_task_and_role_has_a_text_that_the_wording_needs(format):
    texts = {*format.texts, *format.optional_texts}
    assert {*format.tasks, *format.roles} <= texts
    assert set(format.fields) <= texts
    assert set(format.sides) <= set(format.roles)


def test_an_unknown_format_is_refused_with_the_closest():
    with pytest.raises(WrongInput, match="unknown format 'debat'; did you mean debate"):
        format_named("debat")


def test_only_the_sides_of_a_debate_are_not_surveyed():
    assert [DEBATE.surveyed(role) for role in (*SIDES, AUDIENCE)] == [False, False, True]
    assert DELIBERATION.surveyed("citizen")


def test_headings_name_the_round_or_the_task():
    turn = Turn(3, 2, "Ann", "rebuttal")
    assert (DELIBERATION.heading(turn), DEBATE.heading(turn)) == ("Round 2", "Rebuttal")
