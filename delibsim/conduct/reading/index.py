"""The index of a study: its table and all that was said in it, in one SQLite file of the user's
cache.

It is made of the files of the study, and made anew in those parts that are older than these;
deleting it loses nothing. What a study holds is never changed. A new index is made beside the old
one and takes its place when it is whole, so that the old one is read until then.
"""

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from mmap import ACCESS_READ, mmap
from operator import itemgetter
from pathlib import Path
from typing import Any

from delibsim.domain.score import Score
from delibsim.store import codec
from delibsim.store.files import in_turn, json_text
from delibsim.store.reading import file_bytes, json_value
from delibsim.store.runs import Runs
from delibsim.store.session_notes import begun_sessions, stamp_of
from delibsim.store.tables.sheets import Column

VERSION = 2
"""Raised whenever the index holds something else."""
FIXED = """
CREATE TABLE about(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE seen(id INTEGER PRIMARY KEY, session TEXT UNIQUE, stamp TEXT);
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


TURNS = 100_000
"""A statement has the row `id of its run * TURNS + index of its turn`."""
FRESH = 3.0
"""Seconds for which the index is taken for up to date."""
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Stamps:
    """By what the files of a study are known again: the stamps of its sessions (JSON), and of its
    files of scores by name.
    """

    sessions: Mapping[str, list[int]]
    scores: Mapping[str, list[int]]
    settings: list[int]

    @cached_property
    def digest(self) -> str:
        """All of them in short."""
        stamps = list(self.sessions.items()), list(self.scores.items()), self.settings
        return hashlib.sha256(json.dumps(stamps).encode()).hexdigest()


class StudyIndex:
    """The index of one study. One connection serves all threads, in turn."""

    def __init__(self, runs: Runs, folder: Path | None = None) -> None:
        self.runs = runs
        place = hashlib.sha256(os.fsencode(runs.folder.resolve())).hexdigest()[:16]
        self.file = (folder or cache_folder()) / f"{place}.sqlite"
        self._facts = self.file.with_suffix(".facts.jsonl")
        self._lock, self._making = threading.RLock(), threading.Lock()
        self._looked = 0.0
        self._open: sqlite3.Connection | None = None
        self._opened: tuple[int, int] | None = None

    @property
    def digest(self) -> str:
        """What changes whenever the study does, as far as it was looked at; "" before the first
        time.
        """
        return self._about("digest") or ""

    def is_fresh(self, seconds: float) -> bool:
        """Whether the study was looked at less than so many seconds ago."""
        return time.monotonic() - self._looked < seconds

    def refresh(self, watch: Watch | None = None, seconds: float = 0.0) -> bool:
        """Bring the index up to date, unless it was less than so many seconds ago; whether anything
        had changed.
        """
        with self._making:
            if self.is_fresh(seconds):
                return False
            now = self._stamps()
            changed = now.digest != self.digest
            if changed:
                self._make(now, watch)
            self._looked = time.monotonic()
            return changed

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query gives."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def size(self) -> int:
        """How many sessions the study plans; 0 where its table was not read yet."""
        made = self.rows("SELECT 1 FROM sqlite_master WHERE name = 'design'")
        return self.rows("SELECT count(*) FROM design")[0][0] if made else 0

    def columns(self) -> list[Column]:
        """The columns of the study table, in order."""
        return [Column(**one) for one in json.loads(self._about("columns") or "[]")]

    def scores(self, session: str) -> list[Score]:
        """All scores of a session that can be read, of the highest version of each scorer."""
        versions: dict[str, list[tuple[int, Path]]] = {}
        for file in self.runs.scores_folder.glob("*.jsonl"):
            name, _, version = file.stem.rpartition(".v")
            number = int(version) if version.isdecimal() else 0
            versions.setdefault(name, []).append((number, file))
        scores: list[Score] = []
        for _, own in sorted(versions.items()):
            found: list[Score] = []
            for _, file in sorted(own, reverse=True):
                found = found or _scores_in(file, session)
            scores += found
        return scores

    def facts_file(self) -> Path:
        """The file beside it in which facts of sessions are kept, for its owner alone."""
        with suppress(OSError):
            private_folder(self._facts.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
            os.close(os.open(self._facts, flags, 0o600))
            for_its_owner(self._facts)
        return self._facts

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def delete(self) -> None:
        """Delete the file, and what is kept beside it: it is made anew when it is asked for."""
        with self._lock:
            self.close()
            for path in self.file.parent.glob(f"{self.file.stem}.*"):
                path.unlink(missing_ok=True)

    @property
    def _connection(self) -> sqlite3.Connection:
        """The index that is there; an empty one before one was made."""
        if self._open is None:
            try:
                self._open = self._connected()
            except (OSError, sqlite3.DatabaseError):  # none, damaged, or of another version
                self._open, self._opened = empty(":memory:"), None
        return self._open

    def _connected(self) -> sqlite3.Connection:
        for_its_owner(self.file)
        self._opened = identity(self.file)
        made = sqlite3.connect(self.file, check_same_thread=False, isolation_level=None)
        try:
            if made.execute("PRAGMA user_version").fetchone() != (VERSION,):
                raise sqlite3.DatabaseError("of another version")
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def _new(self) -> Generator[sqlite3.Connection]:
        """A copy of the index, to be changed; it takes its place when the context ends well, and is
        held in memory where no cache can be written.
        """
        file = self.file.with_suffix(".new.sqlite")
        try:
            private_folder(file.parent)
            # It holds what participants said, which is nobody else's.
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            os.close(os.open(file, flags, 0o600))
            for_its_owner(file)
            made = empty(str(file))
        except OSError:
            made = empty(":memory:")
        kept = made.execute("PRAGMA database_list").fetchone()[2]
        try:
            with self._lock:
                self._connection.backup(made)
            made.execute("BEGIN")
            yield made
            made.execute("COMMIT")
        except BaseException:
            made.close()
            if kept:
                file.unlink(missing_ok=True)
            raise
        with self._lock:
            self.close()
            if kept:
                made.close()
                os.replace(file, self.file)
            else:
                self._open, self._opened = made, None

    def _about(self, name: str) -> str | None:
        found = self.rows("SELECT value FROM about WHERE name = ?", [name])
        return found[0][0] if found else None

    def _stamps(self) -> Stamps:
        scores = {}
        with suppress(OSError):
            for entry in sorted(os.scandir(self.runs.scores_folder), key=lambda one: one.name):
                if entry.name.endswith(".jsonl"):
                    scores[entry.name] = stamp_of(entry.path)
        sessions = begun_sessions(self.runs)
        settings = stamp_of(str(self.runs.folder / "study.json"))
        return Stamps(dict(sorted(sessions.items())), scores, settings)

    def _make(self, now: Stamps, watch: Watch | None) -> None:
        """Make anew what is older than the files of the study."""
        with self._in_turn():
            if now.digest == self.digest:  # another process made it meanwhile
                return
            before = json.loads(self._about("scores") or "null")
            with self._new() as database:
                self._read_table(database, before != dict(now.scores), watch)
                self._read_statements(database, now.sessions, watch)
                told = {"digest": now.digest, "scores": json.dumps(dict(now.scores))}
                database.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", told.items())

    @contextmanager
    def _in_turn(self) -> Generator[None]:
        """Wait until no other process makes this index, and take over what it made."""
        lock = self.file.with_suffix(".lock")
        try:
            private_folder(lock.parent)
            os.close(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        except OSError:  # it is held in memory, which no other process sees
            yield
            return
        with in_turn(lock):
            with self._lock:
                if self._opened != identity(self.file):
                    self.close()
            yield

    def _read_table(
        self, database: sqlite3.Connection, rescored: bool, watch: Watch | None
    ) -> None:
        """Write the table of the study: its design and counts, and where scores changed also its
        measures.
        """
        from delibsim.analysis.study.study_table import fixed_columns
        from delibsim.conduct.analysed import design_table, study_table  # pandas is slow to import

        fixed = {column.name for own in fixed_columns() for column in own}
        if rescored:
            table = study_table(self.runs, watch, score=False, kept_in=self.facts_file())
        else:
            table = design_table(self.runs, watch, self.facts_file())
        names = [column.name for column in table.columns]
        places = [place for place, name in enumerate(names) if name in fixed]
        others = [names.index("session")]
        others += [place for place, name in enumerate(names) if name not in fixed]
        rows = [list(map(kept_value, row)) for row in table.plain_rows()]
        write_table(database, "design", [names[place] for place in places], places, rows)
        if rescored:
            write_table(database, "measured", [names[place] for place in others], others, rows)
            columns = json.dumps([asdict(column) for column in table.columns])
            database.execute("INSERT OR REPLACE INTO about VALUES ('columns', ?)", [columns])

    def _read_statements(
        self,
        database: sqlite3.Connection,
        sessions: Mapping[str, list[int]],
        watch: Watch | None,
    ) -> None:
        """Write what was said in the runs that are new."""
        seen = database.execute("SELECT session, id, stamp FROM seen").fetchall()
        stamps = {session: stamp for session, _, stamp in seen}
        new = [name for name, stamp in sessions.items() if stamps.get(name) != json.dumps(stamp)]
        gone = [session for session in stamps if session not in sessions]
        for session, id, _ in seen:
            if session in sessions and stamps[session] == json.dumps(sessions[session]):
                continue
            first = id * TURNS
            span = [first, first + TURNS - 1]
            database.execute("DELETE FROM said WHERE rowid BETWEEN ? AND ?", span)
        database.executemany("DELETE FROM seen WHERE session = ?", [(name,) for name in gone])
        for n, session in enumerate(new):
            if watch is not None:
                watch("reading statements", n, len(new))
            stamp = json.dumps(sessions[session])
            database.execute(
                "INSERT INTO seen(session, stamp) VALUES (?1, ?2)"
                " ON CONFLICT(session) DO UPDATE SET stamp = ?2",
                [session, stamp],
            )
            found = database.execute("SELECT id FROM seen WHERE session = ?", [session])
            first = found.fetchone()[0] * TURNS
            told = []
            for turn, speaker, text in _spoken(self.runs, session):
                if 0 <= turn < TURNS:
                    told.append((first + turn, whole(text), whole(speaker)))
            database.executemany(
                "INSERT OR REPLACE INTO said(rowid, text, speaker) VALUES (?, ?, ?)", told
            )


def _scores_in(file: Path, session: str) -> list[Score]:
    """The scores of a session in a file, which is looked through: to read every line takes
    seconds.
    """
    begins, found = json.dumps(session)[:-1].encode(), []
    with (
        suppress(OSError, ValueError),  # there is none, or it is empty
        file.open("rb") as lines,
        mmap(lines.fileno(), 0, access=ACCESS_READ) as held,
    ):
        at = held.find(begins)
        while at >= 0:
            end = held.find(b"\n", at)
            end = len(held) if end < 0 else end
            line = held[held.rfind(b"\n", 0, at) + 1 : end]
            with suppress(codec.Damaged, ValueError, AttributeError):
                score = codec.score_from_plain(json.loads(line))
                if score.target.partition("/")[0] == session:
                    found.append(score)
            at = held.find(begins, end)
    return found


def _spoken(runs: Runs, session: str) -> list[tuple[int, str, str]]:
    """The statements of a run, each with turn and speaker; [] where no run can be read.

    Nothing else of the run is checked: who needs more reads it with `Runs.run`.
    """
    path = runs.path(session) / "run.json"
    try:
        return [_said(statement) for statement in json_value(file_bytes(path))["transcript"]]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def _said(statement: Any) -> tuple[int, str, str]:
    turn, text = statement["turn"], statement["text"]
    if type(turn["index"]) is not int or type(turn["speaker"]) is not str or type(text) is not str:
        raise TypeError("not the statement of a run")
    return turn["index"], turn["speaker"], text
