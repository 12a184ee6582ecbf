"""Scoring the texts of a file, without a study."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from delibsim.conduct.translate import translate_texts
from delibsim.domain.errors import WrongInput
from delibsim.plugins import load
from delibsim.store.texts import check_place, read_texts, write_values


@dataclass(frozen=True)
class ScoredTexts:
    """What came of scoring texts: the values of each, and the file with them.

    A value is NaN where it is undefined; the reason stands under `SCORER.note`.
    """

    scorer: str
    values: Sequence[Mapping[str, Any]]
    place: Path

    @property
    def defined(self) -> list[float]:
        """The scores of all texts that have one."""
        scores = [row[f"{self.scorer}.score"] for row in self.values]
        return [score for score in scores if not math.isnan(score)]

    @property
    def missing(self) -> dict[str, int]:
        """How often a score is undefined, by reason."""
        counts: dict[str, int] = {}
        for row in self.values:
            note = row[f"{self.scorer}.note"]
            if note:
                counts[note] = counts.get(note, 0) + 1
        return counts

    def summary(self) -> dict[str, Any]:
        """Numbers of texts, and mean and standard deviation of the score; None: undefined."""
        defined = self.defined
        return {
            "texts": len(self.values),
            "valid": len(defined),
            "missing": self.missing,
            "mean": fmean(defined) if defined else None,
            "sd": stdev(defined) if len(defined) > 1 else None,
        }


def score_file(
    file: Path,
    column: str,
    name: str,
    to: Path | None,
    on_progress: Callable[[str, int, int], None],
) -> ScoredTexts:
    """Score the texts in a column of a CSV file, and write its rows with the values beside them.

    `to` is the file that is written; by default it lies beside the texts. `on_progress` is given
    what is done, how many are done, and of how many. WrongInput, before hours of work, where texts
    cannot be scored or the result could not be written.
    """
    scorer = load("delibsim.scorers", name)
    if not hasattr(scorer, "table"):
        raise WrongInput(
            f"the scorer {name} reads whole runs and cannot score single texts; aqua can"
        )
    texts = read_texts(file, column)
    taken = [heading for heading in texts.header if heading.startswith(f"{name}.")]
    if taken:
        raise WrongInput(
            f"{file} has columns of that name already: {', '.join(taken[:4])}; leave them out"
        )
    place = to or file.with_name(f"{file.stem}.{name}.csv")
    check_place(place, file)
    scorer.watch = on_progress
    translate_texts(scorer, texts.texts)
    values = scorer.table(texts.texts)
    write_values(place, texts, values)
    return ScoredTexts(name, values, place)


def human_references(scorers: Sequence[str]) -> dict[str, Any]:
    """The published values of people that scorers give for their measures, by measure."""
    found: dict[str, Any] = {}
    for name in scorers:
        found |= getattr(load("delibsim.scorers", name), "people", {})
    return found


def on_people(scorers: Sequence[str]) -> list[str]:
    """The published values of people for the measures of some scorers, in sentences."""
    lines = []
    for measure, people in human_references(scorers).items():
        values = f"{people.mean:.3f} (SD {people.sd:.3f}, N {people.n}; {people.what})"
        lines.append(f"people: {measure} {values}")
    return lines
