"""Scores as tables: the codes of a study with the samples behind them and how sure an ensemble is,
and the scores of whole runs, a column a measure and phase.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from delibsim.domain.coding import Code, Sample
from delibsim.domain.errors import WrongInput
from delibsim.domain.scheme import Scheme
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import entropies, flips, level_shares, margin, stability
from delibsim.store.answers import Codings, schemes_of
from delibsim.store.coded import DimensionSamples, SchemeCodes
from delibsim.store.reading import opened
from delibsim.store.runs import Runs
from delibsim.store.tables.asked import table_of
from delibsim.store.tables.sheets import Table, offline_database, standing_in

Row = dict[str, Any]
CERTAINTY = ("margin", "entropy", "entropy_within", "entropy_between", "stability", "flips")
"""What is computed of the ensemble's level on a text, beside the share of each level."""


def coding_tables(runs: Runs, faults: list[str] | None = None) -> list[Table]:
    """The tables `codes` and `samples` of a study; none where nothing was coded.

    Damaged lines are left out and told in `faults`; Damaged for a level that the scheme lacks.
    """
    ids = schemes_of(runs)
    if not ids:
        return []
    coded = [SchemeCodes.of(Codings.of(runs, id), faults) for id in ids]
    place = _Places(runs)
    codes = (row for own in coded for row in _code_rows(own, place))
    samples = (row for own in coded for row in _sample_rows(own, place))
    return [table_of("codes", codes), table_of("samples", samples)]


def certainty(own: DimensionSamples) -> dict[str, np.ndarray]:
    """How sure the ensemble is of each text's level: an array (texts,) by name, NaN without one.

    `p` holds the shares of all levels, (texts, levels).
    """
    decided = own.ensemble()
    settings = own.rule, own.values, own.ordered
    whole, within, between = entropies(own.counts, own.levels)
    shares = level_shares(own.counts, own.levels)
    found = {
        "margin": margin(shares),
        "entropy": whole,
        "entropy_within": within,
        "entropy_between": between,
        "stability": stability(own.counts, own.levels, *settings),
        "flips": flips(own.counts, own.levels, *settings),
    }
    without = np.isnan(decided)
    for values in found.values():
        values[without] = np.nan
    return found | {"p": shares}


class _Places:
    """Which session, participant and turn a text is of, from its id."""

    def __init__(self, runs: Runs) -> None:
        self.study, self._sessions = runs.study, frozenset(runs.sessions())

    def of(self, scheme: Scheme, given: Code | Sample) -> Row:
        """The columns that say which text a row is about."""
        session, _, rest = given.text.partition("/")
        row: Row = {"study": self.study, "scheme": scheme.id, "dimension": given.dimension}
        row |= {"text": given.text, "text_sha256": given.text_sha256}
        if session not in self._sessions:
            return row
        of_turn = rest.isdecimal()
        of = {"turn": int(rest)} if of_turn else {"participant": rest}
        return row | {"session": session} | of


def _code_rows(coded: SchemeCodes, place: _Places) -> Iterator[Row]:
    for own in coded.by_dimension.values():
        sure = certainty(own)
        rows = {text: i for i, text in enumerate(own.texts)}
        for code in own.codes(coded.asked.texts):
            row = _code_row(coded, code, place)
            if code.kind == "ensemble":
                row |= _of_ensemble(own, sure, rows[code.text], row["place"])
            yield row
    for code in (*coded.not_coded, *coded.people):
        yield _code_row(coded, code, place)


def _code_row(coded: SchemeCodes, code: Code, place: _Places) -> Row:
    return place.of(coded.scheme, code) | standing_in("code", code) | _level(coded.scheme, code)


def _of_ensemble(
    own: DimensionSamples, sure: Mapping[str, np.ndarray], i: int, place: int | None
) -> Row:
    row: Row = {"rule": own.rule}
    for name in CERTAINTY:
        value = float(sure[name][i])
        row[name] = None if np.isnan(value) else value
    if row["flips"] is not None:
        row["flips"] = int(row["flips"])
    if place is not None:
        row["p"] = float(sure["p"][i, place - 1])
    return row


def _sample_rows(coded: SchemeCodes, place: _Places) -> Iterator[Row]:
    for sample in coded.samples:
        own = standing_in("sample", sample) | _level(coded.scheme, sample)
        yield place.of(coded.scheme, sample) | own


def _level(scheme: Scheme, given: Code | Sample) -> Row:
    """The level as text and as place, which a dimension that the scheme does not know gives to
    none; or why there is none.
    """
    place = None
    for dimension in scheme.dimensions:
        if dimension.id == given.dimension and given.level is not None:
            place = dimension.values.index(given.level) + 1
    level = None if given.level is None else str(given.level)
    return {"level": level, "place": place, "missing": given.missing}


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


def session_means(files: Iterable[Path], measures: Sequence[str]) -> dict[str, list[Any]]:
    """The means over participants, statements and coders of measures that runs have no score of:
    the columns measure, phase, session and value.
    """
    found: dict[str, list[Any]] = {"measure": [], "phase": [], "session": [], "value": []}
    with offline_database(threads=2) as database:
        for path in files:
            part = database.execute(
                "SELECT measure, coalesce(phase, '') AS phase, split_part(target, '/', 1) AS"
                f" session, avg(value) FILTER (WHERE NOT isnan(value)) AS value FROM {SOURCE}"
                " WHERE unit <> 'run' AND list_contains(?, measure) GROUP BY ALL ORDER BY ALL",
                [str(path), list(measures)],
            ).fetchnumpy()
            for name, column in part.items():
                found[name] += np.ma.filled(column, np.nan).tolist()
    return found


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
