"""What the page of a seat shows of the talk and of the instructions, occasion by occasion."""

from dataclasses import replace

import pytest

from delibsim import compose
from delibsim.domain.transcript import PREPARATION, Statement, Turn
from delibsim.people.desk import instructions_on, talk_on_page, were_read

OWN, OTHER = "Participant 1", "Participant 2"
HEARD = tuple(Statement(Turn(n, 1, (OTHER, OWN)[n % 2 == 0]), f"said {n}") for n in range(1, 6))


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return compose("topic=ccps", "treatment=normative", "group.size=2", home=home)


def shown(session, occasion, waits, **procedure):
    session = replace(session, procedure=replace(session.procedure, **procedure))
    return [one.turn.index for one in talk_on_page(session, OWN, HEARD, occasion, waits)]


def test_who_waits_sees_each_statement_as_it_is_made(session):
    assert shown(session, "turn 2", waits=True) == [1, 2, 3, 4, 5]
    assert shown(session, "pre", waits=True) == [1, 2, 3, 4, 5]


def test_a_page_shows_what_the_prompt_of_the_same_occasion_shows(session):
    assert shown(session, "turn 4", waits=False) == [1, 2, 3]
    assert shown(session, "post", waits=False) == [1, 2, 3, 4, 5]
    assert shown(session, "position", waits=False) == [1, 2, 3, 4, 5]
    assert shown(session, "vote 1", waits=False) == []
    assert shown(session, "critique", waits=True) == []


def test_what_the_procedure_keeps_from_prompts_stands_on_no_page(session):
    assert shown(session, "post", waits=False, show_transcript=False) == []
    assert shown(session, "post", waits=True, show_transcript=False) == []
    assert shown(session, "turn 4", waits=False, transcript_window=2) == [2, 3]
    # Statements made since then come with the next prompt, for a person as for a model.
    assert shown(session, "turn 4", waits=True, transcript_window=2) == [2, 3, 4]
    assert shown(session, "turn 4", waits=True, show_transcript=False) == [1, 2, 3, 4]
    assert shown(session, "pre", waits=True, show_transcript=False) == []


def test_own_notes_stand_in_the_prompt_and_on_the_page_while_one_waits(session):
    notes = Statement(Turn(1, 0, OWN, PREPARATION), "my notes")
    heard = (notes, *HEARD[1:3])
    assert notes in talk_on_page(session, OWN, heard, "turn 1", waits=True)
    assert notes not in talk_on_page(session, OWN, heard, "turn 4", waits=False)


def test_instructions_are_told_in_turns_and_in_surveys_where_the_procedure_says_so(session):
    own = session.treatment.instructions.strip()
    everywhere = replace(session, procedure=replace(session.procedure, instructions="everywhere"))
    told = [instructions_on(session, OWN, one) for one in ("pre", "turn 3", "post", "vote 1")]
    assert told == ["", own, "", ""]
    told = [instructions_on(everywhere, OWN, one) for one in ("pre", "turn 3", "post", "vote 1")]
    assert told == [own, own, own, ""]


def test_instructions_were_read_only_where_an_earlier_page_told_them(session):
    assert not were_read(session, OWN, "turn 2", {"pre"})
    assert not were_read(session, OWN, "turn 2", {"pre", "turn 2"})  # the same turn, asked again
    assert were_read(session, OWN, "turn 4", {"pre", "turn 2"})
