"""What happens in a session: its phases and their steps, in order, who hears what, and the events
that others are told of. Nothing here imports Mesa: an estimate goes through the same steps.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.parentage import TurnSlot
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Item, Phase, Response
from delibsim.domain.transcript import PREPARATION, Silence, Statement, Turn


@dataclass(frozen=True)
class Event:
    """One participant begins to answer a survey or to take a turn, or has done so (`done`).

    `said` is what came of it, None before. While a collective statement is sought, an event a reply
    says who replied, the mediator included.
    """

    session: str
    occasion: Literal["pre", "turn", "post", "consensus"]
    participant: str
    turn: Turn | None = None
    done: bool = False
    said: Statement | Silence | Response | None = None


Watch = Callable[[Event], None]
"""What is called with every event of a session."""


class Floor(Protocol):
    """What a phase sees of the room: the session, and what has been said and left unsaid so far."""

    session: Session
    statements: list[Statement]
    silences: list[Silence]


Step = TurnSlot | Literal["pre", "post", "consensus"]
"""What happens next in a session: a turn, a survey by its phase, or seeking a collective
statement.
"""
Draw = Callable[[], Iterable[str]]
"""Draws the order of those who sat there first for one more round."""


@dataclass(frozen=True)
class Surveyed:
    """All respondents fill in the survey, all at once."""

    phase: Phase

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """The one step."""
        yield self.phase


@dataclass(frozen=True)
class Spoken:
    """The turns of a session, in order; `strict`: the first silence ends them."""

    strict: bool = False

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """Each round, all participants in the order that is drawn for it; a debate fixes it."""
        session = floor.session
        rounds = 0 if session.kind.sides else session.most_rounds
        for slot in session.slots([tuple(draw()) for _ in range(rounds)]):
            if self.strict and floor.silences:
                return
            yield slot


@dataclass(frozen=True)
class Agreed:
    """The group seeks a statement of its own, where the session asks for one."""

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """The one step, or none."""
        if floor.session.consensus is not None:
            yield "consensus"


BEFORE, AFTER = Surveyed("pre"), Surveyed("post")
PHASES: dict[str, tuple[Surveyed | Spoken | Agreed, ...]] = {
    DELIBERATION.name: (BEFORE, Spoken(), AFTER, Agreed()),
    DEBATE.name: (BEFORE, Spoken(strict=True), AFTER),
}
"""The phases of every format, in order."""


def steps(floor: Floor, draw: Draw) -> Iterator[Step]:
    """Everything that happens in a session, in order, drawn as it is needed."""
    for phase in PHASES[floor.session.format]:
        yield from phase.steps(floor, draw)


def heard_by(
    name: str, statements: Iterable[Statement], hears: Callable[[str, str], bool]
) -> tuple[Statement, ...]:
    """Of these statements those that a participant has heard: its own, and its neighbours'.

    `hears` says whether the second hears the first. Private notes are heard by their author alone.
    """
    heard = []
    for statement in statements:
        turn = statement.turn
        aloud = turn.task != PREPARATION and hears(turn.speaker, name)
        if aloud or turn.speaker == name:
            heard.append(statement)
    return tuple(heard)


def item_order(session: Session, participant: Participant) -> tuple[str, ...]:
    """The items of the survey in a participant's own order, considerations before preferences.

    It is the same in both phases.
    """
    survey = session.survey
    considerations = _shuffled(session, participant, "considerations", survey.considerations)
    preferences = _shuffled(session, participant, "preferences", survey.preferences)
    return tuple(item.id for item in (*considerations, *preferences))


def _shuffled(
    session: Session, participant: Participant, kind: str, items: Sequence[Item]
) -> Sequence[Item]:
    if not session.procedure.shuffle_items:
        return items
    # Sorted by keyed hashes, so that an item more or less leaves the others in their order.
    key = session.seed_for(participant.id, "order", kind).to_bytes(8, "big")

    def keyed_hash(item: Item) -> bytes:
        return hashlib.blake2b(item.id.encode(), key=key, digest_size=8).digest()

    return sorted(items, key=keyed_hash)
