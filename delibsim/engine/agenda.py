"""Who is to speak when, and the order of items for each participant, as the session fixes them.

Nothing here imports Mesa, which takes half a second.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence

from delibsim.domain.parentage import Slot
from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Item


def deliberation_slots(session: Session, drawn: Callable[[], Iterable[str]]) -> tuple[Slot, ...]:
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
