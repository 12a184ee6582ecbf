"""The scores that trained judges gave summaries of a study: a folder a judge, a score a line."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.judgment import DIMENSIONS
from delibsim.domain.text import counted
from delibsim.domain.training import TrainedScore
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.files import Log, each_line
from delibsim.store.runs import Runs

PREFIX = "trained-"
"""What the names of the folders of trained judges begin with."""


@dataclass(frozen=True)
class TrainedScores:
    """The scores of one trained judge in a study."""

    files: TaskFolder

    @classmethod
    def of(cls, runs: Runs, judge: str) -> "TrainedScores":
        """Those of this judge, whether there are any or not."""
        return cls(TaskFolder.of(runs, f"{PREFIX}{judge}"))

    @property
    def judge(self) -> str:
        """The name of the judge."""
        return self.files.folder.name.removeprefix(PREFIX)

    @property
    def file(self) -> Path:
        """The file that holds the scores."""
        return self.files.folder / "scores.jsonl"

    def all(self, faults: list[str] | None = None) -> Iterator[TrainedScore]:
        """Every score that can be read, in the order in which they came; damaged lines are left out
        and told in `faults`.
        """
        damaged = 0
        for _, line in each_line(self.file):
            try:
                yield _score(line or {})
            except (KeyError, TypeError):
                damaged += 1
        if damaged and faults is not None:
            faults.append(f"{self.file}: {counted(damaged, 'damaged line')}")

    def add(self, scores: Iterable[TrainedScore]) -> int:
        """Keep scores as they come; how many."""
        log, n = Log(self.file, self.files.durable), 0
        try:
            for one in scores:
                names = {"summary": one.summary, "opinion": one.opinion, "key": one.key}
                log.append({**names, **one.values})
                n += 1
        finally:
            log.close()
        return n


def _score(line: Mapping[str, Any]) -> TrainedScore:
    values = {name: line[name] for name in DIMENSIONS}
    names = line["summary"], line["opinion"], line["key"]
    numbers = all(type(value) in (float, int) for value in values.values())
    if not numbers or not all(type(name) is str for name in names):
        raise TypeError("a score is no number, or a name no text")
    return TrainedScore(*names, values)


def trained_judges_of(runs: Runs) -> list[str]:
    """The names of the trained judges that scored summaries of a study."""
    return [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]
