"""Exporting a study: its tables as CSV and Parquet, the codebook of their columns, and a manifest
of what was written.
"""

import csv
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from delibsim.store.account import account_of
from delibsim.store.codec import SCHEMA
from delibsim.store.files import json_text, staged
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.store.runs import Runs
from delibsim.store.tables.asked import columns_without_texts, without_texts
from delibsim.store.tables.calls import Row
from delibsim.store.tables.codebook import ROWS, Column
from delibsim.store.tables.sheets import (
    SheetWriter,
    Table,
    sha256_of,
    to_parquet,
)
from delibsim.store.tables.study import alike, design_of

FORMATS = ("csv", "parquet")


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
    runs: Runs,
    folder: Path,
    formats: Collection[str] = ("csv",),
    spreadsheet_safe: bool = False,
    more: Callable[[list[str]], Sequence[Table]] = lambda faults: (),
    texts: bool = True,
) -> Export:
    """Write the tables of a study into `folder`, which holds the whole export or, until it is
    written, what it held before.

    `more` makes further tables, once the runs were read for those of the study, and adds to a list
    what could not be read for them. `spreadsheet_safe` puts an apostrophe before
    texts in CSV files that a spreadsheet would take for formulas. Without `texts`, for studies of
    texts alone, what was written is left out. WrongInput if `folder` holds anything that is not of
    an earlier export.
    """
    refuse_others(folder, "export")
    folder = folder.resolve()
    faults: list[str] = []
    left_out: list[str] = []
    sessions: Counter[str] = Counter()
    measures: list[Row] = []
    own_columns, same = design_of(runs)
    if not texts:
        for table, own in own_columns.items():
            own_columns = {**own_columns, table: columns_without_texts(table, own)}
    with staged(folder) as new:
        with ExitStack() as open_files:
            sheets: dict[str, SheetWriter] = {}

            def begin(table: str, columns: Sequence[Column]) -> None:
                sheet = SheetWriter(new, table, columns, formats, spreadsheet_safe)
                sheets[table] = open_files.enter_context(sheet)

            for table, own in own_columns.items():
                begin(table, own)
            for table, shared, rows in alike(runs, faults, same):
                sheets[table].add_alike(shared, rows)
                if table == "runs":
                    sessions[rows[0]["status"]] += 1
                elif table == "measures":
                    measures.append(shared)
            others = more(left_out)
            if not texts:
                others = [without_texts(one) for one in others]
            for one in others:
                begin(one.name, one.columns)
                for values in one.rows:
                    sheets[one.name].add(values)
        if never := account_of(runs).not_begun:
            sessions["not begun"] = len(never)
        if "parquet" in formats:
            to_parquet(sheets.values())
        _write_codebook(new, measures, own_columns, others)
        written = Export(
            folder,
            {table: sheet.rows for table, sheet in sheets.items()},
            dict(sessions),
            _escaped(sheets.values()),
            (*left_out, *faults),
        )
        settings = {"spreadsheet_safe": spreadsheet_safe, "texts": texts}
        _write_manifest(new, runs.study, settings, written)
    return written


def _escaped(sheets: Iterable[SheetWriter]) -> dict[str, int]:
    """The cells with escaped characters, by table and column."""
    found = {}
    for sheet in sheets:
        for name, n in sheet.escaped.items():
            found[f"{sheet.table}.{name}"] = n
    return found


def _write_manifest(
    folder: Path, study: str, settings: Mapping[str, bool], written: Export
) -> None:
    files = {}
    for path in sorted(folder.iterdir()):
        files[path.name] = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
    manifest = {
        "schema": SCHEMA,
        "study": study,
        "delibsim": version("delibsim"),
        **settings,
        "rows": written.rows,
        "sessions": written.sessions,
        "left_out": written.faults,
        "escaped": written.escaped,
        "files": files,
    }
    (folder / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")


def _write_codebook(
    folder: Path,
    measures: Iterable[Row],
    own: Mapping[str, tuple[Column, ...]],
    more: Sequence[Table],
) -> None:
    """The codebook twice: codebook.csv for programs, codebook.md for readers."""
    columns_of = {**own, **{one.name: one.columns for one in more}}
    rows_are = {name: ROWS[name] for name in own} | {one.name: one.row for one in more}
    with (folder / "codebook.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", *Column.__dataclass_fields__])
        for table, columns in columns_of.items():
            for column in columns:
                writer.writerow([table, *asdict(column).values()])
    lines = [*_codebook(columns_of, rows_are), *_of_measures(measures)]
    (folder / "codebook.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _codebook(
    columns_of: Mapping[str, Sequence[Column]], rows_are: Mapping[str, str]
) -> Iterator[str]:
    yield "# Codebook\n\nAn empty cell is a missing value. Logicals are TRUE and FALSE."
    for table, what in rows_are.items():
        yield (
            f"\n## {table}: {what}\n\n| column | kind | meaning | unit | values"
            " |\n|---|---|---|---|---|"
        )
        for column in columns_of[table]:
            yield (
                f"| `{column.name}` | {column.kind} | {column.meaning} | {column.unit} |"
                f" {column.values} |"
            )


def _of_measures(measures: Iterable[Row]) -> Iterator[str]:
    yield "\n## Measures in scores\n\n| measure | label | definition | source |\n|---|---|---|---|"
    for row in measures:
        told = [_cell(row.get(name, "")) for name in ("label", "definition", "source")]
        yield f"| `{row['measure']}` | {' | '.join(told)} |"


def _cell(text: str) -> str:
    """A text as a cell of a table in Markdown, in one line."""
    return " ".join(text.split()).replace("|", "\\|")
