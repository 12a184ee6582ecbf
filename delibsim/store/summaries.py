"""The summaries of a study on disk: one folder a task, one summary a line."""

from collections.abc import Iterable
from dataclasses import dataclass

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import Reason
from delibsim.domain.summary import Slot, Summary
from delibsim.domain.text import study_named
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.records import first_of_each, plain_record, read_records
from delibsim.store.runs import Runs

PREFIX = "summaries-"
"""What the names of the tasks of summaries begin with."""


@dataclass(frozen=True)
class _Line:
    """A summary as it stands in a file: flat, and without what says nothing."""

    model: str
    size: int
    draw: int
    run: int
    group: str = ""
    text: str = ""
    missing: Reason | None = None

    def summary(self) -> Summary:
        """The summary of the line."""
        slot = Slot(self.model, self.size, self.draw, self.run, self.group)
        return Summary(slot, self.text, self.missing)


@dataclass(frozen=True)
class Summaries:
    """The summaries of one task of a study."""

    files: TaskFolder

    @classmethod
    def of(cls, runs: Runs, name: str) -> "Summaries":
        """Those of this name, whether they were begun or not."""
        return cls(TaskFolder.of(runs, f"{PREFIX}{name}"))

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.files.folder.name.removeprefix(PREFIX)

    def all(self, faults: list[str] | None = None) -> list[Summary]:
        """Every summary that can be read, in the order in which they came; damaged lines are left
        out and told in `faults`.
        """
        file = self.files.annotations
        summaries = [line.summary() for line in read_records(_Line, file, {}, faults)]
        return first_of_each(summaries, file, faults)

    def add(self, summaries: Iterable[Summary]) -> None:
        """Keep summaries."""
        lines = []
        for one in summaries:
            slot = one.slot
            own = (slot.model, slot.size, slot.draw, slot.run, slot.group)
            lines.append(plain_record(_Line(*own, one.text, one.reason)))
        self.files.add(self.files.annotations, lines)


def summaries_of(runs: Runs) -> list[str]:
    """The names of the tasks of summaries of a study that have begun."""
    return [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]


def summaries_begun(runs: Runs, name: str = "") -> Summaries:
    """The summaries that are named, or the only ones of a study; WrongInput where there are none or
    several.
    """
    known, study = summaries_of(runs), study_named(runs.study)
    if not known:
        raise WrongInput(f"{study} has no summaries; give: delibsim summarise {runs.study}")
    if name and name not in known:
        raise unknown(f"summaries of {study}", name, known)
    if not name and len(known) > 1:
        raise WrongInput(f"{study} has several sets of summaries; name one: name={known[0]}")
    return Summaries.of(runs, name or known[0])
