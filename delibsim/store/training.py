"""What judges are trained on, the Habermas Machine data (Tessler et al. 2024, CC BY 4.0), and the
scores that they gave summaries of a study: a folder a judge, a score a line.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.summary import DIMENSIONS, Record, TrainedScore, Triple, spoken
from delibsim.domain.text import counted
from delibsim.store.annotations import TaskFolder, built, tasks_of
from delibsim.store.codec import Damaged
from delibsim.store.files import Log, each_line
from delibsim.store.reading import opened
from delibsim.store.runs import Runs

NEEDED = ("question.text", "own_opinion.text", "candidates.text", "ratings.agreement")
"""The columns by which its file of candidate comparisons is known."""
QUALITY = "ratings.quality"
WHO = ("worker_id", "metadata.participant_id")
LIKERT: tuple[str, ...] = read_data("foreign_columns.yaml")["likert"]
"""The answers 1 to 7 in words."""


def habermas_records(file: Path) -> list[Record]:
    """The candidates that people rated, a record each: agreement as `rep`, quality as `inf`, both
    from 1..7 to the labels 1..5. These were other questions to people than ours.

    Candidates without a text or a rating are left out. WrongInput for a file without the columns,
    or without a record.
    """
    found = []
    for number, row in enumerate(_rows(file)):
        question, opinion = _first(row["question.text"]), _first(row["own_opinion.text"])
        named = [str(row[name]) for name in WHO if row.get(name)]
        rater = named[0] if named else f"{question} | {opinion}"
        given = {"rep": _listed(row["ratings.agreement"]), "inf": _listed(row.get(QUALITY))}
        for place, summary in enumerate(map(str, _listed(row["candidates.text"]))):
            scores = {}
            for name, cells in given.items():
                value = _label(cells[place]) if place < len(cells) else None
                if value is not None:
                    scores[name] = value
            if scores and all(map(spoken, (question, opinion, summary))):
                triple = Triple(question, opinion, summary)
                found.append(Record(triple, rater, f"row {number}", scores))
    if not found:
        raise WrongInput(f"{file}: no candidate has an opinion beside it and a rating")
    return found


def _rows(file: Path) -> list[dict[str, Any]]:
    import duckdb

    try:
        opened(file).close()
    except OSError as error:
        raise WrongInput(f"{file} cannot be read: {error.strerror}") from None
    try:
        with duckdb.connect() as base:
            shown = base.execute("select * from read_parquet(?) limit 0", [str(file)])
            header = [column[0] for column in shown.description or []]
            if lacking := [name for name in NEEDED if name not in header]:
                raise refused("no_habermas_columns", file=file, listed=", ".join(lacking))
            wanted = [name for name in (*NEEDED, QUALITY, *WHO) if name in header]
            listed = ", ".join(f'"{name}"' for name in wanted)
            rows = base.execute(f"select {listed} from read_parquet(?)", [str(file)]).fetchall()
    except duckdb.Error as error:
        fault = str(error).splitlines()[0]
        raise WrongInput(f"{file} cannot be read as Parquet: {fault}") from None
    return [dict(zip(wanted, row, strict=True)) for row in rows]


def _listed(cell: Any) -> list[Any]:
    """A cell as a list: it may hold one, or a single value."""
    if cell is None:
        return []
    return list(cell) if isinstance(cell, (list, tuple)) else [cell]


def _first(cell: Any) -> str:
    return next((str(one) for one in _listed(cell) if one is not None), "")


def _label(cell: Any) -> float | None:
    """An answer on 1..7, in words or as a number, as y from 0 to 1; None where it is neither."""
    from delibsim.measures.summaries.prediction import normalised  # numpy is slow to import

    if isinstance(cell, str):
        word = cell.strip().upper()
        value = float(LIKERT.index(word) + 1) if word in LIKERT else 0.0
    else:
        value = float(cell) if isinstance(cell, (int, float)) else 0.0
    return float(normalised(1 + (value - 1) * 4 / 6)) if 1 <= value <= len(LIKERT) else None


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
            except (KeyError, Damaged):
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
    return built(TrainedScore, {**line, "values": values}, "a score")


def trained_judges_of(runs: Runs) -> list[str]:
    """The names of the trained judges that scored summaries of a study."""
    return [task.removeprefix(PREFIX) for task in tasks_of(runs, PREFIX)]
