"""Figures as data: an entry of data/figures/KIND.yaml, drawn from a table by its mark."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from delibsim.analysis.figures import marks, points
from delibsim.analysis.figures.curves import consistency, specifications
from delibsim.analysis.figures.drawing import Drawing, Plot, parts_of
from delibsim.analysis.figures.rows import Rows, rows
from delibsim.analysis.figures.words import filled_in, told_of
from delibsim.analysis.result import Result

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml, where PyYAML has it
FOLDER = Path(__file__).parents[2] / "data" / "figures"
MARKS = {
    "rows": rows,
    "slopes": marks.slopes,
    "points": points.points,
    "curves": marks.curves,
    "bars": marks.bars,
    "heat": marks.heat,
    "profile": marks.profile,
    "spread": points.spread,
    "ways": points.ways,
    "consistency": consistency,
    "specifications": specifications,
}
"""Ways to draw a table; the last two are each for one figure."""
SETTINGS = {"rows": Rows, "points": points.Points, "curves": marks.Curves}
"""What marks of many words are told in one piece."""


@dataclass(frozen=True)
class FigureEntry:
    """A figure as data/figures names it.

    `table` gives its rows, those of `where` (a condition on columns) in the `order` of these
    columns; `renamed` has other words for values by column. `how` is what the mark needs.
    `caption`, `title` and `alt` are templates (words.py); `each` names a column of which every
    value has a figure of its own. `at_most` panels are drawn. `shows` and `needs` say what a study
    gets and what it must have for it; `result` is the table of its report without which there is
    no figure, `answers` are tables that are made of the answers of runs.
    """

    name: str
    mark: str
    table: str
    title: str
    caption: str
    how: Mapping[str, Any] = field(default_factory=dict)
    alt: str = "{title}. {told}."
    where: str = ""
    order: Sequence[str] = ()
    renamed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    each: str = ""
    at_most: int = 0
    columns: int = 2
    shows: str = ""
    needs: str = ""
    result: str = ""
    answers: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Data:
    """What a figure is drawn from: rows, further values for its words, sentences for its caption
    that only these rows call for.
    """

    rows: pd.DataFrame
    facts: Mapping[str, Any] = field(default_factory=dict)
    more: str = ""


@cache
def entries_of(kind: str) -> Mapping[str, FigureEntry]:
    """The figures of a kind of report, by name in their order."""
    plain = yaml.load((FOLDER / f"{kind}.yaml").read_text(encoding="utf-8"), LOADER)
    return {name: FigureEntry(name=name, **own) for name, own in plain.items()}


def drawings_of(kind: str, tables: Mapping[str, Any]) -> list[Drawing]:
    """Every figure of a kind of report that its tables (rows, results or Data) give."""
    return [one for entry in entries_of(kind).values() for one in drawn(entry, tables)]


def drawn(entry: FigureEntry, tables: Mapping[str, Any]) -> Iterator[Drawing]:
    """The figures of an entry; none where its table has no rows."""
    data = chosen(entry, _data(tables.get(entry.table)))
    if data.rows.empty:
        return
    if not entry.each:
        yield _drawing(entry, data)
        return
    for value, own in data.rows.groupby(entry.each, sort=False):
        end = re.sub(r"\W+", "_", str(value)).strip("_")
        yield _drawing(replace(entry, name=f"{entry.name}_{end}"), replace(data, rows=own))


def _data(table: Any) -> Data:
    if isinstance(table, Data):
        return table
    if isinstance(table, Result):
        return Data(table.rows if table.given else pd.DataFrame())
    return Data(pd.DataFrame() if table is None else table)


def chosen(entry: FigureEntry, data: Data) -> Data:
    """The rows of a table that an entry draws, in its order."""
    table = data.rows
    if table.empty:
        return data
    if entry.where:
        table = table[table.eval(entry.where)]
    for column, words in entry.renamed.items():
        table = table.assign(**{column: table[column].replace(words)})
    if entry.order:
        keys = pd.DataFrame({key: table.eval(key) for key in entry.order}, index=table.index)
        table = table.loc[keys.sort_values(list(entry.order), kind="stable").index]
    return replace(data, rows=table)


def _drawing(entry: FigureEntry, data: Data) -> Drawing:
    table, left_out = _first_panels(entry, data.rows)
    values = {**told_of(table), **_facts(entry, table), **data.facts}
    values |= table.iloc[0][[entry.each]].to_dict() if entry.each else {}
    title = filled_in(entry.title, values)
    how = dict(entry.how)
    if "axis" in how:
        how["axis"] = filled_in(how["axis"], values)
    plot = _plot(entry.mark, table, how)
    caption = filled_in(entry.caption, values) + data.more + left_out
    alt = filled_in(entry.alt, {**values, "title": title, "told": plot.told})
    return Drawing(entry.name, title, caption, alt, plot.draw, entry.columns)


def _plot(mark: str, table: pd.DataFrame, how: Mapping[str, Any]) -> Plot:
    draw: Any = MARKS[mark]
    if mark in SETTINGS:
        return draw(table, SETTINGS[mark](**how))
    return draw(table, **how)


def _first_panels(entry: FigureEntry, table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of the panels that are drawn, and which are not, in a sentence or ""."""
    if not entry.at_most:
        return table, ""
    parts = parts_of(table, entry.how["panel"])
    names = list(parts)
    if len(names) <= entry.at_most:
        return table, ""
    kept = pd.concat([parts[name] for name in names[: entry.at_most]])
    return kept, f" Not drawn: {', '.join(names[entry.at_most :])}."


def _facts(entry: FigureEntry, table: pd.DataFrame) -> dict[str, Any]:
    found = {}
    for name, (how, *columns) in entry.facts.items():
        found[name] = table[columns].stack().agg(how)
    return found
