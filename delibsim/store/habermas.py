"""The Habermas Machine data (Tessler et al. 2024, CC BY 4.0) as records to train a judge on."""

from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.summary import spoken
from delibsim.domain.training import Record, Triple
from delibsim.measures.summaries.prediction import normalised
from delibsim.store.reading import opened

NEEDED = ("question.text", "own_opinion.text", "candidates.text", "ratings.agreement")
"""The columns by which its file of candidate comparisons is known."""
QUALITY = "ratings.quality"
WHO = ("worker_id", "metadata.participant_id")
LIKERT = (
    "STRONGLY_DISAGREE",
    "DISAGREE",
    "SOMEWHAT_DISAGREE",
    "NEUTRAL",
    "SOMEWHAT_AGREE",
    "AGREE",
    "STRONGLY_AGREE",
)
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
                value = _score(cells[place]) if place < len(cells) else None
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
                raise WrongInput(
                    f"{file} lacks the columns {', '.join(lacking)} of the Habermas Machine data;"
                    " other records are read from a CSV"
                )
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


def _score(cell: Any) -> float | None:
    """An answer on 1..7, in words or as a number, as y from 0 to 1; None where it is neither."""
    if isinstance(cell, str):
        word = cell.strip().upper()
        value = float(LIKERT.index(word) + 1) if word in LIKERT else 0.0
    else:
        value = float(cell) if isinstance(cell, (int, float)) else 0.0
    return float(normalised(1 + (value - 1) * 4 / 6)) if 1 <= value <= len(LIKERT) else None
