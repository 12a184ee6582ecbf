"""The scores of whole runs, read from the file of a scorer: a column a measure and phase."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.errors import WrongInput
from delibsim.domain.score import ENSEMBLE
from delibsim.store.reading import opened
from delibsim.store.tables.sheets import offline_database

COLUMNS = {"measure": "VARCHAR", "unit": "VARCHAR", "target": "VARCHAR", "value": "DOUBLE"}
COLUMNS |= {"phase": "VARCHAR", "coder": "VARCHAR", "note": "VARCHAR"}
NAMED = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
SOURCE = f"read_json(?, format = 'newline_delimited', columns = {{{NAMED}}})"
SEVERAL = "several_coders"
OF_ONE_OF_THEM = (
    "DELETE FROM own WHERE target IS NOT NULL AND coder <> ? AND (target, measure, phase) IN"
    " (SELECT (target, measure, phase) FROM own WHERE target IS NOT NULL AND coder = ?)"
)
"""Where an ensemble has scored a run, the scores of the coders that it is made of are left out."""
OF_SEVERAL = (
    "SELECT DISTINCT target, measure FROM own WHERE target IS NOT NULL"
    " GROUP BY target, measure, phase HAVING count(*) > 1"
)


@dataclass(frozen=True)
class RunScores:
    """The scores of runs by one scorer.

    `sessions` are those that the file has a line about, of whatever unit; `targets` the runs that
    have scores of their own. `values` holds for every measure and phase one number a target, NaN
    where there is none; `notes` for every measure the reason codes of a target, joined by "; ".
    """

    sessions: frozenset[str]
    targets: Sequence[str]
    values: dict[tuple[str, str], np.ndarray]
    notes: dict[str, Sequence[str | None]]


def run_scores(path: Path) -> RunScores:
    """The scores in the file of a scorer; WrongInput where it holds anything else, OSError where
    it is no regular file, which the database would wait for.
    """
    import duckdb

    opened(path).close()
    with offline_database(threads=2) as database:
        try:
            return _read(database, path)
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            said = str(error).splitlines()[0]
            raise WrongInput(f"{path} is damaged ({said}); score the study again") from None


def statement_scores(
    files: Iterable[Path], measures: Sequence[str]
) -> Iterator[dict[str, np.ndarray]]:
    """The scores of statements on these measures, of each file that has some: the columns measure,
    target, coder and value, NaN where there is none.
    """
    with offline_database(threads=2) as database:
        for path in files:
            found = database.execute(
                f"SELECT measure, target, coalesce(coder, '') AS coder, value FROM {SOURCE}"
                " WHERE unit = 'statement' AND list_contains(?, measure)",
                [str(path), list(measures)],
            ).fetchnumpy()
            if len(found["target"]):
                yield {name: np.ma.filled(column, np.nan) for name, column in found.items()}


def _read(database: Any, path: Path) -> RunScores:
    # The file is read once; of smaller units than a run only the session is kept.
    database.execute(
        "CREATE TEMP TABLE own AS SELECT CASE WHEN unit = 'run' THEN target END AS target,"
        " split_part(target, '/', 1) AS session, measure, coalesce(phase, '') AS phase, value,"
        f" coder, note FROM {SOURCE} WHERE target IS NOT NULL",
        [str(path)],
    )
    database.execute(OF_ONE_OF_THEM, [ENSEMBLE, ENSEMBLE])
    sessions = database.execute("SELECT DISTINCT session FROM own").fetchall()
    found = database.execute(
        "SELECT measure, phase, count(DISTINCT coder) FROM own WHERE target IS NOT NULL"
        " GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    kinds = [(measure, phase) for measure, phase, _ in found]
    several: set[tuple[str, str]] = set()
    if any(coders > 1 for _, _, coders in found):
        several = set(database.execute(OF_SEVERAL).fetchall())
    measures = list(dict.fromkeys(measure for measure, _ in kinds))
    parts = list(_values(kinds)) + list(_notes(measures))
    wanted = ", ".join(["target", *(sql for sql, _ in parts)])
    given = [value for _, values in parts for value in values]
    query = f"SELECT {wanted} FROM own WHERE target IS NOT NULL GROUP BY target ORDER BY target"
    # Wide rows of a large study take memory where they are fetched as Python values.
    table: dict[str, Any] = {"target": []}
    if kinds:
        table = database.execute(query, given).fetchnumpy()
    values = {}
    for number, kind in enumerate(kinds):
        values[kind] = np.ma.filled(table[f"v{number}"].astype(np.float64), np.nan)
    notes: dict[str, Sequence[str | None]] = {}
    for number, measure in enumerate(measures):
        column = np.ma.asarray(table[f"n{number}"], dtype=object)
        notes[measure] = [code or None for code in column.tolist()]  # a masked value becomes None
    targets = list(table["target"])
    _leave_out(several, targets, values, notes)
    return RunScores(frozenset(name for (name,) in sessions), targets, values, notes)


def _leave_out(
    several: set[tuple[str, str]],
    targets: Sequence[str],
    values: dict[tuple[str, str], np.ndarray],
    notes: dict[str, Sequence[str | None]],
) -> None:
    """Take away the values of targets and measures that several coders have scored."""
    places = {target: place for place, target in enumerate(targets)} if several else {}
    for target, measure in several:
        for (own, _), column in values.items():
            if own == measure:
                column[places[target]] = np.nan
        told = list(notes[measure])
        told[places[target]] = SEVERAL
        notes[measure] = told


def _values(kinds: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """SQL for the column of every measure and phase, and the values of its parameters."""
    for number, (measure, phase) in enumerate(kinds):
        where = "measure = ? AND phase = ?"
        yield f"any_value(value) FILTER (WHERE {where}) AS v{number}", [measure, phase]


def _notes(measures: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """SQL for the reason codes of every measure, and the values of its parameters."""
    for number, measure in enumerate(measures):
        where = "measure = ? AND note <> ''"
        codes = f"string_agg(DISTINCT note, '; ' ORDER BY note) FILTER (WHERE {where})"
        yield f"{codes} AS n{number}", [measure]
