"""The calls of a session as a dry run finds them, without Mesa: what an estimate counts.

A test holds them against the dry run, in which the session is really held.
"""

import random
from collections.abc import Callable, Iterator, Mapping

from delibsim.domain.format import DEBATE
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase, Response
from delibsim.domain.transcript import PREPARATION, Statement, Turn
from delibsim.engine.agenda import deliberation_slots, item_order
from delibsim.engine.consensus import Room, seek_consensus
from delibsim.models.base import LanguageModel, read
from delibsim.planning.dry_run import Asked, DryRunModel
from delibsim.prompts.session import reversed_for, speech_prompt, survey_prompt

Hears = Callable[[str, str], bool]
"""Whether the second participant hears the first."""


async def calls_of(session: Session, words: int = 0) -> list[Asked]:
    """Every call of a session in order, the first attempt of each.

    Statements have so many words; 0: only the placeholder.
    """
    asked: list[Asked] = []
    models = {name: DryRunModel(name, words, asked.append) for name in session.voices}
    people = {person.id: person for person in session.participants}
    hears = _hears(session)
    earlier: dict[str, Response] = {}
    said: list[Statement] = []

    async def survey(person: Participant, phase: Phase) -> Response:
        order = item_order(session, person)
        heard = _heard(said, person.id, hears)
        prompt = survey_prompt(session, person, phase, order, heard, earlier.get(person.id))
        answers, _ = read(prompt, await models[person.model].complete(prompt, 0))
        return Response(
            person.id, phase, answers, order=order, reversed=reversed_for(session, person)
        )

    for person in session.respondents:
        earlier[person.id] = await survey(person, "pre")
    for turn in _turns(session):
        person = people[turn.speaker]
        heard = _heard(said, person.id, hears)
        prompt = speech_prompt(session, person, turn, heard, earlier.get(person.id))
        text, _ = read(prompt, await models[person.model].complete(prompt, 0))
        said.append(Statement(turn, text))
    for person in session.respondents:
        await survey(person, "post")
    if session.consensus is not None:
        await seek_consensus(_room(session, models, said, hears))
    return asked


def _room(
    session: Session,
    models: Mapping[str, LanguageModel],
    said: list[Statement],
    hears: Hears,
) -> Room:
    """What seeking a collective statement takes after these statements."""
    assert session.consensus is not None

    def heard(name: str) -> tuple[Statement, ...]:
        return _heard(said, name, hears)

    return Room(
        session,
        session.consensus,
        models,
        heard,
        on_reply=lambda model, completion: None,
        on_answer=lambda name: None,
    )


def _turns(session: Session) -> Iterator[Turn]:
    """The turns of a session, in the orders that Mesa draws from its seed."""
    if session.kind == DEBATE:
        return iter(session.planned_turns)
    names = [person.id for person in session.participants]
    source = random.Random(session.seed_for("forum"))

    def drawn() -> list[str]:
        order = list(names)
        source.shuffle(order)
        return order

    return (slot.turn for slot in deliberation_slots(session, drawn))


def _hears(session: Session) -> Hears:
    """Who hears whom; everybody does in a complete network."""
    if session.procedure.audience.network == "complete":
        return lambda speaker, name: True
    from delibsim.engine.network import network_of  # networkx takes a tenth of a second to import

    return network_of(session).has_edge


def _heard(said: list[Statement], name: str, hears: Hears) -> tuple[Statement, ...]:
    """What a participant has heard so far; private notes are heard by their author alone."""
    heard = []
    for statement in said:
        turn = statement.turn
        aloud = turn.task != PREPARATION and hears(turn.speaker, name)
        if aloud or turn.speaker == name:
            heard.append(statement)
    return tuple(heard)
