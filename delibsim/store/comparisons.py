"""The comparisons of a study on disk: votes on sheets, one folder a comparison."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.adaptive import Batch, Stop
from delibsim.domain.comparison import Outcome, Sheet, Vote
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.quality import QualityDimension
from delibsim.domain.reason import Reason
from delibsim.domain.text import study_named
from delibsim.store.annotations import TaskFolder, tasks_of
from delibsim.store.codec import Damaged
from delibsim.store.files import each_line
from delibsim.store.reading import adapter
from delibsim.store.records import built, first_of_each, plain_record, read_records
from delibsim.store.runs import Runs

PREFIX = "compare-"
"""What the names of the tasks of comparisons begin with."""


@dataclass(frozen=True)
class _Line:
    """A vote as it stands in a file: flat, and without what says nothing."""

    a: str
    b: str
    dimension: str
    judge: str
    run: int
    group: str = ""
    outcome: Outcome | None = None
    missing: Reason | None = None
    rationale: str = ""

    def vote(self) -> Vote:
        """The vote of the line."""
        sheet = Sheet(self.a, self.b, self.group)
        own = (sheet, self.judge, self.dimension, self.outcome, self.run)
        return Vote(*own, self.missing, self.rationale)


STEP: Any = Batch | Stop


@dataclass(frozen=True)
class Comparisons:
    """One comparison of a study."""

    files: TaskFolder

    @classmethod
    def of(cls, runs: Runs, name: str) -> "Comparisons":
        """The comparison of this name, whether it has begun or not."""
        return cls(TaskFolder.of(runs, f"{PREFIX}{name}"))

    @property
    def name(self) -> str:
        """The name of the comparison."""
        return self.files.folder.name.removeprefix(PREFIX)

    def dimensions(self) -> dict[str, QualityDimension]:
        """The dimensions on which texts were compared, as they were then; Damaged if one cannot be
        read.
        """
        kept = self.files.task()["dimensions"]
        return {id: built(QualityDimension, plain, f"dimension {id}") for id, plain in kept.items()}

    @property
    def bound(self) -> bool:
        """Whether its settings and texts stand: somebody has voted, or was handed a pack."""
        files = self.files
        return files.annotations.is_file() or files.people.is_file() or files.packs.is_dir()

    def votes(self, faults: list[str] | None = None) -> list[Vote]:
        """Every vote of language models, or imported vote, that can be read, in the order in which
        they came.

        Damaged lines are left out and told in `faults`; what is missing there is found again in the
        exchanges.
        """
        return self._read(self.files.annotations, faults)

    def people(self, faults: list[str] | None = None) -> list[Vote]:
        """Every vote that people gave on the sheets of packs, in the order in which they came;
        faults as in `votes`.
        """
        return self._read(self.files.people, faults)

    def _read(self, file: Path, faults: list[str] | None) -> list[Vote]:
        """The votes in a file, each of them once."""
        votes = [line.vote() for line in read_records(_Line, file, {}, faults)]
        return first_of_each(votes, file, faults)

    def all_votes(self, faults: list[str] | None = None) -> list[Vote]:
        """Every vote: those of language models or imported ones, then those of people."""
        return [*self.votes(faults), *self.people(faults)]

    def add_people(self, votes: Iterable[Vote]) -> None:
        """Keep votes of people; who calls it has refused those that are known."""
        self.files.add(self.files.people, [plain_record(_line(vote)) for vote in votes])

    @property
    def steps_file(self) -> Path:
        """The batches of an adaptive comparison and what ended them, one a line."""
        return self.files.folder / "batches.jsonl"

    def steps(self) -> list[Batch | Stop]:
        """The batches of an adaptive comparison, and what ended each run of them, in order; Damaged
        where one cannot be read, since later ones follow from it.

        There are none before the first vote, since nobody is bound by settings that got none.
        """
        if not self.files.annotations.is_file():
            return []
        found: list[Batch | Stop] = []
        number: dict[str, int] = {}
        for _, plain in each_line(self.steps_file):
            if plain is None:
                continue  # torn as it was written, so that nobody was asked; a gap shows below
            step = built(STEP, plain, str(self.steps_file))
            if isinstance(step, Batch):
                number[step.dimension] = number.get(step.dimension, 0) + 1
                if step.number != number[step.dimension]:
                    missing = f"batch {number[step.dimension]} of {step.dimension}"
                    raise Damaged(f"{self.steps_file}: {missing} is damaged or missing")
            found.append(step)
        return found

    def forget_steps(self) -> None:
        """Drop the batches on which nobody gave a vote, before others are chosen."""
        if not self.files.annotations.is_file():
            self.steps_file.unlink(missing_ok=True)

    def add_step(self, step: Batch | Stop) -> None:
        """Keep a batch, before anybody is asked about it, or what ended them."""
        self.files.add(self.steps_file, [adapter(STEP).dump_python(step, mode="json")])

    def add(self, votes: Iterable[Vote]) -> None:
        """Keep votes."""
        self.files.add(self.files.annotations, [plain_record(_line(vote)) for vote in votes])


def _line(vote: Vote) -> "_Line":
    """A vote as one line."""
    sheet = vote.sheet
    own = (sheet.a, sheet.b, vote.dimension, vote.judge, vote.run, sheet.group, vote.outcome)
    return _Line(*own, vote.reason, vote.rationale)


def dimension_to_plain(dimension: QualityDimension) -> dict[str, object]:
    """A dimension as plain values."""
    found = adapter(QualityDimension).dump_python(dimension, mode="json")
    if not dimension.examples:
        del found["examples"]
    return found


def comparisons_of(runs: Runs) -> list[str]:
    """The names of the comparisons of a study that have begun."""
    return [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]


def comparison_begun(runs: Runs, name: str = "") -> Comparisons:
    """The comparison that is named, or the only one of a study; WrongInput where there is none or
    several.
    """
    known, study = comparisons_of(runs), study_named(runs.study)
    if not known:
        raise WrongInput(f"{study} has no comparison; ask: delibsim compare ask {runs.study}")
    if name and name not in known:
        raise unknown(f"comparison of {study}", name, known)
    if not name and len(known) > 1:
        raise WrongInput(f"{study} has several comparisons; name one: name={known[0]}")
    return Comparisons.of(runs, name or known[0])
