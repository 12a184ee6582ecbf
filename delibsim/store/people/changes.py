"""What happened in rooms, as pages that wait for it read it; it is noted where it happens."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, select

from delibsim.store.people.register import Register
from delibsim.store.people.schema import CHANGE

VISIBLE = ("came", "turn", "room", "message")
"""The kinds of changes that everybody in a room can see."""
BEFORE = 100
"""How many changes before the last one known are looked at again."""


@dataclass(frozen=True)
class Change:
    """Something that happened in a session; ids only grow."""

    id: int
    session: str
    kind: str
    about: Mapping[str, Any]

    @property
    def seat(self) -> str | None:
        """The seat from which alone it can be seen; None: from all seats of the room.

        What is asked of others cannot be seen, nor who left: it would tell people from models.
        """
        return None if self.kind in VISIBLE else self.about.get("seat", "")


def changes(register: Register, session: str, after: int = 0) -> list[Change]:
    """What happened in a session after a change."""
    wanted = (CHANGE.c.session == session) & (CHANGE.c.id > after)
    with register.reading() as connection:
        rows = connection.execute(select(CHANGE).where(wanted).order_by(CHANGE.c.id)).mappings()
        return [_change(row) for row in rows]


def changed_since(register: Register, last: int, known: Collection[int] = ()) -> list[Change]:
    """The changes of all sessions after this one, and those shortly before it, but for those that
    are known: on PostgreSQL a change may be seen after one with a greater id. From 0: the latest.
    """
    latest = select(func.max(CHANGE.c.id)).scalar_subquery()
    begin = (last or latest) - BEFORE
    with register.reading() as connection:
        statement = select(CHANGE).where(CHANGE.c.id > begin).order_by(CHANGE.c.id)
        rows = connection.execute(statement).mappings()
        return [_change(row) for row in rows if row["id"] not in known]


def _change(row: Mapping[str, Any]) -> Change:
    about = json.loads(row["about"] or "{}")
    return Change(row["id"], row["session"], row["kind"], about)


def last_seen_from(register: Register, session: str, seat: str) -> int:
    """The id of the last change of a session that can be seen from a seat; 0 before the first."""
    own = CHANGE.c.about == json.dumps({"seat": seat})
    visible = or_(CHANGE.c.kind.in_(VISIBLE), own)
    with register.reading() as connection:
        statement = select(func.max(CHANGE.c.id)).where((CHANGE.c.session == session) & visible)
        return connection.execute(statement).scalar() or 0
