"""What waits for people: a row a request, its draft, and what was handed in, once and durably."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.store.people.register import Register, noun_of, now
from delibsim.store.people.schema import REQUEST


@dataclass(frozen=True)
class WaitingRequest:
    """One request as it stands in the register: a prompt for a seat of a session; or for a rater,
    a step (`occasion`) of a sheet (`unit`) of a `task`.

    `page` is the questionnaire as JSON, `draft` the fields as they were typed. `status` is "" while
    nobody has handed anything in; then it is that of a completion. `kept` is when the answers of a
    sheet were brought into the study, `fault` why they cannot be. Times are seconds since 1970.
    """

    key: str
    session: str
    seat: str
    unit: str
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
    given: float | None
    kept: float | None
    fault: str

    @property
    def seconds(self) -> float | None:
        """The time from being shown to being handed in, without breaks; None while it waits."""
        if self.given is None or self.shown is None:
            return None
        return max(0.0, self.given - self.shown - self.paused)


LONG = ("page", "draft", "reply")
COLUMNS = [REQUEST.c[name] for name in WaitingRequest.__dataclass_fields__]
BRIEF = [literal("").label(one.name) if one.name in LONG else one for one in COLUMNS]
"""The columns without what is long."""
OF_KEY = select(*COLUMNS).where(REQUEST.c.key == bindparam("key"))
OF_SEAT = select(*COLUMNS).where(
    REQUEST.c.session == bindparam("session"), REQUEST.c.seat == bindparam("seat")
)
WAITS = REQUEST.c.status.is_(None)
OPEN = OF_SEAT.where(WAITS).order_by(REQUEST.c.asked).limit(1)
LAST = OF_SEAT.where(REQUEST.c.given.is_not(None)).order_by(REQUEST.c.given.desc()).limit(1)
ANSWERED = OF_SEAT.with_only_columns(REQUEST.c.occasion).where(
    REQUEST.c.shown.is_not(None), REQUEST.c.status.in_(("ok", "refusal"))
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
    return _first(register, OF_KEY, key=key)


def open_request(register: Register, session: str, seat: str) -> WaitingRequest | None:
    """The request that waits for a seat; None where none does."""
    return _first(register, OPEN, session=session, seat=seat)


def last_given(register: Register, session: str, seat: str) -> WaitingRequest | None:
    """What a seat was asked last that does not wait any more; None before the first."""
    return _first(register, LAST, session=session, seat=seat)


def open_requests(register: Register) -> dict[tuple[str, str], WaitingRequest]:
    """What waits for people in rooms, by session and seat, without its page and what was typed; of
    several the first that was asked.
    """
    waits = select(*BRIEF).where(WAITS, REQUEST.c.session.is_not(None))
    rows = register.all(waits.order_by(REQUEST.c.asked.desc()))
    return {(row.session, row.seat): noun_of(WaitingRequest, row) for row in rows}


def occasions_answered(register: Register, session: str, seat: str) -> set[str]:
    """The occasions on which a seat was shown a page, and answered it or declined to."""
    return set(register.column(ANSWERED, {"session": session, "seat": seat}))


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
    return register.change(update(REQUEST).where(REQUEST.c.key == key, WAITS).values(**values)) == 1


def save_draft(
    register: Register, key: str, fields: Mapping[str, list[str]], own: Any = True
) -> bool:
    """Keep the fields of a request as they are typed; False where it was handed in before, or is
    not among somebody's `own`.
    """
    values = {"draft": json.dumps(dict(fields), ensure_ascii=False), "drafted": now()}
    waits = update(REQUEST).where(REQUEST.c.key == key, WAITS, own)
    return register.change(waits.values(**values), durable=False) == 1


def note_shown(register: Register, key: str) -> None:
    """Keep when the person first saw a request; its time counts from then on."""
    unseen = (REQUEST.c.key == key) & REQUEST.c.shown.is_(None)
    register.change(update(REQUEST).where(unseen).values(shown=now(), paused=0.0), durable=False)


def not_counted(register: Register, session: str, since: float) -> None:
    """Keep that nobody held a session from `since` until now: the time of what waits there is not
    counted meanwhile.
    """
    until = now()
    begun = func.coalesce(REQUEST.c.shown, REQUEST.c.asked)
    late = case((begun > since, begun), else_=since)
    lost = case((late < until, until - late), else_=0.0)
    waiting = update(REQUEST).where(REQUEST.c.session == session, WAITS)
    register.change(waiting.values(paused=REQUEST.c.paused + lost))


def _first(register: Register, query: Any, **values: str) -> WaitingRequest | None:
    row = register.first(query, values)
    return None if row is None else noun_of(WaitingRequest, row)
