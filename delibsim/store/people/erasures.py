"""Deleting what is kept of persons: what is due, the intent before, the deletion, and its end."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import and_, delete, insert, or_, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError

from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.rooms import NOWHERE, seat_of
from delibsim.store.people.schema import (
    ANSWER,
    ERASURE,
    IDENTITY,
    INTERVENTION,
    MESSAGE,
    PERSON,
    PLACE,
    REQUEST,
    ROOM,
    SEAT,
    PlaceState,
    RoomState,
    SeatState,
    Stage,
)

DELETE, PSEUDONYMISE, FORGET = "delete", "pseudonymise", "forget"
"""What is done: all that a person gave goes, only who she is, or that without her withdrawing."""
DAY = 86_400.0


@dataclass(frozen=True)
class Erasure:
    """One deletion that was begun: whose, what, and the session that goes with it, "" for none."""

    person: str
    what: str
    session: str


def withdrawn_undone(register: Register) -> list[str]:
    """The codes of who has withdrawn and whose withdrawal is not carried out yet, in order."""
    done = select(ERASURE.c.person).where(
        ERASURE.c.what.in_((DELETE, PSEUDONYMISE)), ERASURE.c.done.is_not(None)
    )
    wanted = select(PERSON.c.id).where(PERSON.c.stage == Stage.WITHDRAWN, PERSON.c.id.not_in(done))
    return register.column(wanted.order_by(PERSON.c.withdrawn, PERSON.c.id))


def due_to_forget(register: Register, keep_days: float) -> list[str]:
    """The codes of those whose identity has been kept for longer than so many days."""
    before = now() - keep_days * DAY
    statement = select(PERSON.c.id).join(IDENTITY, IDENTITY.c.key == PERSON.c.identity)
    due = statement.where(IDENTITY.c.made < before).order_by(IDENTITY.c.made, PERSON.c.id)
    return register.column(due)


def unfinished(register: Register) -> list[Erasure]:
    """The deletions that were begun and not finished."""
    columns = (ERASURE.c.person, ERASURE.c.what, ERASURE.c.session)
    statement = select(*columns).where(ERASURE.c.done.is_(None)).order_by(ERASURE.c.begun)
    return [Erasure(row[0], row[1], row[2] or "") for row in register.all(statement)]


def begin(register: Register, erasure: Erasure) -> Erasure:
    """Keep the intent before anything is deleted; the intent as it was kept first."""
    row = {"person": erasure.person, "what": erasure.what, "session": erasure.session or None}
    known = and_(ERASURE.c.person == erasure.person, ERASURE.c.what == erasure.what)
    try:
        register.change(insert(ERASURE).values(**row, begun=now()))
    except IntegrityError:
        session = register.value(select(ERASURE.c.session).where(known))
        return Erasure(erasure.person, erasure.what, session or "")
    return erasure


def finish(register: Register, erasures: Collection[Erasure]) -> None:
    """Overwrite what was deleted in the files of the database, then note that all is done."""
    if not erasures:
        return
    scrub(register)
    with register.writing() as connection:
        for one in erasures:
            own = and_(ERASURE.c.person == one.person, ERASURE.c.what == one.what)
            connection.execute(update(ERASURE).where(own).values(done=now()))


def forget_identities(register: Register, codes: Iterable[str]) -> None:
    """Delete who these persons are; what they gave stays under their codes."""
    with register.writing() as connection:
        for code in codes:
            own = select(PERSON.c.identity).where(PERSON.c.id == code).scalar_subquery()
            connection.execute(delete(IDENTITY).where(IDENTITY.c.key == own))
            connection.execute(update(PERSON).where(PERSON.c.id == code).values(identity=None))


def texts_of(register: Register, person: str) -> list[str]:
    """All that a person typed: drafts, replies, and answers to the researcher's own questions."""
    session, seat = seat_of(register, person) or NOWHERE
    own = REQUEST.c.person == person
    if session:
        own = or_(own, and_(REQUEST.c.session == session, REQUEST.c.seat == seat))
    with register.reading() as connection:
        rows = connection.execute(select(REQUEST.c.draft, REQUEST.c.reply).where(own)).all()
        answers = connection.scalars(select(ANSWER.c.value).where(ANSWER.c.person == person))
        found = [cell for row in rows for cell in row if cell]
        return [*found, *answers]


def session_with_words(register: Register, person: str) -> str:
    """The session in which a person has given anything, be it a draft; "" where she has not."""
    session, seat = seat_of(register, person) or NOWHERE
    if not session:
        return ""
    own = and_(REQUEST.c.session == session, REQUEST.c.seat == seat)
    typed = or_(
        REQUEST.c.draft.is_not(None),
        and_(REQUEST.c.status.is_not(None), REQUEST.c.status != "absent"),
    )
    given = register.first(select(REQUEST.c.key).where(own & typed))
    return session if given else ""


def free_in_lobby(register: Register, person: str) -> None:
    """Free the seat of a person in a room that has not begun: nobody waits for her there."""
    waiting = select(ROOM.c.session).where(ROOM.c.state == RoomState.LOBBY)
    own = and_(SEAT.c.person == person, SEAT.c.session.in_(waiting))
    free = {"person": None, "state": SeatState.FREE, "taken": None, "left": None, "stand_in": None}
    register.change(update(SEAT).where(own).values(**free))


def delete_person_in_sessions(register: Register, person: str, session: str) -> None:
    """Delete what a person gave; with a session also what all others were asked and gave in it,
    because that quotes her, and the messages to its group.
    """
    with register.writing() as connection:
        connection.execute(delete(ANSWER).where(ANSWER.c.person == person))
        connection.execute(delete(REQUEST).where(REQUEST.c.person == person))
        connection.execute(delete(MESSAGE).where(MESSAGE.c.person == person))
        if session:
            connection.execute(delete(REQUEST).where(REQUEST.c.session == session))
            connection.execute(delete(MESSAGE).where(MESSAGE.c.session == session))
            connection.execute(delete(INTERVENTION).where(INTERVENTION.c.session == session))
            values = {"state": RoomState.OVER, "detail": Stage.WITHDRAWN}
            connection.execute(update(ROOM).where(ROOM.c.session == session).values(**values))


def places_of_person(register: Register, person: str) -> list[tuple[str, int]]:
    """The tasks and numbers of the places that a rater has, or had."""
    own = select(PLACE.c.task, PLACE.c.number).where(PLACE.c.person == person)
    return [(row[0], row[1]) for row in register.all(own)]


def free_places(register: Register, person: str) -> None:
    """Free the places of a rater; one that another has taken over from stays left, with nobody."""
    follows = PLACE.alias()
    taken_over = select(follows.c.follows).where(
        follows.c.task == PLACE.c.task, follows.c.follows.is_not(None)
    )
    own = PLACE.c.person == person
    again = {"person": None, "taken": None, "seen": None, "paused": None, "ended": None}
    with register.writing() as connection:
        gone = own & PLACE.c.number.in_(taken_over)
        connection.execute(update(PLACE).where(gone).values(**again, state=PlaceState.DONE))
        connection.execute(update(PLACE).where(own).values(**again, state=PlaceState.FREE))


def drop_sheets(register: Register, dropped: Collection[tuple[str, str]]) -> None:
    """Take sheets, by task and code, from the places that show them, with what was given there."""
    if not dropped:
        return
    with register.writing() as connection:
        for row in connection.execute(select(PLACE)).all():
            units = json.loads(row.units)
            kept = [unit for unit in units if (row.task, unit[0]) not in dropped]
            if len(kept) < len(units):
                own = and_(PLACE.c.task == row.task, PLACE.c.number == row.number)
                connection.execute(update(PLACE).where(own).values(units=json.dumps(kept)))
        for task, sheet in dropped:
            own = and_(REQUEST.c.task == task, REQUEST.c.unit == sheet)
            connection.execute(delete(REQUEST).where(own))


def sheets_in(register: Register) -> list[tuple[str, str, str]]:
    """Every sheet that is rated on pages: task, code, and the name of what it shows."""
    rows = register.all(select(PLACE.c.task, PLACE.c.units))
    return [(row.task, sheet, unit) for row in rows for sheet, unit in json.loads(row.units)]


def scrub(register: Register) -> None:
    """Leave nothing of what was deleted in the files of the database; Unavailable while another
    process keeps it from being done, and it is tried again.
    """
    sqlite = register.engine.dialect.name == "sqlite"
    try:
        with register.engine.connect() as made:
            connection = made.execution_options(isolation_level="AUTOCOMMIT")
            if not sqlite:
                for table in (IDENTITY, ANSWER, REQUEST, MESSAGE, INTERVENTION):
                    connection.execute(text(f"vacuum full {table.name}"))
                return
            connection.execute(text("vacuum"))
            busy = connection.execute(text("pragma wal_checkpoint(truncate)")).one()[0]
    except OperationalError as error:
        raise Unavailable(str(error.orig).splitlines()[0]) from None
    if busy:
        raise Unavailable("the database is read by another process at this moment")
