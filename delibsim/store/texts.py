"""Texts in a CSV file: its rows as they are, and the same rows with values beside them."""

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.files import write_atomically

SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class TextFile:
    """The header, the rows and the separator of a CSV file, and the column of its texts."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    separator: str
    column: str

    @property
    def texts(self) -> list[str]:
        """The texts in order."""
        place = self.header.index(self.column)
        return [row[place] for row in self.rows]


def read_texts(file: Path, column: str) -> TextFile:
    """A CSV file in UTF-8 with its texts in a column.

    The separator is that of comma, semicolon and tab under which the column is found. WrongInput,
    naming the line, for a row with more or fewer cells than the header.
    """
    text = content_of(file)
    # A text may be longer than the 131,072 characters of the default.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    headings: list[str] = []
    for separator in SEPARATORS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            header = next(reader, [])
            if column not in header:
                headings = max(headings, header, key=len)
                continue
            rows = list(_rows(reader, len(header), file, separator))
        except csv.Error as error:
            raise WrongInput(f"{file}, line {reader.line_num}: {error}") from None
        if header.count(column) > 1:
            raise WrongInput(f"{file} has {header.count(column)} columns named '{column}'")
        if not rows:
            raise WrongInput(f"{file} has a header and no row")
        return TextFile(header, rows, separator, column)
    advice = f"Columns are those of {file}; name the one with the texts: --column NAME"
    raise unknown("column", column, headings, advice)


def content_of(file: Path) -> str:
    """The content of a file in UTF-8; WrongInput where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongInput(
            f"{file} is not UTF-8 (byte {error.start}); save it as 'CSV UTF-8'"
        ) from None
    except OSError as error:
        raise WrongInput(f"{file} cannot be read: {error.strerror}") from None


def _rows(reader: Any, width: int, file: Path, separator: str) -> Iterator[list[str]]:
    """The rows below the header, without empty lines; WrongInput for one of another width."""
    for row in reader:
        if row and len(row) != width:
            raise WrongInput(
                f"{file}, line {reader.line_num}: {len(row)} cells under {width} headings; quote"
                f" texts that hold '{separator}'"
            )
        if row:
            yield row


def check_place(place: Path, file: Path) -> None:
    """WrongInput where a result could not be written to a place, or would replace the texts."""
    if place.is_dir():
        raise WrongInput(f"{place} is a folder; name a file to write to: --to FILE")
    if place.exists() and place.samefile(file):
        raise WrongInput(
            f"{place} is the file with the texts, which would be overwritten; name another: --to"
            " FILE"
        )
    if not place.parent.is_dir():
        raise WrongInput(
            f"there is no folder {place.parent} to write {place.name} to; make it, or name another"
            " place: --to FILE"
        )
    if not os.access(place.parent, os.W_OK):
        raise WrongInput(
            f"nothing may be written in the folder {place.parent}; name another place: --to FILE"
        )


def write_values(place: Path, file: TextFile, values: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows as they were, with the values behind them; NaN is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=file.separator, lineterminator="\n")
    writer.writerow([*file.header, *values[0]])
    for row, found in zip(file.rows, values, strict=True):
        defined = ["" if value != value else value for value in found.values()]
        writer.writerow([*row, *defined])
    write_atomically(place, out.getvalue())
