"""A CSV file that others wrote: its header and its rows as texts, with the lines they stand on.

Every table that a user names is read here.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.text import counted
from delibsim.store.reading import file_text, not_in_utf8, opened, refuse_foreign

MOST = 2**28
"""Bytes of the largest file that is read."""
WIDEST, LONGEST_NAME = 10_000, 1_000
"""Columns of the widest table that is read, and characters of the longest name of one."""
DELIMITERS = (",", ";", "\t")
SHOWN = 20
"""Of so many faults each is told; of more, how many there are."""


@dataclass(frozen=True)
class CsvSheet:
    """The cells of a file as texts: `rows` as long as `header`, `lines` where each begins,
    `delimiter` what parts them.
    """

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    delimiter: str = ","

    @property
    def decimal_comma(self) -> bool:
        """Whether numbers may be written 0,5: the cells are parted by semicolons."""
        return self.delimiter == ";"

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows as (line, cells by column), without spaces around the cells."""
        for line, row in zip(self.lines, self.rows, strict=True):
            stripped = [cell.strip() for cell in row]
            yield line, dict(zip(self.header, stripped, strict=True))


def read_sheet(
    path: Path, columns: Sequence[str] = (), faults: list[str] | None = None
) -> CsvSheet:
    """The cells of a CSV file: UTF-8 with or without a mark, parted by comma, semicolon or tab,
    whichever the header has most of; of several, one under which these `columns` are found.

    A first column without a name, as other programs write the names of rows, is called row; rows of
    empty cells are left out. WrongInput, with the lines, for rows of another length than the
    header, names that stand twice in it, a file without a row, and what is no text. Where `faults`
    are given, those of rows are added to them, and the rows left out.
    """
    text = file_text(path, MOST)
    begin = re.match("(?:[ \t]*[\r\n])*", text)
    first = re.split("[\r\n]", text[begin.end() if begin else 0 :], maxsplit=1)[0]
    if not first.strip():
        raise WrongInput(f"{path} is empty: its first line must name the columns")
    csv.field_size_limit(MOST)  # a text may be longer than the 131,072 characters of the default
    delimiter = _delimiter(first, columns)
    header: tuple[str, ...] = ()
    rows, lines, found = [], [], []
    for line, row in _rows(path, io.StringIO(text, newline=""), delimiter):
        if not header:
            header = _header(path, row)
        elif fault := _fault(line, row, header):
            found.append(fault)
        else:
            rows.append(row)
            lines.append(line)
    if faults is None:
        refuse_faults(path, found)
    else:
        faults += [f"{path}, {fault}" for fault in found]
    if not rows and not found:
        raise WrongInput(f"{path} has a header and no rows")
    return CsvSheet(header, rows, lines, delimiter)


def streamed(
    path: Path, columns: Sequence[str]
) -> tuple[tuple[str, ...], Iterator[tuple[int, dict[str, str]]]]:
    """The header of a CSV file that has these columns, and its rows as (line, cells by column),
    each read when it is asked for, so that a file of any size can be read. WrongInput as of
    `read_sheet`, when a faulty row is reached.
    """
    csv.field_size_limit(MOST)
    try:
        with opened(path) as file:
            first = file.readline(MOST)
    except OSError as error:
        raise WrongInput(f"{path} cannot be read: {error.strerror}") from None
    refuse_foreign(path, first)
    head = first.decode("utf-8-sig", errors="replace").strip()
    if not head:
        raise WrongInput(f"{path} is empty: its first line must name the columns")
    lines = path.open(encoding="utf-8-sig", newline="")
    rows = _rows(path, lines, _delimiter(head, columns))
    header = _header(path, next(rows)[1])
    for name in columns:
        if name not in header:
            raise unknown("column", name, header, f"Columns are those of {path}")

    def records() -> Iterator[tuple[int, dict[str, str]]]:
        for line, row in rows:
            if fault := _fault(line, row, header):
                raise WrongInput(f"{path}, {fault}")
            yield line, dict(zip(header, row, strict=True))

    return header, records()


def _rows(path: Path, lines: TextIO, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file that are not empty, with the line on which each begins."""
    begins = 1
    with lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield begins, row
                begins = reader.line_num + 1
        except UnicodeDecodeError:
            line = not_in_utf8(path)
            raise WrongInput(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from None
        except csv.Error as error:
            raise refused("not_readable_as_csv", path=path, begins=begins, error=error) from None


def _fault(line: int, row: Sequence[str], header: Sequence[str]) -> str:
    """That a row is of another length than the header; "" where it is not."""
    if len(row) == len(header):
        return ""
    return f"line {line}: {counted(len(row), 'cell')}, but {counted(len(header), 'column')}"


def read_columns(path: Path, columns: Sequence[str]) -> CsvSheet:
    """The cells of a CSV file that has these columns; WrongInput for one that it has not."""
    sheet = read_sheet(path, columns)
    for name in columns:
        if name not in sheet.header:
            raise unknown("column", name, sheet.header, f"Columns are those of {path}")
    return sheet


def _header(path: Path, row: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns; WrongInput for two that are the same, and for too many."""
    if len(row) > WIDEST:
        raise WrongInput(f"{path} has {len(row):,} columns; at most {WIDEST:,} are read")
    names = [cell.strip() or (f"column {n}" if n > 1 else "row") for n, cell in enumerate(row, 1)]
    longest = max(map(len, names))
    if longest > LONGEST_NAME:
        raise refused("column_name_too_long", path=path, longest=longest)
    for name, n in Counter(names).items():
        if n > 1:
            raise WrongInput(f"{path} has {n} columns named '{name}'; give each a name of its own")
    return tuple(names)


def _delimiter(first: str, columns: Sequence[str]) -> str:
    """What parts the cells of a header."""
    likely = sorted(DELIMITERS, key=first.count, reverse=True)
    for delimiter in likely:
        header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter))]
        if set(columns) <= set(header):
            return delimiter
    return likely[0]


def refuse_faults(path: Path, faults: list[str], what: str = "cannot be read as a table") -> None:
    """WrongInput that tells all faults of a file, if it has any; `what` they come to."""
    if not faults:
        return
    if len(faults) == 1:
        raise WrongInput(f"{path} {what}: {faults[0]}")
    told = faults[:SHOWN]
    if len(faults) > SHOWN:
        told.append(f"and {len(faults) - SHOWN} more")
    raise WrongInput("\n  ".join([f"{path} {what}:", *told]))
