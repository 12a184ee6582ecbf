"""The pairs of design=list, read from a CSV file; every line that is no pair is told."""

from collections.abc import Mapping
from pathlib import Path

from delibsim.domain.annotation import Text
from delibsim.domain.comparison import Pair
from delibsim.domain.errors import unknown
from delibsim.store.tables.csv_cells import Sheet, read_sheet, refuse_faults

COLUMNS = ("a", "b")
NOT_READ = "is no list of pairs, and nobody was asked"


def pairs_in(file: Path, texts: Mapping[str, Text]) -> tuple[Pair, ...]:
    """The pairs in the columns `a` and `b` of a file, by the ids of texts.

    WrongInput, with the lines, for ids that no text has, a text beside itself, a pair named twice
    in any order, and texts of two groups.
    """
    cells = read_sheet(file, COLUMNS)
    for name in COLUMNS:
        if name not in cells.header:
            raise unknown("column", name, cells.header, f"Columns are those of {file}")
    found: dict[frozenset[str], tuple[Pair, int]] = {}
    faults = []
    for a, b, line in _rows(cells):
        fault = _fault(a, b, texts)
        before = found.get(frozenset((a, b)))
        if not fault and before:
            fault = f"{a} and {b} are a pair in line {before[1]} already"
        if fault:
            faults.append(f"line {line}: {fault}")
            continue
        found[frozenset((a, b))] = Pair(a, b, texts[a].group), line
    refuse_faults(file, faults, NOT_READ)
    return tuple(pair for pair, _ in found.values())


def _rows(cells: Sheet) -> list[tuple[str, str, int]]:
    """Both ids and the line of every row."""
    at = [cells.header.index(name) for name in COLUMNS]
    rows = []
    for row, line in zip(cells.rows, cells.lines, strict=True):
        rows.append((row[at[0]].strip(), row[at[1]].strip(), line))
    return rows


def _fault(a: str, b: str, texts: Mapping[str, Text]) -> str:
    """Why two ids are no pair, "" if they are."""
    for id in (a, b):
        if id not in texts:
            return f"no text of the study has the id '{id}'"
    if a == b:
        return f"{a} is compared with itself"
    if texts[a].group != texts[b].group:
        return f"{a} is of group '{texts[a].group}' and {b} of '{texts[b].group}'"
    return ""
