"""Tables of plain rows, laid out for the width of the terminal: no number is broken, and no word
that takes less than half of the width.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from delibsim.analysis.table import DisplayColumn, DisplayTable, Row
from delibsim.domain.text import safe

GAP = 2
"""The spaces between two columns."""

LABEL = re.compile(r"\s*(?:\S+(?: \S+)? {2,})?")
"""The indent of a line and the label that it begins with, which two spaces end."""


@dataclass(frozen=True)
class _Cells:
    """A column with its cells, and the least and the best width for them."""

    column: DisplayColumn
    cells: Row
    least: int
    best: int


def print_table(
    title: str,
    columns: Sequence[DisplayColumn],
    rows: Sequence[Row | None],
    screen: Console,
) -> None:
    """Print a table that is no wider than the terminal; a row that is None is an empty line.

    A table that is too wide is printed as several, one below the other; each begins with the
    columns of text that the whole table begins with. A name in the first column that takes more
    than half of the width stands above its row; elsewhere such a word is broken. An empty title is
    not printed.
    """
    width = _width_of(screen)
    if title:
        _print_wrapped(title, screen, "bold")
    for line, style in table_lines(columns, rows, width, screen):
        screen.print(line, style=style, soft_wrap=True)


def show_table(table: DisplayTable, screen: Console) -> None:
    """Print a table below its title."""
    print_table(table.title, table.columns, table.rows, screen)


def show(parts: Iterable[str | DisplayTable], screen: Console, style: str = "") -> None:
    """Print sentences and tables, one below the other; "" is an empty line."""
    for part in parts:
        if isinstance(part, DisplayTable):
            show_table(part, screen)
        else:
            screen.print(safe(part), style=style, soft_wrap=True)


def fits(table: DisplayTable, screen: Console, wrapped: bool = False) -> bool:
    """Whether a table fits the width of the terminal: no cell in two lines, or, if `wrapped`, at
    least no column below the others.
    """
    width = _width_of(screen)
    cells_by_column = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    total = -GAP
    for i, (column, cells) in enumerate(zip(table.columns, cells_by_column, strict=True)):
        names = column.text and not i
        measured = _measured(column, list(map(safe, cells)), width, names)
        total += GAP + (measured.least if wrapped else measured.best)
    return total <= width


def table_lines(
    columns: Sequence[DisplayColumn],
    rows: Sequence[Row | None],
    width: int,
    screen: Console,
) -> Iterator[tuple[str, str]]:
    """The lines of a table, each with its style, as `print_table` prints them."""
    filled = [row or [""] * len(columns) for row in rows]
    cells_by_column = list(zip(*filled, strict=True)) or [()] * len(columns)
    measured = []
    for column, cells in zip(columns, cells_by_column, strict=True):
        column = replace(column, heading=safe(column.heading))
        names = column.text and not measured
        measured.append(_measured(column, list(map(safe, cells)), width, names))
    for i, table in enumerate(_tables(measured, width) if columns else ()):
        if i:
            yield "", ""
        yield from _lines_of(table, width, screen)


def print_text(text: str, screen: Console, style: str = "", indent: int = 0) -> None:
    """Print a text in lines no longer than the terminal is wide, broken between words; where there
    is no terminal and no COLUMNS, as it is.
    """
    if wraps(screen):
        _print_wrapped(text, screen, style, indent)
        return
    for line in safe(text).split("\n"):
        screen.print(f"{' ' * indent}{line}".rstrip(), style=style, soft_wrap=True)


def _print_wrapped(text: str, screen: Console, style: str = "", indent: int = 0) -> None:
    """Print a text in lines no longer than the width, broken between words."""
    for line in wrapped(safe(text), _width_of(screen) - indent, screen):
        screen.print(f"{' ' * indent}{line}".rstrip(), style=style, soft_wrap=True)


def wrapped(text: str, width: int, screen: Console) -> list[str]:
    """A text in lines of this width, broken between words; a line goes on below its beginning, and
    one that begins with a label and two spaces below what stands behind the label.
    """
    found: list[str] = []
    for line in text.split("\n"):
        if cell_len(line) <= width:
            found.append(line)
            continue
        match = LABEL.match(line)
        label = match[0] if match and cell_len(match[0]) <= width // 3 else ""
        room = width - cell_len(label)
        first, *more = _wrapped(line.removeprefix(label), room, screen)
        found.append((label + first).rstrip())
        found += [" " * cell_len(label) + part for part in more]
    return found


def named_width() -> int | None:
    """The width that COLUMNS names, as knitr and Emacs do, which read from a pipe; None where it
    names none.
    """
    named = os.environ.get("COLUMNS", "")
    return int(named) or None if named.isdecimal() and len(named) < 10 else None


def wraps(screen: Console) -> bool:
    """Whether lines are broken between words: on a terminal, and where COLUMNS names a width."""
    return screen.is_terminal or named_width() is not None


def _width_of(screen: Console) -> int:
    """The width of the terminal, which may be less than the width of the console."""
    if wraps(screen):
        return min(screen.width, shutil.get_terminal_size().columns)
    return screen.width


def _measured(column: DisplayColumn, cells: Row, width: int, names: bool) -> _Cells:
    """The widths of a column: at least its longest word or number, at best its longest line.

    `names`: the column names the rows, so that what has no room in it stands above its row.
    """
    words = column.heading.split()
    for cell in cells:
        words += cell.split() if column.text else [cell]
    most = (width - GAP) // 2
    if names:
        words = [word for word in words if cell_len(word) <= most]
    least = max(map(cell_len, words), default=0)
    best = max(map(cell_len, (column.heading, *cells)))
    return _Cells(column, cells, max(1, min(least, most)), best)


def _tables(columns: Sequence[_Cells], width: int) -> Iterator[list[_Cells]]:
    """The columns of each table that is printed: all of them where they fit beside each other."""
    naming = _leading_text(columns, width)
    table = list(naming)
    for together in _kept_together(columns[len(naming) :], width - _total(naming) - GAP):
        if len(table) > len(naming) and _total([*table, *together]) > width:
            yield table
            table = list(naming)
        table += together
    yield table


def _leading_text(columns: Sequence[_Cells], width: int) -> list[_Cells]:
    """The columns of text at the beginning, which name a row; at most half of the width."""
    leading: list[_Cells] = []
    for candidate in columns[:-1]:
        fits = _total([*leading, candidate]) <= width // 2
        if candidate.column.group or not candidate.column.text or not fits:
            break
        leading.append(candidate)
    return leading


def _kept_together(columns: Sequence[_Cells], room: int) -> Iterator[list[_Cells]]:
    """The columns that stay in one table: those of a group that has room, and every other by
    itself.
    """
    for group, neighbours in groupby(columns, key=lambda cells: cells.column.group):
        members = list(neighbours)
        longest_word = max(map(cell_len, group.split()), default=0)
        together = [members]
        if not group or _total(members) > room:
            together = [[member] for member in members]
        for columns_of_one in together:
            yield _widened(columns_of_one, min(longest_word, room))


def _widened(columns: list[_Cells], width: int) -> list[_Cells]:
    """The columns, of which the first is wider where they take less than this width together."""
    missing = width - _total(columns)
    if missing <= 0:
        return columns
    first = columns[0]
    wider = first.least + missing
    return [_Cells(first.column, first.cells, wider, max(first.best, wider)), *columns[1:]]


def _total(columns: Sequence[_Cells]) -> int:
    """The least width of columns beside each other."""
    return sum(cells.least for cells in columns) + GAP * (len(columns) - 1)


def _lines_of(table: Sequence[_Cells], width: int, screen: Console) -> Iterator[tuple[str, str]]:
    """Columns that fit beside each other, line by line: groups, headings, rows."""
    widths = _widths(table, width)
    for line in _group_lines(table, widths, screen):
        yield line, "bold"
    headings = [cells.column.heading for cells in table]
    for line in _row_lines(headings, table, widths, screen, bottom=True):
        yield line, "bold"
    for i in range(len(table[0].cells)):
        row = [cells.cells[i] for cells in table]
        if table[0].column.text and _longest_word(row[0]) > widths[0]:
            for line in _wrapped(row[0], width, screen):
                yield line, ""
            row[0] = ""
        for line in _row_lines(row, table, widths, screen):
            yield line, ""


def _longest_word(text: str) -> int:
    """The columns that the longest word of a text takes."""
    return max(map(cell_len, text.split()), default=0)


def _widths(table: Sequence[_Cells], width: int) -> list[int]:
    """The width of each column: its least, and a share of the room that is left.

    The room goes, one space at a time, to the column whose longest cell takes the most lines;
    columns of text come before the headings of the others.
    """
    widths = [cells.least for cells in table]

    def need(i: int) -> tuple[bool, float]:
        lines = table[i].best / widths[i]
        return table[i].column.text, lines

    for _ in range(width - _total(table)):
        wrapped = [i for i, cells in enumerate(table) if widths[i] < cells.best]
        if not wrapped:
            break
        widths[max(wrapped, key=need)] += 1
    return widths


def _group_lines(table: Sequence[_Cells], widths: Sequence[int], screen: Console) -> Iterator[str]:
    """The lines above the headings, with the name of each group in the middle of its columns."""
    names, spans = [], []
    for name, neighbours in groupby(range(len(table)), key=lambda i: table[i].column.group):
        members = list(neighbours)
        names.append(name)
        spans.append(sum(widths[i] for i in members) + GAP * (len(members) - 1))
    if any(names):
        wrapped = [_wrapped(name, span, screen) for name, span in zip(names, spans, strict=True)]
        for line in _level(wrapped):
            placed = [_centred(text, span) for text, span in zip(line, spans, strict=True)]
            yield (" " * GAP).join(placed).rstrip()


def _row_lines(
    row: Row,
    table: Sequence[_Cells],
    widths: Sequence[int],
    screen: Console,
    bottom: bool = False,
) -> Iterator[str]:
    """The lines of a row, whose cells may wrap; `bottom` aligns them at the last line."""
    wrapped = [_wrapped(cell, width, screen) for cell, width in zip(row, widths, strict=True)]
    for line in _level(wrapped) if bottom else zip_longest(*wrapped, fillvalue=""):
        placed = []
        for text, cells, width in zip(line, table, widths, strict=True):
            left = set_cell_size(text, width)
            right = " " * (width - cell_len(text)) + text
            placed.append(left if cells.column.text else right)
        yield (" " * GAP).join(placed).rstrip()


def _wrapped(text: str, width: int, screen: Console) -> list[str]:
    """A text in lines of this width, broken between words; a longer word is broken itself."""
    lines = Text(text).wrap(screen, max(width, 1), overflow="fold")
    return [line.plain.rstrip() for line in lines] or [""]


def _level(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Line by line through columns that end on one line."""
    height = max(map(len, columns))
    padded = [[""] * (height - len(lines)) + list(lines) for lines in columns]
    return zip(*padded, strict=True)


def _centred(text: str, width: int) -> str:
    room = width - cell_len(text)
    return " " * (room // 2) + text + " " * (room - room // 2)
