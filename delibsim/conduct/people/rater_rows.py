"""What raters hand in on pages, brought into the study as answers."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import Any

from delibsim.asking.people import Pack
from delibsim.conduct.packs import rescore
from delibsim.conduct.people.rater_desk import RaterDesk, given_so_far
from delibsim.domain.errors import WrongInput
from delibsim.store.people.assignments import mark_kept, unkept
from delibsim.store.people.register import Register

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
    rows: "Rows",
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
class Rows:
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
