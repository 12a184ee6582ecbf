"""The scorer `aqua`: twenty indicators of statements, labelled by the authors' adapters, their sum,
the score, and means of these.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.measure import CATALOGUE
from delibsim.domain.run import Run
from delibsim.domain.score import Score, Unit
from delibsim.measures.aqua import INDICATORS, PEOPLE, Published, scores, sums
from delibsim.scorers.aqua.coder import Coder, Record, Watch
from delibsim.scorers.aqua.language import prevailing
from delibsim.scorers.aqua.setup import Setup, read
from delibsim.scorers.aqua.weights import need_extra

VALUES = (*INDICATORS, "sum", "score")
EMPTY = ("", "na", "nan", "n/a", "null", "none")
"""What stands in a cell without a text, in capitals or not: so programs of statistics write that
there is none.
"""


class AQuA:
    """The twenty indicators (0 to 3), their weighted sum and the score (0 to 5) of statements, and
    their means.

    `folder` holds what `delibsim aqua setup` recorded, and the texts that were translated and
    labelled before. The scorer is `on_request`: it takes seconds a statement, so it runs only where
    it is named. Where a statement has no word, is in an unknown language or could not be translated
    its values are NaN, and so are the means it would belong to.
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

    def score(self, runs: Sequence[Run]) -> list[Score]:
        """Values of each statement, of each speaker and of the run, one run after another."""
        return (
            [score for run, records in self._coded(runs) for score in self._score(run, records)]
            if runs
            else []
        )

    def details(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """What the values of each statement rest on: its text in both languages, who translated it,
        labels and probabilities.
        """
        return [
            {
                "target": f"{run.session.id}/{statement.turn.index}",
                "speaker": statement.turn.speaker,
                "scale": self._setup.scale,
                **record,
            }
            for run, records in self._coded(runs)
            for statement, record in zip(run.transcript, records, strict=True)
        ]

    def table(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """One row a text: score, sum, indicators, the probabilities of their labels, German text
        and translator, all named aqua.*.

        A text that is empty (or NA, NaN, n/a, null, None), has no word, or could not be translated,
        has NaN for numbers and the reason in `aqua.note`.
        """
        there = [text.strip().casefold() not in EMPTY for text in texts]
        filled = [text for text, is_there in zip(texts, there, strict=True) if is_there]
        records = iter(
            self._coder.code(filled, [prevailing(filled)] * len(filled)) if filled else []
        )
        return [self._row(next(records) if is_there else {"note": "empty"}) for is_there in there]

    def _coded(self, runs: Sequence[Run]) -> Iterator[tuple[Run, list[Record]]]:
        """The runs with the records of their statements; all texts are worked on together, so that
        like lengths meet.
        """
        texts = [statement.text for run in runs for statement in run.transcript]
        defaults = [
            default
            for run in runs
            for default in [prevailing(s.text for s in run.transcript)] * len(run.transcript)
        ]
        records = iter(self._coder.code(texts, defaults))
        for run in runs:
            yield run, [next(records) for _ in run.transcript]

    def _score(self, run: Run, records: Sequence[Record]) -> list[Score]:
        target, values = (
            run.session.id,
            np.array([self._values(record) for record in records]).reshape(-1, len(VALUES)),
        )

        def means(unit: Unit, place: str, of: Sequence[int]) -> Iterable[Score]:
            note = (
                next((str(records[i]["note"]) for i in of if "note" in records[i]), "")
                if of
                else "no_statements"
            )
            row = np.full(len(VALUES), math.nan) if note else values[of].mean(axis=0)
            coder = self._coder.name([records[i] for i in of])
            return [
                Score(f"aqua.{name}", unit, place, float(v), coder=coder, note=note)
                for name, v in zip(VALUES, row, strict=True)
            ]

        found = [
            s
            for i, said in enumerate(run.transcript)
            for s in means("statement", f"{target}/{said.turn.index}", [i])
        ]
        for participant in run.session.participants:
            own = [
                i for i, said in enumerate(run.transcript) if said.turn.speaker == participant.id
            ]
            found += means("participant", f"{target}/{participant.id}", own)
        return [*found, *means("run", target, list(range(len(records))))]

    def _values(self, record: Record) -> list[float]:
        """Labels, sum and score; NaN without labels."""
        labels = [
            float(record["labels"][name]) if "labels" in record else math.nan for name in INDICATORS
        ]
        return [*labels, float(sums(labels)), float(scores(labels, self._setup.scale))]

    def _row(self, record: Record) -> dict[str, Any]:
        values = dict(zip(VALUES, self._values(record), strict=True))
        row: dict[str, Any] = {
            f"aqua.{name}": values[name] for name in ("score", "sum", *INDICATORS)
        }
        for name in INDICATORS:
            given = record.get("probabilities", {}).get(name, [math.nan] * 4)
            row |= {f"aqua.{name}.p{label}": given[label] for label in range(4)}
        row |= {f"aqua.{name}": record.get(name, "") for name in ("german", "translator", "parts")}
        row["aqua.coder"] = self._coder.name([record]) if "labels" in record else ""
        return row | {
            "aqua.note": ": ".join(
                str(record[name]) for name in ("note", "reason") if name in record
            )
        }

    @cached_property
    def _setup(self) -> Setup:
        need_extra()
        return read(self._folder)

    @cached_property
    def _coder(self) -> Coder:
        return Coder(self._setup, self._folder, self.watch)
