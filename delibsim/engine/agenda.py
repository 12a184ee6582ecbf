"""Who is to speak when, and the order of items for each participant, as the session fixes them.

Nothing here imports Mesa, which takes half a second.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from delibsim.domain.participant import Participant
from delibsim.domain.run import Session
from delibsim.domain.survey import Item
from delibsim.domain.transcript import Turn


def deliberation_turns(session: Session, drawn: Callable[[], Iterable[str]]) -> Iterator[Turn]:
    """Each round, all participants in the order that is `drawn` for it."""
    treatment = session.treatment
    rounds = treatment.rounds if treatment.interaction else 0
    index = 0
    for round_ in range(1, rounds + 1):
        for name in drawn():
            index += 1
            yield Turn(index, round_, name)


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
