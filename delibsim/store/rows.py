"""The rows of a CSV file, each with the line it begins on."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.store.texts import SEPARATORS, content_of


@dataclass(frozen=True)
class RowFile:
    """The header of a CSV file and its rows, which are as wide; `lines` are those of the rows."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]


def read_rows(file: Path) -> RowFile:
    """A CSV file in UTF-8; its separator is that of comma, semicolon and tab which gives the most
    columns. Empty lines are left out. A first column without a heading, as other programs write the
    names of rows, is called row.

    WrongInput, naming the line, for a row of another width than the header; for a file without
    rows, and for two columns of one name.
    """
    text = content_of(file)
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    first_line = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, lines, begin = [], [], 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise WrongInput(f"{file}, line {reader.line_num}: {error}") from None
    if len(rows) < 2:
        raise WrongInput(f"{file} has no row below a header; the first line names the columns")
    header = [name or _unnamed(i) for i, name in enumerate(rows[0])]
    for name in header:
        if header.count(name) > 1:
            raise WrongInput(f"{file} has {header.count(name)} columns named '{name}'")
    for row, line in zip(rows[1:], lines[1:], strict=True):
        if len(row) != len(header):
            raise WrongInput(
                f"{file}, line {line}: {len(row)} cells under {len(header)} headings; quote texts"
                f" that hold '{separator}'"
            )
    return RowFile(header, rows[1:], lines[1:])


def _unnamed(place: int) -> str:
    """The name of a column without a heading."""
    return f"column {place + 1}" if place else "row"
