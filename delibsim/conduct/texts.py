"""Scoring single texts: those of a study of texts, or of a file without a study."""

import csv
import io
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from delibsim.conduct.score import score_all
from delibsim.conduct.translate import translate_texts
from delibsim.domain.coding import CODES
from delibsim.domain.comparison import PAIRS
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.score import ENSEMBLE, Score
from delibsim.domain.text import quoted, study_named
from delibsim.plugins import declared, load
from delibsim.plugins import names as installed
from delibsim.scorers.answers import codes_of_texts, strengths_of_texts
from delibsim.store.answers import Codings, schemes_of
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs, scores_file
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.csv_cells import CsvSheet, read_sheet


@dataclass(frozen=True)
class ScoredTexts:
    """What came of scoring texts: the values of each, and the file with them.

    A value is NaN where it is undefined; the reason stands under `MEASURE.note`, or under
    `SCORER.note` where all measures of a text have one reason. `faults` says what could not
    be read.
    """

    scorer: str
    values: Sequence[Mapping[str, Any]]
    place: Path
    faults: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The values that are summed up: SCORER.score where there is one, else all."""
        named = f"{self.scorer}.score"
        numbers = measures_in(self.values)
        return [named] if named in numbers or not numbers else numbers

    def defined(self, measure: str) -> list[float]:
        """The values of a measure for all texts that have one."""
        scores = [row.get(measure, math.nan) for row in self.values]
        return [score for score in scores if not math.isnan(score)]

    def missing(self, measure: str) -> dict[str, int]:
        """How often a measure is undefined, by reason."""
        counts: Counter[str] = Counter()
        for row in self.values:
            note = row.get(f"{measure}.note", row.get(f"{self.scorer}.note", ""))
            if note:
                counts[note] += 1
        return dict(counts)

    def summary(self, measure: str) -> dict[str, Any]:
        """Numbers of texts, and mean and standard deviation of a measure; None: undefined."""
        defined = self.defined(measure)
        return {
            "texts": len(self.values),
            "valid": len(defined),
            "missing": self.missing(measure),
            "mean": fmean(defined) if defined else None,
            "sd": stdev(defined) if len(defined) > 1 else None,
        }


def texts_of_file(file: Path, column: str) -> tuple[CsvSheet, list[str]]:
    """A table, and the texts in a column of it, in order; WrongInput where it has none."""
    sheet = read_sheet(file, [column])
    if column not in sheet.header:
        advice = f"Columns are those of {file}; name the one with the texts: --column NAME"
        raise unknown("column", column, sheet.header, advice)
    at = sheet.header.index(column)
    return sheet, [row[at] for row in sheet.rows]


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
    scorer = _scorer_of_texts(name)
    sheet, texts = texts_of_file(file, column)
    taken = [heading for heading in sheet.header if heading.startswith(f"{name}.")]
    if taken:
        raise refused("columns_there_already", file=file, taken=", ".join(taken[:4]))
    place = to or file.with_name(f"{file.stem}.{name}.csv")
    check_place(place, file)
    values = _scored(scorer, texts, on_progress)
    write_values(place, sheet, values)
    return ScoredTexts(name, values, place)


def score_study_texts(
    runs: Runs, name: str, on_progress: Callable[[str, int, int], None]
) -> ScoredTexts:
    """Score the texts of a study of texts, and write the scores beside them, as those of runs are:
    a score a text and measure, and all values of a text as its details.

    WrongInput for a scorer that reads whole runs.
    """
    if name in (CODES, PAIRS):
        return _score_answers(runs, name)
    scorer = _scorer_of_texts(name)
    texts = StudyTexts(runs).all()
    values = _scored(scorer, [text.text for text in texts], on_progress)
    measures = measures_in(values)
    scores, details = [], []
    for text, row in zip(texts, values, strict=True):
        told = {"coder": row.get(f"{name}.coder", ""), "note": row.get(f"{name}.note", "")}
        for measure in measures:
            value = float(row.get(measure, math.nan))
            scores.append(Score(measure, "text", text.id, value, **told))
        defined = {key: None if value != value else value for key, value in row.items()}
        details.append({"target": text.id, "sha256": text.sha256} | defined)
    place = runs.write_scores(scorer.name, scorer.version, scores)
    runs.write_details(scorer.name, scorer.version, details)
    return ScoredTexts(name, values, place)


def rescore_codes(runs: Runs) -> None:
    """Write the scores of the codes of a study anew, so that none is older than its codes."""
    if not StudyTexts(runs).held():
        score_all(runs, [CODES])
    elif scores := _codes(runs, []):
        _write(runs, CODES, scores)


def rescore_pairs(studies: Iterable[Runs]) -> None:
    """Write the scores of comparisons anew in studies that hold some, so that none is older than
    its votes.
    """
    for runs in studies:
        if not (runs.scores_folder / scores_file(PAIRS, declared(PAIRS)[0])).is_file():
            continue
        if StudyTexts(runs).held():
            _write(runs, PAIRS, _strengths(runs, []))
        else:
            score_all(runs, [PAIRS])


def _score_answers(runs: Runs, name: str) -> ScoredTexts:
    """The codes of a study of texts, or the strengths from its comparisons, as scores; the values
    of a text are those of the ensemble, or of each person where people alone have coded.

    WrongInput where there are none.
    """
    faults: list[str] = []
    scores = (_codes if name == CODES else _strengths)(runs, faults)
    if not scores:
        study = quoted(runs.study)
        told, asked = "comparison", f"delibsim compare ask {study}"
        if name == CODES:
            told = "codes"
            asked = f"delibsim code ask {study}, or delibsim code collect STUDY FORM"
        raise WrongInput(f"{study_named(runs.study)} has no {told}; give: {asked}")
    coders = {score.coder for score in scores}
    people = name == CODES and ENSEMBLE not in coders
    values: dict[str, dict[str, Any]] = {text.id: {} for text in StudyTexts(runs).all()}
    for score in scores:
        of_model = not people and score.coder != ENSEMBLE
        if name == CODES and (of_model or score.target not in values):
            continue
        measure = f"{score.measure} ({score.coder})" if people else score.measure
        own = values.setdefault(score.target, {})
        own[measure] = score.value
        if score.note:
            own[f"{measure}.note"] = score.note
    place = _write(runs, name, scores)
    return ScoredTexts(name, list(values.values()), place, tuple(faults))


def _strengths(runs: Runs, faults: list[str]) -> list[Score]:
    """The strengths of the texts of a study of texts as scores."""
    from delibsim.conduct.compare_report import scores_of_study_texts  # numpy

    return list(strengths_of_texts(scores_of_study_texts(runs, faults)))


def _codes(runs: Runs, faults: list[str]) -> list[Score]:
    """The codes of a study of texts as scores, those of training rounds left out."""
    from delibsim.store.coded import SchemeCodes  # imports numpy

    scores: list[Score] = []
    for id in schemes_of(runs):
        found = SchemeCodes.of(Codings.of(runs, id), faults)
        known = [code for code in found.codes() if not code.training]
        scores += codes_of_texts(found.scheme, known)
    return scores


def _write(runs: Runs, name: str, scores: Sequence[Score]) -> Path:
    """Write the scores of answers; their file."""
    return runs.write_scores(name, declared(name)[0], scores)


def scorers_of_texts() -> list[str]:
    """The installed scorers that can score single texts."""
    names = installed("delibsim.scorers")
    return [name for name in names if hasattr(load("delibsim.scorers", name), "table")]


def measures_in(values: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the values that are numbers, in order."""
    found: dict[str, None] = {}
    for row in values:
        found |= dict.fromkeys(name for name, value in row.items() if isinstance(value, float))
    return list(found)


def _scorer_of_texts(name: str) -> Any:
    """A scorer; WrongInput for one that reads whole runs."""
    scorer = load("delibsim.scorers", name)
    if not hasattr(scorer, "table"):
        raise refused("scorer_of_runs", named=name)
    return scorer


def _scored(
    scorer: Any, texts: Sequence[str], on_progress: Callable[[str, int, int], None]
) -> Sequence[Mapping[str, Any]]:
    """The values of each text, translated before where the scorer needs it."""
    scorer.watch = on_progress
    translate_texts(scorer, texts)
    return scorer.table(texts)


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


def check_place(place: Path, file: Path) -> None:
    """WrongInput where a result could not be written to a place, or would replace the texts."""
    if place.is_dir():
        raise WrongInput(f"{place} is a folder; name a file to write to: -o FILE")
    if place.exists() and place.samefile(file):
        raise refused("output_is_input", place=place)
    if not place.parent.is_dir():
        raise refused("no_folder_to_write", parent=place.parent, named=place.name)
    if not os.access(place.parent, os.W_OK):
        raise refused("folder_not_writable", parent=place.parent)


def write_values(place: Path, file: CsvSheet, values: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows as they were, with the values behind them; NaN is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=file.delimiter, lineterminator="\n")
    writer.writerow([*file.header, *values[0]])
    for row, found in zip(file.rows, values, strict=True):
        defined = ["" if value != value else value for value in found.values()]
        writer.writerow([*row, *defined])
    write_atomically(place, out.getvalue())
