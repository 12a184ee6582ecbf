"""What the researcher does while people take part: each act with its record, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from delibsim.store.people.entry import revoke_within
from delibsim.store.people.register import Register, now
from delibsim.store.people.rooms import (
    CANCELLED,
    HELD,
    LOBBY,
    SILENT,
    STOOD_IN,
    STOPPED,
    in_turn_within,
    note_within,
    set_room_within,
    set_seat_within,
)
from delibsim.store.people.schema import INTERVENTION, MESSAGE, SEAT

ENDED = "ended by the researcher"
"""Why a room is cancelled that the researcher ended."""
SAID, END, RESTART, SEAT_TAKEN, REVOKED = "message", "end", "restart", "seat_taken", "revoked"
"""The kinds of interventions."""


@dataclass(frozen=True)
class Intervention:
    """One act of the researcher: `seat` is "" where it was for the whole group, `text` what people
    were told, or what followed. `at` is in seconds since 1970; ids only grow.
    """

    id: int
    session: str
    seat: str
    kind: str
    text: str
    at: float


def say(register: Register, session: str, text: str, person: str = "") -> None:
    """Keep a message of the researcher to a group, or to one person of it."""
    with register.writing() as connection:
        values = {"session": session, "person": person or None, "text": text, "sent": now()}
        connection.execute(insert(MESSAGE).values(**values))
        seat = _seat_of(connection, person)[1] if person else ""
        _keep(connection, session, seat, SAID, text)
        note_within(connection, session, "message", {})


def end_room(register: Register, session: str) -> bool:
    """End a room for good; False where it was over, or ended, before."""
    with register.writing() as connection:
        going = (LOBBY, HELD, STOPPED)
        if not set_room_within(connection, session, CANCELLED, ENDED, going):
            return False
        _keep(connection, session, "", END, "")
    return True


def restart_room(register: Register, session: str) -> bool:
    """Let a room that was stopped go on; False where it was not stopped."""
    with register.writing() as connection:
        if not set_room_within(connection, session, HELD, of=(STOPPED,)):
            return False
        _keep(connection, session, "", RESTART, "")
    return True


def take_away(register: Register, person: str, stand_in: str = "") -> tuple[str, str] | None:
    """Take the seat from a person: a model follows, or nobody (""); where she sat, None where she
    has no seat, or left it before.
    """
    with register.writing() as connection:
        session, seat = _seat_of(connection, person)
        state = STOOD_IN if stand_in else SILENT
        if not session or not set_seat_within(connection, session, seat, state, stand_in):
            return None
        _keep(connection, session, seat, SEAT_TAKEN, stand_in)
    return session, seat


def shut_out(register: Register, person: str) -> int:
    """Revoke every link and cookie of a person, who keeps her seat; how many links."""
    with register.writing() as connection:
        session, seat = _seat_of(connection, person)
        in_turn_within(connection, session)  # before the person: who takes a seat locks both
        n = revoke_within(connection, person)
        _keep(connection, session, seat, REVOKED, "")
    return n


def interventions(register: Register, session: str, after: int = 0) -> list[Intervention]:
    """What the researcher did to a group, in order."""
    own = (INTERVENTION.c.session == session) & (INTERVENTION.c.id > after)
    statement = select(INTERVENTION).where(own).order_by(INTERVENTION.c.id)
    with register.reading() as connection:
        return [_intervention(row) for row in connection.execute(statement).mappings()]


def last_interventions(register: Register) -> dict[str, int]:
    """The id of the last intervention of every group that has one."""
    last = func.max(INTERVENTION.c.id)
    statement = select(INTERVENTION.c.session, last).group_by(INTERVENTION.c.session)
    with register.reading() as connection:
        return {session: id for session, id in connection.execute(statement) if session}


def _seat_of(connection: Connection, person: str) -> tuple[str, str]:
    statement = select(SEAT.c.session, SEAT.c.name).where(SEAT.c.person == person)
    row = connection.execute(statement).first()
    return ("", "") if row is None else (row[0], row[1])


def _keep(connection: Connection, session: str, seat: str, kind: str, text: str) -> None:
    in_turn_within(connection, session)  # ids grow as they are seen
    values = {"session": session, "seat": seat, "kind": kind, "text": text, "at": now()}
    connection.execute(insert(INTERVENTION).values(**values))


def _intervention(row: Mapping[str, Any]) -> Intervention:
    return Intervention(**{name: row[name] for name in Intervention.__dataclass_fields__})
