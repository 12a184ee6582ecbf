"""The scorer `aqua`: twenty indicators of statements, their sum, the score, and their means."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.run import Run
from delibsim.domain.score import CATALOGUE, Score, Unit
from delibsim.domain.text import Language, prevailing
from delibsim.measures.aqua import INDICATORS, PEOPLE, Published, scores, sums
from delibsim.scorers.aqua.coder import AquaCoder, Record, Watch
from delibsim.scorers.aqua.setup import Setup, TranslatingModel, read
from delibsim.scorers.aqua.weights import need_extra

VALUES = (*INDICATORS, "sum", "score")
EMPTY = ("", "na", "nan", "n/a", "null", "none")
"""Cells that hold no text, in capitals or not: statistical programs write missing values so."""


class AQuA:
    """AQuA of statements after Behrendt et al. (2024): twenty indicators (0 to 3), their weighted
    sum, the score (0 to 5), and the means of all these over participants and runs.

    The formulas are in delibsim/measures/aqua.py; docs/aqua.md explains them. `folder` holds what
    `delibsim setup aqua` recorded, and every text that was translated and labelled before. The
    scorer takes seconds for a statement and is therefore `on_request`: it runs only where it is
    named. The values of a statement that has no word, is in an unknown language, or could not be
    translated are NaN, and so are the means over it.

    The scorer asks no language model. Where one is set up as translator, `untranslated` gives the
    texts that it must translate first; `keep_translation` and `keep_fault` keep what came of it.
    """

    name = "aqua"
    version = 1
    measures = CATALOGUE["aqua"]
    on_request = True

    def __init__(
        self, folder: str | Path = "aqua", watch: Watch = lambda what, done, among: None
    ) -> None:
        self._folder, self.watch = Path(folder), watch

    @property
    def people(self) -> Mapping[str, Published]:
        """The human reference by measure, on the scale that was set up."""
        part = self._setup.scale / 5
        return {
            "aqua.score": Published(PEOPLE.what, PEOPLE.mean * part, PEOPLE.sd * part, PEOPLE.n)
        }

    @property
    def translator(self) -> TranslatingModel | None:
        """The language model that translates; None where none is needed, or none is one."""
        found = self._setup.translator
        return found if isinstance(found, TranslatingModel) else None

    def untranslated(self, runs: Sequence[Run]) -> list[str]:
        """The statements that the language model is to translate before these runs are scored."""
        return self._coder.untranslated(*_statements(runs)) if runs else []

    def untranslated_texts(self, texts: Sequence[str]) -> list[str]:
        """The texts that the language model is to translate before `table` reads them."""
        filled = [text for text in texts if _is_there(text)]
        return self._coder.untranslated(filled, [prevailing(filled)] * len(filled))

    def keep_translation(self, text: str, german: str) -> None:
        """Keep the translation of a text."""
        self._coder.keep_translation(text, german)

    def keep_fault(self, text: str, reason: str) -> None:
        """Note why a text could not be translated."""
        self._coder.keep_fault(text, reason)

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Values of each statement, of each speaker and of the run, one run after another."""
        found: list[Score] = []
        for run, records in self._coded(runs):
            found += self._score(run, records)
        return found

    def details(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """What the values of each statement rest on: its text in both languages, who translated it,
        labels and probabilities.
        """
        rows = []
        for run, records in self._coded(runs):
            for statement, record in zip(run.speech, records, strict=True):
                place = {
                    "target": f"{run.session.id}/{statement.turn.index}",
                    "speaker": statement.turn.speaker,
                    "scale": self._setup.scale,
                }
                rows.append(place | dict(record))
        return rows

    def table(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """One row a text: score, sum, indicators, the probabilities of their labels, German text
        and translator, all named aqua.*.

        A text that is empty (or NA, NaN, n/a, null, None), has no word, or could not be translated,
        has NaN for numbers and the reason in `aqua.note`.
        """
        filled = [text for text in texts if _is_there(text)]
        coded: list[Record] = []
        if filled:
            coded = self._coder.code(filled, [prevailing(filled)] * len(filled))
        records = iter(coded)
        empty = {"note": "empty"}
        return [self._row(next(records) if _is_there(text) else empty) for text in texts]

    def _coded(self, runs: Sequence[Run]) -> Iterator[tuple[Run, list[Record]]]:
        """The runs with the records of their statements.

        The texts of all runs are coded together, so that batches hold texts of like length.
        """
        records = iter(self._coder.code(*_statements(runs)) if runs else [])
        for run in runs:
            yield run, [next(records) for _ in run.speech]

    def _score(self, run: Run, records: Sequence[Record]) -> list[Score]:
        name = run.session.id
        found: list[Score] = []
        for statement, record in zip(run.speech, records, strict=True):
            found += self._means("statement", f"{name}/{statement.turn.index}", [record])
        for participant in run.session.participants:
            own = []
            for statement, record in zip(run.speech, records, strict=True):
                if statement.turn.speaker == participant.id:
                    own.append(record)
            found += self._means("participant", f"{name}/{participant.id}", own)
        return [*found, *self._means("run", name, records)]

    def _means(self, unit: Unit, target: str, records: Sequence[Record]) -> list[Score]:
        """The mean of every value over some statements; NaN if one of them has none."""
        notes = [str(record["note"]) for record in records if "note" in record]
        note = "" if records else "no_statements"
        note = notes[0] if notes else note
        means = np.full(len(VALUES), math.nan)
        if not note:
            means = np.array([self._values(record) for record in records]).mean(axis=0)
        coder = self._coder.name(records)
        found = []
        for name, value in zip(VALUES, means, strict=True):
            found.append(Score(f"aqua.{name}", unit, target, float(value), coder=coder, note=note))
        return found

    def _values(self, record: Record) -> list[float]:
        """Labels, sum and score; NaN without labels."""
        given = record.get("labels", {})
        labels = [float(given.get(name, math.nan)) for name in INDICATORS]
        return [*labels, float(sums(labels)), float(scores(labels, self._setup.scale))]

    def _row(self, record: Record) -> dict[str, Any]:
        values = dict(zip(VALUES, self._values(record), strict=True))
        row: dict[str, Any] = {}
        for name in ("score", "sum", *INDICATORS):
            row[f"aqua.{name}"] = values[name]
        for name in INDICATORS:
            given = record.get("probabilities", {}).get(name, [math.nan] * 4)
            row |= {f"aqua.{name}.p{label}": given[label] for label in range(4)}
        row |= {f"aqua.{name}": record.get(name, "") for name in ("german", "translator", "parts")}
        row["aqua.coder"] = self._coder.name([record]) if "labels" in record else ""
        why = [str(record[name]) for name in ("note", "reason") if name in record]
        row["aqua.note"] = ": ".join(why)
        return row

    @cached_property
    def _setup(self) -> Setup:
        need_extra()
        return read(self._folder)

    @cached_property
    def _coder(self) -> AquaCoder:
        return AquaCoder(self._setup, self._folder, self.watch)


def _statements(runs: Sequence[Run]) -> tuple[list[str], list[Language]]:
    """The statements of runs, and for each the language that prevails in its run."""
    texts: list[str] = []
    around: list[Language] = []
    for run in runs:
        own = [statement.text for statement in run.speech]
        texts += own
        around += [prevailing(own)] * len(own)
    return texts, around


def _is_there(text: str) -> bool:
    """Whether a cell holds a text."""
    return text.strip().casefold() not in EMPTY
