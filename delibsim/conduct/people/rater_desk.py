"""Where raters and coders get their places, are asked sheet by sheet, and hand in."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from delibsim.asking.packs import rater_task, rater_tasks
from delibsim.asking.people import Pack, Replies, Step
from delibsim.store.files import in_turn
from delibsim.store.people.assignments import (
    Held,
    Reply,
    Units,
    finish_place,
    lapsed,
    leave_place,
    open_places,
    place_of,
    replies_of,
    take_place,
)
from delibsim.store.people.register import Register, now
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
    step: Step
    number: int
    of: int
    begun: bool
    known: Reply | None = None


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
    task: Pack, sheet: str, replies: Mapping[str, Reply]
) -> tuple[Replies, Step | None]:
    """What was given for a sheet, and what it asks next; None where it is whole."""
    given: dict[str, str | None] = {}
    step = task.step(sheet, given)
    while step is not None and step.name in replies and replies[step.name].status is not None:
        found = replies[step.name]
        given[step.name] = found.reply if found.status == "ok" else None
        step = task.step(sheet, given)
    return given, step
