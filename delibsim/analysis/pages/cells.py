"""A table of results as text for reading: estimates with their intervals in one cell, p values as
they are printed in papers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.domain.data import read_data
from delibsim.domain.reason import for_readers
from delibsim.domain.score import MEASURES

_KNOWN = read_data("cells.yaml")
INTERVALS: Mapping[str, tuple[str, str]] = _KNOWN["intervals"]
"""By the column of the lower end: that of the upper end, and the heading of both."""
SMALL = 0.001
"""A p value below which it is shown as smaller than this."""
CHEAP = 0.1
"""US dollars below which a price is shown with three digits that are not 0."""
DASH = "–"
"""What stands where there is no value."""
NOTE = "note"
PROSE = 60
"""Characters of a cell beyond which it is taken for a sentence."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NEEDED = frozenset(("estimate", "low", "p"))
"""Columns that are shown even where no row has a value."""
LONGEST = 150
"""Rows of a table that are shown; the file beside the page holds all."""
COUNTS = frozenset(_KNOWN["counts"])
"""Columns that hold whole numbers, though missing values may have made them fractions."""
VERBS = {"none": "not clear", "on_these_motions": "on these motions alone", "": DASH}
"""What contrasts may be said to be, where words say more than their codes."""
SHORT = {"dri": "DRI", "dri_adjusted": "adjusted DRI"}
"""Measures whose labels are too long for a cell."""
HEADINGS: Mapping[str, str] = _KNOWN["headings"]
"""Columns whose names for reading are others than in the data."""


@dataclass(frozen=True)
class Head:
    """The head of a column: its name for reading, what it means, and whether it holds text."""

    name: str
    meaning: str = ""
    text: bool = False


@dataclass(frozen=True)
class TextTable:
    """A table as text: its heads, its rows, how many rows are not shown.

    `same` names the columns of text with one value in all rows, and that value; they are no columns
    here. `footnotes` are the notes of rows by the letters that stand for them.
    """

    heads: Sequence[Head]
    rows: Sequence[Sequence[str]]
    same: Mapping[str, str]
    left_out: int
    footnotes: Mapping[str, str]

    @cached_property
    def is_prose(self) -> bool:
        """Whether a cell holds a sentence, so that a narrow page shows the rows as blocks."""
        return any(len(value) > PROSE for row in self.rows for value in row)

    @property
    def in_words(self) -> str:
        """What all rows share, as a sentence, or ""."""
        shared = [f"{heading_of(name)} {value}" for name, value in self.same.items()]
        return f"In all rows: {'; '.join(shared)}." if shared else ""


@lru_cache(maxsize=64)  # a report writes each table in four forms
def reading(result: Result, longest: int = LONGEST) -> TextTable:
    """A result as text, at most `longest` rows of it."""
    table = result.rows.iloc[:longest]
    same = _same(table)
    footnotes = _footnotes(table)
    letters = {text: letter for letter, text in footnotes.items()}
    heads, columns = [], []
    for name in _shown(table):
        if name in same:
            continue
        values = list(table[name])
        if name in INTERVALS:
            upper, heading = INTERVALS[name]
            pairs = zip(values, table[upper], strict=True)
            columns.append([interval(low, high) for low, high in pairs])
            heads.append(Head(heading, "the lower and the upper end"))
        elif name == NOTE:
            columns.append([letters.get(_text(value), "") for value in values])
            heads.append(Head(name, "what must be known of the row, below the table", True))
        else:
            columns.append([cell(value, name) for value in values])
            meaning = result.meanings.get(name, "")
            heads.append(Head(heading_of(name), meaning, _holds_text(values)))
    rows = list(zip(*columns, strict=True)) if columns else []
    left_out = len(result.rows) - len(table)
    told = {letter: for_readers(text) for letter, text in footnotes.items()}
    return TextTable(heads, rows, same, left_out, told)


def heading_of(name: str) -> str:
    """The name of a column for reading.

    >>> heading_of("p_holm"), heading_of("share_positive")
    ('p, Holm', 'share positive')
    """
    return HEADINGS.get(name, name.replace("_", " "))


def is_p(name: str) -> bool:
    """Whether a column holds p values.

    >>> is_p("ratings_p_holm"), is_p("topics")
    (True, False)
    """
    return "p" in name.split("_")


def cell(value: Any, name: str = "") -> str:
    """A value as text: three decimals, none of a count, a dash where there is none.

    >>> cell(0.0004, "p"), cell(0.0213, "p_holm"), cell(-0.0213), cell(12.0, "topics"), cell(None)
    ('< .001', '.021', '−.021', '12', '–')
    >>> cell(0.0004868, "cost_per_text"), cell(0.0, "cost_usd"), cell(12.3456, "cost_usd")
    ('0.000487', '.000', '12.35')
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return DASH
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else "no"
    if isinstance(value, Integral) or (name in COUNTS and float(value).is_integer()):
        return f"{int(value):,}".replace("-", "−")
    if name in ("outcome", "measure") and value in MEASURES:
        return SHORT.get(value, MEASURES[value].label)
    if name == "verb":
        return VERBS.get(value, str(value).replace("_", " "))
    if not isinstance(value, float):
        text = str(value)
        return text if text.strip() else DASH
    if is_p(name):
        return p_value(value)
    if name.startswith("cost_") and 0 < value < CHEAP:
        return f"{value:.3g}" if value >= CHEAP / 1000 else f"{value:.2e}"
    return decimals(value)


def p_value(value: float) -> str:
    """A p value as papers print it.

    >>> p_value(0.0002), p_value(0.005), p_value(1.0)
    ('< .001', '.005', '1.000')
    """
    if value < SMALL:
        return "< .001"
    text = f"{value:.3f}"
    return text.removeprefix("0")


def decimals(value: float) -> str:
    """Three decimals, or three digits where the number is large, with a true minus sign and no zero
    before the point, as papers print what is near 0.

    >>> decimals(0.0286), decimals(-0.0286), decimals(-14.2613), decimals(4831.26)
    ('.029', '−.029', '−14.26', '4,831')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    places = 3 if size < 10 else 2
    if size >= 1000:
        places = 0
    text = f"{value:,.{places}f}"
    if float(text.replace(",", "")) == 0:
        text = text.removeprefix("-")
    sign = "−" if text.startswith("-") else ""
    digits = text.removeprefix("-")
    return sign + (digits.removeprefix("0") if digits.startswith("0.") else digits)


def interval(low: Any, high: Any) -> str:
    """Both ends of an interval.

    >>> interval(-0.004, 0.0761), interval(float("nan"), 1.0)
    ('[−.004, .076]', '–')
    """
    if pd.isna(low) or pd.isna(high):
        return DASH
    return f"[{decimals(float(low))}, {decimals(float(high))}]"


def _shown(table: pd.DataFrame) -> list[str]:
    """The columns that are shown: not those of upper ends, nothing without a value, no family."""
    names = list(map(str, table.columns))
    for lower, (upper, _) in INTERVALS.items():
        if lower in names and upper in names:
            names.remove(upper)
    if NOTE in names:
        names.remove(NOTE)
        names += [NOTE] if _footnotes(table) else []
    names = [name for name in names if name in NEEDED or not _empty(table[name])]
    tests = "p_holm" in names  # then the family is that of the correction, not of a model
    return [name for name in names if not (name == "family" and tests)]


def _empty(values: pd.Series) -> bool:
    """Whether a column of text has no text in any row."""
    given = values.dropna()
    return len(values) > 0 and all(isinstance(one, str) and not one.strip() for one in given)


def _footnotes(table: pd.DataFrame) -> dict[str, str]:
    """The notes of the rows, each once, by letters: a to z, then aa, ab."""
    if NOTE not in table.columns:
        return {}
    texts = dict.fromkeys(filter(None, map(_text, table[NOTE])))
    return {_letters(i): text for i, text in enumerate(texts)}


def _letters(i: int) -> str:
    """The name of a footnote.

    >>> _letters(0), _letters(25), _letters(26)
    ('a', 'z', 'aa')
    """
    first, last = divmod(i, len(LETTERS))
    return (_letters(first - 1) if first else "") + LETTERS[last]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _same(table: pd.DataFrame) -> dict[str, str]:
    """The columns of text with one value in all rows, where there are several rows.

    One column stays where all are alike.
    """
    found: dict[str, str] = {}
    if len(table) < 2:
        return found
    for name in map(str, table.columns):
        values = list(table[name])
        if name == NOTE or not all(isinstance(value, str) and value for value in values):
            continue
        if len(set(values)) == 1:
            found[name] = cell(values[0], name)
    return found


def _holds_text(values: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in values)
