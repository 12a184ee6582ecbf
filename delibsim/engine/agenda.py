"""What happens in a session: whose turn it is, in order, and the events that others are told of."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from delibsim.domain.parentage import TurnSlot
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Item, Response
from delibsim.domain.transcript import Silence, Statement, Turn


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


def deliberation_slots(
    session: Session, drawn: Callable[[], Iterable[str]]
) -> tuple[TurnSlot, ...]:
    """Each round, all participants in the order that is `drawn` for it, which holds those who sat
    there first; a branch has these turns as far as it does not differ.
    """
    return session.slots([tuple(drawn()) for _ in range(session.most_rounds)])


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
