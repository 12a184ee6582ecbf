"""Where raters and coders get their places and are asked; what they hand in becomes answers."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from delibsim.asking.paper import form_text
from delibsim.asking.people import Pack, Replies, SheetStep
from delibsim.conduct.packs import rater_task, rater_tasks, rescore
from delibsim.domain.errors import WrongInput
from delibsim.store.files import in_turn, write_atomically
from delibsim.store.people.assignments import (
    Held,
    Units,
    finish_place,
    lapsed,
    leave_place,
    mark_kept,
    open_places,
    place_of,
    places_in,
    replies_in,
    replies_of,
    take_place,
    unkept,
)
from delibsim.store.people.register import Register, now
from delibsim.store.people.requests import WaitingRequest
from delibsim.store.runs import Runs

TURN = ".raters"
"""The file by which servers take turns when they change packs or bring rows into a study."""
HOUR = 3600.0


@dataclass(frozen=True)
class Next:
    """What a rater is asked next: a step of a sheet, which is the `number`-th of `of`; whether
    anything of the place was shown before, and what is `known` of the request, None where it was
    never shown.
    """

    sheet: str
    step: SheetStep
    number: int
    of: int
    begun: bool
    known: WaitingRequest | None = None


@dataclass
class RaterDesk:
    """The tasks of a study that people answer on pages, and who does them."""

    runs: Runs
    register: Register
    tasks: dict[str, Pack] = field(default_factory=dict)

    def names(self) -> list[str]:
        """The names of the tasks that there are."""
        return rater_tasks(self.runs)

    def task(self, name: str) -> Pack:
        """A task by its name, read once; WrongInput for one that there is not."""
        if name not in self.tasks:
            task = rater_task(self.runs, name)
            self._enter(task)
            self.tasks[name] = task
        return self.tasks[name]

    def in_turn(self) -> AbstractContextManager[None]:
        """A context that one process at a time is in, for this study."""
        return in_turn(self.runs.folder / TURN)

    def join(self, person: str, name: str) -> Held | None:
        """The place of a person in a task; None where none is free.

        What raters left undone goes to the next: at once where they said that they go, else after
        so many hours without a sign, where no other place is free.
        """
        held = place_of(self.register, person, name)
        if held is not None:
            return held
        task = self.task(name)
        self._hand_on(name, left=True)
        held = take_place(self.register, task.name, person)
        if held is None and self._hand_on(name, left=False):
            held = take_place(self.register, task.name, person)
        return held

    def held(self, person: str) -> Held | None:
        """The place that a person has, or had last."""
        return place_of(self.register, person)

    def leave(self, held: Held) -> None:
        """A person goes for good; what she handed in whole counts."""
        leave_place(self.register, held)

    def next(self, held: Held) -> Next | None:
        """What is asked next in a place; None where every sheet was handed in, which is noted."""
        task = self.knowing(held.task, held.sheets)
        replies = replies_of(self.register, held)
        sheets = held.sheets
        begun = [number for number, sheet in enumerate(sheets) if sheet in replies]
        for number in range(begun[-1] if begun else 0, len(sheets)):
            own = replies.get(sheets[number], {})
            _, step = given_so_far(task, sheets[number], own)
            if step is not None:
                known = own.get(step.name)
                return Next(sheets[number], step, number + 1, len(sheets), bool(replies), known)
        finish_place(self.register, held)
        return None

    def knowing(self, name: str, sheets: Iterable[str]) -> Pack:
        """A task that has these sheets, read anew where another server has added to it."""
        task = self.task(name)
        if any(sheet not in task.sheets for sheet in sheets):
            del self.tasks[name]
            task = self.task(name)
        return task

    def _hand_on(self, name: str, left: bool) -> bool:
        """Make places of what was left undone: by those who left, or by those without a sign too.

        Whether there are new ones. The key of the pack is written first and says what follows what,
        so that a server that is killed here goes on at the next try.
        """
        task = self.task(name)
        before = 0.0 if left else now() - task.hand_on * HOUR
        if not lapsed(self.register, name, before):
            return False
        with self.in_turn():
            task = rater_task(self.runs, name)  # others may have added to it
            self.tasks[name] = task
            self._enter(task)
            added = False
            places = {place.number: place for place in task.places()}
            for held in lapsed(self.register, name, before):
                undone = self._undone(task, held)
                if undone:
                    task.hand_over(places[held.number], undone)
                    added = True
                else:
                    finish_place(self.register, held)
            self._enter(task)
        return added

    def _undone(self, task: Pack, held: Held) -> list[str]:
        """The sheets of a place that are not whole, as far as they go to somebody else."""
        replies = replies_of(self.register, held)
        found = []
        for sheet in held.sheets:
            if given_so_far(task, sheet, replies.get(sheet, {}))[1] is not None:
                found.append(sheet)
        return task.handed_on(found)

    def _enter(self, task: Pack) -> None:
        """Enter the places of a task in the register."""
        places: dict[int, Units] = {}
        follows = {}
        for place in task.places():
            places[place.number] = [(sheet, task.unit(sheet)) for sheet in place.sheets]
            if place.follows is not None:
                follows[place.number] = place.follows
        open_places(self.register, task.name, places, follows)


def given_so_far(
    task: Pack, sheet: str, replies: Mapping[str, WaitingRequest]
) -> tuple[Replies, SheetStep | None]:
    """What was given for a sheet, and what it asks next; None where it is whole."""
    given: dict[str, str | None] = {}
    step = task.step(sheet, given)
    while step is not None and step.name in replies and replies[step.name].status:
        found = replies[step.name]
        given[step.name] = found.reply if found.status == "ok" else None
        step = task.step(sheet, given)
    return given, step


RESCORED = 60.0
"""Seconds between two times that scores are written anew."""


def write_rows(task: Pack, register: Register, looked: dict[str, int] | None = None) -> int:
    """Bring every whole sheet of a task into the study that is not there; how many there were.

    Who calls holds the study. It may be killed at any place: what is kept is known by its key. A
    sheet whose answers cannot be kept is marked with the reason, and the others are kept. `looked`
    counts by sheet what had been given when it was looked at before.
    """
    looked = {} if looked is None else looked
    answers: dict[str, list[Any]] = {}
    handed_out, refused = task.handed_out(), 0
    for sheet, replies in unkept(register, task.name).items():
        if looked.get(sheet) == len(replies):
            continue
        looked[sheet] = len(replies)
        if sheet not in handed_out:
            told = f"sheet '{sheet}' is not in pack {task.name}"
            mark_kept(register, task.name, [sheet], told)
            refused += 1
            continue
        try:
            given, step = given_so_far(task, sheet, replies)
        except WrongInput as error:
            mark_kept(register, task.name, [sheet], str(error))
            continue
        if step is None:
            answers[sheet] = task.given(sheet, given)
    if not answers:
        return refused
    try:
        task.keep([one for own in answers.values() for one in own])
    except WrongInput:
        for sheet, own in answers.items():
            _keep_one(task, register, sheet, own)
    else:
        mark_kept(register, task.name, answers)
    return len(answers) + refused


def _keep_one(task: Pack, register: Register, sheet: str, answers: list[Any]) -> None:
    try:
        task.keep(answers)
    except WrongInput as error:
        mark_kept(register, task.name, [sheet], str(error))
    else:
        mark_kept(register, task.name, [sheet])


async def keep_bringing(
    rows: "AnswerWriter",
    every: float = 2.0,
    share: float = 0.1,
    told: Callable[[str], None] = lambda line: None,
) -> None:
    """Bring rows into the study until this is cancelled, every few seconds, and at the end.

    What it takes stays below this share of the time, so that pages stay quick. Where it fails it is
    `told`, once for each reason, and tried again: what was handed in waits in the register.
    """
    known: set[str] = set()

    def bring(at_once: bool = False) -> None:
        try:
            rows.bring()
            rows.rescore(at_once)
        except Exception as error:  # noqa: BLE001 - the pages must not end with it
            line = f"rows of raters wait: {type(error).__name__}: {error}".splitlines()[0]
            if line not in known:
                known.add(line)
                told(line)

    try:
        while True:
            begun = time.monotonic()
            await asyncio.to_thread(bring)
            await asyncio.sleep(max(every, (time.monotonic() - begun) / share))
    finally:
        bring(at_once=True)


@dataclass
class AnswerWriter:
    """Brings rows into the study of a desk while people rate.

    `lock` gives a context in which nobody else changes the study, and raises WrongInput where
    another process holds it; where the server holds the study itself it does nothing.
    """

    desk: RaterDesk
    lock: Callable[[], AbstractContextManager[object]]
    stale: dict[str, Pack] = field(default_factory=dict)
    looked: dict[str, dict[str, int]] = field(default_factory=dict)
    rescored: float = field(default_factory=time.monotonic)

    def bring(self) -> int:
        """Bring what is whole into the study; how many sheets there were. Nothing, for now, where
        another process holds the study.
        """
        register = self.desk.register
        waiting = [name for name in self.desk.names() if unkept(register, name)]
        if not waiting:
            return 0
        with ExitStack() as stack:
            stack.enter_context(self.desk.in_turn())
            try:
                stack.enter_context(self.lock())
            except WrongInput:
                return 0
            return sum(map(self._write, waiting))

    def _write(self, name: str) -> int:
        task = self.desk.knowing(name, unkept(self.desk.register, name))
        written = write_rows(task, self.desk.register, self.looked.setdefault(name, {}))
        if written:
            self.stale[name] = task
        return written

    def rescore(self, at_once: bool = False) -> None:
        """Write those scores anew that rows have made old, at most once in a minute."""
        if not at_once and time.monotonic() - self.rescored < RESCORED:
            return
        while self.stale:
            rescore(self.stale.popitem()[1])
        self.rescored = time.monotonic()


PLACES = (
    "task", "kind", "rater", "person", "state", "sheets", "whole", "kept", "not_kept", "minutes",
    "follows",
)  # fmt: skip
SHEETS = (
    "task", "rater", "person", "place", "sheet", "step", "status", "asked", "shown", "given",
    "seconds", "seconds_of_breaks", "kept", "fault",
)  # fmt: skip


def rater_rows(desk: RaterDesk, names: list[str] | None = None) -> list[dict[str, Any]]:
    """A row for each place of the tasks on pages: who has it, how many sheets are whole, how many
    of these are in the study, and the minutes without breaks.

    A place that was left is partial: `whole` says how many of its sheets count.
    """
    rows: list[dict[str, Any]] = []
    for name in names or desk.names():
        task = desk.task(name)
        replies = replies_in(desk.register, name)
        raters = {place.number: place.rater for place in task.places()}
        for held in places_in(desk.register, name):
            own = {sheet: replies.get(sheet, {}) for sheet in held.sheets}
            given = [one for steps in own.values() for one in steps.values()]
            whole = [sheet for sheet, steps in own.items() if _whole(desk, held, sheet, steps)]
            seconds = sum([one.seconds or 0.0 for one in given])
            kept = sum(_kept(own[sheet]) for sheet in whole)
            faults = {one.unit for one in given if one.fault}
            values = (
                name, task.kind, raters[held.number], held.person, held.state, len(held.sheets),
                len(whole), kept, len(faults), round(seconds / 60, 1), held.follows,
            )  # fmt: skip
            rows.append(dict(zip(PLACES, values, strict=True)))
    return rows


def write_times(desk: RaterDesk, file: Path, names: list[str] | None = None) -> int:
    """Write a line for each page that raters were shown, with the time each took; how many."""
    lines = []
    for name in names or desk.names():
        replies = replies_in(desk.register, name)
        raters = {place.number: place.rater for place in desk.task(name).places()}
        for held in places_in(desk.register, name):
            for number, sheet in enumerate(held.sheets, 1):
                for step, one in replies.get(sheet, {}).items():
                    known = (name, raters[held.number], held.person, number, sheet, step)
                    lines.append([*known, *_cells(one)])
    write_atomically(file, form_text(SHEETS, lines))
    return len(lines)


def _cells(one: WaitingRequest) -> list[object]:
    """The cells of one page; what is missing is empty."""
    values = (
        one.status, one.asked, one.shown, one.given, one.seconds, one.paused, one.kept, one.fault
    )  # fmt: skip
    found = []
    for value in values:
        shown = round(value, 3) if isinstance(value, float) else value
        found.append("" if shown is None else shown)
    return found


def _kept(steps: Mapping[str, WaitingRequest]) -> bool:
    return all(one.kept is not None for one in steps.values())


def _whole(desk: RaterDesk, held: Held, sheet: str, steps: Mapping[str, WaitingRequest]) -> bool:
    if not steps or any(not one.status for one in steps.values()):
        return False
    if all(one.kept is not None or one.fault for one in steps.values()):
        return True
    return given_so_far(desk.task(held.task), sheet, steps)[1] is None
