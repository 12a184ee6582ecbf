"""Taking out of a study what was made of the words of a person who withdraws.

What a command makes again is deleted: tables, reports, indices, and scores that compare runs or
read answers. Other scores take long to make, and what was asked of models and people is not made
again: of these the parts go that name a session or a coder, or quote the person. Any other file
goes that quotes her.
"""

import html
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.domain.word_differences import Quoted
from delibsim.store.annotations import ANNOTATIONS, TASK
from delibsim.store.files import is_left, json_text, write_atomically
from delibsim.store.own_folder import MANIFEST
from delibsim.store.people.tables import PEOPLE
from delibsim.store.reading import json_value
from delibsim.store.runs import BENCH, EXPORT, SCORES, Runs
from delibsim.store.session_files import BRANCHES, TOMBSTONE
from delibsim.store.session_notes import FILE as NOTES

MADE_AGAIN = {
    EXPORT: "delibsim export {}",
    BENCH: "delibsim export {} --as bench",
    PEOPLE: "delibsim people export {}",
    "analysis": "delibsim analyze {}",
}
"""Folders that a command writes as a whole from what is kept."""
OF_ONE_RUN = ("agreement", "aqua", "consensus", "dri", "speeches")
"""The scorers whose scores of a run rest on that run alone: those of other runs stay."""
TRANSLATIONS = Path("aqua") / "translations.jsonl"
"""What AQuA keeps of texts of all studies, in the working folder: their words, and in German."""
INDICES = (NOTES,)
"""Files that are made again by themselves."""
OF_STUDY = ("study.json", "people.yaml", "served.json", "fingerprints.jsonl")
"""Files that describe the study: nothing of them was said by anybody."""
OF_TASK = ("scheme.json", "packs")
"""Files and folders that describe a task; forms in YAML do so too."""
LOCKS = (".lock", ".people", ".raters", ".serving")
ALONE = ("session.json", TOMBSTONE)
"""What stays of a session that was withdrawn."""
TAG = re.compile("<[^>]*>")


@dataclass(frozen=True)
class Gone:
    """What goes: all of a session ("" for none), all that these coders gave, all that quotes."""

    words: Quoted
    session: str = ""
    coders: frozenset[str] = frozenset()

    def names(self, text: str) -> bool:
        """Whether a text is a coder, or names the session or anything of it.

        >>> gone = Gone(Quoted(frozenset()), "a.r1")
        >>> gone.names("text dqi a.r1/3"), gone.names("a.r10/3")
        (True, False)
        """
        if text in self.coders:
            return True
        if not self.session or self.session not in text:
            return False
        name = re.escape(self.session)
        return re.search(rf"(?<![\w.-]){name}(?![\w-]|\.\w)", text) is not None

    def has(self, value: Any) -> bool:
        """Whether plain values hold anything that goes."""
        return any(self.names(text) or self.words.within(text) for text in texts_in(value))

    def quoted_in(self, path: Path) -> bool:
        """Whether a file that is no file of lines quotes what goes, or cannot be looked through."""
        data = path.read_bytes()
        if b"\0" in data or path.suffix in (".parquet", ".xlsx", ".zip", ".gz"):
            return path.parent.joinpath(MANIFEST).is_file()
        text = data.decode("utf-8", errors="replace")
        if path.suffix == ".json":
            text = "\n".join(texts_in(_plain(data)))
        return self.words.within(html.unescape(TAG.sub(" ", text)))


def sweep(runs: Runs, gone: Gone) -> list[str]:
    """Take out of a study, but not out of its sessions, what goes; what was deleted, a line each,
    and how it is made again. It may be ended at any place and begun again.
    """
    told, study = [], runs.study.partition("/")[0]
    for name, command in MADE_AGAIN.items():
        if (runs.folder / name).is_dir():
            shutil.rmtree(runs.folder / name)
            told.append(f"{name}/ was deleted; {command.format(study)} makes it again")
    if _delete_scores(runs):
        told.append(
            f"scores/ of several runs were deleted; delibsim score {study} makes them again"
        )
    for name in INDICES:
        (runs.folder / name).unlink(missing_ok=True)
    for folder in {Path.cwd(), runs.folder.resolve().parents[1]}:
        if (translated := folder / TRANSLATIONS).is_file():
            _filter_lines(translated, gone)
    for path in list(_files(runs)):
        asked = path.relative_to(runs.folder).parts[0] == ANNOTATIONS
        if path.suffix == ".jsonl":
            _filter_lines(path, gone)
        elif asked and path.suffix == ".json":
            _filter_entries(path, gone)
        elif gone.quoted_in(path):
            path.unlink()
            told.append(f"{path.relative_to(runs.folder)} was deleted: it quoted what was deleted")
    return told


def _delete_scores(runs: Runs) -> bool:
    """Delete the files of scorers whose scores rest on more than one run; whether there were any.
    Of the others the lines go that name what goes, as of every file of lines.
    """
    found = [path for path in (runs.folder / SCORES).rglob("*") if path.is_file()]
    gone = [path for path in found if path.name.partition(".")[0] not in OF_ONE_RUN]
    for path in gone:
        path.unlink()
    return bool(gone)


def quotes(folder: Path, words: Quoted) -> bool:
    """Whether a file in the folder of a session quotes what goes."""
    gone = Gone(words)
    for path in filter(Path.is_file, folder.iterdir()):
        if path.suffix != ".jsonl":
            if gone.quoted_in(path):
                return True
        elif any(map(gone.has, map(_plain, path.read_bytes().split(b"\n")))):
            return True
    return False


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
    _sync(folder)


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


def _files(runs: Runs) -> Iterator[Path]:
    """The files of a study that may hold words: none of its sessions, branches and register, none
    that describes it. What a killed process has left half written goes at once.
    """
    sessions = {*runs.sessions(), *BRANCHES}
    for folder, names, files in os.walk(runs.folder):
        here = Path(folder)
        top = here == runs.folder
        for name in list(names):
            if name.endswith(".tmp"):
                shutil.rmtree(here / name)
            if name.endswith(".tmp") or name in OF_TASK or (top and name in sessions):
                names.remove(name)
        for name in files:
            path = here / name
            if is_left(name):
                path.unlink(missing_ok=True)
            elif not (
                name.endswith(".tmp")
                or _describes(name, top)
                or name.startswith("people.sqlite")
                or name in LOCKS
            ):
                yield path


def _describes(name: str, top: bool) -> bool:
    """Whether a file describes the study, whose folder is at the `top`, or a task of it."""
    return name in OF_STUDY if top else name in OF_TASK or name.endswith(".yaml")


def _filter_entries(path: Path, gone: Gone) -> None:
    """Take the entries out of a file of JSON that go; of what a task asks, those of its texts."""
    data = path.read_bytes()
    try:
        before = json.loads(data)
    except ValueError:
        path.unlink()
        return
    after = _without(before, gone, by_name=path.name == TASK)
    if after != before:
        write_atomically(path, json_text(after, indent=1), durable=True)


def _without(value: Any, gone: Gone, by_name: bool) -> Any:
    """Plain values without the entries that go: of a coder those under the name, of a session those
    under its name and, unless they go `by_name` alone, those that quote.
    """
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, own in value.items():
        says = isinstance(own, str) and not (by_name or gone.coders)
        if not (gone.names(name) or (says and gone.words.within(own))):
            kept[name] = _without(own, gone, by_name)
    return kept


def _filter_lines(path: Path, gone: Gone) -> None:
    """Take the lines that go out of a file of JSON objects; an empty file goes as a whole."""
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not gone.has(_plain(line))]
    if len(kept) == len(lines):
        return
    if b"".join(kept).strip():
        write_atomically(path, b"".join(kept).decode("utf-8", errors="replace"), durable=True)
    else:
        path.unlink()
        _sync(path.parent)


def _plain(data: bytes) -> Any:
    """The values of a text in JSON; the text itself, where it is damaged."""
    try:
        return json_value(data)
    except ValueError:
        return data.decode("utf-8", errors="replace")


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
