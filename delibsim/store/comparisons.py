"""The comparisons of a study on disk: votes on sheets, one folder a comparison; and studies of
texts that were gathered from other studies, to be compared in pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.coding import CODES
from delibsim.domain.comparison import PAIRS, Batch, Sheet, Stop, Vote, measure_of_pairs
from delibsim.domain.measure import Measure
from delibsim.domain.scheme import QualityDimension
from delibsim.store.answers import TaskAnswers, measures_of_codes
from delibsim.store.codec import Damaged
from delibsim.store.files import each_line
from delibsim.store.reading import adapter
from delibsim.store.records import built
from delibsim.store.runs import TEXTS, Runs

STEP: Any = Batch | Stop


@dataclass(frozen=True)
class Comparisons(TaskAnswers[Vote]):
    """One comparison of a study."""

    prefix = "compare-"
    called = "comparison"
    command = "delibsim compare ask"
    packs_bind = True
    of_models = Vote
    flat = ("sheet", Sheet)

    def dimensions(self) -> dict[str, QualityDimension]:
        """The dimensions on which texts were compared, as they were then; Damaged if one cannot be
        read.
        """
        kept = self.files.task()["dimensions"]
        return {id: built(QualityDimension, plain, f"dimension {id}") for id, plain in kept.items()}

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


GATHERED = "gathered"
"""What study.json calls the studies that texts were taken from."""
STUDY, ORIGINAL, QUESTION = "study", "original_sha256", "question"
"""What is kept of a gathered text: its study, the SHA-256 of what was said, before blinding, and
the question of its topic.
"""


def gathered_from(runs: Runs) -> list[str]:
    """The studies from which the texts of a study were gathered; none for any other study."""
    manifest = runs.manifest()
    return list(manifest.components.get(GATHERED, {})) if manifest else []


def gathered_and_own(runs: Runs) -> list[Runs]:
    """A study, and the studies beside it from which its texts were gathered, as far as they are
    there.
    """
    found = [runs]
    for name in gathered_from(runs):
        other = Runs(runs.folder.parent, name)
        if other.manifest() is not None:
            found.append(other)
    return found


def unit_gathered(runs: Runs, study: str) -> str:
    """The unit of the texts that were gathered from a study; "" where none were."""
    manifest = runs.manifest()
    parts = manifest.components.get(GATHERED, {}) if manifest else {}
    return parts[study]["unit"] if study in parts else ""


@dataclass(frozen=True)
class AboutStudy:
    """A comparison that is about texts of a study: its own, or one in a study of gathered texts.

    `coder` is its name in scores; `prefix` stands before the ids of the texts in it.
    """

    runs: Runs
    comparisons: Comparisons
    coder: str
    prefix: str = ""


def comparisons_about(runs: Runs) -> Iterator[AboutStudy]:
    """Every comparison about texts of a study: its own ones, then those of studies beside it whose
    texts were gathered from it.

    A comparison in a study of gathered texts goes by the name of that study where both have one
    name, else by both.
    """
    taken = set()
    for name in Comparisons.names(runs):
        taken.add(name)
        yield AboutStudy(runs, Comparisons.of(runs, name), name)
    for path in sorted(runs.folder.resolve().parent.glob(f"*/{TEXTS}")):
        other = Runs.at(path.parent)
        if runs.study not in gathered_from(other):
            continue
        for name in Comparisons.names(other):
            alone = name == other.study and name not in taken
            coder = name if alone else f"{other.study}/{name}"
            yield AboutStudy(other, Comparisons.of(other, name), coder, f"{runs.study}/")


def measures_of_comparisons(runs: Runs) -> tuple[Measure, ...]:
    """The measures of the scorer `pairs` for a study: one a comparison about it and dimension."""
    found = []
    for about in comparisons_about(runs):
        for dimension in about.comparisons.files.task().get("dimensions", {}):
            found.append(measure_of_pairs(about.coder, dimension))
    return tuple(found)


def measures_of_study(scorer: str, runs: Runs) -> tuple[Measure, ...]:
    """The measures that a scorer gives of a study because of what was asked about its texts."""
    if scorer == CODES:
        return measures_of_codes(runs)
    return measures_of_comparisons(runs) if scorer == PAIRS else ()
