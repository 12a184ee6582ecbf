"""The runs of a study as a list, filtered by the design and sorted by a measure; and the study at
a glance: its measures by treatment beside people's, counts, failures.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from delibsim.analysis.table import DisplayTable
from delibsim.conduct.reading.index import TURNS, StudyIndex, quoted
from delibsim.conduct.scorers import measures_of, usual_scorers
from delibsim.domain.cost import sum_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.score import SCORE_PHASES, Measure
from delibsim.plugins import names as installed
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import Column

LONGEST = 200
"""Characters of a search that count."""
PART = re.compile(r'"([^"]*)"?|(\S+)')
WORDS = 24
"""Words of a statement that are shown around a hit."""
AROUND = 80
"""Characters that are shown on each side of a hit where words have no spaces."""
LONG = 20_000
"""Characters of a statement above which the words around a hit are not found by SQLite, whose time
grows with the square of the hits.
"""
OPEN, CLOSE = "\x02", "\x03"
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts whose words need not stand apart, by how the names of their characters begin."""


@dataclass(frozen=True)
class SearchCondition:
    """A search as a condition on the statements of the index: SQL, and its value; and the first of
    the words that were searched for.
    """

    sql: str
    value: str
    whole_words: bool
    first: str


@dataclass(frozen=True)
class Hit:
    """A statement that was found, as parts of its text: (text, whether it was searched for)."""

    turn: int
    speaker: str
    parts: tuple[tuple[str, bool], ...]


def match_of(search: str) -> SearchCondition | None:
    """A search as a condition; None where it holds no word.

    All words must occur, in any order; words in quotation marks as a phrase; the last word may be
    the beginning of one. Case and accents do not count.

    >>> match_of('climate "too much" pol').value
    '"climate" "too much" "pol"*'
    >>> match_of("OR ( NEAR").value, match_of(" - *")
    ('"OR" "NEAR"*', None)
    """
    text = search.replace("\0", " ")[:LONGEST]
    if any(map(_is_unspaced, text)):
        wanted = text.strip().strip('"').lower()
        return SearchCondition(
            "instr(lower(said.text), ?)", wanted, whole_words=False, first=wanted
        )
    parts = []
    for phrase, word in PART.findall(text):
        said = (phrase or word).replace('"', " ")
        if any(character.isalnum() for character in said):
            parts.append((said, bool(word)))
    if not parts:
        return None
    marked = [f'"{said}"' for said, _ in parts]
    if parts[-1][1]:
        marked[-1] += "*"
    return SearchCondition(
        "said MATCH ?", " ".join(marked), whole_words=True, first=parts[0][0].lower()
    )


def hits_in(index: StudyIndex, match: SearchCondition, run: int, most: int) -> list[Hit]:
    """The first statements of a run that match; `run` is its id in the index."""
    shown = "NULL"
    if match.whole_words:
        shown = f"snippet(said, 0, '{OPEN}', '{CLOSE}', '…', {WORDS})"
    rows = index.rows(
        f"SELECT rowid, speaker, CASE WHEN length(said.text) <= {LONG} THEN {shown} END"
        f" FROM said WHERE {match.sql} AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?",
        [match.value, run * TURNS, run * TURNS + TURNS - 1, most],
    )
    found = []
    for row, speaker, snippet in rows:
        if snippet is not None:
            parts = _marked(snippet)
        else:
            ((text,),) = index.rows("SELECT text FROM said WHERE rowid = ?", [row])
            parts = _around(text, match.first)
        found.append(Hit(row % TURNS, speaker, parts))
    return found


def _marked(snippet: str) -> tuple[tuple[str, bool], ...]:
    """The parts of a snippet; a statement that holds the marks itself only shows others."""
    parts = []
    for n, part in enumerate(re.split(f"[{OPEN}{CLOSE}]", snippet)):
        if part:
            parts.append((part, n % 2 == 1))
    return tuple(parts)


def _around(text: str, wanted: str) -> tuple[tuple[str, bool], ...]:
    at = max(text.lower().find(wanted), 0)
    end = at + len(wanted)
    before = ("…" if at > AROUND else "") + text[max(0, at - AROUND) : at]
    after = text[end : end + AROUND] + ("…" if len(text) > end + AROUND else "")
    return ((before, False), (text[at:end], True), (after, False))


def _is_unspaced(character: str) -> bool:
    return character > "\u0dff" and unicodedata.name(character, "").startswith(UNSPACED)


def count(index: StudyIndex, match: SearchCondition) -> tuple[int, int]:
    """How many statements match, in how many runs."""
    sql = f"SELECT count(*), count(DISTINCT rowid / {TURNS}) FROM said WHERE {match.sql}"
    found: Sequence[int] = index.rows(sql, [match.value])[0]
    return found[0], found[1]


ON_PAGE, ON_PAGE_OF_HITS = 100, 40
"""Runs on one page of the list, and of those that were searched for."""
HITS = 3
"""Hits of a run that are shown."""
MOST_CHOICES = 200
"""A column with more values has no list of them; one of them can be typed."""
NOT_DESIGN = frozenset(("study", "session", "cell"))
COUNTS = ("status", "words_spoken", "answers_missing", "cost_usd")
"""Columns that are shown beside the design."""
DEFAULT = "dri"


@dataclass(frozen=True)
class ListQuery:
    """What is asked of the list: `only` values by column, the `measure` that is shown, the column
    it is sorted by ("" for the order of names), the words that were searched for, and the least and
    the most of the measure, of its change where it has one; None for no end.
    """

    only: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    sort: str = ""
    descending: bool = False
    text: str = ""
    page: int = 1
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Listed:
    """One run of the list: its values by column, and the hits in it."""

    session: str
    values: Mapping[str, Any]
    hits: Sequence[Hit] = ()
    hits_in_all: int = 0


@dataclass(frozen=True)
class Listing:
    """One page of the list: its runs, how many there are on all pages, and how many statements in
    how many runs match what was searched for (None without a search).
    """

    runs: Sequence[Listed]
    total: int
    pages: int
    page: int
    found: tuple[int, int] | None = None


@dataclass(frozen=True)
class ListColumns:
    """The columns of a list: values to filter by, by column, and the columns that have too many
    values to list (`typed`); measures, with the columns of their phases; and the columns that are
    shown of every run.
    """

    choices: Mapping[str, Sequence[str]]
    typed: Sequence[str]
    measures: Mapping[str, Sequence[str]]
    shown: Sequence[str]


def columns_of(index: StudyIndex) -> ListColumns:
    """What a study can be filtered and sorted by."""
    from delibsim.analysis.study.study_table import fixed_columns  # pandas is slow to import

    columns = index.columns()
    known = set(_names(index, "design"))
    choices, typed = {}, []
    for name in (*(column.name for column in fixed_columns()[0]), COUNTS[0]):
        if name in NOT_DESIGN or name not in known:
            continue
        sql = f"SELECT DISTINCT {_as_text(name)} FROM design LIMIT {MOST_CHOICES + 1}"
        values = [value for (value,) in index.rows(sql)]
        if len(values) > MOST_CHOICES:
            typed.append(name)
        elif len(values) > 1:
            choices[name] = sorted(values, key=_natural)
    first = ("topic", "treatment", "model", "setting", "replicate", "status")
    ordered = sorted(choices, key=lambda name: first.index(name) if name in first else len(first))
    varied = [name for name in ("topic", "treatment", "model", "setting") if name in choices]
    shown = [*varied, "status"]
    shown += [name for name in COUNTS[1:] if name in known]
    measures = _measures(columns, set(_names(index, "measured")))
    return ListColumns({name: choices[name] for name in ordered}, typed, measures, shown)


def listing(index: StudyIndex, columns: ListColumns, asked: ListQuery) -> Listing:
    """One page of the runs that are asked for; what is not there is left out of account."""
    match = match_of(asked.text)
    if asked.text.strip() and match is None:
        return Listing((), 0, 1, 1, (0, 0))
    where, values = _where(columns, asked)
    hit, hit_values = "", list[str | float]()
    if match is not None:
        hit = (
            f"JOIN (SELECT rowid / {TURNS} AS id, count(*) AS n FROM said WHERE {match.sql}"
            " GROUP BY 1) hit ON hit.id = seen.id"
        )
        hit_values = [match.value]
    source = f"design d LEFT JOIN measured m USING (session) LEFT JOIN seen USING (session) {hit}"
    found = None if match is None else count(index, match)
    if found is not None and not values:
        total = found[1]
    else:
        total = index.rows(f"SELECT count(*) FROM {source} {where}", [*hit_values, *values])[0][0]
    size = ON_PAGE if match is None else ON_PAGE_OF_HITS
    pages = max(1, -(-total // size))
    page = min(max(1, asked.page), pages)
    names = ["session", *columns.shown, *columns.measures.get(asked.measure, ())]
    wanted = ", ".join(_column(name) for name in names)
    more = "hit.n" if match is not None else "0"
    rows = index.rows(
        f"SELECT seen.id, {more}, {wanted} FROM {source} {where} ORDER BY"
        f" {_order(columns, asked)} LIMIT {size} OFFSET {(page - 1) * size}",
        [*hit_values, *values],
    )
    runs = [_listed(index, match, names, row) for row in rows]
    return Listing(runs, total, pages, page, found)


def _listed(
    index: StudyIndex, match: SearchCondition | None, names: Sequence[str], row: Sequence[Any]
) -> Listed:
    id, n, *values = row
    hits = [] if match is None else hits_in(index, match, id, HITS)
    known = dict(zip(names, values, strict=True))
    return Listed(known.pop("session"), known, hits, n)


def _where(columns: ListColumns, asked: ListQuery) -> tuple[str, list[str | float]]:
    """The condition on the design and on the measure; columns that are none are no condition."""
    parts: list[str] = []
    values: list[str | float] = []
    for name, value in asked.only.items():
        if name in (*columns.choices, *columns.typed) and value:
            parts.append(f"{_as_text(name, 'd')} = ?")
            values.append(value)
    for column in columns.measures.get(asked.measure, ())[-1:]:
        for sign, end in ((">=", asked.least), ("<=", asked.most)):
            if end is not None:
                parts.append(f"{_column(column)} {sign} ?")
                values.append(end)
    return ("WHERE " + " AND ".join(parts) if parts else ""), values


def _order(columns: ListColumns, asked: ListQuery) -> str:
    """What the rows are sorted by: what is missing comes last, equal ones in the order of names."""
    measured = columns.measures.get(asked.measure, ())
    if asked.sort not in (*columns.shown, *measured):
        return "d.place DESC" if asked.descending and asked.sort == "session" else "d.place"
    column = _column(asked.sort)
    direction = "DESC" if asked.descending else "ASC"
    return f"{column} IS NULL, {column} {direction}, d.place"


def _column(name: str) -> str:
    return "d.session" if name == "session" else quoted(name)


def _as_text(name: str, table: str = "design") -> str:
    """The value of a column as it stands in a form; a missing one is a dash."""
    return f"ifnull(CAST({table}.{quoted(name)} AS TEXT), '-')"


def _names(index: StudyIndex, table: str) -> list[str]:
    found = index.rows(f"SELECT name FROM pragma_table_info('{table}')")
    return [name for (name,) in found if name != "place"]


def _measures(columns: Sequence[Column], known: set[str]) -> dict[str, list[str]]:
    """The measures of a study with the columns of their phases; each has a column of notes."""
    found = {}
    names = {column.name for column in columns} & known
    for column in columns:
        if not column.name.endswith("_note") or column.name not in names:
            continue
        measure = column.name.removesuffix("_note")
        phases = [f"{measure}_{phase}" for phase in SCORE_PHASES]
        own = [name for name in (measure, *phases) if name in names]
        if own:
            found[measure] = own
    return found


def _natural(value: str) -> tuple[int, float, str]:
    """Numbers by their value, before texts by their letters."""
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value


HELD = ("complete", "partial")
FAILURES = 50
"""Sessions that failed and are named."""
FAILED = (
    "SELECT session, status, statements_missing, statements_missing_why, answers_missing,"
    " answers_missing_why, calls_not_ok FROM design WHERE status <> 'complete'"
    " ORDER BY status = 'not begun', place LIMIT ?"
)


@dataclass(frozen=True)
class IncompleteSession:
    """A session that is not complete: its state, and what it lacks, in words."""

    session: str
    status: str
    lacks: str


@dataclass(frozen=True)
class Overview:
    """A study at a glance.

    `states` counts its sessions by state, `cost_usd` is what their calls cost (None where that is
    unknown for some), `unknown_cost` counts the sessions of unknown cost. `measures` are tables by
    treatment; `conditions` is that of `delibsim analyze` on planned and held sessions. `failures`
    are some of the sessions that are not complete, `failed` is their number.
    """

    states: Mapping[str, int]
    cost_usd: float | None
    unknown_cost: int
    measures: Sequence[DisplayTable]
    conditions: Any
    failures: Sequence[IncompleteSession]
    failed: int
    on_people: Sequence[str] = ()
    all_null: bool = False


def overview_of(index: StudyIndex) -> Overview:
    """A study at a glance, from its index."""
    from delibsim.analysis.average_tables import MeasuresByLevel  # pandas is slow to import
    from delibsim.analysis.pages.cells import reading
    from delibsim.analysis.study.counts import counts
    from delibsim.analysis.study.study_table import DrawCounts
    from delibsim.analysis.study_means import by_treatment, means_of_table

    runs, study = index.runs, study_table_of(index)
    measures = shown_measures(runs)
    found, of = means_of_table(study, measures, lambda session: _planned(runs, session))
    tables: Sequence[DisplayTable] = ()
    all_null = bool(found.null) and len(found.null) == len(set(of.values()))
    if found.means:
        averages = by_treatment(found, of)
        tables = next(iter(MeasuresByLevel(averages, averages.measures(), measures).tables()), ())
    states = dict(index.rows("SELECT status, count(*) FROM design GROUP BY 1 ORDER BY 2 DESC"))
    costs = [cost for (cost,) in index.rows("SELECT cost_usd FROM design WHERE calls > 0")]
    failed = sum(n for state, n in states.items() if state != HELD[0])
    return Overview(
        states=states,
        cost_usd=sum_of(costs) if costs else None,
        unknown_cost=sum(cost is None for cost in costs),
        measures=tables,
        conditions=reading(counts(study, DrawCounts())),
        failures=[_failure(*row) for row in index.rows(FAILED, [FAILURES])],
        failed=failed,
        on_people=found.on_people,
        all_null=all_null,
    )


def shown_measures(runs: Runs) -> dict[str, Measure]:
    """The measures of the usual scorers that a summary shows, by id."""
    known = measures_of(usual_scorers(), runs)
    return {name: measure for name, measure in known.items() if measure.in_summary}


def all_measures(runs: Runs) -> dict[str, Measure]:
    """The measures of all installed scorers, by id."""
    return measures_of(installed("delibsim.scorers"), runs)


def study_table_of(index: StudyIndex) -> Any:
    """The table of the study, as it was when it was read last."""
    from delibsim.analysis.study.table_of_study import table_of_rows

    names = []
    for table in ("design", "measured"):
        names += [name for (name,) in index.rows(f"SELECT name FROM pragma_table_info('{table}')")]
    rows = index.rows(
        "SELECT * FROM design d LEFT JOIN measured m ON m.session = d.session ORDER BY d.place"
    )
    return table_of_rows(index.runs.study, index.columns(), names, rows)


def _planned(runs: Runs, session: str) -> Session | None:
    with suppress(WrongInput):
        return runs.planned(session)
    return None


def _failure(session: str, status: str, *lacks: Any) -> IncompleteSession:
    statements, why_statements, answers, why_answers, calls = lacks
    told = []
    for n, noun, why in (
        (statements, "statements missing", why_statements),
        (answers, "answers missing", why_answers),
        (calls, "calls not ok", None),
    ):
        if n:
            told.append(f"{n} {noun}" + (f" ({why})" if why else ""))
    return IncompleteSession(session, status, "; ".join(told))
