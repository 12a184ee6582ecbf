"""The instruments of the R package deliberr as it publishes them: a table, and a workbook with a
sheet each.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import BadZipFile

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from delibsim.domain.errors import WrongInput
from delibsim.domain.study import slug
from delibsim.store.instruments.answers import read_rows, whole_number
from delibsim.store.reading import file_bytes

LONG, SHEETS = "surveys.csv", "surveys.xlsx"
"""The file names: all instruments in one table, and the same with a sheet each."""

LONG_COLUMNS = ("type", "order", "statement", "name", "scale_max", "q_method")
SHEET_COLUMNS = (
    "considerations_order",
    "considerations",
    "policies_order",
    "policies",
    "scale_max",
    "q-method",
)


@dataclass(frozen=True)
class Instrument:
    """A survey as the package publishes it: `scale_max` is what its table says, which the answers
    may contradict.

    `padded` counts the statements of a workbook that began or ended in spaces, which are dropped.
    """

    id: str
    considerations: tuple[str, ...]
    preferences: tuple[str, ...]
    scale_max: int
    q_sort: bool
    where: str
    padded: int = 0


def read_instruments(files: Mapping[str, Path]) -> tuple[dict[str, Instrument], list[str]]:
    """The instruments by id, and notes on where the workbook departs from the table, which is the
    one taken where both are given; WrongInput where neither is.
    """
    if LONG not in files and SHEETS not in files:
        raise WrongInput(f"the answers need their instruments: give {LONG} or {SHEETS} too")
    if SHEETS not in files:
        return read_instruments_csv(files[LONG]), []
    sheets = read_instruments_xlsx(files[SHEETS])
    if LONG not in files:
        return sheets, []
    long = read_instruments_csv(files[LONG])
    return long, _differences(long, sheets)


def read_instruments_csv(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's `surveys` table (type, order, statement, name, scale_max,
    q_method), by id.
    """
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for line, cells in read_rows(path, LONG_COLUMNS):
        if cells["type"] not in ("C", "P"):
            raise WrongInput(
                f"{path}, line {line}, column type: expected C or P, got {cells['type']!r}"
            )
        rows.setdefault(cells["name"], []).append((line, cells))
    return {name: _instrument_of_rows(path, name, own) for name, own in rows.items()}


def read_instruments_xlsx(path: Path) -> dict[str, Instrument]:
    """The instruments in the package's workbook, a sheet each, by id."""
    try:
        book = openpyxl.load_workbook(io.BytesIO(file_bytes(path)), read_only=True, data_only=True)
        with closing(book):
            sheets = {}
            for sheet in book.worksheets:
                sheets[sheet.title] = list(sheet.iter_rows(values_only=True))
    except (BadZipFile, InvalidFileException, SyntaxError, KeyError, ValueError, OSError) as error:
        raise WrongInput(f"{path}: cannot be read as a workbook: {error}") from error
    return {title: _instrument_of_sheet(path, title, rows) for title, rows in sheets.items()}


def _differences(long: Mapping[str, Instrument], sheets: Mapping[str, Instrument]) -> list[str]:
    """Notes on where the workbook departs from the table."""
    notes = [f"{name}: only in {LONG}" for name in long if name not in sheets]
    notes += [f"{name}: only in {SHEETS}, left out" for name in sheets if name not in long]
    padded = sum(theirs.padded for theirs in sheets.values())
    if padded:
        notes.append(
            f"{SHEETS}: statements that began or ended in spaces, dropped before comparing with"
            f" {LONG}: {padded}"
        )
    for name, ours in long.items():
        if name in sheets:
            notes += [f"{name}: {difference}" for difference in _departures(ours, sheets[name])]
    return notes


def _departures(ours: Instrument, theirs: Instrument) -> list[str]:
    """How one instrument of the workbook departs from the table."""
    found = []
    for what in ("scale_max", "q_sort"):
        here, there = getattr(ours, what), getattr(theirs, what)
        if here != there:
            found.append(f"{what} is {here} in {LONG} (taken) and {there} in {SHEETS}")
    for kind, field in (("C", "considerations"), ("P", "preferences")):
        here, there = getattr(ours, field), getattr(theirs, field)
        if len(here) != len(there):
            found.append(f"{len(here)} {kind} items in {LONG} (taken) and {len(there)} in {SHEETS}")
        both = enumerate(zip(here, there, strict=False), start=1)
        changed = [f"{kind}{k}" for k, (text, other) in both if text != other]
        if changed:
            found.append(
                f"the wording of {', '.join(changed)} differs between {LONG} (taken) and {SHEETS}"
            )
    return found


def _instrument_of_rows(
    path: Path, name: str, rows: Sequence[tuple[int, dict[str, str]]]
) -> Instrument:
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    for line, cells in rows:
        where = f"{path}, line {line}"
        order = whole_number(cells["order"], f"{where}, column order")
        own = texts[cells["type"]]
        _add_item(own, order, cells["statement"], where, ("order", "statement"))
    rated = [(line, cells) for line, cells in rows if cells["type"] == "C"]
    first_line, first = rated[0] if rated else rows[0]
    settings = {column: first[column] for column in ("scale_max", "q_method")}
    for line, cells in rated:
        for column, value in settings.items():
            if cells[column] != value:
                raise WrongInput(
                    f"{path}, line {line}, column {column}: {cells[column]!r}, but"
                    f" {value!r} in line {first_line}"
                )
    return _instrument(name, texts, settings, f"{path}, line {first_line}")


def _instrument_of_sheet(path: Path, name: str, rows: Sequence[Sequence[object]]) -> Instrument:
    where = f"{path}, sheet {name}"
    first = rows[0] if rows else ()
    header = ["" if cell is None else str(cell).strip() for cell in first]
    if missing := [column for column in SHEET_COLUMNS if column not in header]:
        raise WrongInput(
            f"{where}, row 1: column {', '.join(missing)} is missing; the sheet has:"
            f" {', '.join(header) or 'nothing'}"
        )
    texts: dict[str, dict[int, str]] = {"C": {}, "P": {}}
    settings, padded = {"scale_max": "", "q-method": ""}, 0
    for number, row in enumerate(rows[1:], start=2):
        here = f"{where}, row {number}"
        given = dict.fromkeys(header, "")
        for column, cell in zip(header, row, strict=False):
            given[column] = "" if cell is None else str(cell)
        cells = {column: text.strip() for column, text in given.items()}
        for kind, column in (("C", "considerations"), ("P", "policies")):
            text, order = cells[column], cells[f"{column}_order"]
            padded += given[column] != text
            if text or order:
                place = whole_number(order, f"{here}, column {column}_order")
                _add_item(texts[kind], place, text, here, (f"{column}_order", column))
        settings = {setting: value or cells[setting] for setting, value in settings.items()}
    return replace(_instrument(name, texts, settings, where), padded=padded)


def _add_item(
    texts: dict[int, str], order: int, text: str, where: str, columns: tuple[str, str]
) -> None:
    if order in texts:
        raise WrongInput(f"{where}, column {columns[0]}: {order} was used before in this survey")
    if not text:
        raise WrongInput(f"{where}, column {columns[1]}: the statement is empty")
    texts[order] = text


def _instrument(
    name: str, texts: Mapping[str, Mapping[int, str]], settings: Mapping[str, str], where: str
) -> Instrument:
    (_, scale_max), (flag, q_method) = settings.items()
    if not name or slug(name) != name:
        raise WrongInput(
            f"{where}: {name!r} cannot name a survey: lower-case letters, digits, '-' and '_' can"
        )
    for kind, own in texts.items():
        if set(own) != set(range(1, len(own) + 1)) or len(own) < 2:
            raise WrongInput(
                f"{where}: the {kind} items of {name} are numbered {sorted(own)}; expected 1, 2, 3"
                " ... without gaps"
            )
    if q_method.upper() not in ("TRUE", "FALSE"):
        raise WrongInput(f"{where}, column {flag}: expected TRUE or FALSE, got {q_method!r}")
    return Instrument(
        id=name,
        considerations=tuple(texts["C"][k] for k in sorted(texts["C"])),
        preferences=tuple(texts["P"][k] for k in sorted(texts["P"])),
        scale_max=whole_number(scale_max, f"{where}, column scale_max"),
        q_sort=q_method.upper() == "TRUE",
        where=where,
    )
