"""Tables for reading: columns, and rows of text in their order; the layout is that of who shows
them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Row = Sequence[str]


@dataclass(frozen=True)
class DisplayColumn:
    """A column: its heading, whether it holds text, and what stands above it and its neighbours.

    Text is aligned left and wraps between words; everything else is aligned right and stays whole.
    Neighbouring columns of one `group` stand below its name, and in one table wherever they fit
    beside the columns that name the rows.
    """

    heading: str
    text: bool = False
    group: str = ""


@dataclass(frozen=True)
class DisplayTable:
    """A table: its columns, its rows (None is an empty line), and its title, "" without one."""

    columns: Sequence[DisplayColumn]
    rows: Sequence[Row | None]
    title: str = ""


def texts(*headings: str) -> list[DisplayColumn]:
    """Columns that hold text."""
    return [DisplayColumn(heading, text=True) for heading in headings]


def numbers(headings: Iterable[str], group: str = "") -> list[DisplayColumn]:
    """Columns that hold numbers, below the name of their group."""
    return [DisplayColumn(heading, group=group) for heading in headings]


def of_participants(names: Sequence[str]) -> list[DisplayColumn]:
    """A column of numbers a participant: "Participant 2" is "2" below "Participant", because "P2"
    is an option; names that are not of one word and a number stand as they are.
    """
    parts = [name.rpartition(" ") for name in names]
    words = {word for word, _, _ in parts}
    if len(words) == 1 and "" not in words and all(last.isdecimal() for _, _, last in parts):
        return numbers([last for _, _, last in parts], words.pop())
    return numbers(names)


def number(value: float | None, signed: bool = False) -> str:
    """Three decimals, or a dash where there is no value."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:+.3f}" if signed else f"{value:.3f}"
