"""A table of codes: which level each coder gave each text, by dimension."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from delibsim.analysis.agreement.layout import CODER, CODERS_IN_ROWS, LONG, WIDE, Layout, layout_of
from delibsim.domain.coding import NO_CODE
from delibsim.domain.errors import SHOWN, WrongInput
from delibsim.domain.text import counted
from delibsim.store.tables.csv_cells import read_sheet

MANY_ROWS = 10
"""In fewer rows a coder may well give a different code each time."""
ROLES_BY_HAND = (
    "say what each column holds: text=NAME coder=NAME level=NAME where a row is a code, coder=NAME"
    " for each coder where a row is a text"
)


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
class Code:
    """One code as it was given, "" if it is missing."""

    text: str
    coder: str
    level: str
    dimension: str
    cluster: str
    place: str


@dataclass(frozen=True)
class DimensionCodes:
    """The codes of one dimension: by text and coder, with the place of each, and each text's
    cluster; "" is the name of the only dimension of a table.
    """

    name: str
    texts: Sequence[str]
    coders: Sequence[str]
    codes: Mapping[tuple[str, str], Code]
    clusters: Mapping[str, str]


@dataclass(frozen=True)
class CodeTable:
    """The dimensions of a table of codes and how it was laid out."""

    layout: Layout
    dimensions: Sequence[DimensionCodes]


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
        raise WrongInput("the table has no codes: it needs columns and at least one row")
    for name in header:
        if header.count(name) > 1:
            raise WrongInput(f"the table has {header.count(name)} columns named '{name}'")
    places = [f"row {i + 1}" for i in range(len(rows))]
    return Source("the table", header, rows, places, named)


def _rows_of_array(table: Any) -> list[list[str]]:
    """An array as rows of texts; WrongInput where it has not two dimensions."""
    try:
        rows = [list(map(_as_text, row)) for row in table if not isinstance(row, str)]
    except TypeError:
        rows = []
    if any(len(row) != len(rows[0]) for row in rows):
        raise WrongInput("the table has rows of several lengths; each has a code a coder")
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
    by_dimension: dict[str, list[Code]] = {}
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
        raise WrongInput("a cell of the table holds several values, and one code is one") from None
    return "" if missing else str(value).strip()


def _codes(source: Source, layout: Layout) -> Iterator[Code]:
    """Every cell of a table that may hold a code."""
    at = {name: i for i, name in enumerate(source.header)}
    for number, (row, place) in enumerate(zip(source.rows, source.places, strict=True)):
        dimension = row[at[layout.dimension]] if layout.dimension else ""
        cluster = row[at[layout.by]] if layout.by else ""
        named = row[at[layout.text]] if layout.text else f"{number + 1}"
        if layout.form == LONG:
            coder = row[at[layout.coders[0]]]
            yield Code(named, coder, _level(row[at[layout.level]]), dimension, cluster, place)
            continue
        for column in layout.coders:
            level = _level(row[at[column]])
            text, coder = named, column
            if layout.form == CODERS_IN_ROWS:
                text, coder = column, named
            yield Code(text, coder, level, dimension, cluster, place)


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
    least = min(map(len, codes.values()))
    first = layout.coders[0]
    if many and not layout.text and len(codes[first]) == len(source.rows) > least:
        raise WrongInput(
            f"{source.name}: the column '{first}' has another value in every row, as ids have; say"
            f" so (text={first}), or name the columns that hold codes (coder={first} ...)"
        )
    numeric = {name for name, own in codes.items() if all(map(_is_number, own))}
    for name, own in codes.items():
        others = [other for other in codes if other != name and codes[other]]
        excused = layout.text and not many and name in numeric and bool(numeric - {name})
        if own and others and not excused and not any(own & codes[other] for other in others):
            told = f"'{name}' has no value that another of them has"
            raise WrongInput(_not_coders(source, layout, told))
    if layout.text or len(layout.coders) < 3:
        return
    for one, other in combinations(given, 2):
        pairs = set(zip(given[one], given[other], strict=True))
        twice = 2 * max(len(codes[one]), len(codes[other])) <= len(source.rows)
        if twice and len(pairs) == len(source.rows):
            told = f"'{one}' and '{other}' together name every row once, as text and coder do"
            raise WrongInput(_not_coders(source, layout, told))


def _not_coders(source: Source, layout: Layout, why: str) -> str:
    listed = ", ".join(layout.coders)
    return f"{source.name}: the columns {listed} were taken for coders, but {why}; {ROLES_BY_HAND}"


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
    for row, place in zip(source.rows, source.places, strict=True):
        cells = dict(zip(source.header, row, strict=True))
        needed = [name for name in (layout.text, layout.dimension, layout.by) if name]
        if layout.form == LONG:
            needed.append(layout.coders[0])
        faults += [f"{source.name}, {place}: no {name}" for name in needed if not cells[name]]
        if layout.form != LONG and layout.text:
            key = cells[layout.text], cells.get(layout.dimension, "")
            if key in seen and key[0]:
                faults.append(
                    f"{source.name}, {place}: the {layout.text} '{key[0]}' stands in"
                    f" {seen[key]} already; a row needs an id of its own"
                )
            seen.setdefault(key, place)
    if guessed and len(seen) < len(source.rows) and faults:
        faults.append(f"or {ROLES_BY_HAND}")
    _refuse(faults)


def _dimension(name: str, codes: Sequence[Code], source: str) -> DimensionCodes:
    """The codes of a dimension; WrongInput for what is there twice."""
    found: dict[tuple[str, str], Code] = {}
    clusters: dict[str, Code] = {}
    faults = []
    for code in codes:
        first = found.setdefault((code.text, code.coder), code)
        if first is not code:
            faults.append(
                f"{source}, {code.place}: {code.coder} has coded the text '{code.text}' in"
                f" {first.place} already; keep one of both codes"
            )
        known = clusters.setdefault(code.text, code)
        if known.cluster != code.cluster:
            faults.append(
                f"{source}, {code.place}: the text '{code.text}' is of '{code.cluster}', and of"
                f" '{known.cluster}' in {known.place}"
            )
    _refuse(faults)
    coders = list(dict.fromkeys(code.coder for code in codes))
    of_text = {text: code.cluster for text, code in clusters.items()}
    return DimensionCodes(name, list(clusters), coders, found, of_text)


def _check_shape(dimensions: Sequence[DimensionCodes], source: str) -> None:
    """WrongInput where there are more coders than texts, which are then likely the other way."""
    for found in dimensions:
        if len(found.coders) > len(found.texts):
            coders, texts = counted(len(found.coders), "coder"), counted(len(found.texts), "text")
            raise WrongInput(
                f"{source}: {coders} (a column each) and {texts} (a row each); if a row is a coder"
                " and a column a text, say --coders-in-rows; if not, give a row a code, with the"
                " columns text, coder and level"
            )


def _refuse(faults: list[str]) -> None:
    if len(faults) > SHOWN:
        faults[SHOWN:] = [f"and {len(faults) - SHOWN} more faults"]
    if faults:
        raise WrongInput("\n".join(faults))
