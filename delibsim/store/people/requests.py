"""What waits for people: a row a request, its draft, and what was handed in, once and durably."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, case, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import REQUEST


@dataclass(frozen=True)
class WaitingRequest:
    """One request as it stands in the register.

    `page` is the questionnaire as JSON, `draft` the fields as they were typed. `status` is "" while
    nobody has handed anything in; then it is that of a completion. Times are seconds since 1970.
    """

    key: str
    session: str
    seat: str
    occasion: str
    page: str
    asked: float
    shown: float | None
    paused: float
    draft: str
    reply: str
    status: str
    detail: str
    by: str


COLUMNS = [REQUEST.c[name] for name in WaitingRequest.__dataclass_fields__]
OF_KEY = select(*COLUMNS).where(REQUEST.c.key == bindparam("key"))
OF_SEAT = select(*COLUMNS).where(
    REQUEST.c.session == bindparam("session"), REQUEST.c.seat == bindparam("seat")
)
OPEN = OF_SEAT.where(REQUEST.c.status.is_(None)).order_by(REQUEST.c.asked).limit(1)
LAST = OF_SEAT.where(REQUEST.c.given.is_not(None)).order_by(REQUEST.c.given.desc()).limit(1)
ANSWERED = select(REQUEST.c.occasion).where(
    REQUEST.c.session == bindparam("session"),
    REQUEST.c.seat == bindparam("seat"),
    REQUEST.c.shown.is_not(None),
    REQUEST.c.status.in_(("ok", "refusal")),
)
TIMES = LAST.with_only_columns(REQUEST.c.shown, REQUEST.c.paused, REQUEST.c.given)


def put_request(
    register: Register,
    key: str,
    session: str,
    seat: str,
    occasion: str,
    page: str,
    again: bool = False,
) -> WaitingRequest:
    """Keep a request, unless it is there from before; the request as it stands. Where something is
    asked for `again`, the time of the first request goes on.
    """
    values = {"key": key, "session": session, "seat": seat, "occasion": occasion, "page": page}
    try:
        with register.writing(durable=False) as connection:
            if connection.execute(OF_KEY, {"key": key}).first() is None:
                time = _time_so_far(connection, session, seat) if again else {}
                connection.execute(insert(REQUEST).values(**values, **time, asked=now()))
    except IntegrityError:
        pass  # it was kept meanwhile
    found = request_of(register, key)
    assert found is not None
    return found


def _time_so_far(connection: Connection, session: str, seat: str) -> dict[str, float]:
    """When a person first saw what she is asked for again, and the seconds that are not counted,
    with those since she handed it in.
    """
    row = connection.execute(TIMES, {"session": session, "seat": seat}).first()
    if row is None or row.shown is None:
        return {}
    return {"shown": row.shown, "paused": row.paused + now() - row.given}


def request_of(register: Register, key: str) -> WaitingRequest | None:
    """The request of this key."""
    row = register.first(OF_KEY, {"key": key})
    return None if row is None else _request(row._mapping)


def open_request(register: Register, session: str, seat: str) -> WaitingRequest | None:
    """The request that waits for a seat; None where none does."""
    row = register.first(OPEN, {"session": session, "seat": seat})
    return None if row is None else _request(row._mapping)


def open_requests(register: Register) -> dict[tuple[str, str], WaitingRequest]:
    """What waits for people in rooms, by session and seat, without its page and what was typed; of
    several the first that was asked.
    """
    waits = REQUEST.c.status.is_(None) & REQUEST.c.session.is_not(None)
    left_out = [literal("").label(name) for name in ("page", "draft", "reply")]
    columns = [one for one in COLUMNS if one.name not in ("page", "draft", "reply")]
    statement = select(*columns, *left_out).where(waits).order_by(REQUEST.c.asked.desc())
    rows = register.all(statement)
    return {(row.session, row.seat): _request(row._mapping) for row in rows}


def last_given(register: Register, session: str, seat: str) -> WaitingRequest | None:
    """What a seat was asked last that does not wait any more; None before the first."""
    row = register.first(LAST, {"session": session, "seat": seat})
    return None if row is None else _request(row._mapping)


def occasions_answered(register: Register, session: str, seat: str) -> set[str]:
    """The occasions on which a seat was shown a page, and answered it or declined to."""
    rows = register.column(ANSWERED, {"session": session, "seat": seat})
    return set(rows)


def hand_in(
    register: Register,
    key: str,
    reply: str,
    status: str = "ok",
    detail: str = "",
    by: str = "a person",
) -> bool:
    """Keep what came of a request, on disk when this returns; False where it was given before."""
    values = {"reply": reply, "status": status, "detail": detail, "by": by, "given": now()}
    waits = (REQUEST.c.key == key) & REQUEST.c.status.is_(None)
    return register.change(update(REQUEST).where(waits).values(**values)) == 1


def save_draft(register: Register, key: str, draft: str) -> bool:
    """Keep the fields of a request as they are typed; False where it was handed in before."""
    waits = (REQUEST.c.key == key) & REQUEST.c.status.is_(None)
    with register.writing(durable=False) as connection:
        values = {"draft": draft, "drafted": now()}
        return connection.execute(update(REQUEST).where(waits).values(**values)).rowcount == 1


def note_shown(register: Register, key: str) -> None:
    """Keep when the person first saw a request; its time counts from then on."""
    unseen = (REQUEST.c.key == key) & REQUEST.c.shown.is_(None)
    register.change(update(REQUEST).where(unseen).values(shown=now(), paused=0.0), durable=False)


def not_counted(register: Register, session: str, since: float) -> None:
    """Keep that nobody held a session from `since` until now: the time of what waits there is not
    counted meanwhile.
    """
    waits = (REQUEST.c.session == session) & REQUEST.c.status.is_(None)
    until = now()
    with register.writing() as connection:
        begun = func.coalesce(REQUEST.c.shown, REQUEST.c.asked)
        late = case((begun > since, begun), else_=since)
        lost = case((late < until, until - late), else_=0.0)
        values = {"paused": REQUEST.c.paused + lost}
        connection.execute(update(REQUEST).where(waits).values(**values))


def _request(row: Mapping[str, object]) -> WaitingRequest:
    values = {name: row[name] for name in WaitingRequest.__dataclass_fields__}
    texts = ("draft", "reply", "status", "detail", "by", "session", "seat")
    for name in texts:
        values[name] = values[name] or ""
    return WaitingRequest(**values)  # ty: ignore[invalid-argument-type]
