"""The comparisons of a study on disk: votes on sheets, one folder a comparison."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.adaptive import Batch, Stop
from delibsim.domain.comparison import Outcome, Sheet, Vote
from delibsim.domain.reason import Reason
from delibsim.domain.scheme import QualityDimension
from delibsim.store.answers import Answers
from delibsim.store.codec import Damaged
from delibsim.store.files import each_line
from delibsim.store.reading import adapter
from delibsim.store.records import built

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

    @classmethod
    def of(cls, vote: Vote) -> "_Line":
        """A vote as one line."""
        sheet = vote.sheet
        own = (sheet.a, sheet.b, vote.dimension, vote.judge, vote.run, sheet.group, vote.outcome)
        return cls(*own, vote.reason, vote.rationale)

    def answer(self) -> Vote:
        """The vote of the line."""
        sheet = Sheet(self.a, self.b, self.group)
        own = (sheet, self.judge, self.dimension, self.outcome, self.run)
        return Vote(*own, self.missing, self.rationale)


STEP: Any = Batch | Stop


@dataclass(frozen=True)
class Comparisons(Answers[Vote]):
    """One comparison of a study."""

    prefix = PREFIX
    called = "comparison"
    command = "delibsim compare ask"
    packs_bind = True
    line = _Line

    def dimensions(self) -> dict[str, QualityDimension]:
        """The dimensions on which texts were compared, as they were then; Damaged if one cannot be
        read.
        """
        kept = self.files.task()["dimensions"]
        return {id: built(QualityDimension, plain, f"dimension {id}") for id, plain in kept.items()}

    def every(self, faults: list[str] | None = None) -> list[Vote]:
        """Every vote: those of language models or imported ones, then those of people."""
        return [*self.all(faults), *self.people(faults)]

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


def dimension_to_plain(dimension: QualityDimension) -> dict[str, object]:
    """A dimension as plain values."""
    found = adapter(QualityDimension).dump_python(dimension, mode="json")
    if not dimension.examples:
        del found["examples"]
    return found
