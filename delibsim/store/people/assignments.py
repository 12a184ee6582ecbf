"""Who has which place of a pack that is rated on pages, and what was given for its sheets.

A sheet is asked step by step: each step is a row in `request`, which the person is shown, drafts
and hands in like any other request. A sheet is written into the study once, when all its steps are
given.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import INVITATION, PERSON, PLACE, REQUEST

REST = 1800.0
"""Seconds without a sign of the person after which they count as a break."""
BY = "a person"
"""What records call who answered."""
RECENT = 60.0
"""Seconds between two signs of a person that are noted."""
OF_REPLY = [
    REQUEST.c[name]
    for name in (
        "key", "person", "unit", "occasion", "status", "reply", "asked", "shown", "paused", "given",
        "kept", "fault",
    )
]  # fmt: skip
"""The columns that `Reply` is made of."""
Units = Sequence[tuple[str, str]]
"""The sheets of a place in the order of showing, each with the name of what it shows."""


@dataclass(frozen=True)
class Held:
    """A place that a person has, or had: its state (taken, left, done) and since when there is a
    break (None: there is none).
    """

    task: str
    number: int
    person: str
    state: str
    units: Units
    paused: float | None = None
    seen: float | None = None

    @property
    def sheets(self) -> list[str]:
        """The codes of the sheets, in the order of showing."""
        return [sheet for sheet, _ in self.units]


@dataclass(frozen=True)
class Reply:
    """What was given at one step of a sheet, or that it waits: `status` is None then."""

    key: str
    sheet: str
    step: str
    status: str | None
    reply: str | None
    asked: float
    shown: float | None
    paused: float
    given: float | None
    kept: float | None
    fault: str | None = None

    @property
    def seconds(self) -> float | None:
        """The time from being shown to being handed in, without breaks; None while it waits."""
        if self.given is None or self.shown is None:
            return None
        return max(0.0, self.given - self.shown - self.paused)


def request_key(task: str, sheet: str, step: str) -> str:
    """The key of a step of a sheet: the same after a restart."""
    return hashlib.sha256(json.dumps(["rater", task, sheet, step]).encode()).hexdigest()


def open_places(
    register: Register, task: str, places: Mapping[int, Units], follows: Mapping[int, int]
) -> None:
    """Enter the places of a task that are not there yet; `follows` names the place that each of
    some took over from, which is left from then on.
    """
    while True:  # a command may enter the same places; then they are known
        with suppress(IntegrityError), register.writing() as connection:
            _open_places(connection, task, places, follows)
            return


def _open_places(
    connection: Connection, task: str, places: Mapping[int, Units], follows: Mapping[int, int]
) -> None:
    known = set(connection.scalars(select(PLACE.c.number).where(PLACE.c.task == task)))
    for number, units in places.items():
        if number in known:
            continue
        before = follows.get(number)
        row = {"task": task, "number": number, "follows": before, "state": "free"}
        connection.execute(PLACE.insert().values(**row, units=json.dumps(list(units))))
        if before is not None:
            _left(connection, task, before)


def place_of(register: Register, person: str, task: str | None = None) -> Held | None:
    """The place that a person has, or had, in a task; without a task the one that is open, else the
    last. None where there is none.
    """
    with register.reading() as connection:
        rows = connection.execute(select(PLACE).where(PLACE.c.person == person)).all()
    found = [_held(row) for row in rows if task in (None, row.task)]
    found.sort(key=lambda held: (held.state == "taken", held.seen or 0.0))
    return found[-1] if found else None


def take_place(register: Register, task: str, person: str) -> Held | None:
    """The place of a person in a task: the one she has, or else the next that is free and shows
    nothing that she was shown in any place; None where there is none.

    Places whose units were handed on come first.
    """
    while True:  # others may be quicker, until no place is free
        with register.reading() as connection:
            own = connection.execute(select(PLACE).where(PLACE.c.person == person)).all()
            for row in own:
                if row.task == task:
                    return _held(row)
            seen = {unit for row in own for _, unit in _held(row).units}
            free = _free(connection, task, seen)
        if free is None:
            return None
        with suppress(IntegrityError), register.writing() as connection:  # a second tab of hers
            where = and_(PLACE.c.task == task, PLACE.c.number == free, PLACE.c.person.is_(None))
            at = now()
            values = {"person": person, "state": "taken", "taken": at, "seen": at}
            connection.execute(update(PLACE).where(where).values(**values))


def _free(connection: Connection, task: str, seen: Set[str]) -> int | None:
    """The next free place that shows nothing of what was seen; a few are looked at, in order."""
    query = select(PLACE).where(PLACE.c.task == task, PLACE.c.person.is_(None))
    ordered = query.order_by(PLACE.c.follows.is_(None), PLACE.c.number)
    for row in connection.execute(ordered if seen else ordered.limit(1)):
        if not seen & {unit for _, unit in _held(row).units}:
            return row.number
    return None


def lapsed(register: Register, task: str, before: float) -> list[Held]:
    """The places whose units are to be handed on: those that were left and that no place follows,
    and those that are taken and whose person gave no sign since `before`.
    """
    away = and_(PLACE.c.state == "taken", PLACE.c.seen < before)
    gone = select(PLACE).where(PLACE.c.task == task, or_(PLACE.c.state == "left", away))
    follows = select(PLACE.c.follows).where(PLACE.c.task == task, PLACE.c.follows.is_not(None))
    with register.reading() as connection:
        rows = connection.execute(gone.order_by(PLACE.c.number)).all()
        followed = set(connection.scalars(follows)) if rows else set()
    return [_held(row) for row in rows if row.number not in followed]


def leave_place(register: Register, held: Held) -> None:
    """The person of a place goes; what is whole of its sheets stays."""
    with register.writing() as connection:
        _left(connection, held.task, held.number)


def finish_place(register: Register, held: Held) -> None:
    """Every sheet of a place was handed in, or nothing of it is left to be handed on."""
    with register.writing() as connection:
        where = _is(held) & PLACE.c.state.in_(("taken", "left"))
        connection.execute(update(PLACE).where(where).values(state="done", ended=now()))


def show_step(register: Register, held: Held, sheet: str, step: str, known: "Reply | None") -> str:
    """The key of the request for a step of a sheet, which is entered unless it is `known`; the
    person was here and is shown it.

    A long time without a sign of the person counts as a break.
    """
    key, at = request_key(held.task, sheet, step), now()
    away = at - (held.seen or at)
    if known is not None and known.shown is not None and away < RECENT:
        return key
    if known is None:
        row: dict[str, Any] = {"key": key, "person": held.person, "task": held.task, "unit": sheet}
        row |= {"place": held.sheets.index(sheet), "occasion": step}
        row |= {"page": "", "asked": at, "shown": at}  # the page follows from the pack
        with suppress(IntegrityError), register.writing() as connection:  # another tab was quicker
            connection.execute(REQUEST.insert().values(**row))
            connection.execute(update(PLACE).where(_is(held)).values(seen=at))
        return key
    with register.writing() as connection:
        seen = connection.scalar(select(PLACE.c.seen).where(_is(held)).with_for_update())
        first = seen == held.seen  # of two tabs one counts the break
        if away > REST and held.paused is None and first:
            longer = REQUEST.c.paused + away
            waits = and_(REQUEST.c.key == key, REQUEST.c.given.is_(None))
            connection.execute(update(REQUEST).where(waits).values(paused=longer))
        connection.execute(update(PLACE).where(_is(held)).values(seen=at))
    return key


def hand_in_step(register: Register, held: Held, key: str, reply: str, status: str = "ok") -> bool:
    """Keep what the person of a place gives; False where it was given already, or is not hers.

    A break ends, and the time since the last sign counts as one if it was long.
    """
    at = now()
    own = and_(REQUEST.c.key == key, REQUEST.c.person == held.person, REQUEST.c.task == held.task)
    with register.writing() as connection:
        away = at - (held.seen or at)
        rest = away if away > REST and held.paused is None else 0.0
        values: dict[str, Any] = {"reply": reply, "status": status, "by": BY, "given": at}
        values |= {"draft": None, "paused": REQUEST.c.paused + rest}
        waits = and_(own, REQUEST.c.status.is_(None))
        done = connection.execute(update(REQUEST).where(waits).values(**values)).rowcount
        connection.execute(update(PLACE).where(_is(held)).values(seen=at))
    return bool(done)


def save_draft(register: Register, held: Held, key: str, fields: Mapping[str, list[str]]) -> bool:
    """Keep the fields of a request as they are typed; False where it was given already, or is not
    hers.
    """
    at = now()
    own = (REQUEST.c.key == key, REQUEST.c.person == held.person, REQUEST.c.task == held.task)
    values = {"draft": json.dumps(dict(fields), ensure_ascii=False), "drafted": at}
    with register.writing() as connection:
        waits = and_(*own, REQUEST.c.status.is_(None))
        done = connection.execute(update(REQUEST).where(waits).values(**values)).rowcount
        connection.execute(update(PLACE).where(_is(held)).values(seen=at))
    return bool(done)


def pause(register: Register, held: Held) -> None:
    """A break begins, if there is none."""
    with register.writing() as connection:
        where = _is(held) & PLACE.c.paused.is_(None)
        connection.execute(update(PLACE).where(where).values(paused=now(), seen=now()))


def go_on(register: Register, held: Held) -> None:
    """The break ends: its seconds are not counted in what waits."""
    at = now()
    with register.writing() as connection:
        own = select(PLACE.c.paused).where(_is(held))
        since = connection.scalar(own.with_for_update())  # of two tabs one ends it
        if since is None:
            return
        waits = and_(
            REQUEST.c.task == held.task,
            REQUEST.c.person == held.person,
            REQUEST.c.given.is_(None),
            REQUEST.c.shown.is_not(None),
        )
        longer = REQUEST.c.paused + (at - since)
        connection.execute(update(REQUEST).where(waits).values(paused=longer))
        connection.execute(update(PLACE).where(_is(held)).values(paused=None, seen=at))


def replies_of(register: Register, held: Held) -> dict[str, dict[str, Reply]]:
    """What was given in a place, and what waits, by sheet and step."""
    own = (REQUEST.c.task == held.task, REQUEST.c.person == held.person)
    query = select(*OF_REPLY).where(*own)
    with register.reading() as connection:
        return by_sheet(connection.execute(query))


def unkept(register: Register, task: str) -> dict[str, dict[str, Reply]]:
    """What was given for sheets of a task that are not in the study yet, by sheet and step."""
    open_ = (REQUEST.c.kept.is_(None), REQUEST.c.fault.is_(None), REQUEST.c.status.is_not(None))
    query = select(*OF_REPLY).where(REQUEST.c.task == task, *open_)
    with register.reading() as connection:
        return by_sheet(connection.execute(query))


def mark_kept(register: Register, task: str, sheets: Iterable[str], fault: str = "") -> None:
    """Note that the rows of sheets are in the study; or, with a fault, that they cannot be."""
    values: dict[str, Any] = {"fault": fault} if fault else {"kept": now()}
    with register.writing() as connection:
        for sheet in sheets:
            where = and_(REQUEST.c.task == task, REQUEST.c.unit == sheet)
            connection.execute(update(REQUEST).where(where).values(**values))


def places_in(register: Register, task: str) -> list[tuple[Held, int | None]]:
    """Every place of a task in order, free ones with the person "", each with the place that it
    follows.
    """
    query = select(PLACE).where(PLACE.c.task == task).order_by(PLACE.c.number)
    with register.reading() as connection:
        return [(_held(row), row.follows) for row in connection.execute(query)]


def replies_in(register: Register, task: str) -> dict[str, dict[str, Reply]]:
    """What was given in a task, and what waits, by sheet and step."""
    with register.reading() as connection:
        return by_sheet(connection.execute(select(*OF_REPLY).where(REQUEST.c.task == task)))


def task_of(register: Register, person: str) -> str:
    """The task that a rater was invited to, "" where there is none."""
    known = select(PERSON.c.task).where(PERSON.c.id == person)
    invited = select(INVITATION.c.task).where(INVITATION.c.person == person)
    with register.reading() as connection:
        return connection.scalar(known) or connection.scalar(invited) or ""


def note_task(register: Register, person: str, task: str) -> None:
    """Keep what task a rater came for, by a link that is open to all."""
    with register.writing() as connection:
        connection.execute(update(PERSON).where(PERSON.c.id == person).values(task=task))


def note_ended(register: Register, person: str) -> None:
    """A rater has handed in everything, or goes for good: her stage is done from then on."""
    stays = and_(PERSON.c.id == person, PERSON.c.stage.not_in(("withdrawn", "done")))
    with register.writing() as connection:
        connection.execute(update(PERSON).where(stays).values(stage="done"))


def draft_of(register: Register, person: str, key: str) -> dict[str, list[str]]:
    """The fields of a request of a person as they were typed; empty where nothing was."""
    query = select(REQUEST.c.draft).where(REQUEST.c.key == key, REQUEST.c.person == person)
    with register.reading() as connection:
        draft = connection.scalar(query)
    return json.loads(draft) if draft else {}


def counts_of(register: Register, task: str) -> dict[str, int]:
    """How many places of a task are in each state."""
    query = select(PLACE.c.state, func.count()).where(PLACE.c.task == task)
    with register.reading() as connection:
        rows = connection.execute(query.group_by(PLACE.c.state)).all()
    return {row[0]: row[1] for row in rows}


def by_sheet(rows: Iterable[Any]) -> dict[str, dict[str, Reply]]:
    """Rows of `request` by sheet and step."""
    found: dict[str, dict[str, Reply]] = {}
    for row in rows:
        reply = Reply(
            key=row.key,
            sheet=row.unit,
            step=row.occasion,
            status=row.status,
            reply=row.reply,
            asked=row.asked,
            shown=row.shown,
            paused=row.paused,
            given=row.given,
            kept=row.kept,
            fault=row.fault,
        )
        found.setdefault(row.unit, {})[row.occasion] = reply
    return found


def _left(connection: Connection, task: str, number: int) -> None:
    where = and_(PLACE.c.task == task, PLACE.c.number == number, PLACE.c.state == "taken")
    connection.execute(update(PLACE).where(where).values(state="left", ended=now(), paused=None))


def _is(held: Held) -> Any:
    return and_(PLACE.c.task == held.task, PLACE.c.number == held.number)


def _held(row: Row[Any]) -> Held:
    units = [(sheet, unit) for sheet, unit in json.loads(row.units)]
    person = row.person or ""
    return Held(row.task, row.number, person, row.state, units, row.paused, row.seen)
