"""Rooms: the sessions that people take part in, who sits where, and what happened in them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.domain.transcript import Statement, Turn
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import CHANGE, MESSAGE, PERSON, ROOM, SAID, SEAT
from delibsim.store.reading import adapter

LOBBY, HELD, OVER, STOPPED, CANCELLED = "lobby", "held", "over", "stopped", "cancelled"
"""The states of a room."""
FREE, TAKEN, SILENT, STOOD_IN = "free", "taken", "silent", "stood_in"
"""The states of a seat."""
LEASE = 15.0
"""Seconds for which a server holds a room without saying so again."""
Said = tuple[Mapping[str, Any], tuple[int, Statement] | None]
"""What is noted of a turn; and, where something was said, its number in the session and itself."""


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


def open_room(register: Register, session: str, seats: Sequence[str]) -> None:
    """Keep a room with these seats, unless it is there."""
    try:
        with register.writing() as connection:
            connection.execute(insert(ROOM).values(session=session, state=LOBBY, opened=now()))
            rows = [{"session": session, "name": name, "state": FREE} for name in seats]
            connection.execute(insert(SEAT), rows)
    except IntegrityError:
        pass  # it was opened before


def rooms_of(register: Register, session: str = "", due: bool = False) -> list[Room]:
    """Every room, or that of one session, in the order in which they were opened; `due`: those in
    which something may be to do, neither over nor still empty.
    """
    with register.reading() as connection:
        chosen = select(ROOM).order_by(ROOM.c.opened, ROOM.c.session)
        seated = select(SEAT).order_by(SEAT.c.name)
        if session:
            chosen = chosen.where(ROOM.c.session == session)
            seated = seated.where(SEAT.c.session == session)
        if due:
            empty = (ROOM.c.state == LOBBY) & ROOM.c.first.is_(None)
            chosen = chosen.where(ROOM.c.state != OVER, ~empty)
            own = chosen.with_only_columns(ROOM.c.session).order_by(None)
            seated = seated.where(SEAT.c.session.in_(own))
        rooms = connection.execute(chosen).mappings().all()
        rows = connection.execute(seated).mappings().all()
    seats: dict[str, list[Seat]] = {}
    for row in rows:
        person, stand_in = row["person"] or "", row["stand_in"] or ""
        seats.setdefault(row["session"], []).append(
            Seat(row["name"], person, row["state"], stand_in)
        )
    return [_room(row, seats.get(row["session"], ())) for row in rooms]


def _room(row: Mapping[str, Any], seats: Sequence[Seat]) -> Room:
    times = row["opened"], row["first"], row["begun"]
    return Room(
        row["session"], row["state"], *times, row["detail"], row["server"] or "", tuple(seats)
    )


OWN = SEAT.alias("own")
HERE = select(ROOM, SEAT.c.name, SEAT.c.person, SEAT.c.state.label("seat_state"), SEAT.c.stand_in)
HERE = HERE.join(OWN, OWN.c.session == ROOM.c.session).join(SEAT, SEAT.c.session == ROOM.c.session)
HERE = HERE.where(OWN.c.person == bindparam("person")).order_by(SEAT.c.name)
"""The room of a person, a row a seat. It is made once: it is read for every page."""


def room_of(register: Register, person: str) -> tuple[Room, Seat] | None:
    """The room of a person and her seat; None while she has none."""
    with register.reading() as connection:
        rows = connection.execute(HERE, {"person": person}).mappings().all()
    if not rows:
        return None
    seats = [
        Seat(row["name"], row["person"] or "", row["seat_state"], row["stand_in"] or "")
        for row in rows
    ]
    (own,) = [seat for seat in seats if seat.person == person]
    return _room(rows[0], seats), own


STANDING = select(SEAT.c.state, SEAT.c.person).where(
    SEAT.c.session == bindparam("session"), SEAT.c.name == bindparam("name")
)


def standing_of(register: Register, session: str, name: str) -> tuple[str, str]:
    """The state of a seat, and whose it is; "" twice where there is none."""
    with register.reading() as connection:
        row = connection.execute(STANDING, {"session": session, "name": name}).first()
    return ("", "") if row is None else (row[0], row[1] or "")


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
    while True:
        if known := seat_of(register, person):
            return known
        try:
            with register.writing(durable=False) as connection:
                place = _next_free(connection, session, name)
                if place and _taken(connection, *place, person):
                    return place
        except IntegrityError:
            continue  # she took another meanwhile
        if place is None:
            return seat_of(register, person)


def _next_free(connection: Any, session: str, name: str) -> tuple[str, str] | None:
    """A free seat in the room that lacks fewest, so that groups begin; then in the oldest."""
    order = func.count(), ROOM.c.opened, ROOM.c.session
    statement = select(SEAT.c.session, func.min(SEAT.c.name))
    statement = statement.join(ROOM, SEAT.c.session == ROOM.c.session)
    statement = statement.where(ROOM.c.state == LOBBY, SEAT.c.state == FREE)
    if session:
        statement = statement.where(SEAT.c.session == session)
    if name:
        statement = statement.where(SEAT.c.name == name)
    groups = statement.group_by(SEAT.c.session, ROOM.c.opened, ROOM.c.session)
    row = connection.execute(groups.order_by(*order).limit(1)).first()
    return None if row is None else (row[0], row[1])


def _taken(connection: Any, session: str, name: str, person: str) -> bool:
    """Take one seat, unless somebody else has."""
    free = _seat(session, name) & (SEAT.c.state == FREE)
    first = (ROOM.c.session == session) & ROOM.c.first.is_(None)
    if in_turn_within(connection, session) != LOBBY:
        return False
    values = {"person": person, "state": TAKEN, "taken": now()}
    if connection.execute(update(SEAT).where(free).values(**values)).rowcount != 1:
        return False
    connection.execute(update(ROOM).where(first).values(first=now()))
    _note(connection, session, "came", {"seat": name})
    return True


def set_room(
    register: Register, session: str, state: str, detail: str = "", of: Sequence[str] = ()
) -> bool:
    """Keep the state of a room, and tell it to who waits; False, and nothing changes, where the
    room is in none of the states `of`: somebody else was first.
    """
    with register.writing() as connection:
        return set_room_within(connection, session, state, detail, of)


def set_room_within(
    connection: Any, session: str, state: str, detail: str = "", of: Sequence[str] = ()
) -> bool:
    """The same within a transaction."""
    own = ROOM.c.session == session
    if of:
        own &= ROOM.c.state.in_(of)
    values: dict[str, Any] = {"state": state, "detail": detail}
    if state == HELD:
        values["begun"] = func.coalesce(ROOM.c.begun, now())
    if state in (OVER, CANCELLED, STOPPED):
        values["ended"] = now()
    changed = connection.execute(update(ROOM).where(own).values(**values)).rowcount == 1
    if changed:
        note_within(connection, session, "room", {"state": state})
    return changed


def set_seat(
    register: Register,
    session: str,
    name: str,
    state: str,
    stand_in: str = "",
    of: Sequence[str] = (FREE, TAKEN),
) -> bool:
    """Keep that a seat is left, or was never taken: nobody follows, or a model does. False, and
    nothing changes, where the seat is in none of the states `of`: that was so before, or somebody
    else was first.
    """
    with register.writing() as connection:
        return set_seat_within(connection, session, name, state, stand_in, of)


def set_seat_within(
    connection: Any,
    session: str,
    name: str,
    state: str,
    stand_in: str = "",
    of: Sequence[str] = (FREE, TAKEN),
) -> bool:
    """The same within a transaction."""
    in_turn_within(connection, session)
    place = _seat(session, name) & SEAT.c.state.in_(of)
    values = {"state": state, "left": now(), "stand_in": stand_in or None}
    changed = connection.execute(update(SEAT).where(place).values(**values)).rowcount == 1
    if changed:
        note_within(connection, session, "seat", {"seat": name})
    return changed


def _seat(session: str, name: str) -> Any:
    return (SEAT.c.session == session) & (SEAT.c.name == name)


def in_turn_within(connection: Any, session: str) -> str:
    """The state of a room, which only this transaction changes until it ends; "" where there is no
    such room.

    Whatever happens in a room is noted in turn, so that the ids of changes grow as they are seen.
    Who locks other rows of a room locks this one first.
    """
    own = select(ROOM.c.state).where(ROOM.c.session == session)
    return connection.execute(own.with_for_update()).scalar() or ""


def lease(register: Register, session: str, server: str) -> bool:
    """Hold a room, or go on holding it; False where another server does."""
    mine = or_(ROOM.c.server.is_(None), ROOM.c.server == server, ROOM.c.lease < now())
    with register.writing(durable=False) as connection:
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


def keep_said(register: Register, session: str, turns: Sequence[Said]) -> None:
    """Keep what happened in turns of a session, in order: `about` of the change, and what was said.
    What was kept before, of a server that held the session, stays.
    """
    with register.writing(durable=False) as connection:
        in_turn_within(connection, session)
        for about, said in turns:
            if said is not None:
                _keep_statement(connection, session, *said)
            _note(connection, session, "turn", about)


def said_in(register: Register, session: str) -> list[Statement]:
    """What was said in a session, in order."""
    with register.reading() as connection:
        wanted = select(SAID.c.statement).where(SAID.c.session == session)
        rows = connection.execute(wanted.order_by(SAID.c.number)).scalars().all()
    return [adapter(Statement).validate_json(row) for row in rows]


def silent_in(register: Register, session: str) -> list[Turn]:
    """The turns of a session that were taken without a word, in order."""
    wanted = (CHANGE.c.session == session) & (CHANGE.c.kind == "turn")
    wanted &= CHANGE.c.about.contains('"silent"')
    with register.reading() as connection:
        texts = connection.execute(select(CHANGE.c.about).where(wanted)).scalars().all()
    turns = {}
    for about in map(json.loads, texts):  # again where another server went on
        number, (of_round, task) = about["turn"], about["silent"]
        turns[number] = Turn(number, of_round, about["by"], task)
    return [turns[number] for number in sorted(turns)]


def speaking(register: Register, session: str) -> str:
    """Who speaks in a session now; "" where nobody does."""
    wanted = (CHANGE.c.session == session) & (CHANGE.c.kind == "turn")
    with register.reading() as connection:
        last = select(CHANGE.c.about).where(wanted).order_by(CHANGE.c.id.desc()).limit(1)
        about = json.loads(connection.execute(last).scalar() or "{}")
    return "" if about.get("done", True) else about["by"]


def _keep_statement(connection: Any, session: str, number: int, statement: Statement) -> None:
    own = (SAID.c.session == session) & (SAID.c.number == number)
    if connection.execute(select(SAID.c.number).where(own)).first() is None:
        text = adapter(Statement).dump_json(statement).decode()
        row = {"session": session, "number": number, "statement": text}
        connection.execute(insert(SAID).values(**row))


MESSAGES = (
    select(MESSAGE.c.text)
    .where(MESSAGE.c.session == bindparam("session"))
    .where(or_(MESSAGE.c.person.is_(None), MESSAGE.c.person == bindparam("person")))
    .order_by(MESSAGE.c.id)
)


def messages(register: Register, session: str, person: str) -> list[str]:
    """The researcher's messages that a person may read, in order."""
    with register.reading() as connection:
        values = {"session": session, "person": person}
        return list(connection.execute(MESSAGES, values).scalars())


def last_seen(register: Register, person: str) -> float | None:
    """When a person last asked for a page."""
    with register.reading() as connection:
        return connection.execute(select(PERSON.c.seen).where(PERSON.c.id == person)).scalar()


def note_within(connection: Any, session: str, kind: str, about: Mapping[str, Any]) -> None:
    """Keep that something happened in a session."""
    in_turn_within(connection, session)
    _note(connection, session, kind, about)


def _note(connection: Any, session: str, kind: str, about: Mapping[str, Any]) -> None:
    """The same where nobody else changes the room until the transaction ends."""
    values = {"session": session, "kind": kind, "about": json.dumps(about), "at": now()}
    connection.execute(insert(CHANGE), values)
