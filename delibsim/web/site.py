"""What is read: the studies of a folder, or one of them, by the names of their folders."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from delibsim.conduct.reading.comparisons import Comparisons, comparisons_of
from delibsim.conduct.reading.index import FRESH, StudyIndex
from delibsim.conduct.reading.listing import Columns, columns_of
from delibsim.conduct.reading.overview import Overview, figures_of, overview_of, report_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.study import natural
from delibsim.store.branch_folders import BRANCHES
from delibsim.store.branches import is_of_branches
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.session_facts import begun_sessions

T = TypeVar("T")
Watch = Callable[[str, int, int], None]


MOST_COMPARED = 500
"""Pairs of runs of one kind, above which none is compared in a folder of pages."""
BRANCH = "~"
"""What parts the name of a study from that of its forks or probes, in addresses."""


def address_of(runs: Runs) -> str:
    """The name of a study in addresses; that of forks or probes has the study's before it."""
    if is_of_branches(runs):
        return f"{runs.folder.parent.name}{BRANCH}{runs.folder.name}"
    return runs.folder.name


class NotFound(Exception):
    """There is no such page; the message says what is missing."""


@dataclass
class Site:
    """The studies that are read, and how: `only` is the one study of them that is shown, if one was
    named, `alone` the one session of it. `private` leaves out personas and the answers of people,
    `read_only` keeps no notes, `static` is a folder of pages in the place of a server. An index is
    taken for up to date for `fresh` seconds.
    """

    root: Path
    only: Runs | None = None
    alone: str = ""
    private: bool = False
    read_only: bool = False
    static: bool = False
    cache: Path | None = None
    fresh: float = FRESH
    _indexes: dict[str, StudyIndex] = field(default_factory=dict)
    _kept: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    _compared: dict[str, Comparisons] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def folders(self) -> dict[str, Path]:
        """The folders of all studies by their name, in the order in which people read them."""
        if self.only is not None:
            found = {address_of(self.only): self.only.folder}
        else:
            found = {path.parent.name: path.parent for path in self.root.glob("*/study.json")}
        for name, folder in list(found.items()):
            for kind in BRANCHES:
                if (folder / kind / "study.json").is_file():
                    found[f"{name}{BRANCH}{kind}"] = folder / kind
        return {name: found[name] for name in sorted(found, key=natural)}

    def runs(self, folder: str) -> Runs:
        """The study in a folder of this name; NotFound if there is none."""
        known = self.folders()
        if folder not in known:
            raise NotFound("there is no such study")
        return Runs.at(known[folder].resolve())

    def index(self, folder: str, watch: Watch | None = None) -> StudyIndex:
        """The index of a study, up to date to some seconds."""
        runs = self.runs(folder)
        with self._lock:
            if folder not in self._indexes:
                self._indexes[folder] = StudyIndex(runs, self.cache)
            index = self._indexes[folder]
        if not StudyTexts(runs).held():
            index.refresh(watch, self.fresh)
        return index

    def overview(self, index: StudyIndex) -> Overview:
        """The study at a glance; made anew when it has changed."""
        return self._made("overview", index, overview_of)

    def columns(self, index: StudyIndex) -> Columns:
        """What the runs of the study can be filtered and sorted by."""
        return self._made("columns", index, columns_of)

    def figures(self, folder: str) -> list[str]:
        """The figures of `delibsim analyze` that are shown; none where personas and the answers of
        people are left out, since they may hold them.
        """
        return [] if self.private else figures_of(self.runs(folder))

    def report(self, folder: str) -> Path | None:
        """The report of `delibsim analyze`, where it is shown; None where it is not, or is not
        there.
        """
        return None if self.private else report_of(self.runs(folder))

    def comparisons(self, folder: str) -> Comparisons:
        """The pairs of runs that have a page of their own in a folder of pages; none where runs are
        not compared, or where one of them is shown alone. They are found once, so that links hold
        while a study goes on.
        """
        if not self.static or self.private or self.alone or BRANCH in folder:
            return Comparisons()
        if folder not in self._compared:
            self._compared[folder] = comparisons_of(self.runs(folder), MOST_COMPARED)
        return self._compared[folder]

    def _made(self, what: str, index: StudyIndex, make: Callable[[StudyIndex], T]) -> T:
        """What is made of an index, kept until the study has changed."""
        name, digest = (what, str(index.runs.folder)), index.digest
        kept = self._kept.get(name)
        if kept is None or kept[0] != digest:
            kept = digest, make(index)
            self._kept[name] = kept
        return kept[1]

    def session(self, folder: str, session: str) -> StudyIndex:
        """The index of a study that has this session; NotFound if it has none of that name."""
        runs = self.runs(folder)
        try:
            begun = (runs.path(session) / "session.json").is_file()
        except (WrongInput, OSError, ValueError):
            begun = False
        # On a file system that ignores case another name would lead to the same folder.
        if not begun or not is_name(session):
            raise NotFound("there is no such run in this study")
        with self._lock:
            kept = self._indexes.get(folder)
        return kept or self.index(folder)

    def listed(self) -> tuple[list[dict[str, Any]], list[str]]:
        """All studies with how many sessions are planned and held, and what cannot be read."""
        rows, faults = [], []
        for name, path in self.folders().items():
            if BRANCH in name:
                continue
            try:
                runs = Runs.at(path.resolve())
            except WrongInput:
                faults.append(f"{name}: its study.json cannot be read")
                continue
            begun, texts = begun_sessions(runs), StudyTexts(runs)
            manifest = runs.manifest()
            planned = {*begun, *(manifest.sessions if manifest else ())}
            counts = {"sessions": len(planned), "held": sum(map(bool, begun.values()))}
            now = "being held" if runs.holder() else ""
            number = texts.count() if texts.held() else ""
            rows.append(
                {"study": runs.study, "folder": name, **counts, "texts": number, "now": now}
            )
        return rows, faults

    def close(self) -> None:
        """Close all indexes."""
        for index in self._indexes.values():
            index.close()


def is_name(text: str) -> bool:
    """Whether a text can be the name of one folder within another, and no more."""
    return bool(text) and text not in (".", "..") and not set(text) & set("/\\\0:~")
