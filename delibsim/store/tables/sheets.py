"""The columns of tables, with kind, unit, values and meaning of each; and writing tables: each as
CSV, and as Parquet made of JSON lines at the end.
"""

import codecs
import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Literal

from delibsim.store.files import json_text
from delibsim.store.own_folder import MANIFEST, names_in
from delibsim.store.reading import opened, read_yaml

Kind = Literal["text", "integer", "number", "logical"]


@dataclass(frozen=True)
class Column:
    """One column: its `kind`, what it means, the unit of a quantity, and the values it can take. An
    empty cell is a missing value.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    values: str = ""

    def holds(self, value: Any) -> bool:
        """Whether a value can stand in this column; None always can.

        >>> Column("turn", "integer", "").holds(3), Column("turn", "integer", "").holds(True)
        (True, False)
        """
        if value is None or self.kind == "logical":
            return value is None or isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        return whole or (
            self.kind == "number" and isinstance(value, float) and math.isfinite(value)
        )


@cache
def tables_in(file: str) -> dict[str, tuple[str, tuple[Column, ...]]]:
    """The tables of a file of `data` by name: what a row of each is, and its columns; a text among
    these names a group of columns.
    """
    plain = _plain(file)
    found = {}
    for name, table in plain["tables"].items():
        columns = _columns(table["columns"], plain.get("groups", {}))
        found[name] = table["row"], columns
    return found


@cache
def _plain(file: str) -> Any:
    return read_yaml(Path(__file__).parents[2] / "data" / file)


def _columns(listed: Iterable[Any], groups: Mapping[str, Any]) -> tuple[Column, ...]:
    found: list[Column] = []
    for one in listed:
        own = groups[one] if isinstance(one, str) else [one]
        found += [Column(**column) for column in own]
    return tuple(found)


def without(columns: Iterable[Column], names: Container[str]) -> tuple[Column, ...]:
    """These columns, but those of these names."""
    return tuple(one for one in columns if one.name not in names)


def paths_of(kind: str) -> dict[str, str]:
    """The columns that stand in something of a kind (a plan, a call, a vote) as they are, and
    where.
    """
    return _plain("session_facts.yaml")[kind]


@cache
def _getters(kind: str) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(name, attrgetter(path)) for name, path in paths_of(kind).items()]


def standing_in(kind: str, one: Any) -> dict[str, Any]:
    """The columns that stand in something of a kind as they are, with what stands there."""
    return {name: get(one) for name, get in _getters(kind)}


OF_STUDY = "columns.yaml"
CONDITION = tuple(one["name"] for one in _plain(OF_STUDY)["groups"]["condition"])
"""The columns that say under what condition the unit of a row was observed."""
OF_PHASES = ("phases", "answers_absent_between")
"""The columns that only a study has in which a session names its phases."""
OF_CONSENSUS = ("consensus_texts", "consensus_votes")
"""The tables that only a study has in which collective statements were sought."""
ROWS: dict[str, str] = {name: row for name, (row, _) in tables_in(OF_STUDY).items()}
"""What a row of each table is."""
ALL_COLUMNS: dict[str, tuple[Column, ...]] = {
    name: columns for name, (_, columns) in tables_in(OF_STUDY).items()
}
"""The columns of every table, in order."""
TABLES: dict[str, str] = {name: row for name, row in ROWS.items() if name not in OF_CONSENSUS}
"""The tables that every study has, and what a row of each is."""
COLUMNS: dict[str, tuple[Column, ...]] = {
    name: without(ALL_COLUMNS[name], OF_PHASES) for name in TABLES
}
"""The columns of these tables that every study has, in order."""


UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that UTF-8 or R cannot hold: NUL, and halves of characters."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet take the text in a cell for a formula."""
LOGICALS = {True: "TRUE", False: "FALSE", None: None}
NUL = "\0"
END = f"\r\n{NUL}"
"""What ends a line while lines are put together: a NUL is in no text that is written."""
TOGETHER = 500
"""Rows that are written together."""
STOPPED = "Query interrupted"
"""What DuckDB says where Ctrl-C or the end of a job met a query: a RuntimeError of its own."""
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
        self.names = [column.name for column in columns]
        self.rows, self.longest = 0, 0
        self._waiting: list[list[Any]] = []
        self.escaped: Counter[str] = Counter()
        self._safe = spreadsheet_safe
        self._texts = [i for i, column in enumerate(self.columns) if column.kind == "text"]
        self._logicals = [i for i, column in enumerate(self.columns) if column.kind == "logical"]
        self._csv: IO[bytes] | None = None
        self._lines: IO[bytes] | None = None
        if "parquet" in formats:
            self._lines = self.lines.open("wb")
        if "csv" in formats:
            self._csv = (folder / f"{table}.csv").open("wb")
            # Without the mark, spreadsheets take UTF-8 for something else.
            self._csv.write(codecs.BOM_UTF8 if spreadsheet_safe else b"")
            self._csv.write(self._as_csv([self.names]))

    @property
    def lines(self) -> Path:
        """The file of JSON lines; it is no part of the export."""
        return self.folder / f"{self.table}.jsonl"

    def __enter__(self) -> "SheetWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with ExitStack() as closed:
            for file in (self._csv, self._lines):
                if file is not None:
                    closed.enter_context(file)
            if kind is None:
                self._write()

    def add(self, row: list[Any]) -> None:
        """Take one row to be written, its values in the order of the columns; an empty text is a
        missing value.
        """
        self.rows += 1
        self._waiting.append(row)
        if len(self._waiting) >= TOGETHER:
            self._write()

    def add_alike(self, shared: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> None:
        """Take rows to be written, each as values by column: those that all share, and its own."""
        text = self._alike(shared, own) if len(own) > 1 else b""
        if not text or self._csv is None:
            for one in own:
                self.add(list(map({**shared, **one}.get, self.names)))
            return
        self._write()
        self.rows += len(own)
        self._csv.write(text)

    def _alike(self, shared: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> bytes:
        """Such rows in CSV where their own values stand beside each other, so that what they share
        is written once and repeated; else nothing.
        """
        first, names = self.names.index(next(iter(own[0]))), list(own[0])
        last = first + len(names)
        if self._lines is not None or self._safe or self.names[first:last] != names:
            return b""
        values = [list(one.values()) for one in own]
        around = list(map(shared.get, self.names))
        for i in self._logicals:
            around[i] = LOGICALS[around[i]]
            for row in values if first <= i < last else ():
                row[i - first] = LOGICALS[row[i - first]]
        # The empty cells make the commas that keep their own values apart from what is shared.
        before = _lined([[*around[:first], ""]]).removesuffix(END) if first else ""
        behind = _lined([["", *around[last:]]]).removesuffix(END) if around[last:] else ""
        text = _lined(values)
        if text.count(NUL) != len(own) or NUL in before + behind:
            return b""
        lines = text.removesuffix(END).replace(END, f"{behind}\r\n{before}")
        try:
            return f"{before}{lines}{behind}\r\n".encode()
        except UnicodeEncodeError:
            return b""

    def _write(self) -> None:
        """Write the rows that were taken."""
        rows, self._waiting = self._waiting, []
        if self._lines is not None:
            for row in rows:
                self._escape(row)
                self._write_line(self._lines, row)
        if self._csv is None:
            return
        for i in self._logicals:
            for row in rows:
                row[i] = LOGICALS[row[i]]
        try:
            text = self._as_csv(rows)
        except UnicodeEncodeError:
            text = b"\0"
        if b"\0" in text:
            for row in rows:
                self._escape(row)
            text = self._as_csv(rows)
        self._csv.write(text)

    def _escape(self, row: list[Any]) -> None:
        """Write what cannot be written of the texts of a row as escapes."""
        for i in self._texts:
            if row[i] and UNWRITABLE.search(row[i]):
                row[i] = UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", row[i])
                self.escaped[self.columns[i].name] += 1

    def _write_line(self, lines: IO[bytes], row: list[Any]) -> None:
        known = {}
        for column, value in zip(self.columns, row, strict=True):
            if value is not None and value != "":
                known[column.name] = value
        line = json_text(known).encode()
        self.longest = max(self.longest, len(line))
        lines.write(line + b"\n")

    def _as_csv(self, rows: Iterable[list[Any]]) -> bytes:
        """Rows as lines that end with CR LF, as RFC 4180 says, which so quote texts that hold a CR
        alone.
        """
        if self._safe:
            rows = [list(map(inert, row)) for row in rows]
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        return text.getvalue().encode()


def _lined(rows: Iterable[list[Any]]) -> str:
    """Rows in CSV, each with its END."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=END).writerows(rows)
    return text.getvalue()


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


def write_codebook(folder: Path, columns_of: Mapping[str, Sequence[Column]]) -> None:
    """Write what the columns of tables mean, for programs."""
    with (folder / "codebook.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", *Column.__dataclass_fields__])
        for table, columns in columns_of.items():
            for column in columns:
                writer.writerow([table, *asdict(column).values()])


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write what is to be known of the files below a folder, with the size and the hash of each."""
    files = {}
    for name, path in names_in(folder):
        files[name] = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
    text = json_text({**facts, "files": files}, indent=1)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def offline_database(threads: int) -> Generator[Any]:
    """A connection to a database in memory; nothing is fetched from the network.

    One thread keeps the order of rows. KeyboardInterrupt where a query is interrupted.
    """
    import duckdb

    offline: dict[str, Any] = {
        "threads": threads,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=offline) as database:
        try:
            yield database
        except RuntimeError as error:
            if STOPPED not in str(error):
                raise
            raise KeyboardInterrupt from None
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
