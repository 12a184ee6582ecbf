"""The records of calls to raters and coders of a study, whichever task they were asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.ratings import RATINGS, Ratings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class AnnotationLog:
    """One record of calls about finished texts: its `task`, its file, the models by name.

    `session` is the debate that raters were asked about, "" for other tasks.
    """

    task: str
    file: Path
    models: Mapping[str, Any]
    session: str = ""


def annotation_logs(runs: Runs) -> list[AnnotationLog]:
    """The records of raters by debate, then those of coders and of readers of their rationales."""
    found = []
    models = Ratings.of(runs).models()
    for file in sorted((runs.folder / RATINGS).glob("*/exchanges.jsonl")):
        found.append(AnnotationLog(RATINGS, file, models, file.parent.name))
    for task in tasks_of(runs):
        folder = TaskFolder.of(runs, task)
        if folder.exchanges.is_file():
            found.append(AnnotationLog(task, folder.exchanges, folder.task().get("models", {})))
    return found
