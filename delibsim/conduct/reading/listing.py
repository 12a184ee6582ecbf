"""The runs of a study as a list: filtered by the design, sorted by a measure, searched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from delibsim.conduct.reading.index import TURNS, StudyIndex
from delibsim.conduct.reading.index_file import quoted
from delibsim.conduct.reading.search import Hit, Match, count, hits_in, match_of
from delibsim.domain.measure import SCORE_PHASES
from delibsim.store.tables.codebook import Column

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
class Question:
    """What is asked of the list: `only` values by column, the `measure` that is shown, the column
    it is sorted by ("" for the order of names), and the words that were searched for.
    """

    only: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    sort: str = ""
    descending: bool = False
    text: str = ""
    page: int = 1


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
class Columns:
    """The columns of a list: values to filter by, by column, and the columns that have too many
    values to list (`typed`); measures, with the columns of their phases; and the columns that are
    shown of every run.
    """

    choices: Mapping[str, Sequence[str]]
    typed: Sequence[str]
    measures: Mapping[str, Sequence[str]]
    shown: Sequence[str]


def columns_of(index: StudyIndex) -> Columns:
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
    return Columns({name: choices[name] for name in ordered}, typed, measures, shown)


def listing(index: StudyIndex, columns: Columns, asked: Question) -> Listing:
    """One page of the runs that are asked for; what is not there is left out of account."""
    match = match_of(asked.text)
    if asked.text.strip() and match is None:
        return Listing((), 0, 1, 1, (0, 0))
    where, values = _where(columns, asked.only)
    hit, hit_values = "", []
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
    index: StudyIndex, match: Match | None, names: Sequence[str], row: Sequence[Any]
) -> Listed:
    id, n, *values = row
    hits = [] if match is None else hits_in(index, match, id, HITS)
    known = dict(zip(names, values, strict=True))
    return Listed(known.pop("session"), known, hits, n)


def _where(columns: Columns, only: Mapping[str, str]) -> tuple[str, list[str]]:
    """The condition on the design; columns that are none are no condition."""
    parts, values = [], []
    for name, value in only.items():
        if name in (*columns.choices, *columns.typed) and value:
            parts.append(f"{_as_text(name, 'd')} = ?")
            values.append(value)
    return ("WHERE " + " AND ".join(parts) if parts else ""), values


def _order(columns: Columns, asked: Question) -> str:
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
