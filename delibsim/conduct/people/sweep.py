"""Taking out of a study what was made of the words of a person who withdraws.

What was derived by rules is deleted line by line: scores, annotations, their records. What a
command writes anew as a whole, exports and reports, is deleted as a whole.
"""

import html
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.quoted import Quoted
from delibsim.store.annotations import ANNOTATIONS, TaskFolder, tasks_of
from delibsim.store.branch_folders import BRANCHES
from delibsim.store.files import json_text, write_atomically
from delibsim.store.judgments import OPINIONS
from delibsim.store.own_folder import MANIFEST
from delibsim.store.people.tables import NAMES, PEOPLE
from delibsim.store.ratings import RATINGS
from delibsim.store.reading import json_value
from delibsim.store.runs import BENCH, EXPORT, Runs
from delibsim.store.withdrawn import FILE

OF_STUDY = (
    "study.json",
    "people.yaml",
    "served.json",
    "fingerprints.jsonl",
    "task.json",
    "scheme.json",
    "packs",
)
"""What describes the study and its tasks: nothing of it was said by anybody."""
ALONE = ("session.json", FILE)
"""What stays of a session that was withdrawn."""
MADE_ANEW = (EXPORT, BENCH, PEOPLE, "analysis")
"""Folders that a command writes as a whole."""
LISTED = ("texts", "not_coded")
"""What in the settings of a task lists texts, by their ids."""
TAG = re.compile("<[^>]*>")


@dataclass(frozen=True)
class Gone:
    """What goes: all of a session ("" for none), all that these coders gave, all that quotes."""

    words: Quoted
    session: str = ""
    coders: frozenset[str] = frozenset()

    def names(self, text: str) -> bool:
        """Whether a text names the session, or anything of it.

        >>> gone = Gone(Quoted(frozenset()), "a.r1")
        >>> gone.names("text dqi a.r1/3"), gone.names("a.r10/3")
        (True, False)
        """
        if not self.session or self.session not in text:
            return False
        name = re.escape(self.session)
        return re.search(rf"(?<![\w.-]){name}(?![\w-]|\.\w)", text) is not None

    def has(self, value: Any) -> bool:
        """Whether plain values hold anything that goes."""
        for text in texts_in(value):
            if text in self.coders or self.names(text) or self.words.within(text):
                return True
        return False


def sweep(runs: Runs, gone: Gone) -> list[str]:
    """Take out of a study, but not out of its sessions, what goes; what was deleted, a line each.

    It may be ended at any place and begun again.
    """
    told = []
    for name in MADE_ANEW:
        if (runs.folder / name).is_dir():
            shutil.rmtree(runs.folder / name)
            told.append(f"{name}/ was deleted: the command that wrote it writes it anew")
    if gone.session and (runs.folder / RATINGS / gone.session).is_dir():
        shutil.rmtree(runs.folder / RATINGS / gone.session)
    _forget_texts(runs, gone)
    for path in list(_files(runs)):
        if path.suffix == ".jsonl":
            _filter_lines(path, gone)
        elif path.name == OPINIONS and path.relative_to(runs.folder).parts[0] == ANNOTATIONS:
            _filter_opinions(path, gone)
        elif _is_touched(path, gone):
            path.unlink(missing_ok=True)
            told.append(f"{path.relative_to(runs.folder)} was deleted: it quoted what was deleted")
    return told


def quotes(folder: Path, words: Quoted) -> bool:
    """Whether a file in a folder quotes what goes."""
    gone = Gone(words)
    for path in folder.iterdir():
        if path.suffix == ".jsonl":
            if any(gone.has(_plain(line)) for line in path.read_bytes().split(b"\n")):
                return True
        elif path.is_file() and _is_touched(path, gone):
            return True
    return False


def remove_names(runs: Runs) -> None:
    """Remove an export of the register that says who people are, where it lies in the study."""
    if (runs.folder / PEOPLE / f"{NAMES}.csv").is_file():
        shutil.rmtree(runs.folder / PEOPLE)


def empty_session(runs: Runs, session: str) -> None:
    """Delete what lies in the folder of a session, but its plan and its tombstone."""
    folder = runs.path(session)
    for path in folder.iterdir():
        if path.name in ALONE:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    sync(folder)


def sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _files(runs: Runs) -> Iterator[Path]:
    """The files of a study that were derived: none of its sessions, its branches, its register."""
    sessions = set(runs.sessions())
    for folder, names, files in os.walk(runs.folder):
        here = Path(folder)
        if here == runs.folder:
            names[:] = [name for name in names if name not in sessions and name not in BRANCHES]
        for name in [one for one in names if one.endswith(".tmp")]:
            shutil.rmtree(here / name)  # left by a process that was killed
            names.remove(name)
        for name in files:
            path = here / name
            if name.startswith("people.sqlite") or name in (".lock", ".people", ".raters"):
                continue
            if not _describes(path.relative_to(runs.folder)):
                yield path


def _describes(path: Path) -> bool:
    """Whether a file describes the study or a task of it."""
    if len(path.parts) == 1:
        return path.name in OF_STUDY
    of_task = path.parts[0] in (ANNOTATIONS, RATINGS)
    return of_task and (path.name in OF_STUDY or "packs" in path.parts or path.suffix == ".yaml")


def _is_touched(path: Path, gone: Gone) -> bool:
    """Whether a file that is no file of lines quotes what goes, or cannot be looked through."""
    data = path.read_bytes()
    if path.name.endswith(".tmp"):
        return True  # left by a process that was killed
    if b"\0" in data or path.suffix in (".parquet", ".xlsx", ".zip", ".gz"):
        return path.parent.joinpath(MANIFEST).is_file()
    text = data.decode("utf-8", errors="replace")
    if path.suffix == ".json":
        try:
            return any(gone.words.within(one) for one in texts_in(json.loads(text)))
        except ValueError:
            pass
    return gone.words.within(html.unescape(TAG.sub(" ", text)))


def _forget_texts(runs: Runs, gone: Gone) -> None:
    """Take the texts of a session from the lists of the tasks that they were put before coders in:
    nobody misses them there.
    """
    for task in tasks_of(runs):
        files = TaskFolder.of(runs, task)
        known: dict[str, Any] = {}
        with suppress(WrongInput):  # damaged: it is told by who reads the task
            known = files.task()
        changed = False
        for part in LISTED:
            own = known.get(part)
            if isinstance(own, dict) and any(map(gone.names, own)):
                known[part] = {name: one for name, one in own.items() if not gone.names(name)}
                changed = True
        if changed:
            files.settle(known)


def _filter_opinions(path: Path, gone: Gone) -> None:
    """Take the opinions out that go: of a coder those under her name, else those that quote."""
    try:
        before = json.loads(path.read_bytes())
    except ValueError:
        path.unlink()
        return
    kept = {}
    for name, text in before.items():
        if gone.coders:
            goes = name in gone.coders
        else:
            goes = gone.names(name) or gone.words.within(str(text))
        if not goes:
            kept[name] = text
    if len(kept) < len(before):
        write_atomically(path, json_text(kept, indent=1), durable=True)


def _filter_lines(path: Path, gone: Gone) -> None:
    """Take the lines that go out of a file of JSON objects; an empty file goes as a whole."""
    kept, n = [], 0
    with path.open("rb") as file:
        for line in file:
            n += 1
            if not gone.has(_plain(line)):
                kept.append(line)
    if len(kept) == n:
        return
    if not any(line.strip() for line in kept):
        path.unlink()
    else:
        new = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
        with new.open("wb") as file:
            file.writelines(kept)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    sync(path.parent)


def _plain(line: bytes) -> Any:
    """The values of a line; its text, where it is damaged."""
    try:
        return json_value(line)
    except ValueError:
        return line.decode("utf-8", errors="replace")


def texts_in(value: Any) -> Iterable[str]:
    """Every text in plain values, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, own in value.items():
            yield str(name)
            yield from texts_in(own)
    elif isinstance(value, list):
        for own in value:
            yield from texts_in(own)
