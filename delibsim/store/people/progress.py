"""What the researcher's page reads of all rooms at once: a query a table."""

import json
from dataclasses import dataclass

from sqlalchemy import func, select

from delibsim.store.people.register import Register
from delibsim.store.people.schema import CHANGE, REQUEST, ROOM


@dataclass(frozen=True)
class Open:
    """What waits for the person in a seat; times in seconds since 1970, `paused` in seconds."""

    session: str
    seat: str
    occasion: str
    asked: float
    shown: float | None
    paused: float


@dataclass(frozen=True)
class LastTurn:
    """The last turn of a room that has begun or ended: its index, None in a register of before;
    whose it is, and since when.
    """

    index: int | None
    speaker: str
    done: bool
    at: float


def open_requests(register: Register) -> dict[tuple[str, str], Open]:
    """What waits for people in rooms, by session and seat."""
    columns = [REQUEST.c[name] for name in Open.__dataclass_fields__]
    waits = REQUEST.c.status.is_(None) & REQUEST.c.session.is_not(None)
    statement = select(*columns).where(waits).order_by(REQUEST.c.asked.desc())
    with register.reading() as connection:
        rows = connection.execute(statement).mappings().all()
    return {(row["session"], row["seat"]): Open(**row) for row in rows}


def last_turns(register: Register) -> dict[str, LastTurn]:
    """The last turn of every room that has had one."""
    last = select(func.max(CHANGE.c.id)).where(CHANGE.c.kind == "turn").group_by(CHANGE.c.session)
    statement = select(CHANGE.c.session, CHANGE.c.about, CHANGE.c.at).where(CHANGE.c.id.in_(last))
    found = {}
    with register.reading() as connection:
        for session, text, at in connection.execute(statement):
            about = json.loads(text or "{}")
            known = about.get("turn"), about.get("by", ""), bool(about.get("done"))
            found[session] = LastTurn(*known, at)
    return found


def ended_at(register: Register) -> dict[str, float]:
    """When rooms were over, stopped or cancelled."""
    statement = select(ROOM.c.session, ROOM.c.ended).where(ROOM.c.ended.is_not(None))
    with register.reading() as connection:
        return {row.session: row.ended for row in connection.execute(statement)}


def last_of_all(register: Register) -> int:
    """The id of the last change in any room; 0 before the first."""
    with register.reading() as connection:
        return connection.execute(select(func.max(CHANGE.c.id))).scalar() or 0
