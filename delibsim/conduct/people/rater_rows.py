"""What raters hand in on pages, brought into the study as the forms of packs on paper are."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from delibsim.asking.forms import form_text
from delibsim.conduct.people.rater_desk import RaterDesk, given_so_far
from delibsim.conduct.people.rater_pack import RaterPack
from delibsim.domain.errors import WrongInput
from delibsim.store.people.assignments import mark_kept, unkept
from delibsim.store.people.register import Register

RESCORED = 60.0
"""Seconds between two times that scores are written anew."""


def write_rows(task: RaterPack, register: Register, looked: dict[str, int] | None = None) -> int:
    """Bring every whole sheet of a task into the study that is not there; how many there were.

    Who calls holds the study. It may be killed at any place: the import knows the rows that are
    there. A sheet whose lines cannot be kept is marked with the reason, and the others are kept.
    `looked` counts by sheet what had been given when it was looked at before.
    """
    looked = {} if looked is None else looked
    lines: dict[str, Sequence[Sequence[str]]] = {}
    for sheet, replies in unkept(register, task.name).items():
        if looked.get(sheet) == len(replies):
            continue
        looked[sheet] = len(replies)
        try:
            given, step = given_so_far(task, sheet, replies)
        except WrongInput as error:
            mark_kept(register, task.name, [sheet], str(error))
            continue
        if step is None:
            lines[sheet] = task.lines(sheet, given)
    if not lines:
        return 0
    try:
        _import(task, lines)
    except WrongInput:
        for sheet, own in lines.items():
            _import_one(task, register, sheet, own)
    else:
        mark_kept(register, task.name, lines)
    return len(lines)


def _import_one(
    task: RaterPack, register: Register, sheet: str, lines: Sequence[Sequence[str]]
) -> None:
    try:
        _import(task, {sheet: lines})
    except WrongInput as error:
        mark_kept(register, task.name, [sheet], str(error))
    else:
        mark_kept(register, task.name, [sheet])


def _import(task: RaterPack, lines: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Have the lines of some sheets read as a form is read."""
    rows = [row for own in lines.values() for row in own]
    if not rows:
        return
    with tempfile.TemporaryDirectory(prefix="delibsim-") as folder:
        form = Path(folder) / "form.csv"
        form.write_text(form_text(task.columns, rows), encoding="utf-8")
        task.keep(form)


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
    stale: dict[str, RaterPack] = field(default_factory=dict)
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
            self.stale.popitem()[1].rescore()
        self.rescored = time.monotonic()
