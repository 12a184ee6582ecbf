"""What happens in a session: its phases and their steps, in order, who hears what, and the events
that others are told of. Nothing here imports Mesa: an estimate goes through the same steps.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from delibsim.domain.format import DEBATE, DELIBERATION
from delibsim.domain.parentage import TurnSlot
from delibsim.domain.participant import Participant
from delibsim.domain.phases import ANSWER, REPORT
from delibsim.domain.run import Session
from delibsim.domain.survey import Item, Phase, Response
from delibsim.domain.transcript import PREPARATION, QUESTION, Silence, Statement, Turn


@dataclass(frozen=True)
class Event:
    """One participant begins to answer a survey or to take a turn, or has done so (`done`).

    `occasion` is the phase of the survey, "turn", or "consensus".
    `said` is what came of it, None before. While a collective statement is sought, an event a reply
    says who replied, the mediator included.
    """

    session: str
    occasion: str
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


Step = TurnSlot | Phase | Literal["consensus"]
"""What happens next in a session: a turn, a survey by its phase, or seeking a collective
statement.
"""
Draw = Callable[[], Iterable[str]]
"""Draws the order of those who sat there first for one more round."""


@dataclass(frozen=True)
class SurveyPhase:
    """All respondents fill in the survey, all at once."""

    phase: Phase

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """The one step."""
        yield self.phase


@dataclass(frozen=True)
class SpeechPhase:
    """The turns of a session, in order, and the surveys between them; `strict`: the first silence
    ends them.
    """

    strict: bool = False

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """Each round, all participants in the order that is drawn for it; a debate fixes it."""
        session = floor.session
        rounds = 0 if session.kind.sides else session.most_rounds
        slots = list(session.slots([tuple(draw()) for _ in range(rounds)]))
        waves = dict(session.wave_places)
        for place in range(len(slots)):
            for wave in [one for one, after in waves.items() if after < slots[place].turn.index]:
                del waves[wave]
                yield wave
            if self.strict and floor.silences:
                return
            if slots[place].turn.task == ANSWER and not _asked(floor, slots[place - 1].turn):
                continue
            if floor.statements and floor.statements[-1].names:
                _call_up(floor.statements[-1], slots, place)
            yield slots[place]
        yield from waves


@dataclass(frozen=True)
class ConsensusPhase:
    """The group seeks a statement of its own, where the session asks for one."""

    def steps(self, floor: Floor, draw: Draw) -> Iterator[Step]:
        """The one step, or none."""
        if floor.session.consensus is not None:
            yield "consensus"


BEFORE, AFTER = SurveyPhase("pre"), SurveyPhase("post")
PHASES: dict[str, tuple[SurveyPhase | SpeechPhase | ConsensusPhase, ...]] = {
    DELIBERATION.name: (BEFORE, SpeechPhase(), AFTER, ConsensusPhase()),
    DEBATE.name: (BEFORE, SpeechPhase(strict=True), AFTER),
}
"""The phases of every format, in order."""


def steps(floor: Floor, draw: Draw) -> Iterator[Step]:
    """Everything that happens in a session, in order, drawn as it is needed."""
    phases = PHASES[floor.session.format]
    if floor.session.agrees_first:
        phases = (*phases[:-2], *reversed(phases[-2:]))
    for phase in phases:
        yield from phase.steps(floor, draw)


def _call_up(said: Statement, slots: list[TurnSlot], place: int) -> None:
    """Let the participant whom a facilitator named speak next, if it has not spoken in that round;
    all others speak in the order that was drawn.
    """
    free = [at for at in range(place, len(slots)) if not slots[at].inserted]
    later = [at for at in free if not slots[at].turn.role]
    own = [at for at in later if slots[at].turn.round == slots[later[0]].turn.round]
    order = [slots[at].turn.speaker for at in own]
    if said.names not in order:
        return
    own = own[: order.index(said.names) + 1]
    for at, speaker in zip(own, [said.names, *order], strict=False):
        slots[at] = replace(slots[at], turn=replace(slots[at].turn, speaker=speaker))


def _asked(floor: Floor, turn: Turn) -> bool:
    """Whether the question of a turn was put."""
    return turn.task == QUESTION and bool(floor.statements) and floor.statements[-1].turn == turn


Hears = Callable[[str, str], bool]
"""Whether of two participants the second hears the first."""


def heard_by(
    name: str, statements: Iterable[Statement], session: Session, hears: Hears
) -> tuple[Statement, ...]:
    """Of these statements those that somebody has heard (see `is_heard`)."""
    return tuple(said for said in statements if is_heard(said.turn, name, session, hears))


def is_heard(turn: Turn, name: str, session: Session, hears: Hears) -> bool:
    """Whether somebody hears what is said in a turn: its own words, and those of its neighbours.

    Private notes are heard by their author alone, what is said in a small group by its members.
    Everybody hears questions to witnesses, reports of small groups, and who is none of the group;
    who is none of it hears all but the small groups.
    """
    if turn.speaker == name or turn.task == PREPARATION:
        return turn.speaker == name
    if turn.group:
        return name in session.small_groups[turn.group - 1]
    if turn.role or turn.task in (QUESTION, REPORT) or name not in session.seats:
        return True
    return hears(turn.speaker, name)


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
