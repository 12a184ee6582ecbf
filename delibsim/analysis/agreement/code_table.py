"""A table of codes: how it is laid out (a row a code, a text or a coder), and which level each
coder gave each text, by dimension.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from delibsim.domain.coding import NO_CODE
from delibsim.domain.errors import SHOWN, WrongInput, unknown
from delibsim.domain.text import counted
from delibsim.store.reading import read_yaml
from delibsim.store.tables.csv_cells import read_sheet

DATA = Path(__file__).parents[2] / "data" / "agreement.yaml"
MANY_ROWS = 10
"""In fewer rows a coder may well give a different code each time."""
TEXT, CODER, LEVEL, DIMENSION = "text", "coder", "level", "dimension"
ROLES = (TEXT, CODER, LEVEL, DIMENSION)
"""What a column may hold; with several coder columns, each of them holds the codes of one."""
KNOWN = {
    TEXT: (
        "text_id", "text id", "id", "text", "item", "unit", "statement", "document", "row",
        "unnamed: 0",
    ),
    CODER: ("coder", "coder_id", "rater", "annotator", "judge"),
    LEVEL: ("level", "code", "rating", "label", "value", "score"),
    DIMENSION: ("dimension", "variable"),
}  # fmt: skip
"""The names of columns that are understood without being told, the first that is there."""
NO_CODES = ("comment", "comments", "note", "notes", "source", "speaker", "date")
"""Columns of such a name are not taken for coders, and neither are further names of texts."""
LONG, WIDE, CODERS_IN_ROWS = "long", "wide", "coders in rows"


@cache
def _texts() -> dict[str, str]:
    return read_yaml(DATA)


def said(name: str, /, **values: Any) -> str:
    """What is said of a table, by its name in the data, with these values."""
    return _texts()[name].format(**values)


def refuse(faults: Sequence[str], what: str = "faults") -> None:
    """WrongInput that tells these faults, if there are any; the first of many."""
    told = list(faults[:SHOWN])
    if len(faults) > SHOWN:
        told.append(f"and {len(faults) - SHOWN} more {what}")
    if told:
        raise WrongInput("\n".join(told))


@dataclass(frozen=True)
class Layout:
    """Which column holds what: the names of columns, "" where there is none.

    In the form "long" a row is a code, `coders` is the column with who gave it, `level` that with
    the code. In the form "wide" a row is a text and each of `coders` the codes of one coder; in
    "coders in rows" a row is a coder and each of `coders` the codes of one text. `unused` columns
    hold something else.
    """

    form: str
    text: str
    coders: tuple[str, ...]
    level: str = ""
    dimension: str = ""
    by: str = ""
    unused: tuple[str, ...] = ()


def layout_of(
    header: Sequence[str],
    named: Mapping[str, Sequence[str]],
    by: str = "",
    coders_in_rows: bool = False,
) -> Layout:
    """The layout of a table with this header.

    `named` gives columns by role, as the user named them; the others are found by name. WrongInput
    for a column that is not there, and where no column is left for codes.

    >>> layout_of(["id", "anna", "ben", "notes"], {}).coders
    ('anna', 'ben')
    >>> layout_of(["id", "coder", "level"], {}).form
    'long'
    """
    for role, columns in named.items():
        if role not in ROLES:
            raise unknown("role of a column", role, ROLES)
        if role != CODER and len(columns) > 1:
            listed = _listed(columns)
            raise WrongInput(said("one_role", role=role, n=len(columns), columns=listed))
    for column in [*chain.from_iterable(named.values()), *([by] if by else [])]:
        if column not in header:
            raise unknown("column", column, header)
    if by and coders_in_rows:
        raise WrongInput(said("by_of_rows"))
    free = [name for name in header if name != by]
    level, dimension = _one(LEVEL, free, named), _one(DIMENSION, free, named)
    coder = _one(CODER, free, named) if len(named.get(CODER, ())) < 2 else ""
    if coders_in_rows:
        coder = coder or _one(TEXT, free, named)
        texts = tuple(name for name in header if name not in (coder, dimension))
        return Layout(CODERS_IN_ROWS, coder, texts, "", dimension)
    if coder and level:
        text = _one(TEXT, [name for name in free if name not in (coder, level, dimension)], named)
        if not text:
            raise WrongInput(said("no_text", columns=_listed(header)))
        used = (text, coder, level, dimension, by)
        unused = tuple(name for name in header if name not in used)
        return Layout(LONG, text, (coder,), level, dimension, by, unused)
    text = _one(TEXT, free, named)
    others = [name for name in header if name not in (text, dimension, by)]
    no_coders = (*KNOWN[TEXT], *NO_CODES)
    coders = named.get(CODER) or [one for one in others if one.casefold() not in no_coders]
    if not coders:
        raise WrongInput(said("no_coders", columns=_listed(header)))
    unused = tuple(name for name in others if name not in coders)
    return Layout(WIDE, text, tuple(coders), "", dimension, by, unused)


def _one(role: str, free: Sequence[str], named: Mapping[str, Sequence[str]]) -> str:
    """The column with a role: the one that is named, or the first of a known name; "" if none."""
    if named.get(role):
        return named[role][0]
    taken = [column for columns in named.values() for column in columns]
    by_name = {name.casefold(): name for name in free if name not in taken}
    found = [by_name[known] for known in KNOWN[role] if known in by_name]
    return found[0] if found else ""


def _listed(names: Sequence[str]) -> str:
    return f"columns: {', '.join(names)}"


@dataclass(frozen=True)
class Source:
    """A table as it was given: header, rows of texts, and where each row stands ("line 3");
    columns that are not `named` are coders, as those of an array.
    """

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    places: Sequence[str]
    named: bool = True


@dataclass(frozen=True)
class GivenCode:
    """One code as it was given, "" if it is missing."""

    text: str
    coder: str
    level: str
    dimension: str
    cluster: str
    place: str


@dataclass(frozen=True)
class TableDimension:
    """The codes of one dimension: by text and coder, with the place of each, and each text's
    cluster; "" is the name of the only dimension of a table.
    """

    name: str
    texts: Sequence[str]
    coders: Sequence[str]
    codes: Mapping[tuple[str, str], GivenCode]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class CodeTable:
    """The dimensions of a table of codes and how it was laid out."""

    layout: Layout
    dimensions: Sequence[TableDimension]


def source_of(table: Any) -> Source:
    """A table as rows of texts: the path of a CSV file, a pandas DataFrame, a list of mappings, or
    an array with a row a text and a column a coder. WrongInput for anything else.
    """
    if isinstance(table, (str, Path)):
        file = read_sheet(Path(table))
        rows = [list(map(str.strip, row)) for row in file.rows]
        return Source(str(table), file.header, rows, [f"line {line}" for line in file.lines])
    named = True
    if hasattr(table, "columns") and hasattr(table, "itertuples"):
        if any(name is not None for name in table.index.names):
            table = table.reset_index()
        header = [str(name) for name in table.columns]
        rows = [list(map(_as_text, row)) for row in table.itertuples(index=False)]
    elif isinstance(table, Sequence) and table and isinstance(table[0], Mapping):
        keys = chain.from_iterable(table)
        header = list(dict.fromkeys(map(str, keys)))
        rows = [_cells(row, header) for row in table]
    else:
        rows, named = _rows_of_array(table), False
        header = [f"coder {i + 1}" for i in range(len(rows[0]) if rows else 0)]
    if not rows or not header:
        raise WrongInput(said("no_codes"))
    for name in header:
        if header.count(name) > 1:
            raise WrongInput(said("headings", n=header.count(name), name=name))
    places = [f"row {i + 1}" for i in range(len(rows))]
    return Source("the table", header, rows, places, named)


def _rows_of_array(table: Any) -> list[list[str]]:
    """An array as rows of texts; WrongInput where it has not two dimensions."""
    try:
        rows = [list(map(_as_text, row)) for row in table if not isinstance(row, str)]
    except TypeError:
        rows = []
    if any(len(row) != len(rows[0]) for row in rows):
        raise WrongInput(said("lengths"))
    return rows


def code_table(
    source: Source,
    columns: Mapping[str, Sequence[str]],
    by: str = "",
    coders_in_rows: bool = False,
) -> CodeTable:
    """The codes of a table, checked.

    WrongInput for two codes of one coder on one text, two rows of one text, texts without an id,
    one text in two clusters, and in the wide form for more coders than texts.
    """
    layout = layout_of(source.header, columns, by, coders_in_rows)
    guessed = layout.form == WIDE and not columns.get(CODER)
    _check_ids(source, layout, guessed)
    codes = list(_codes(source, layout))
    by_dimension: dict[str, list[GivenCode]] = {}
    for code in codes:
        by_dimension.setdefault(code.dimension, []).append(code)
    found = [_dimension(name, own, source.name) for name, own in by_dimension.items()]
    if layout.form == WIDE:
        _check_shape(found, source.name)
    if guessed and source.named:
        _check_coders(source, layout)
    return CodeTable(layout, found)


def _cells(row: Mapping[Any, Any], header: Sequence[str]) -> list[str]:
    named = {str(key): value for key, value in row.items()}
    return [_as_text(named.get(name)) for name in header]


def _as_text(value: Any) -> str:
    """A cell as text, "" for None, NaN and pandas' NA, of which nothing is true or false;
    WrongInput for an array.
    """
    try:
        missing = value is None or bool(value != value)
    except TypeError:
        missing = True
    except ValueError:
        raise WrongInput(said("arrays")) from None
    return "" if missing else str(value).strip()


def _codes(source: Source, layout: Layout) -> Iterator[GivenCode]:
    """Every cell of a table that may hold a code."""
    at = {name: i for i, name in enumerate(source.header)}
    for number, (row, place) in enumerate(zip(source.rows, source.places, strict=True)):
        dimension = row[at[layout.dimension]] if layout.dimension else ""
        cluster = row[at[layout.by]] if layout.by else ""
        named = row[at[layout.text]] if layout.text else f"{number + 1}"
        if layout.form == LONG:
            coder = row[at[layout.coders[0]]]
            yield GivenCode(named, coder, _level(row[at[layout.level]]), dimension, cluster, place)
            continue
        for column in layout.coders:
            level = _level(row[at[column]])
            text, coder = named, column
            if layout.form == CODERS_IN_ROWS:
                text, coder = column, named
            yield GivenCode(text, coder, level, dimension, cluster, place)


def _level(cell: str) -> str:
    return "" if cell.casefold() in NO_CODE else cell


def _check_coders(source: Source, layout: Layout) -> None:
    """WrongInput where columns that were taken for coders, a column each, are likely none: the
    first has another code in every row, as ids have; one shares no code with any other; or two of
    them together name every row once, as text and coder do in a table with a row a code.
    """
    given: dict[str, list[str]] = {}
    for name in layout.coders:
        at = source.header.index(name)
        given[name] = [_level(row[at]) for row in source.rows]
    codes = {name: set(column) - {""} for name, column in given.items()}
    many = len(source.rows) >= MANY_ROWS
    first = layout.coders[0]
    least = min(map(len, codes.values()))
    if many and not layout.text and len(codes[first]) == len(source.rows) > least:
        raise WrongInput(said("ids", source=source.name, column=first))
    numeric = {name for name, own in codes.items() if all(map(_is_number, own))}
    for name, own in codes.items():
        others = [other for other in codes if other != name and codes[other]]
        excused = layout.text and not many and name in numeric and bool(numeric - {name})
        if own and others and not excused and not any(own & codes[other] for other in others):
            raise _not_coders(source, layout, said("alone", name=name))
    for one, other in combinations(given, 2) if not layout.text and len(given) > 2 else ():
        pairs = set(zip(given[one], given[other], strict=True))
        twice = 2 * max(len(codes[one]), len(codes[other])) <= len(source.rows)
        if twice and len(pairs) == len(source.rows):
            raise _not_coders(source, layout, said("a_row_a_code", one=one, other=other))


def _not_coders(source: Source, layout: Layout, why: str) -> WrongInput:
    columns = ", ".join(layout.coders)
    own = {"source": source.name, "columns": columns, "why": why, "by_hand": said("by_hand")}
    return WrongInput(said("not_coders", **own))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_ids(source: Source, layout: Layout, guessed: bool) -> None:
    """WrongInput where an id is missing, or in the wide forms stands in several rows; `guessed`
    says that nobody named the coders.
    """
    faults, seen = [], {}
    needed = [name for name in (layout.text, layout.dimension, layout.by) if name]
    needed += layout.coders if layout.form == LONG else ()
    for row, place in zip(source.rows, source.places, strict=True):
        cells = dict(zip(source.header, row, strict=True))
        at = {"source": source.name, "place": place}
        faults += [said("no_id", column=name, **at) for name in needed if not cells[name]]
        if layout.form != LONG and layout.text:
            id, dimension = cells[layout.text], cells.get(layout.dimension, "")
            first = seen.setdefault((id, dimension), place)
            if first != place and id:
                faults.append(said("id_twice", column=layout.text, id=id, first=first, **at))
    if guessed and len(seen) < len(source.rows) and faults:
        faults.append(f"or {said('by_hand')}")
    refuse(faults)


def _dimension(name: str, codes: Sequence[GivenCode], source: str) -> TableDimension:
    """The codes of a dimension; WrongInput for what is there twice."""
    found: dict[tuple[str, str], GivenCode] = {}
    clusters: dict[str, GivenCode] = {}
    faults = []
    for code in codes:
        at = {"source": source, "place": code.place, "text": code.text}
        first = found.setdefault((code.text, code.coder), code)
        if first is not code:
            faults.append(said("code_twice", coder=code.coder, first=first.place, **at))
        known = clusters.setdefault(code.text, code)
        if known.cluster != code.cluster:
            of = {"cluster": code.cluster, "other": known.cluster}
            faults.append(said("two_clusters", first=known.place, **of, **at))
    refuse(faults)
    coders = list(dict.fromkeys(code.coder for code in codes))
    of_text = {text: code.cluster for text, code in clusters.items()}
    return TableDimension(name, list(clusters), coders, found, of_text)


def _check_shape(dimensions: Iterable[TableDimension], source: str) -> None:
    """WrongInput where there are more coders than texts, which are then likely the other way."""
    for found in dimensions:
        if len(found.coders) > len(found.texts):
            coders, texts = counted(len(found.coders), "coder"), counted(len(found.texts), "text")
            raise WrongInput(said("more_coders", source=source, coders=coders, texts=texts))
