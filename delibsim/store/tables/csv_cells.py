"""A CSV file that others wrote: its header and its rows as texts, with the lines they stand on."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted

MOST = 2**31
"""Bytes of the largest file that is read."""
DELIMITERS = (",", ";", "\t")
SHOWN = 20
"""Of so many faults each is told; of more, how many there are."""


@dataclass(frozen=True)
class Sheet:
    """The cells of a file as texts: `rows` as long as `header`, `lines` where each begins.

    `decimal_comma`: numbers may be written 0,5 because the cells are parted by semicolons.
    """

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    decimal_comma: bool


def read_sheet(path: Path, columns: Sequence[str] = ()) -> Sheet:
    """The cells of a CSV file: UTF-8 with or without a mark, parted by comma, semicolon or tab,
    whichever the header has most of; of several, one under which these `columns` are found.

    WrongInput, with the lines, for rows of another length than the header, names that stand twice
    in it, a file without a row, and what is no text.
    """
    text = _text(path)
    first = re.split("[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    if not first.strip():
        raise WrongInput(f"{path} is empty: its first line must name the columns")
    delimiter = _delimiter(first, columns)
    # A text may be longer than the 131,072 characters of the default.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: tuple[str, ...] = ()
    rows, lines, faults = [], [], []
    begins = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                if not header:
                    header = tuple(cell.strip() for cell in row)
                    faults += _of_header(header)
                elif len(row) == len(header):
                    rows.append(row)
                    lines.append(begins)
                else:
                    cells, columns = counted(len(row), "cell"), counted(len(header), "column")
                    faults.append(f"line {begins}: {cells}, but {columns}")
            begins = reader.line_num + 1
    except csv.Error as error:
        faults.append(f"line {begins}: {error}")
    if not rows and not faults:
        faults.append("it has a header and no rows")
    refuse_faults(path, faults)
    return Sheet(header, rows, lines, delimiter == ";")


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
    told = faults[:SHOWN]
    if len(faults) > SHOWN:
        told.append(f"and {len(faults) - SHOWN} more")
    raise WrongInput("\n  ".join([f"{path} {what}:", *told]))


def _of_header(header: tuple[str, ...]) -> list[str]:
    counts = Counter(header)
    faults = [f"column '{name}' stands {n} times" for name, n in counts.items() if n > 1 and name]
    if counts[""]:
        faults.append(f"{counted(counts[''], 'column')} without a name")
    return faults


def _text(path: Path) -> str:
    if path.is_dir():
        raise WrongInput(f"{path} is a folder; give a CSV file")
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MOST else b""
    except OSError as error:
        raise WrongInput(f"{path} cannot be read: {error.strerror}") from None
    if size > MOST:
        raise WrongInput(f"{path} is larger than {MOST:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongInput(f"{path}: line {line} is not UTF-8; save the table as UTF-8") from None
