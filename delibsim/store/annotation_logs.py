"""The records of calls to raters and coders of a study, whichever task they were asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.files import read_lines
from delibsim.store.runs import Runs
from delibsim.store.sent import Calls, cut_off, file_beside


@dataclass(frozen=True)
class AnnotationLog:
    """One record of calls about finished texts: its `task`, its file, the models by name."""

    task: str
    file: Path
    models: Mapping[str, Any]

    def read(self) -> Calls:
        """As `sent.Calls`."""
        records, damaged = read_lines(self.file)
        return records, damaged, cut_off(self.file, records)


def annotation_logs(runs: Runs, faults: list[str] | None = None) -> list[AnnotationLog]:
    """The records of all tasks, in order of name.

    WrongInput where nobody knows how a task was asked; with `faults` it is left out and told there.
    """
    found = []
    for task in tasks_of(runs):
        files = TaskFolder.of(runs, task)
        if not _was_asked(files.exchanges):
            continue
        try:
            found.append(log_of_task(files))
        except WrongInput as error:
            if faults is None:
                raise
            faults.append(str(error))
    return found


def _was_asked(log: Path) -> bool:
    """Whether a call was made, if only one that was cut off."""
    return log.is_file() or file_beside(log).is_file()


def log_of_task(files: TaskFolder) -> AnnotationLog:
    """The record of the calls of one task."""
    return AnnotationLog(files.folder.name, files.exchanges, files.task().get("models", {}))
