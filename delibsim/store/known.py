"""What an earlier look at the sessions of a study found, kept beside them, valid as long as their
files are as they were.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from delibsim.store.files import append_line, read_lines

FILE = ".known.jsonl"
"""One line a look at a session, of which the last counts. It can be removed at any time."""
FILES = ("session.json", "run.json", "exchanges.jsonl", "withdrawn.json")
EDITION = 1
"""Of another edition nothing is taken."""


class Known:
    """What is known of the sessions in a folder of a study."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._file = folder / FILE
        self._found: dict[str, Mapping[str, Any]] = {}
        for line in read_lines(self._file)[0]:
            if line.get("edition") == EDITION:
                self._found[str(line.get("session"))] = line

    def of(self, session: str) -> Mapping[str, Any] | None:
        """What was found in a session; None where nothing is known, or a file has changed."""
        line = self._found.get(session)
        if line is None or line.get("files") != _files(self._folder, session):
            return None
        found = line.get("found")
        return found if isinstance(found, Mapping) else None


def keep(folder: Path, session: str, found: Mapping[str, Any]) -> None:
    """Keep what was found in a session, as its files are now; nothing where it cannot be kept."""
    line = {"session": session, "edition": EDITION, "files": _files(str(folder), session)}
    with suppress(OSError):
        append_line(folder / FILE, {**line, "found": found})


def _files(folder: str, session: str) -> list[list[int]]:
    """Size and time of the last change of each file of a session; nothing for one that is not
    there.
    """
    found = []
    for name in FILES:
        try:
            status = os.stat(f"{folder}/{session}/{name}")
        except OSError:
            found.append([])
        else:
            found.append([status.st_size, status.st_mtime_ns])
    return found
