"""A study as tidy tables: one row a unit, each with the condition it was observed under; what
cannot be read is named.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delibsim.domain.effect import same_cells
from delibsim.domain.run import Session
from delibsim.domain.score import Score
from delibsim.domain.survey import PHASES, Phase, Survey
from delibsim.domain.text import counted
from delibsim.plugins import declared, without_effect
from delibsim.store import codec
from delibsim.store.annotations import annotation_logs
from delibsim.store.answers import measures_of_study
from delibsim.store.files import each_line, staged
from delibsim.store.own_folder import refuse_others
from delibsim.store.places import account_of
from delibsim.store.runs import SCORES, Runs
from delibsim.store.session_notes import SessionNotes
from delibsim.store.tables.asked import columns_without_texts, without_texts
from delibsim.store.tables.calls import call_row
from delibsim.store.tables.session_rows import Alike, Attempts, Kept, Row, SessionRows
from delibsim.store.tables.sheets import (
    ALL_COLUMNS,
    OF_PHASES,
    ROWS,
    TABLES,
    Column,
    SheetWriter,
    Table,
    standing_in,
    to_parquet,
    write_codebook,
    write_manifest,
)

FORMATS = ("csv", "parquet")


@dataclass(frozen=True)
class Export:
    """What an export wrote: where, rows by table, sessions by status, cells with escaped characters
    by column, what was left out.
    """

    folder: Path
    rows: Mapping[str, int]
    sessions: Mapping[str, int]
    escaped: Mapping[str, int]
    faults: tuple[str, ...]


def export(
    runs: Runs,
    folder: Path,
    formats: Collection[str] = ("csv",),
    spreadsheet_safe: bool = False,
    more: Callable[[list[str]], Sequence[Table]] = lambda faults: (),
    texts: bool = True,
) -> Export:
    """Write the tables of a study into `folder`, which holds the whole export or, until it is
    written, what it held before.

    `more` makes further tables, once the runs were read for those of the study, and adds to a list
    what could not be read for them. `spreadsheet_safe` puts an apostrophe before
    texts in CSV files that a spreadsheet would take for formulas. Without `texts`, for studies of
    texts alone, what was written is left out. WrongInput if `folder` holds anything that is not of
    an earlier export.
    """
    refuse_others(folder, "export")
    folder = folder.resolve()
    faults: list[str] = []
    left_out: list[str] = []
    sessions: Counter[str] = Counter()
    measures: list[Row] = []
    own_columns, same = design_of(runs)
    if not texts:
        for table, own in own_columns.items():
            own_columns = {**own_columns, table: columns_without_texts(table, own)}
    with staged(folder) as new:
        with ExitStack() as open_files:
            sheets: dict[str, SheetWriter] = {}

            def begin(table: str, columns: Sequence[Column]) -> None:
                sheet = SheetWriter(new, table, columns, formats, spreadsheet_safe)
                sheets[table] = open_files.enter_context(sheet)

            for table, own in own_columns.items():
                begin(table, own)
            for table, shared, rows in alike(runs, faults, same):
                sheets[table].add_alike(shared, rows)
                if table == "runs":
                    sessions[rows[0]["status"]] += 1
                elif table == "measures":
                    measures.append(shared)
            others = more(left_out)
            if not texts:
                others = [without_texts(one) for one in others]
            for one in others:
                begin(one.name, one.columns)
                for values in one.rows:
                    sheets[one.name].add(values)
        if never := account_of(runs).not_begun:
            sessions["not begun"] = len(never)
        if "parquet" in formats:
            to_parquet(sheets.values())
        described = [Table(name, ROWS[name], own, ()) for name, own in own_columns.items()]
        described += others
        write_codebook(new, {one.name: one.columns for one in described})
        lines = [*_codebook(described), *_of_measures(measures)]
        (new / "codebook.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        written = Export(
            folder,
            {table: sheet.rows for table, sheet in sheets.items()},
            dict(sessions),
            _escaped(sheets.values()),
            (*left_out, *faults),
        )
        settings = {"spreadsheet_safe": spreadsheet_safe, "texts": texts}
        write_manifest(new, _about(runs.study, settings, written))
    return written


def _about(study: str, settings: Mapping[str, bool], written: Export) -> dict[str, Any]:
    """What the manifest of an export says."""
    return {
        "schema": codec.SCHEMA,
        "study": study,
        "delibsim": version("delibsim"),
        **settings,
        "rows": written.rows,
        "sessions": written.sessions,
        "left_out": written.faults,
        "escaped": written.escaped,
    }


def _escaped(sheets: Iterable[SheetWriter]) -> dict[str, int]:
    """The cells with escaped characters, by table and column."""
    found = {}
    for sheet in sheets:
        for name, n in sheet.escaped.items():
            found[f"{sheet.table}.{name}"] = n
    return found


def _codebook(tables: Iterable[Table]) -> Iterator[str]:
    yield "# Codebook\n\nAn empty cell is a missing value. Logicals are TRUE and FALSE."
    for table in tables:
        yield (
            f"\n## {table.name}: {table.row}\n\n| column | kind | meaning | unit | values"
            " |\n|---|---|---|---|---|"
        )
        for column in table.columns:
            yield (
                f"| `{column.name}` | {column.kind} | {column.meaning} | {column.unit} |"
                f" {column.values} |"
            )


def _of_measures(measures: Iterable[Row]) -> Iterator[str]:
    yield "\n## Measures in scores\n\n| measure | label | definition | source |\n|---|---|---|---|"
    for row in measures:
        told = [_cell(row.get(name, "")) for name in ("label", "definition", "source")]
        yield f"| `{row['measure']}` | {' | '.join(told)} |"


def _cell(text: str) -> str:
    """A text as a cell of a table in Markdown, in one line."""
    return " ".join(text.split()).replace("|", "\\|")


if TYPE_CHECKING:
    from pandas import DataFrame


def tables(runs: Runs) -> tuple[dict[str, "DataFrame"], list[str]]:
    """The tables of a study as pandas DataFrames by name, and the faults of what could not be read.

    Columns are those of `delibsim.store.tables.sheets.COLUMNS`: integers are `Int64`, logicals
    `boolean`, numbers `float64`, texts `object`; a missing value is NA, NaN or None.
    """
    import pandas as pd

    kinds = {"integer": "Int64", "logical": "boolean", "number": "float64", "text": "object"}
    faults: list[str] = []
    values: dict[str, list[list[Any]]] = {}
    names: dict[str, list[str]] = {}
    columns_of, same = design_of(runs)
    for table, columns in columns_of.items():
        values[table] = [[] for _ in columns]
        names[table] = [column.name for column in columns]
    for table, row in rows_of(runs, faults, same):
        for held, value in zip(values[table], map(row.get, names[table]), strict=True):
            held.append(None if value == "" else value)
    frames = {}
    for table, columns in columns_of.items():
        series = {}
        for column, held in zip(columns, values[table], strict=True):
            series[column.name] = pd.Series(held, dtype=kinds[column.kind])
        frames[table] = pd.DataFrame(series)
    return frames, faults


def design_of(runs: Runs) -> tuple[dict[str, tuple[Column, ...]], dict[str, str]]:
    """What the plans of a study say, read once: the columns of every table that it has, and the
    conditions that are the same as another (see domain.effect.same_cells).
    """
    sought, named, waves = False, False, PHASES

    def plans() -> Iterator[Session]:
        nonlocal sought, named, waves
        for _, session in SessionNotes(runs).plans():
            sought = sought or session.consensus is not None
            named = named or session.procedure.phases is not None
            waves = max(waves, session.waves, key=len)
            yield session

    same = same_cells(plans(), without_effect)
    names = ROWS if sought else TABLES
    return {name: _of_phases(ALL_COLUMNS[name], named, waves) for name in names}, same


def _of_phases(
    columns: Sequence[Column], named: bool, waves: tuple[Phase, ...]
) -> tuple[Column, ...]:
    """The columns of a table: those of phases where sessions name them; surveys are these."""
    found = []
    for one in columns:
        if one.name == "phase":
            one = replace(one, values=one.values.replace("; ".join(PHASES), "; ".join(waves)))
        elif one.name == "answers_expected":
            one = replace(one, meaning=one.meaning.replace("2 phases", f"{len(waves)} phases"))
        found += [one] if named or one.name not in OF_PHASES else []
    return tuple(found)


def rows_of(
    runs: Runs, faults: list[str], same: Mapping[str, str] | None = None
) -> Iterator[tuple[str, Row]]:
    """Every row of every table as (table, values by column), in the order of `alike`."""
    for table, shared, own in alike(runs, faults, design_of(runs)[1] if same is None else same):
        for one in own:
            yield table, shared | one


def alike(runs: Runs, faults: list[str], same: Mapping[str, str]) -> Iterator[Alike]:
    """Every row of every table, with others that share values with it, one session after another,
    then calls to raters and coders, then scores; faults are added to `faults`.

    A column that is not in a row is missing from it. `same` is that of `design_of`.
    """
    sessions = Kept()
    items: set[tuple[Any, ...]] = set()
    manifest = runs.manifest()
    groups = manifest.components.get("groups", {}) if manifest else {}
    notes = SessionNotes(runs)
    for name in _begun(runs):
        session = SessionRows(runs, name, groups.get(name), same)
        faults += session.faults
        yield from session.alike()
        if session.session is not None:
            for item in _items(runs.study, session.session.survey):
                content = tuple(item.values())
                if content not in items:
                    items.add(content)
                    yield "items", item, ({},)
        sessions.add(session)
        if session.run is not None and notes.of(name, "facts") is None:
            notes.keep(session.run.session, {"facts": session.facts})
        notes.forget(name)
    for row in _annotation_calls(runs, sessions, faults):
        yield "calls", row, ({},)
    yield from _rows_of_scores(runs, sessions, faults)


def _annotation_calls(runs: Runs, sessions: Kept, faults: list[str]) -> Iterator[Row]:
    """A row for each call to a rater or coder, with the condition of the session that it is about;
    damaged lines are told in `faults`.
    """
    for log in annotation_logs(runs):
        number = damaged = 0
        for _, record in each_line(log.file):
            row = call_row(record or {}, number + 1, log.models)
            if row is None:
                damaged += 1
                continue
            number += 1
            yield _of_session_asked_about(runs.study, row, sessions) | row | {"task": log.task}
        if damaged:
            faults.append(f"{log.file}: {counted(damaged, 'damaged line')} left out")


def _of_session_asked_about(study: str, row: Row, sessions: Kept) -> Row:
    """The columns of the session of a debate or of a statement; the study alone elsewhere."""
    occasion = str(row["occasion"])
    debate, statement = occasion.rpartition(" ")[0], occasion.partition("/")[0]
    return sessions.of(debate) or sessions.of(statement) or {"study": study}


def _rows_of_scores(runs: Runs, sessions: Kept, faults: list[str]) -> Iterator[Alike]:
    """The rows of scores, those of a session together where they stand so in their file, and last
    those of the measures that occur in them.
    """
    measures: dict[tuple[str, int | None, str], Row] = {}
    for path in sorted((runs.folder / SCORES).glob("*.jsonl")):
        scorer, _, text = path.stem.rpartition(".v")
        scorer = scorer or path.stem
        version = int(text) if text.isdecimal() else None
        damaged = 0
        about, own = "", []
        for _, record in each_line(path):
            try:
                score = codec.score_from_plain(record or {})
            except codec.Damaged:
                damaged += 1
                continue
            key = (scorer, version, score.measure)
            if key not in measures:
                measures[key] = _measure(runs, *key)
            session = "" if score.unit == "text" else score.target.partition("/")[0]
            if own and session != about:
                yield "scores", _condition(runs.study, about, sessions), own
                own = []
            about = session
            origin = {"scorer": scorer, "scorer_version": version}
            own.append(origin | _score(score, sessions.attempts(session)))
        if own:
            yield "scores", _condition(runs.study, about, sessions), own
        if damaged:
            faults.append(f"{path}: {counted(damaged, 'damaged line')}; score the study again")
    for row in measures.values():
        yield "measures", row, ({},)


def _begun(runs: Runs) -> list[str]:
    """Sessions with a plan, and folders that hold a run or a record although their plan is gone."""
    begun = set(runs.sessions())
    for kind in ("run.json", "exchanges.jsonl"):
        begun |= {path.parent.name for path in runs.folder.glob(f"*/{kind}")}
    return sorted(begun)


def _items(study: str, survey: Survey) -> Iterator[Row]:
    shared = {"study": study, **standing_in("survey", survey)}
    for number, item in enumerate(survey.items, 1):
        ends = {"lowest": 1, "highest": len(survey.preferences)}
        if item.kind == "consideration":
            ends = {"lowest": survey.scale_min, "highest": survey.scale_max}
        yield {**shared, **standing_in("item", item), "number": number, **ends}


def _measure(runs: Runs, scorer: str, version: int | None, name: str) -> Row:
    """What is known of a measure; only its name where the version installed does not declare it."""
    row: Row = {"study": runs.study, "scorer": scorer, "scorer_version": version, "measure": name}
    installed, known = declared(scorer)
    known = measures_of_study(scorer, runs) or known
    found = {measure.id: measure for measure in known if installed == version}
    if name not in found:
        return row
    measure = found[name]
    lowest, highest = (end if math.isfinite(end) else None for end in measure.range)
    return row | standing_in("measure", measure) | {"lowest": lowest, "highest": highest}


def _condition(study: str, session: str, sessions: Kept) -> Row:
    return sessions.of(session) or {"study": study, "session": session}


def _score(score: Score, attempts: Attempts | None) -> Row:
    rest = score.target.partition("/")[2]
    return standing_in("score", score) | {
        "participant": rest if score.unit == "participant" else None,
        "turn": int(rest) if score.unit == "statement" and rest.isdecimal() else None,
        "value": None if math.isnan(score.value) else score.value,
        "attempts": None if attempts is None else _most_attempts(attempts, score, rest),
    }


def _most_attempts(attempts: Attempts, score: Score, rest: str) -> int | None:
    """The most attempts of the surveys and turns behind a score: those of its phase, its
    participant, its turn.
    """
    occasions = {"change": PHASES, "": None}.get(score.phase, (score.phase,))
    most = 0
    for (participant, occasion), n in attempts:
        if occasions is not None and occasion not in occasions:
            continue
        if score.unit == "participant" and participant != rest:
            continue
        if score.unit == "statement" and occasion != f"turn {rest}":
            continue
        if n is None:
            return None
        most = max(most, n)
    return most or None
