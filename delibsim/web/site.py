"""What is read: the studies of a folder, or one of them, by the names of their folders."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from delibsim.conduct.reading import written
from delibsim.conduct.reading.branch_links import RunPairs, comparisons_of
from delibsim.conduct.reading.index import FRESH, StudyIndex
from delibsim.conduct.reading.listing import ListColumns, Overview, columns_of, overview_of
from delibsim.conduct.reading.studies import ListedStudy, listed_study
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.store.places import is_of_branches
from delibsim.store.runs import SCORES, Runs
from delibsim.store.session_files import BRANCHES, FORKS
from delibsim.store.session_notes import FILE, stamp_of
from delibsim.store.study_texts import StudyTexts

if TYPE_CHECKING:
    from delibsim.analysis.result import Result
    from delibsim.conduct.reading.branch_links import Branching, ForkEffects

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
    taken for up to date for `fresh` seconds. It is made beside, and a page waits `patience` seconds
    for it. `damaged` says of sessions whose page was asked for and shows no run what is damaged.
    """

    root: Path
    only: Runs | None = None
    alone: str = ""
    private: bool = False
    read_only: bool = False
    static: bool = False
    cache: Path | None = None
    fresh: float = FRESH
    patience: float = inf
    damaged: dict[tuple[str, str], str] = field(default_factory=dict)
    _indexes: dict[str, StudyIndex] = field(default_factory=dict)
    _kept: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    _compared: dict[str, RunPairs] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)
    _checked: dict[Path, tuple[float, WrongInput | None]] = field(default_factory=dict)
    _work: dict[Path, Future[None]] = field(default_factory=dict)
    _stands: dict[Path, str] = field(default_factory=dict)
    _workers: ThreadPoolExecutor | None = None
    _models: "tuple[str, Future[tuple[Result, list[str]]]] | None" = None
    _closed: bool = False

    def folders(self) -> dict[str, Path]:
        """The folders of all studies by their name, in the order in which people read them."""
        if self.only is not None:
            found = {address_of(self.only): self.only.folder}
            bases = list(found.items())
        else:
            found = {path.parent.name: path.parent for path in self.root.glob("*/study.json")}
            bases = [(path.name, path) for path in self.root.glob("*")]
        for name, folder in bases:
            for kind in BRANCHES:
                place = folder / kind
                if (place / "study.json").is_file() and not place.is_symlink():
                    found[f"{name}{BRANCH}{kind}"] = place
        return {name: found[name] for name in sorted(found, key=natural)}

    def readable(self) -> list[str]:
        """The names of the studies that can be read."""
        found = []
        for name in self.folders():
            with suppress(WrongInput):
                self.runs(name)
                found.append(name)
        return found

    def runs(self, folder: str) -> Runs:
        """The study in a folder of this name; NotFound if there is none, WrongInput where it cannot
        be read or holds a link.
        """
        known = self.folders()
        if folder not in known:
            raise NotFound("there is no such study")
        self._refuse_links(known[folder])
        return Runs.at(known[folder].resolve())

    def _refuse_links(self, folder: Path) -> None:
        """WrongInput where a study holds a link, as far as was seen some seconds ago, or is one and
        was not named itself.
        """
        if self.only is None and folder.is_symlink():
            raise refused("study_is_a_link", named=folder.name)
        place = folder.resolve()
        looked, fault = self._checked.get(place, (-inf, None))
        if time.monotonic() - looked >= self.fresh:
            fault = None
            try:
                written.refuse_links(place)
            except WrongInput as error:
                fault = error
            self._checked[place] = time.monotonic(), fault
        if fault is not None:
            raise fault

    def index(
        self, folder: str, watch: Watch | None = None, patience: float | None = None
    ) -> StudyIndex:
        """The index of a study, up to date to some seconds, or as far as it is there while a new
        one is made (see `making`); `patience` in the place of that of all pages.
        """
        runs = self.runs(folder)
        with self._lock:
            if folder not in self._indexes:
                self._indexes[folder] = StudyIndex(runs, self.cache)
            index = self._indexes[folder]
        if StudyTexts(runs).held():
            return index
        if self.patience == inf:
            index.refresh(watch, self.fresh)
        else:
            self._wait(index, self.patience if patience is None else patience)
        return index

    def making(self, index: StudyIndex) -> str:
        """How far a new index of a study is; "" where none is being made."""
        work = self._work.get(index.file)
        if work is None or work.done():
            return ""
        return self._stands.get(index.file) or "the study is looked through"

    def _wait(self, index: StudyIndex, patience: float) -> None:
        """Have an index brought up to date beside, and wait a moment for it; what went wrong with
        it is raised once.
        """
        with self._lock:
            work = self._work.get(index.file)
            if work is not None and work.done():
                del self._work[index.file]
                work.result()
                work = None
            if work is None and not index.is_fresh(self.fresh):
                if self._workers is None:
                    self._workers = ThreadPoolExecutor(2, thread_name_prefix="index")
                self._stands.pop(index.file, None)
                work = self._workers.submit(self._make, index)
                self._work[index.file] = work
        if work is not None and wait([work], patience).done:
            self._work.pop(index.file, None)
            work.result()

    def _make(self, index: StudyIndex) -> None:
        """Bring an index up to date, and make of it what pages show."""

        def watch(what: str, n: int, of: int) -> None:
            if self._closed:
                raise InterruptedError("the reader was stopped")
            self._stands[index.file] = f"{what}, {n:,} of {of:,}"

        index.refresh(watch, self.fresh)
        if index.size():
            self._stands[index.file] = "means and counts"
            self._made("overview", index, overview_of)
            self._made("columns", index, columns_of)
            if has_forks(index.runs):
                self._stands[index.file] = "the effects of forks"
                self._made("effects", index, _effects_of)

    def overview(self, index: StudyIndex) -> Overview | None:
        """The study at a glance; made anew when it has changed. None while the first is made."""
        return self._made_of("overview", index, overview_of)

    def columns(self, index: StudyIndex) -> ListColumns | None:
        """What the runs of the study can be filtered and sorted by; None while that is made."""
        return self._made_of("columns", index, columns_of)

    def effects(self, index: StudyIndex) -> "ForkEffects | None":
        """The effects of forks; None while they are made."""
        return self._made_of("effects", index, _effects_of)

    def tree(self, index: StudyIndex) -> "Sequence[Branching]":
        """The forks of a study, by run, turn and change."""
        from delibsim.conduct.reading.branch_links import tree_of

        if self.making(index):
            return tree_of(index.runs)
        return self._made("tree", index, lambda index: tree_of(index.runs))

    def figures(self, folder: str) -> dict[str, tuple[str, str]]:
        """The figures of `delibsim analyze` that are shown, with title and words; none where
        personas and the answers of people are left out, since they may hold them.
        """
        return {} if self.private else written.figures_of(self.runs(folder))

    def figure(self, folder: str, name: str) -> bytes | None:
        """One of these figures; None where there is none of that name."""
        shown = not self.private and is_name(name)
        return written.figure_of(self.runs(folder), name) if shown else None

    def analysis_pages(self, folder: str) -> list[str]:
        """Which of the finding and the report of `delibsim analyze` are there and shown."""
        return [] if self.private else written.pages_of(self.runs(folder))

    def analysis_page(self, folder: str, name: str) -> bytes | None:
        """One of these pages; None where it is not shown, or is not there."""
        return None if self.private else written.page_of(self.runs(folder), name)

    def not_shown(self, folder: str) -> list[str]:
        """Which files of the analysis are not shown, and why."""
        return [] if self.private else written.not_shown(self.runs(folder))

    def comparisons(self, folder: str) -> RunPairs:
        """The pairs of runs that have a page of their own in a folder of pages; none where runs are
        not compared, or where one of them is shown alone. They are found once, so that links hold
        while a study goes on.
        """
        if not self.static or self.private or self.alone or BRANCH in folder:
            return RunPairs()
        if folder not in self._compared:
            self._compared[folder] = comparisons_of(self.runs(folder), MOST_COMPARED)
        return self._compared[folder]

    def _made_of(self, what: str, index: StudyIndex, make: Callable[[StudyIndex], T]) -> T | None:
        """What is made of an index; of the one before while it is made, None without one."""
        if self.making(index):
            kept = self._kept.get((what, str(index.runs.folder)))
            return None if kept is None else kept[1]
        return self._made(what, index, make) if index.size() else None

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
            begun = (runs.path(session) / "session.json").exists()
        except (WrongInput, OSError, ValueError):
            begun = False
        # On a file system that ignores case another name would lead to the same folder.
        if not begun or not is_name(session):
            raise NotFound("there is no such run in this study")
        with self._lock:
            kept = self._indexes.get(folder)
        return kept or self.index(folder)

    def listed(self) -> tuple[list[ListedStudy], list[str]]:
        """All studies as the first page shows them, and what cannot be read."""
        rows, faults = [], []
        folders = self.folders()
        for name, path in folders.items():
            base, mark, _ = name.rpartition(BRANCH)
            if mark and base in folders:
                continue
            try:
                self._refuse_links(path)
            except WrongInput as error:
                faults.append(str(error))
                continue
            try:
                runs = Runs.at(path.resolve())
                rows.append(listed_study(runs, name, self.private, not self.static))
            except WrongInput:
                faults.append(f"{name}: its study.json cannot be read")
        return rows, faults

    def model_results(self) -> "tuple[Result, list[str]] | None":
        """Models side by side over all studies, and what is left out, made beside and kept until a
        study changes; None while it is made.
        """
        folders = [path for name, path in self.folders().items() if BRANCH not in name]
        stamp = str([_stamps(folder) for folder in folders])
        with self._lock:
            if self._models is None or self._models[0] != stamp:
                if self._workers is None:
                    self._workers = ThreadPoolExecutor(2, thread_name_prefix="index")
                self._models = stamp, self._workers.submit(self._compare_models, folders)
            work = self._models[1]
        timeout = None if self.patience == inf else self.patience
        return work.result() if wait([work], timeout).done else None

    def _compare_models(self, folders: Sequence[Path]) -> "tuple[Result, list[str]]":
        from delibsim.conduct.model_results import results_of_models  # pandas is slow to import

        def watch(what: str, n: int, of: int) -> None:
            if self._closed:
                raise InterruptedError("the reader was stopped")

        def kept_in(runs: Runs) -> Path:
            return StudyIndex(runs, self.cache).facts_file()

        return results_of_models(folders, watch, kept_in)

    def close(self) -> None:
        """Close all indexes, and end what is being made."""
        self._closed = True
        if self._workers is not None:
            self._workers.shutdown(wait=True, cancel_futures=True)
        for index in self._indexes.values():
            index.close()


def has_forks(runs: Runs) -> bool:
    """Whether these are the forks of a study."""
    return is_of_branches(runs) and runs.folder.name == FORKS


def _stamps(folder: Path) -> list[list[int]]:
    """By what it is seen that sessions of a study were held or scored."""
    names = [str(folder / name) for name in ("study.json", FILE)]
    scores = sorted(map(str, (folder / SCORES).glob("*.jsonl")))
    return [stamp_of(name) for name in (*names, *scores)]


def _effects_of(index: StudyIndex) -> "ForkEffects":
    from delibsim.conduct.reading.branch_links import effects_of  # so that pages open at once

    return effects_of(index)


def on_comparisons(site: Site, folder: str) -> list[str]:
    """How many comparisons a study has in a folder of pages, and which are left out."""
    known = site.comparisons(folder)
    said = what_is_left_out(known)
    if known.pairs:
        n = len(known.pairs)
        said.insert(0, f"{counted(n, 'comparison')} of two runs, on the pages of these runs")
    return said


def what_is_left_out(known: RunPairs) -> list[str]:
    """Why comparisons are not there, in sentences."""
    said = []
    for kind, n in known.too_many.items():
        said.append(
            f"{counted(n, 'comparison')} of {kind} would be more than {MOST_COMPARED:,} pages and"
            " are left out; delibsim show A B has each of them"
        )
    return said


def is_name(text: str) -> bool:
    """Whether a text can be the name of one folder within another, and no more."""
    return bool(text) and text not in (".", "..") and not set(text) & set("/\\\0:~")
