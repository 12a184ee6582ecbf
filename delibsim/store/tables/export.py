"""Exporting a study: its tables as CSV and Parquet, the codebook of their columns, and a manifest
of what was written.
"""

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from delibsim.domain.errors import WrongInput
from delibsim.store.account import account_of
from delibsim.store.codec import SCHEMA
from delibsim.store.files import json_text, staged
from delibsim.store.reading import file_bytes, json_value
from delibsim.store.runs import Runs
from delibsim.store.tables.calls import Row
from delibsim.store.tables.codebook import COLUMNS, TABLES, Column
from delibsim.store.tables.study import cells, rows_of

FORMATS = ("csv", "parquet")
MANIFEST = "manifest.json"
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
"""Characters that UTF-8 or R cannot hold: NUL, and halves of characters."""
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet take the text in a cell for a formula."""
LOGICALS = {True: "TRUE", False: "FALSE", None: None}
SQL = {"text": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "logical": "BOOLEAN"}


@dataclass(frozen=True)
class Export:
    """What an export wrote: where, rows by table, sessions by status, cells with escaped characters
    by column, what was left out.
    """

    folder: Path
    rows: Mapping[str, int]
    sessions: Mapping[str, int]
    escaped: Mapping[str, int]
    faults: tuple[str, ...]


def export(
    runs: Runs, folder: Path, formats: Collection[str] = ("csv",), spreadsheet_safe: bool = False
) -> Export:
    """Write the tables of a study into `folder`, which holds the whole export or, until it is
    written, what it held before.

    `spreadsheet_safe` puts an apostrophe before texts in CSV files that a spreadsheet would take
    for formulas. WrongInput if `folder` holds anything that is not of an earlier export.
    """
    folder = folder.resolve()
    _refuse_foreign(folder)
    faults: list[str] = []
    sessions: Counter[str] = Counter()
    measures: list[Row] = []
    with staged(folder) as new:
        with ExitStack() as open_files:
            sheets = {}
            for table in TABLES:
                sheet = _Sheet(new, table, formats, spreadsheet_safe)
                sheets[table] = open_files.enter_context(sheet)
            for table, row in rows_of(runs, faults):
                sheets[table].add(cells(table, row))
                if table == "runs":
                    sessions[row["status"]] += 1
                elif table == "measures":
                    measures.append(row)
        if never := account_of(runs).not_begun:
            sessions["not begun"] = len(never)
        if "parquet" in formats:
            _to_parquet(sheets.values())
        _write_codebook(new, measures)
        escaped = {}
        for table, sheet in sheets.items():
            for name, n in sheet.escaped.items():
                escaped[f"{table}.{name}"] = n
        files = {}
        for path in sorted(new.iterdir()):
            files[path.name] = {"bytes": path.stat().st_size, "sha256": _sha256(path)}
        manifest = {
            "schema": SCHEMA,
            "study": runs.study,
            "delibsim": version("delibsim"),
            "spreadsheet_safe": spreadsheet_safe,
            "rows": {table: sheet.rows for table, sheet in sheets.items()},
            "sessions": dict(sessions),
            "left_out": faults,
            "escaped": escaped,
            "files": files,
        }
        (new / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")
    return Export(folder, manifest["rows"], dict(sessions), escaped, tuple(faults))


class _Sheet:
    """One table while it is written: as CSV, and as JSON lines that Parquet is made of at the
    end.
    """

    def __init__(
        self, folder: Path, table: str, formats: Collection[str], spreadsheet_safe: bool
    ) -> None:
        self.folder, self.table, self.columns = folder, table, COLUMNS[table]
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

    def __enter__(self) -> "_Sheet":
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
            self._writer.writerow([_inert(cell) for cell in row] if self._safe else row)


def _inert(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _to_parquet(sheets: Iterable[_Sheet]) -> None:
    """Turn the JSON lines of every table into Parquet, and remove them."""
    import duckdb

    # One thread keeps the order of rows and makes the same bytes of the same study; nothing is
    # fetched from the network.
    offline: dict[str, Any] = {
        "threads": 1,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(config=offline) as database:
        for sheet in sheets:
            types = [f"'{column.name}': '{SQL[column.kind]}'" for column in sheet.columns]
            columns = ", ".join(types)
            source = (
                f"read_json(?, format = 'newline_delimited', columns = {{{columns}}},"
                f" maximum_object_size = {sheet.longest + 2**24})"
            )
            target = sheet.lines.with_suffix(".parquet")
            database.execute(
                f"COPY (SELECT * FROM {source}) TO '{_quoted(target)}' (FORMAT parquet, COMPRESSION"
                " zstd)",
                [str(sheet.lines)],
            )
            sheet.lines.unlink()


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _write_codebook(folder: Path, measures: Iterable[Row]) -> None:
    """The codebook twice: codebook.csv for programs, codebook.md for readers."""
    with (folder / "codebook.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", *Column.__dataclass_fields__])
        for table, columns in COLUMNS.items():
            for column in columns:
                writer.writerow([table, *asdict(column).values()])
    (folder / "codebook.md").write_text("\n".join(_codebook(measures)) + "\n", encoding="utf-8")


def _codebook(measures: Iterable[Row]) -> Iterator[str]:
    yield "# Codebook\n\nAn empty cell is a missing value. Logicals are TRUE and FALSE."
    for table, what in TABLES.items():
        yield (
            f"\n## {table}: {what}\n\n| column | kind | meaning | unit | values"
            " |\n|---|---|---|---|---|"
        )
        for column in COLUMNS[table]:
            yield (
                f"| `{column.name}` | {column.kind} | {column.meaning} | {column.unit} |"
                f" {column.values} |"
            )
    yield "\n## Measures in scores\n\n| measure | label | definition | source |\n|---|---|---|---|"
    for row in measures:
        told = [_cell(row.get(name, "")) for name in ("label", "definition", "source")]
        yield f"| `{row['measure']}` | {' | '.join(told)} |"


def _cell(text: str) -> str:
    """A text as a cell of a table in Markdown, in one line."""
    return " ".join(text.split()).replace("|", "\\|")


def _refuse_foreign(folder: Path) -> None:
    """WrongInput where the export would remove what no export wrote."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise WrongInput(f"{folder} is a file; give a folder with --to")
    try:
        written = set(json_value(file_bytes(folder / MANIFEST))["files"]) | {MANIFEST}
    except (OSError, ValueError, KeyError, TypeError):
        written = set()
    if foreign := sorted(path.name for path in folder.iterdir() if path.name not in written):
        more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
        raise WrongInput(
            f"{folder} holds what no export wrote ({', '.join(foreign[:3])}{more}), and an export"
            " replaces its folder as a whole; move that away, or choose another folder with --to"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
