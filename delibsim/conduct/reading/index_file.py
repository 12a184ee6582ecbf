"""The file of the index of a study: where it lies, that nobody but its owner reads it, and how a
table is written into it.
"""

import os
import sqlite3
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from delibsim.store.files import json_text

VERSION = 1
"""Raised whenever the index holds something else."""
FIXED = """
CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE seen(id INTEGER PRIMARY KEY, session TEXT UNIQUE, stamp TEXT);
CREATE TABLE score(file TEXT, session TEXT, lines BLOB);
CREATE INDEX score_of ON score(session);
CREATE VIRTUAL TABLE said USING fts5(
  text, speaker UNINDEXED, tokenize = "unicode61 remove_diacritics 2");
"""


def cache_folder() -> Path:
    """The folder of all indexes, within the user's cache (XDG_CACHE_HOME)."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "delibsim" / "reader"


def empty(file: str) -> sqlite3.Connection:
    """An index that holds nothing. Nobody else sees it, so it needs no journal."""
    made = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    made.execute("PRAGMA journal_mode = OFF")
    made.execute("PRAGMA synchronous = OFF")
    made.executescript(f"{FIXED} PRAGMA user_version = {VERSION};")
    return made


def private_folder(folder: Path) -> None:
    """Make a folder that nobody but its owner can look into."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)


def for_its_owner(file: Path) -> None:
    """Let nobody but its owner read a file that is there."""
    if file.stat(follow_symlinks=False).st_mode & 0o077:
        file.chmod(0o600)


def identity(file: Path) -> tuple[int, int] | None:
    """By what a file is told from another that took its place; None where there is none."""
    try:
        found = file.stat(follow_symlinks=False)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def write_table(
    database: sqlite3.Connection,
    table: str,
    names: Sequence[str],
    places: Sequence[int],
    rows: Iterable[Sequence[Any]],
) -> None:
    """Write a table anew, with these of the columns, in the order of rows."""
    columns = ", ".join(quoted(name) for name in names)
    marks = ", ".join("?" * (len(names) + 1))
    database.execute(f"DROP TABLE IF EXISTS {table}")
    database.execute(f"CREATE TABLE {table}(place INTEGER, {columns})")
    chosen = itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
    values = ((n, *chosen(row)) for n, row in enumerate(rows))
    database.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    database.execute(f"CREATE UNIQUE INDEX {table}_of ON {table}(session)")


def quoted(name: str) -> str:
    """A name as SQL takes it for one, whatever it holds."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def kept_value(value: Any) -> Any:
    """A value as SQLite keeps it."""
    if value is None or type(value) in (int, float, bool):
        return value
    if isinstance(value, str):
        return whole(value)
    return value.item() if hasattr(value, "item") else json_text(value)


def whole(text: str) -> str:
    """Text without halves of characters, which no UTF-8 holds."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
