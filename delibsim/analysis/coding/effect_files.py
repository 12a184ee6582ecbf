"""The texts of a CSV file on which effects are computed, and those of a study."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from delibsim.analysis.coding.effect import Array, CodedTexts
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted
from delibsim.store.tables.csv_cells import Sheet, read_sheet, refuse_faults

TEXT, SESSION, TREATMENT, HUMAN, CHANCE = "text", "session", "treatment", "human", "chance"
ROLES = (TEXT, SESSION, TREATMENT, HUMAN, CHANCE)
HELD = ("topic", "setting")
"""Columns of such a name are held constant; every other one holds the codes of a model."""


def texts_in(path: Path, named: Mapping[str, str]) -> tuple[CodedTexts, list[str]]:
    """The texts of a CSV file, and what must be known of it.

    A row is a text, with the columns text, session, treatment, one a model, and `human` and
    `chance` where people coded it; `named` gives other names of these columns. WrongInput, with
    all lines that are wrong.
    """
    sheet = read_sheet(path)
    columns = _columns(path, sheet, named)
    held = [name for name in HELD if name in sheet.header]
    taken = {*columns.values(), *held}
    models = [name for name in sheet.header if name not in taken]
    faults: list[str] = []
    numbers = {
        name: _numbers(sheet, name, faults)
        for name in (*models, *(columns[role] for role in (HUMAN, CHANCE) if role in columns))
    }
    cells = {name: _cells(sheet, name) for name in (columns[SESSION], columns[TREATMENT], *held)}
    _check_names(sheet, cells, faults)
    nobody = np.full(len(sheet.rows), np.nan)
    people = numbers.get(columns.get(HUMAN, ""), nobody)
    chance = numbers.get(columns.get(CHANCE, ""), nobody)
    _check_chances(sheet, people, chance, faults)
    refuse_faults(path, faults)
    texts = CodedTexts(
        outcome=path.stem,
        treatment=cells[columns[TREATMENT]],
        session=cells[columns[SESSION]],
        proxies={name: numbers[name] for name in models},
        people=people,
        chance=chance,
        held={name: cells[name] for name in held},
    )
    return _complete(texts)


def _columns(path: Path, sheet: Sheet, named: Mapping[str, str]) -> dict[str, str]:
    """The column of each role that the table has."""
    for role, name in named.items():
        if role not in ROLES:
            raise unknown("role of a column", role, ROLES)
        if name not in sheet.header:
            raise unknown("column", name, sheet.header)
    found = {role: named.get(role, role) for role in ROLES}
    for role in (SESSION, TREATMENT):
        if found[role] not in sheet.header:
            raise WrongInput(f"{path} has no column '{role}'; name it: {role}=NAME")
    return {role: name for role, name in found.items() if name in sheet.header}


def _cells(sheet: Sheet, name: str) -> list[str]:
    place = sheet.header.index(name)
    return [row[place].strip() for row in sheet.rows]


def _numbers(sheet: Sheet, name: str, faults: list[str]) -> Array:
    """The numbers of a column, NaN where a cell is empty."""
    found = np.full(len(sheet.rows), np.nan)
    for i, cell in enumerate(_cells(sheet, name)):
        written = cell.replace(",", ".") if sheet.decimal_comma else cell
        try:
            found[i] = float(written or "nan")
        except ValueError:
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
            continue
        if written and not math.isfinite(found[i]):
            faults.append(f"line {sheet.lines[i]}: '{name}' holds numbers, not '{cell[:40]}'")
    return found


def _check_names(sheet: Sheet, cells: Mapping[str, Sequence[str]], faults: list[str]) -> None:
    for name, column in cells.items():
        for i, cell in enumerate(column):
            if not cell:
                faults.append(f"line {sheet.lines[i]}: no {name}")


def _check_chances(sheet: Sheet, people: Array, chance: Array, faults: list[str]) -> None:
    """Every text of people has the chance with which it was drawn."""
    for i in np.flatnonzero(~np.isnan(people)):
        if not 0 < chance[i] <= 1:
            faults.append(
                f"line {sheet.lines[i]}: people coded this text, and 'chance' does not say with"
                " what chance it was drawn, above 0 and at most 1; codes of people's own choice"
                " correct nothing"
            )


def _complete(texts: CodedTexts) -> tuple[CodedTexts, list[str]]:
    """The texts that every model coded, and how many were left out."""
    gaps = {name: np.isnan(values) for name, values in texts.proxies.items()}
    without = np.zeros(len(texts.session), bool)
    for gap in gaps.values():
        without |= gap
    if not without.any():
        return texts, []
    by = ", ".join(f"{name} {int(gap.sum())}" for name, gap in gaps.items() if gap.any())
    n = counted(int(without.sum()), "text")
    return texts.chosen(~without), [f"{n} left out, which a model did not code: {by}"]
