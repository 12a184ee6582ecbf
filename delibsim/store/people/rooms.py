"""Rooms: the sessions that people take part in, who sits where, and acts of the researcher."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.domain.hosting import Hosting
from delibsim.store.people.persons import revoke
from delibsim.store.people.register import Register, noun_of, now
from delibsim.store.people.schema import (
    INTERVENTION,
    MESSAGE,
    PERSON,
    ROOM,
    SEAT,
    RoomState,
    SeatState,
)


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
    ended: float | None
    detail: str
    seats: tuple[Seat, ...]

    @property
    def missing(self) -> int:
        """How many seats are free."""
        return sum(seat.state == SeatState.FREE for seat in self.seats)


def open_room(register: Register, session: str, seats: Sequence[str]) -> None:
    """Keep a room with these seats, unless it is there."""
    try:
        with register.writing() as connection:
            connection.execute(
                insert(ROOM).values(session=session, state=RoomState.LOBBY, opened=now())
            )
            rows = [{"session": session, "name": name, "state": SeatState.FREE} for name in seats]
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
            empty = (ROOM.c.state == RoomState.LOBBY) & ROOM.c.first.is_(None)
            chosen = chosen.where(ROOM.c.state != RoomState.OVER, ~empty)
            own = chosen.with_only_columns(ROOM.c.session).order_by(None)
            seated = seated.where(SEAT.c.session.in_(own))
        rooms = connection.execute(chosen).all()
        rows = connection.execute(seated).all()
    seats: dict[str, list[Seat]] = {}
    for row in rows:
        seats.setdefault(row.session, []).append(noun_of(Seat, row))
    return [noun_of(Room, row, seats=tuple(seats.get(row.session, ()))) for row in rooms]


OWN = SEAT.alias("own")
HERE = select(ROOM, SEAT.c.name, SEAT.c.person, SEAT.c.state.label("seat_state"), SEAT.c.stand_in)
HERE = HERE.join(OWN, OWN.c.session == ROOM.c.session).join(SEAT, SEAT.c.session == ROOM.c.session)
HERE = HERE.where(OWN.c.person == bindparam("person")).order_by(SEAT.c.name)
"""The room of a person, a row a seat. It is made once: it is read for every page."""


def room_of(register: Register, person: str) -> tuple[Room, Seat] | None:
    """The room of a person and her seat; None while she has none."""
    rows = register.all(HERE, {"person": person})
    if not rows:
        return None
    seats = [noun_of(Seat, row, state=row.seat_state) for row in rows]
    (own,) = [seat for seat in seats if seat.person == person]
    return noun_of(Room, rows[0], seats=tuple(seats)), own


STANDING = select(SEAT.c.state, SEAT.c.person).where(
    SEAT.c.session == bindparam("session"), SEAT.c.name == bindparam("name")
)


def standing_of(register: Register, session: str, name: str) -> tuple[str, str]:
    """The state of a seat, and whose it is; "" twice where there is none."""
    row = register.first(STANDING, {"session": session, "name": name})
    return ("", "") if row is None else (row[0], row[1] or "")


def seat_of(register: Register, person: str) -> tuple[str, str] | None:
    """The session and the seat of a person; None while she has none."""
    row = register.first(select(SEAT.c.session, SEAT.c.name).where(SEAT.c.person == person))
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
            with register.writing(durable=False):
                place = _next_free(register, session, name)
                if place and _taken(register, *place, person):
                    return place
        except IntegrityError:
            continue  # she took another meanwhile
        if place is None:
            return seat_of(register, person)


def _next_free(register: Register, session: str, name: str) -> tuple[str, str] | None:
    """A free seat in the room that lacks fewest, so that groups begin; then in the oldest."""
    statement = select(SEAT.c.session, func.min(SEAT.c.name))
    statement = statement.join(ROOM, SEAT.c.session == ROOM.c.session)
    statement = statement.where(ROOM.c.state == RoomState.LOBBY, SEAT.c.state == SeatState.FREE)
    if session:
        statement = statement.where(SEAT.c.session == session)
    if name:
        statement = statement.where(SEAT.c.name == name)
    groups = statement.group_by(SEAT.c.session, ROOM.c.opened, ROOM.c.session)
    row = register.first(groups.order_by(func.count(), ROOM.c.opened, ROOM.c.session).limit(1))
    return None if row is None else (row[0], row[1])


def _taken(register: Register, session: str, name: str, person: str) -> bool:
    """Take one seat, unless somebody else has."""
    if _locked(register, session) != RoomState.LOBBY:
        return False
    free = _seat(session, name) & (SEAT.c.state == SeatState.FREE)
    values = {"person": person, "state": SeatState.TAKEN, "taken": now()}
    if register.change(update(SEAT).where(free).values(**values)) != 1:
        return False
    first = (ROOM.c.session == session) & ROOM.c.first.is_(None)
    register.change(update(ROOM).where(first).values(first=now()))
    return True


def set_room(
    register: Register, session: str, state: str, detail: str = "", of: Sequence[str] = ()
) -> bool:
    """Keep the state of a room; False, and nothing changes, where the room is in none of the
    states `of`: somebody else was first.
    """
    own = ROOM.c.session == session
    if of:
        own &= ROOM.c.state.in_(of)
    values: dict[str, Any] = {"state": state, "detail": detail}
    if state == RoomState.HELD:
        values["begun"] = func.coalesce(ROOM.c.begun, now())
    if state in (RoomState.OVER, RoomState.CANCELLED, RoomState.STOPPED):
        values["ended"] = now()
    return register.change(update(ROOM).where(own).values(**values)) == 1


def set_seat(
    register: Register,
    session: str,
    name: str,
    state: str,
    stand_in: str = "",
    of: Sequence[str] = (SeatState.FREE, SeatState.TAKEN),
) -> bool:
    """Keep that a seat is left, or was never taken: nobody follows, or a model does. False, and
    nothing changes, where the seat is in none of the states `of`: that was so before, or somebody
    else was first.
    """
    place = _seat(session, name) & SEAT.c.state.in_(of)
    values = {"state": state, "left": now(), "stand_in": stand_in or None}
    with register.writing():
        _locked(register, session)
        return register.change(update(SEAT).where(place).values(**values)) == 1


def give_up(register: Register, hosting: Hosting, seated: tuple[str, str]) -> bool:
    """A person leaves her seat, and what was declared follows: a model, or nobody. False where
    nobody sits there.
    """
    by = hosting.follows
    state = SeatState.STOOD_IN if by else SeatState.SILENT
    return set_seat(register, *seated, state, by, of=(SeatState.TAKEN,))


def _seat(session: str, name: str) -> Any:
    return (SEAT.c.session == session) & (SEAT.c.name == name)


def _locked(register: Register, session: str) -> str:
    """The state of a room, which only this transaction changes until it ends; "" where there is no
    such room. Who locks seats of a room locks the room first.
    """
    own = select(ROOM.c.state).where(ROOM.c.session == session)
    return register.value(own.with_for_update()) or ""


MESSAGES = (
    select(MESSAGE.c.text)
    .where(MESSAGE.c.session == bindparam("session"))
    .where(or_(MESSAGE.c.person.is_(None), MESSAGE.c.person == bindparam("person")))
    .order_by(MESSAGE.c.id)
)


def messages(register: Register, session: str, person: str) -> list[str]:
    """The researcher's messages that a person may read, in order."""
    return register.column(MESSAGES, {"session": session, "person": person})


def last_seen(register: Register, person: str) -> float | None:
    """When a person last asked for a page."""
    return register.value(select(PERSON.c.seen).where(PERSON.c.id == person))


NOWHERE = ("", "")
"""The session and the seat of a person without one."""
ENDED = "ended by the researcher"
"""Why a room is cancelled that the researcher ended."""
SAID, END, RESTART, SEAT_TAKEN, REVOKED = "message", "end", "restart", "seat_taken", "revoked"
"""The kinds of interventions."""


@dataclass(frozen=True)
class Intervention:
    """One act of the researcher: `seat` is "" where it was for the whole group, `text` what people
    were told, or what followed. `at` is in seconds since 1970.
    """

    id: int
    session: str
    seat: str
    kind: str
    text: str
    at: float


def say(register: Register, session: str, text: str, person: str = "") -> None:
    """Keep a message of the researcher to a group, or to one person of it."""
    with register.writing():
        values = {"session": session, "person": person or None, "text": text, "sent": now()}
        register.change(insert(MESSAGE).values(**values))
        seat = (seat_of(register, person) or NOWHERE)[1]
        _keep(register, session, seat, SAID, text)


def end_room(register: Register, session: str) -> bool:
    """End a room for good; False where it was over, or ended, before."""
    with register.writing():
        ended = set_room(register, session, RoomState.CANCELLED, ENDED, RoomState.GOING)
        if ended:
            _keep(register, session, "", END)
    return ended


def restart_room(register: Register, session: str) -> bool:
    """Let a room that was stopped go on; False where it was not stopped."""
    with register.writing():
        begun = set_room(register, session, RoomState.HELD, of=(RoomState.STOPPED,))
        if begun:
            _keep(register, session, "", RESTART)
    return begun


def take_away(register: Register, person: str, stand_in: str = "") -> tuple[str, str] | None:
    """Take the seat from a person: a model follows, or nobody (""); where she sat, None where she
    has no seat, or left it before.
    """
    state = SeatState.STOOD_IN if stand_in else SeatState.SILENT
    with register.writing():
        seated = seat_of(register, person)
        if seated is None or not set_seat(register, *seated, state, stand_in):
            return None
        _keep(register, *seated, SEAT_TAKEN, stand_in)
    return seated


def shut_out(register: Register, person: str) -> int:
    """Revoke every link and cookie of a person, who keeps her seat; how many links."""
    with register.writing():
        _keep(register, *(seat_of(register, person) or NOWHERE), REVOKED)
        return revoke(register, person)


def interventions(register: Register, session: str) -> list[Intervention]:
    """What the researcher did to a group, in order."""
    own = INTERVENTION.c.session == session
    statement = select(INTERVENTION).where(own).order_by(INTERVENTION.c.id)
    return [noun_of(Intervention, row) for row in register.all(statement)]


def numbers_of_interventions(register: Register) -> dict[str, int]:
    """How often something was done to each group to which anything was."""
    counted = select(INTERVENTION.c.session, func.count()).group_by(INTERVENTION.c.session)
    return {session: n for session, n in register.all(counted) if session}


def _keep(register: Register, session: str, seat: str, kind: str, text: str = "") -> None:
    values = {"session": session, "seat": seat, "kind": kind, "text": text, "at": now()}
    register.change(insert(INTERVENTION).values(**values))
