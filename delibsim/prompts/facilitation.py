"""What a facilitator is asked, and how its reply is read.

A facilitator is told its own instructions and the topic, and neither the treatment nor the survey.
It hears everybody; everybody hears it.
"""

import functools
from collections.abc import Sequence
from string import Template
from typing import Any

from delibsim.domain.phases import CLOSING, MOMENTS, Facilitator
from delibsim.domain.run import Session
from delibsim.domain.transcript import Statement, Turn
from delibsim.domain.treatment import Wording
from delibsim.prompts.blocks import block, transcript_block
from delibsim.prompts.forms.facilitation import Facilitated, Facilitation
from delibsim.prompts.prompt import Message, Prompt, Purpose
from delibsim.prompts.wording import TEXTS, refuse_unfilled

FIELDS = {
    "setting": ("group",),
    **dict.fromkeys(MOMENTS, ("group", "round", "rounds")),
    "words": ("words",),
    "next": ("waiting",),
}
"""The fields that are filled in, by text."""


def facilitator_prompt(session: Session, turn: Turn, heard: Sequence[Statement]) -> Prompt:
    """Ask the facilitator to take a turn, after everything that it has heard."""
    assert session.facilitator is not None
    facilitator, procedure = session.facilitator, session.procedure
    form = facilitator_form(session, turn, heard)
    people, rounds = len(session.participants), session.treatment.rounds

    def say(name: str, **fields: object) -> str:
        given = tuple((field, str(value)) for field, value in fields.items())
        return _filled(facilitator.texts[name], *given)

    background = session.topic.background.strip() if procedure.background else ""
    asked = block("topic", _joined([session.topic.question.strip(), background]))
    system = [say("setting", group=people), facilitator.instructions.strip(), asked]
    parts = [f"{say('transcript')}\n\n{transcript_block(heard)}"] if heard else []
    parts.append(f"{say('participants')}\n{block('participants', chr(10).join(form.people))}")
    parts.append(f"{say('you')}\n{block('you', turn.speaker)}")
    said = [say(turn.task, group=people, round=turn.round, rounds=rounds)]
    if procedure.words is not None:
        said.append(say("words", words=procedure.words))
    if form.waiting:
        said.append(say("next", waiting=", ".join(form.waiting)))
    parts += [" ".join(said), form.describe()]
    messages = (Message("system", _joined(system)), Message("user", _joined(parts)))
    return Prompt(messages, form, Purpose(turn.speaker, f"turn {turn.index}"))


def facilitator_form(session: Session, turn: Turn, heard: Sequence[Statement] = ()) -> Facilitation:
    """The form of what a facilitator says in a turn. Where the procedure lets it name the next
    speaker, those wait who have not spoken in the round, or all once the round is over.
    """
    people = tuple(person.id for person in session.participants)
    waiting: tuple[str, ...] = ()
    if session.procedure.facilitator_names and turn.task != CLOSING:
        spoken = {said.turn.speaker for said in heard if said.turn.round == turn.round}
        waiting = tuple(name for name in people if name not in spoken) or people
    return Facilitation(turn.task, people, waiting, session.procedure.longest_statement)


def stated(turn: Turn, said: Any) -> Statement:
    """What was said in a turn, as a statement, from the value of the reply."""
    if isinstance(said, Facilitated):
        return Statement(turn, said.text, names=said.names)
    return Statement(turn, said)


def check_facilitator(facilitator: Facilitator) -> None:
    """Refuse a preset that lacks a text, or fills in another field in one; WrongInput."""
    wording = Wording(f"facilitator {facilitator.name}", facilitator.texts)
    refuse_unfilled(wording, TEXTS["facilitator"], FIELDS)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


@functools.lru_cache(maxsize=256)
def _filled(text: str, *fields: tuple[str, str]) -> str:
    return Template(text).substitute(dict(fields)).strip()
