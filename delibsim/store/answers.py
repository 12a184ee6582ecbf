"""The answers of a task about finished texts on disk: one folder a task, one answer a line."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import plural_of, study_named
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.records import Flat, K, first_of_each, plain_record, read_records
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class TaskAnswers(Generic[K]):
    """The answers of one task of a study: those of language models, and those of people.

    A kind of answers says with what the names of its folders begin (`prefix`), what one task is
    called (`called`, and `many` of them), by which setting it is named (`key`), and which command
    asks for it (`command`).
    """

    files: TaskFolder
    prefix: ClassVar[str]
    called: ClassVar[str]
    many: ClassVar[str] = ""
    key: ClassVar[str] = "name"
    command: ClassVar[str]
    packs_bind: ClassVar[bool] = False
    """Whether what people were handed may not be asked about otherwise."""
    of_models: ClassVar[type[Any]]
    """What a language model answers."""
    of_persons: ClassVar[type[Any] | None] = None
    """What a person answers, where it is something else."""
    flat: ClassVar[Flat | None] = None

    @classmethod
    def of(cls, runs: Runs, name: str) -> Self:
        """Those of this name, whether they were begun or not."""
        return cls(TaskFolder.of(runs, f"{cls.prefix}{name}"))

    @classmethod
    def names(cls, runs: Runs) -> list[str]:
        """The names of the tasks of a study that have begun."""
        return [task.removeprefix(cls.prefix) for task in tasks_of(runs, cls.prefix)]

    @classmethod
    def begun(cls, runs: Runs, name: str = "") -> Self:
        """Those that are named, or the only ones of a study; WrongInput where there are none or
        several.
        """
        known, study = cls.names(runs), study_named(runs.study)
        if not known:
            raise WrongInput(f"{study} has no {cls.called}; ask: {cls.command} {runs.study}")
        if name and name not in known:
            raise unknown(f"{cls.called} of {study}", name, known)
        if not name and len(known) > 1:
            many = cls.many or plural_of(cls.called)
            raise WrongInput(f"{study} has several {many}; name one: {cls.key}={known[0]}")
        return cls.of(runs, name or known[0])

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.files.folder.name.removeprefix(self.prefix)

    @property
    def bound(self) -> bool:
        """Whether its settings and texts stand: somebody has answered, or was handed a pack that
        binds.
        """
        files = self.files
        kept = (files.annotations, files.steps, files.people)
        handed_out = self.packs_bind and files.packs.is_dir()
        return any(file.is_file() for file in kept) or handed_out or files.answered()

    def all(self, faults: list[str] | None = None) -> list[K]:
        """Every answer of language models that can be read, in the order in which they came.

        Damaged lines are left out and told in `faults`; what is missing there is found again in the
        exchanges.
        """
        return self._read(self.files.annotations, faults)

    def people(self, faults: list[str] | None = None) -> list[K]:
        """Every answer of people; faults as in `all`."""
        return self._read(self.files.people, faults)

    def kept(self) -> list[Any]:
        """All that was kept of what language models were asked, steps on the way too."""
        return self.all()

    def add(self, answers: Iterable[K], people: bool = False) -> None:
        """Keep answers; who calls it has refused those that are known."""
        file = self.files.people if people else self.files.annotations
        self.files.add(file, (plain_record(answer, self.flat) for answer in answers))

    def every(self, faults: list[str] | None = None) -> list[K]:
        """Every answer, those of language models first; faults as in `all`."""
        return [*self.all(faults), *self.people(faults)]

    def _read(self, file: Path, faults: list[str] | None) -> list[K]:
        """The answers in a file, each of them once."""
        own = self.of_persons if file == self.files.people else None
        found = read_records(own or self.of_models, file, faults, self.flat)
        return first_of_each(found, file, faults)
