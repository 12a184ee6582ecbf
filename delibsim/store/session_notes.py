"""What was found in the sessions of a study that were read: a line a session in one file beside
them, which holds as long as the files of the session are as they were.

Runs never change once they are written, and reading every run and record of a large study takes
minutes. Nothing that anybody said is kept. The file can be removed at any time.
"""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from delibsim.domain.run import Session
from delibsim.store.codec import NAMES, Damaged
from delibsim.store.files import append_line, each_line, json_text, written_atomically
from delibsim.store.reading import file_bytes, json_value
from delibsim.store.runs import Runs

FILE = "sessions.jsonl"
EDITION = 2
"""Of another edition nothing is taken."""
FILES = ("session.json", "run.json", "exchanges.jsonl", "withdrawn.json")
Found = Mapping[str, Any]
"""What is kept of a session under a name: `facts` for tables, `status` for `delibsim status`."""


class SessionNotes:
    """What is kept of the sessions of a study, in its own file and in one that lies `elsewhere`.

    What is new is kept there, by default in the folder of the study. Sessions whose plans are equal
    but for their names share what else they hold: of these one plan is read. In memory lines are
    as they were written, a third of what they are when read.
    """

    def __init__(self, runs: Runs, elsewhere: Path | None = None) -> None:
        self.runs, self.file = runs, elsewhere or runs.folder / FILE
        self._plans: dict[str, Session] = {}
        self._lines: dict[str, bytes] = {}
        for path in dict.fromkeys((runs.folder / FILE, self.file)):
            for written, line in _lines_of(path):
                self._take(written, line)
        self._all = frozenset(self._lines)

    def _take(self, written: bytes, line: dict[str, Any]) -> None:
        session = str(line.get("session"))
        before = self._line(session)
        if before.get("files") == line.get("files"):
            written = json_text(before | line).encode()
        self._lines[session] = written

    def _line(self, session: str) -> dict[str, Any]:
        """The line of a session; an empty one where nothing is kept of it."""
        return json_value(self._lines[session]) if session in self._lines else {}

    def of(self, session: str, part: str) -> Found | None:
        """What is kept of a session under this name; None where nothing is, or a file of it has
        changed.
        """
        line = self._line(session)
        found = line.get(part)
        if isinstance(found, Mapping) and line.get("files") == _files(self.runs, session):
            return found
        return None

    def plan(self, session: str) -> Session:
        """The plan of a session of which something is kept; LookupError or TypeError where the line
        does not tell which.
        """
        names = self._line(session)["plan"]
        own = {name: kind(names[name]) for name, kind in NAMES.items()}
        alike = str(names["alike"])
        if alike not in self._plans:
            self._plans[alike] = self.runs.planned(session)
        return replace(self._plans[alike], **own)

    def planned(self, session: str) -> Session:
        """The plan of a session that was begun, from its file where nothing is kept of it; Damaged
        if that cannot be read.
        """
        if self._line(session).get("files") == _files(self.runs, session):
            with suppress(LookupError, TypeError, ValueError):
                return self.plan(session)
        return self.runs.planned(session)

    def plans(self) -> Iterator[tuple[str, Session]]:
        """The name and the plan of every session that was begun, where it can be read."""
        for session in self.runs.sessions():
            with suppress(Damaged):
                yield session, self.planned(session)

    def alike(self, session: str) -> str:
        """By what the plans are known that differ from that of a session in their names alone."""
        return str(self._line(session)["plan"]["alike"])

    def keep(self, plan: Session, found: Mapping[str, Found]) -> None:
        """Keep what was found in a session, by name. Where nothing may be written nothing is kept:
        such a study is read anew each time.
        """
        line = keep(self.runs, plan, found, self.file)
        self._take(json_text(line).encode(), line)

    def forget(self, session: str) -> None:
        """Hold in memory no longer what is kept of a session."""
        self._lines.pop(session, None)

    def forget_others(self, sessions: Collection[str]) -> None:
        """Leave out the lines that no longer hold: only those of these sessions do."""
        if self._all <= set(sessions):
            return
        lines = SessionNotes(self.runs, self.file)._lines
        with suppress(OSError), written_atomically(self.file) as write:
            for session, line in lines.items():
                if session in sessions:
                    write(f"{line.decode()}\n")


def keep(
    runs: Runs, plan: Session, found: Mapping[str, Found], file: Path | None = None
) -> dict[str, Any]:
    """Keep what was found in a session of a study, by name (see `SessionNotes.keep`); its line."""
    names = {name: getattr(plan, name) for name in NAMES}
    line = {
        "session": plan.id,
        "edition": EDITION,
        "files": _files(runs, plan.id),
        "plan": {**names, "alike": _alike(runs, plan.id)},
        **found,
    }
    with suppress(OSError):
        append_line(file or runs.folder / FILE, line)
    return line


def _lines_of(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The lines of a file of this edition; none of a link, which may lead anywhere."""
    if path.is_symlink():
        return
    with suppress(OSError):
        for written, line in each_line(path):
            if line is not None and line.get("edition") == EDITION:
                yield written, line


def _alike(runs: Runs, session: str) -> str:
    """What the plan of a session has alike with those that differ in their names alone, as a
    digest.
    """
    plain = json_value(file_bytes(runs.path(session) / "session.json"))
    rest = {name: value for name, value in plain.items() if name not in NAMES}
    return hashlib.blake2b(json_text(rest).encode(), digest_size=16).hexdigest()


def _files(runs: Runs, session: str) -> list[list[int]]:
    """The stamp of each file of a session."""
    return [stamp_of(f"{runs.folder}/{session}/{name}") for name in FILES]


def stamp_of(path: str) -> list[int]:
    """Size and time of the last change of a file, by which another is known; [] of none."""
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]


def begun_sessions(runs: Runs) -> dict[str, list[int]]:
    """The sessions that were begun, each with the stamp of its run; [] where it has none."""
    found = {}
    with os.scandir(runs.folder) as entries:
        for entry in entries:
            if os.path.isfile(f"{entry.path}/session.json"):
                found[entry.name] = stamp_of(f"{entry.path}/run.json")
    return found
