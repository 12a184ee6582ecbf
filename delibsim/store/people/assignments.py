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

from sqlalchemy import Connection, Row, and_, or_, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.store.people.register import Register, noun_of, now
from delibsim.store.people.requests import COLUMNS, WAITS, WaitingRequest, save_draft
from delibsim.store.people.schema import INVITATION, PERSON, PLACE, REQUEST, PlaceState, Stage

REST = 1800.0
"""Seconds without a sign of the person after which they count as a break."""
BY = "a person"
"""What records call who answered."""
RECENT = 60.0
"""Seconds between two signs of a person that are noted."""
Units = Sequence[tuple[str, str]]
"""The sheets of a place in the order of showing, each with the name of what it shows."""
Replies = dict[str, dict[str, WaitingRequest]]
"""Requests by sheet and step."""


@dataclass(frozen=True)
class Held:
    """A place that a person has, or had: its state and since when there is a break (None: there is
    none); `follows` is the place whose sheets were handed on to it.
    """

    task: str
    number: int
    person: str
    state: str
    units: Units
    paused: float | None = None
    seen: float | None = None
    follows: int | None = None

    @property
    def sheets(self) -> list[str]:
        """The codes of the sheets, in the order of showing."""
        return [sheet for sheet, _ in self.units]


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
            known = set(connection.scalars(select(PLACE.c.number).where(PLACE.c.task == task)))
            for number in sorted(places.keys() - known):
                before = follows.get(number)
                row = {"task": task, "number": number, "follows": before, "state": PlaceState.FREE}
                units = json.dumps(list(places[number]))
                connection.execute(PLACE.insert().values(**row, units=units))
                if before is not None:
                    connection.execute(_left(task, before))
            return


def place_of(register: Register, person: str, task: str | None = None) -> Held | None:
    """The place that a person has, or had, in a task; without a task the one that is open, else the
    last. None where there is none.
    """
    own = _held(register.all(select(PLACE).where(PLACE.c.person == person)))
    found = [held for held in own if task in (None, held.task)]
    found.sort(key=lambda held: (held.state == PlaceState.TAKEN, held.seen or 0.0))
    return found[-1] if found else None


def take_place(register: Register, task: str, person: str) -> Held | None:
    """The place of a person in a task: the one she has, or else the next that is free and shows
    nothing that she was shown in any place; None where there is none.

    Places whose units were handed on come first.
    """
    while True:  # others may be quicker, until no place is free
        with register.reading() as connection:
            own = _held(connection.execute(select(PLACE).where(PLACE.c.person == person)))
            for held in own:
                if held.task == task:
                    return held
            seen = {unit for held in own for _, unit in held.units}
            free = _free(connection, task, seen)
        if free is None:
            return place_of(register, person, task)  # another tab of hers had the last
        with suppress(IntegrityError):  # a second tab of hers
            where = and_(PLACE.c.task == task, PLACE.c.number == free, PLACE.c.person.is_(None))
            values = {"person": person, "state": PlaceState.TAKEN, "taken": now(), "seen": now()}
            register.change(update(PLACE).where(where).values(**values))


def _free(connection: Connection, task: str, seen: Set[str]) -> int | None:
    """The next free place that shows nothing of what was seen; a few are looked at, in order."""
    query = select(PLACE).where(PLACE.c.task == task, PLACE.c.person.is_(None))
    ordered = query.order_by(PLACE.c.follows.is_(None), PLACE.c.number)
    for held in _held(connection.execute(ordered if seen else ordered.limit(1))):
        if not seen & {unit for _, unit in held.units}:
            return held.number
    return None


def lapsed(register: Register, task: str, before: float) -> list[Held]:
    """The places whose units are to be handed on: those that were left and that no place follows,
    and those that are taken and whose person gave no sign since `before`.
    """
    away = and_(PLACE.c.state == PlaceState.TAKEN, PLACE.c.seen < before)
    followed = PLACE.alias()
    follows = select(followed.c.follows).where(
        followed.c.task == task, followed.c.follows.is_not(None)
    )
    gone = PLACE.c.state == PlaceState.LEFT
    due = select(PLACE).where(PLACE.c.task == task, or_(gone, away))
    rows = register.all(due.where(PLACE.c.number.not_in(follows)).order_by(PLACE.c.number))
    return _held(rows)


def leave_place(register: Register, held: Held) -> None:
    """The person of a place goes; what is whole of its sheets stays."""
    register.change(_left(held.task, held.number))


def finish_place(register: Register, held: Held) -> None:
    """Every sheet of a place was handed in, or nothing of it is left to be handed on."""
    where = _is(held) & PLACE.c.state.in_((PlaceState.TAKEN, PlaceState.LEFT))
    register.change(update(PLACE).where(where).values(state=PlaceState.DONE, ended=now()))


def show_step(
    register: Register, held: Held, sheet: str, step: str, known: WaitingRequest | None
) -> str:
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
            connection.execute(_seen(held))
        return key
    with register.writing() as connection:
        seen = connection.scalar(select(PLACE.c.seen).where(_is(held)).with_for_update())
        first = seen == held.seen  # of two tabs one counts the break
        if away > REST and held.paused is None and first:
            longer = REQUEST.c.paused + away
            waits = and_(REQUEST.c.key == key, REQUEST.c.given.is_(None))
            connection.execute(update(REQUEST).where(waits).values(paused=longer))
        connection.execute(_seen(held))
    return key


def hand_in_step(register: Register, held: Held, key: str, reply: str, status: str = "ok") -> bool:
    """Keep what the person of a place gives; False where it was given already, or is not hers.

    A break ends, and the time since the last sign counts as one if it was long.
    """
    at = now()
    away = at - (held.seen or at)
    rest = away if away > REST and held.paused is None else 0.0
    values: dict[str, Any] = {"reply": reply, "status": status, "by": BY, "given": at}
    values |= {"draft": None, "paused": REQUEST.c.paused + rest}
    waits = and_(_of(held), REQUEST.c.key == key, WAITS)
    with register.writing() as connection:
        done = connection.execute(update(REQUEST).where(waits).values(**values)).rowcount
        connection.execute(_seen(held))
    return bool(done)


def save_draft_of_step(
    register: Register, held: Held, key: str, fields: Mapping[str, list[str]]
) -> bool:
    """Keep the fields of a request as they are typed; False where it was given already, or is not
    hers.
    """
    with register.writing() as connection:
        done = save_draft(register, key, fields, _of(held))
        connection.execute(_seen(held))
    return done


def pause(register: Register, held: Held) -> None:
    """A break begins, if there is none."""
    register.change(_seen(held).where(PLACE.c.paused.is_(None)).values(paused=now()))


def go_on(register: Register, held: Held) -> None:
    """The break ends: its seconds are not counted in what waits."""
    at = now()
    with register.writing() as connection:
        own = select(PLACE.c.paused).where(_is(held))
        since = connection.scalar(own.with_for_update())  # of two tabs one ends it
        if since is None:
            return
        waits = and_(_of(held), REQUEST.c.given.is_(None), REQUEST.c.shown.is_not(None))
        longer = REQUEST.c.paused + (at - since)
        connection.execute(update(REQUEST).where(waits).values(paused=longer))
        connection.execute(_seen(held).values(paused=None))


def replies_of(register: Register, held: Held) -> Replies:
    """What was given in a place, and what waits, by sheet and step."""
    return _by_sheet(register, _of(held))


def replies_in(register: Register, task: str) -> Replies:
    """What was given in a task, and what waits, by sheet and step."""
    return _by_sheet(register, REQUEST.c.task == task)


def unkept(register: Register, task: str) -> Replies:
    """What was given for sheets of a task that are not in the study yet, by sheet and step."""
    left = (REQUEST.c.kept.is_(None), REQUEST.c.fault.is_(None), REQUEST.c.status.is_not(None))
    return _by_sheet(register, and_(REQUEST.c.task == task, *left))


def mark_kept(register: Register, task: str, sheets: Iterable[str], fault: str = "") -> None:
    """Note that the rows of sheets are in the study; or, with a fault, that they cannot be."""
    values: dict[str, Any] = {"fault": fault} if fault else {"kept": now()}
    with register.writing() as connection:
        for sheet in sheets:
            where = and_(REQUEST.c.task == task, REQUEST.c.unit == sheet)
            connection.execute(update(REQUEST).where(where).values(**values))


def places_in(register: Register, task: str) -> list[Held]:
    """Every place of a task in order, free ones with the person ""."""
    query = select(PLACE).where(PLACE.c.task == task).order_by(PLACE.c.number)
    return _held(register.all(query))


def task_of(register: Register, person: str) -> str:
    """The task that a rater was invited to, "" where there is none."""
    known = select(PERSON.c.task).where(PERSON.c.id == person)
    invited = select(INVITATION.c.task).where(INVITATION.c.person == person)
    return register.value(known) or register.value(invited) or ""


def note_task(register: Register, person: str, task: str) -> None:
    """Keep what task a rater came for, by a link that is open to all."""
    register.change(update(PERSON).where(PERSON.c.id == person).values(task=task))


def note_ended(register: Register, person: str) -> None:
    """A rater has handed in everything, or goes for good: her stage is done from then on."""
    stays = and_(PERSON.c.id == person, PERSON.c.stage.not_in((Stage.WITHDRAWN, Stage.DONE)))
    register.change(update(PERSON).where(stays).values(stage=Stage.DONE))


def _by_sheet(register: Register, where: Any) -> Replies:
    found: Replies = {}
    for row in register.all(select(*COLUMNS).where(where)):
        found.setdefault(row.unit, {})[row.occasion] = noun_of(WaitingRequest, row)
    return found


def _left(task: str, number: int) -> Any:
    where = and_(PLACE.c.task == task, PLACE.c.number == number)
    taken = update(PLACE).where(where, PLACE.c.state == PlaceState.TAKEN)
    return taken.values(state=PlaceState.LEFT, ended=now(), paused=None)


def _is(held: Held) -> Any:
    return and_(PLACE.c.task == held.task, PLACE.c.number == held.number)


def _of(held: Held) -> Any:
    """The requests of the person of a place."""
    return and_(REQUEST.c.task == held.task, REQUEST.c.person == held.person)


def _seen(held: Held) -> Any:
    """That the person of a place was here now."""
    return update(PLACE).where(_is(held)).values(seen=now())


def _held(rows: Iterable[Row[Any]]) -> list[Held]:
    found = []
    for row in rows:
        units = [(sheet, unit) for sheet, unit in json.loads(row.units)]
        found.append(noun_of(Held, row, units=units))
    return found
