"""The tables of the report in sections for reading: one a contrast or model, its fit beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.figures.style import number
from delibsim.analysis.pages.cells import DASH, VERBS
from delibsim.analysis.result import Result
from delibsim.analysis.table import DisplayColumn, DisplayTable
from delibsim.domain.reason import MEANINGS, in_words
from delibsim.store.reading import read_yaml

SECTIONED_BY = ("contrast", "model", "debaters")
"""Columns whose values name the sections of a table: the first of them that a table has."""
WITHIN = ("term", "dimension", "question")
"""Columns that name the rows of a section; a table without any of them is one section."""
READING = read_yaml(Path(__file__).parents[2] / "data" / "debates.yaml")
"""By column: what of a model is the same for all of its terms, and names for reading."""
FIT, HEADINGS, STANDINGS = (READING[name] for name in ("fit", "headings", "standings"))
P_VALUES = ("p", "p_holm", "p_holm_ten", "p_units", "p_units_holm", "f_p")
"""Columns that hold p values."""
SMALL = 0.001
"""A p value below which it is shown as smaller than this."""


@dataclass(frozen=True)
class TableSection:
    """A part of a table: the rows of one contrast or model, or all rows of a table without these.

    `fit` holds the columns of `FIT` that the rows of a model share, as far as they are defined;
    `note` is the note that all rows share, or "". Neither is then a column of `table`.
    """

    name: str
    table: pd.DataFrame
    fit: Mapping[str, float]
    note: str

    def for_reading(self) -> DisplayTable:
        """The rows as text."""
        columns = []
        for name, (group, heading) in headings(self.table).items():
            text = str(self.table[name].dtype) in ("object", "str")
            columns.append(DisplayColumn(heading, text, group))
        rows = []
        for values in self.table.itertuples(index=False):
            row = zip(self.table.columns, values, strict=True)
            rows.append([cell(value, name in P_VALUES) for name, value in row])
        return DisplayTable(columns, rows)

    def shared(self) -> list[str]:
        """What all rows share, in lines that stand below them."""
        fit = []
        for name, value in self.fit.items():
            fit.append(f"{FIT[name]} {cell(value, name in P_VALUES)}")
        note = f"note: {in_words(self.note)}" if self.note else ""
        notes = self.table["note"].unique() if "note" in self.table.columns else ()
        codes = dict.fromkeys(code for note in notes for code in note.split())
        meanings = [in_words(code) for code in codes if code in MEANINGS]
        return [*filter(None, (", ".join(fit), note)), *meanings]


def on_screen(result: Result) -> pd.DataFrame:
    """A table with the columns that the screen has room for, and verbs in words."""
    shown = result.rows.drop(columns=list(result.hidden))
    if "verb" in shown.columns:
        words = {code: told for code, told in VERBS.items() if code}
        shown = shown.assign(verb=shown["verb"].replace(words))
    return shown


def sections(table: pd.DataFrame) -> Iterator[TableSection]:
    """The sections of a table of the report, in their order."""
    columns = SECTIONED_BY if set(WITHIN) & set(table.columns) else ()
    column = next((name for name in columns if name in table.columns), None)
    if column is None or table.empty:
        yield _section("", table)
        return
    for name, own in table.groupby(column, sort=False):
        yield _section(str(name), own.drop(columns=column))


def _section(name: str, table: pd.DataFrame) -> TableSection:
    fit: dict[str, float] = {}
    if "term" in table.columns:
        shared = [column for column in FIT if column in table.columns]
        first = table.iloc[0] if len(table) else pd.Series(dtype=object)
        fit = {column: float(first[column]) for column in shared if pd.notna(first.get(column))}
        table = table.drop(columns=shared)
    note = ""
    if "note" in table.columns and table["note"].nunique() < 2:
        note = "".join(table["note"].unique())
        table = table.drop(columns="note")
    return TableSection(name, table, fit, note)


def headings(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """By column, what it belongs to together with its neighbours ("" for nothing), and its name.

    Both are for reading.
    """
    grouped = STANDINGS if "win_rate" in table.columns else {}
    found = {}
    for column in map(str, table.columns):
        plain = HEADINGS.get(column, column.replace("_", " "))
        group, heading = grouped.get(column, ("", plain))
        found[column] = group, heading
    return found


def cell(value: Any, is_p: bool = False) -> str:
    """Three decimals without a zero before the point, none of a whole number, a dash for none.

    >>> cell(0.0721), cell(-0.5), cell(12.0), cell(float("nan")), cell(0.0002, is_p=True)
    ('.072', '−.500', '12', '–', '< .001')
    """
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return DASH
    if is_p and value < SMALL:
        return "< .001"
    whole = abs(value - round(value)) < 1e-9 and abs(value) > 0.5
    return number(value, 0 if whole else 3)
