"""Rooms: the sessions that people take part in, who sits where, and what happened in them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import CHANGE, MESSAGE, PERSON, ROOM, SEAT

LOBBY, HELD, OVER, STOPPED, CANCELLED = "lobby", "held", "over", "stopped", "cancelled"
"""The states of a room."""
FREE, TAKEN, SILENT, STOOD_IN = "free", "taken", "silent", "stood_in"
"""The states of a seat."""
VISIBLE = ("came", "turn", "room", "message")
"""The kinds of changes that everybody in a room can see."""
LEASE = 15.0
"""Seconds for which a server holds a room without saying so again."""


@dataclass(frozen=True)
class Seat:
    """One seat that is a person's: her id, "" while it is free; who stands in, "" where nobody."""

    name: str
    person: str
    state: str
    stand_in: str


@dataclass(frozen=True)
class Room:
    """One session that waits for people, or is held, with its seats for people."""

    session: str
    state: str
    opened: float
    first: float | None
    begun: float | None
    detail: str
    server: str
    seats: tuple[Seat, ...]

    @property
    def missing(self) -> int:
        """How many seats are free."""
        return sum(seat.state == FREE for seat in self.seats)


@dataclass(frozen=True)
class Change:
    """Something that happened in a session; ids only grow."""

    id: int
    kind: str
    about: Mapping[str, Any]


def open_room(register: Register, session: str, seats: Sequence[str]) -> None:
    """Keep a room with these seats, unless it is there."""
    try:
        with register.writing() as connection:
            connection.execute(insert(ROOM).values(session=session, state=LOBBY, opened=now()))
            rows = [{"session": session, "name": name, "state": FREE} for name in seats]
            connection.execute(insert(SEAT), rows)
    except IntegrityError:
        pass  # it was opened before


def rooms_of(register: Register, session: str = "") -> list[Room]:
    """Every room, or that of one session, in the order in which they were opened."""
    with register.reading() as connection:
        chosen = select(ROOM).order_by(ROOM.c.opened, ROOM.c.session)
        seated = select(SEAT).order_by(SEAT.c.name)
        if session:
            chosen = chosen.where(ROOM.c.session == session)
            seated = seated.where(SEAT.c.session == session)
        rooms = connection.execute(chosen).mappings().all()
        rows = connection.execute(seated).mappings().all()
    seats: dict[str, list[Seat]] = {}
    for row in rows:
        person, stand_in = row["person"] or "", row["stand_in"] or ""
        seats.setdefault(row["session"], []).append(
            Seat(row["name"], person, row["state"], stand_in)
        )
    found = []
    for row in rooms:
        own = tuple(seats.get(row["session"], ()))
        times = row["opened"], row["first"], row["begun"]
        names = row["detail"], row["server"] or ""
        found.append(Room(row["session"], row["state"], *times, *names, own))
    return found


def seat_of(register: Register, person: str) -> tuple[str, str] | None:
    """The session and the seat of a person; None while she has none."""
    with register.reading() as connection:
        statement = select(SEAT.c.session, SEAT.c.name).where(SEAT.c.person == person)
        row = connection.execute(statement).first()
    return None if row is None else (row[0], row[1])


def take_seat(
    register: Register, person: str, session: str = "", name: str = ""
) -> tuple[str, str] | None:
    """Seat a person: where she is invited to, else in the room that lacks fewest; None where no
    seat is free. Who sits already stays there.
    """
    if known := seat_of(register, person):
        return known
    for room in sorted(rooms_of(register), key=_order):
        if room.state != LOBBY or (session and room.session != session):
            continue
        for seat in room.seats:
            if seat.state == FREE and name in ("", seat.name):
                if _taken(register, room.session, seat.name, person):
                    return room.session, seat.name
                if known := seat_of(register, person):
                    return known
    return None


def _order(room: Room) -> tuple[int, float, str]:
    """Rooms that lack fewest come first, so that groups begin."""
    return room.missing, room.opened, room.session


def _taken(register: Register, session: str, name: str, person: str) -> bool:
    """Take one seat, unless somebody else has."""
    free = (SEAT.c.session == session) & (SEAT.c.name == name) & (SEAT.c.state == FREE)
    first = (ROOM.c.session == session) & ROOM.c.first.is_(None)
    try:
        with register.writing() as connection:
            values = {"person": person, "state": TAKEN, "taken": now()}
            if connection.execute(update(SEAT).where(free).values(**values)).rowcount != 1:
                return False
            connection.execute(update(ROOM).where(first).values(first=now()))
            _note(connection, session, "came", {"seat": name})
    except IntegrityError:  # she took another meanwhile
        return False
    return True


def set_room(register: Register, session: str, state: str, detail: str = "") -> None:
    """Keep the state of a room, and tell it to who waits."""
    values: dict[str, Any] = {"state": state, "detail": detail}
    if state == HELD:
        values["begun"] = func.coalesce(ROOM.c.begun, now())
    if state in (OVER, CANCELLED, STOPPED):
        values["ended"] = now()
    with register.writing() as connection:
        connection.execute(update(ROOM).where(ROOM.c.session == session).values(**values))
        _note(connection, session, "room", {"state": state})


def set_seat(register: Register, session: str, name: str, state: str, stand_in: str = "") -> None:
    """Keep that a seat is left: nobody follows, or a model does."""
    place = (SEAT.c.session == session) & (SEAT.c.name == name)
    values = {"state": state, "left": now(), "stand_in": stand_in or None}
    with register.writing() as connection:
        connection.execute(update(SEAT).where(place).values(**values))
        _note(connection, session, "seat", {"seat": name})


def lease(register: Register, session: str, server: str) -> bool:
    """Hold a room, or go on holding it; False where another server does."""
    mine = or_(ROOM.c.server.is_(None), ROOM.c.server == server, ROOM.c.lease < now())
    with register.writing() as connection:
        statement = update(ROOM).where((ROOM.c.session == session) & mine)
        values = {"server": server, "lease": now() + LEASE}
        return connection.execute(statement.values(**values)).rowcount == 1


def release(register: Register, server: str) -> None:
    """Give back every room that a server holds; when it was held last stays."""
    with register.writing() as connection:
        connection.execute(update(ROOM).where(ROOM.c.server == server).values(server=None))


def held_last(register: Register, session: str) -> float | None:
    """When a server last said that it holds a room; None where none ever did."""
    with register.reading() as connection:
        statement = select(ROOM.c.lease).where(ROOM.c.session == session)
        until = connection.execute(statement).scalar()
    return None if until is None else until - LEASE


def note(register: Register, session: str, kind: str, about: Mapping[str, Any]) -> None:
    """Keep that something happened in a session."""
    with register.writing() as connection:
        _note(connection, session, kind, about)


def changes(register: Register, session: str, after: int = 0) -> list[Change]:
    """What happened in a session after a change."""
    wanted = (CHANGE.c.session == session) & (CHANGE.c.id > after)
    with register.reading() as connection:
        rows = connection.execute(select(CHANGE).where(wanted).order_by(CHANGE.c.id)).mappings()
        return [Change(row["id"], row["kind"], json.loads(row["about"] or "{}")) for row in rows]


def last_change(register: Register, session: str) -> int:
    """The id of the last change in a session; 0 before the first."""
    with register.reading() as connection:
        statement = select(func.max(CHANGE.c.id)).where(CHANGE.c.session == session)
        return connection.execute(statement).scalar() or 0


def seen_of(register: Register, session: str, seat: str) -> int:
    """How many changes of a session the person in a seat can see on her page.

    What is asked of others is not among them, nor who left: it would tell people from models.
    """
    own = CHANGE.c.about == json.dumps({"seat": seat})
    visible = or_(CHANGE.c.kind.in_(VISIBLE), own)
    with register.reading() as connection:
        statement = select(func.count()).where((CHANGE.c.session == session) & visible)
        return connection.execute(statement).scalar() or 0


def say(register: Register, session: str, text: str, person: str = "") -> None:
    """Keep a message of the researcher to a group, or to one person of it."""
    with register.writing() as connection:
        values = {"session": session, "person": person or None, "text": text, "sent": now()}
        connection.execute(insert(MESSAGE).values(**values))
        _note(connection, session, "message", {})


def messages(register: Register, session: str, person: str) -> list[str]:
    """The researcher's messages that a person may read, in order."""
    own = or_(MESSAGE.c.person.is_(None), MESSAGE.c.person == person)
    with register.reading() as connection:
        statement = select(MESSAGE.c.text).where((MESSAGE.c.session == session) & own)
        return list(connection.execute(statement.order_by(MESSAGE.c.id)).scalars())


def last_seen(register: Register, person: str) -> float | None:
    """When a person last asked for a page."""
    with register.reading() as connection:
        return connection.execute(select(PERSON.c.seen).where(PERSON.c.id == person)).scalar()


def _note(connection: Any, session: str, kind: str, about: Mapping[str, Any]) -> None:
    values = {"session": session, "kind": kind, "about": json.dumps(about), "at": now()}
    connection.execute(insert(CHANGE).values(**values))
