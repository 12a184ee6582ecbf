"""Writing tables: each as CSV, and as Parquet made of JSON lines at the end."""

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from delibsim.store.files import json_text
from delibsim.store.reading import opened
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.database import offline_database

UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that UTF-8 or R cannot hold: NUL, and halves of characters."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet take the text in a cell for a formula."""
LOGICALS = {True: "TRUE", False: "FALSE", None: None}
SQL = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "logical": "BOOLEAN"}


@dataclass(frozen=True)
class Table:
    """A table that is made elsewhere: its name, what a row of it is, its columns, the rows' values
    in their order.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    rows: Iterable[list[Any]]


class SheetWriter:
    """One table while it is written: as CSV, and as JSON lines that Parquet is made of at the
    end.
    """

    def __init__(
        self,
        folder: Path,
        table: str,
        columns: Sequence[Column],
        formats: Collection[str],
        spreadsheet_safe: bool,
    ) -> None:
        self.folder, self.table, self.columns = folder, table, columns
        self.rows, self.longest = 0, 0
        self.escaped: Counter[str] = Counter()
        self._safe = spreadsheet_safe
        self._texts = [i for i, column in enumerate(self.columns) if column.kind == "text"]
        self._logicals = [i for i, column in enumerate(self.columns) if column.kind == "logical"]
        self._csv: IO[str] | None = None
        self._lines: IO[bytes] | None = None
        if "parquet" in formats:
            self._lines = self.lines.open("wb")
        if "csv" in formats:
            # Without the mark, spreadsheets take UTF-8 for something else.
            encoding = "utf-8-sig" if spreadsheet_safe else "utf-8"
            self._csv = (folder / f"{table}.csv").open("w", encoding=encoding, newline="")
            # Ends lines with CR LF, as RFC 4180 says, and so quotes texts that hold a CR alone.
            self._writer = csv.writer(self._csv)
            self._writer.writerow([column.name for column in self.columns])

    @property
    def lines(self) -> Path:
        """The file of JSON lines; it is no part of the export."""
        return self.folder / f"{self.table}.jsonl"

    def __enter__(self) -> "SheetWriter":
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._csv, self._lines):
            if file is not None:
                file.close()

    def add(self, row: list[Any]) -> None:
        """Write one row, its values in the order of the columns."""
        self.rows += 1
        for i in self._texts:
            if row[i] is not None and UNWRITABLE.search(row[i]):
                row[i] = UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", row[i])
                self.escaped[self.columns[i].name] += 1
        if self._lines is not None:
            named = zip(self.columns, row, strict=True)
            known = {column.name: value for column, value in named if value is not None}
            line = json_text(known).encode()
            self.longest = max(self.longest, len(line))
            self._lines.write(line + b"\n")
        if self._csv is not None:
            for i in self._logicals:
                row[i] = LOGICALS[row[i]]
            self._writer.writerow([inert(cell) for cell in row] if self._safe else row)


def inert(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: such texts begin with an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def to_parquet(sheets: Iterable[SheetWriter]) -> None:
    """Turn the JSON lines of every table into Parquet, and remove them."""
    import duckdb

    # One thread makes the same bytes of the same study.
    with offline_database(threads=1) as database:
        for sheet in sheets:
            types = [f"'{column.name}': '{SQL[column.kind]}'" for column in sheet.columns]
            columns = ", ".join(types)
            source = (
                f"read_json(?, format = 'newline_delimited', columns = {{{columns}}},"
                f" maximum_object_size = {sheet.longest + 2**24})"
            )
            target = sheet.lines.with_suffix(".parquet")
            copied = f"COPY (SELECT * FROM {source}) TO '{_quoted(target)}'"
            try:
                database.execute(f"{copied} (FORMAT parquet, COMPRESSION zstd)", [str(sheet.lines)])
            except duckdb.IOException as error:  # a full disk
                raise OSError(str(error).splitlines()[0]) from None
            sheet.lines.unlink()


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
