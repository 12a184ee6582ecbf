"""The folder of one study: its settings, and for each session the plan, the exchanges and the
run.
"""

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from os.path import isfile, lexists
from pathlib import Path
from typing import Any, TypeVar, overload

from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.secret import refuse_key
from delibsim.domain.study import is_file_name, slug
from delibsim.domain.text import study_named
from delibsim.store import codec, files
from delibsim.store.files import append_line, in_turn, read_lines
from delibsim.store.manifest import (
    CONVERSATIONS,
    Manifest,
    read_manifest,
    refusal,
    write_manifest,
)
from delibsim.store.reading import file_bytes, json_value
from delibsim.store.session_files import (
    WITHIN,
    Check,
    folder_of,
    is_withdrawn,
    lost_run,
    refuse_changed,
    why_withdrawn,
    write_sums,
)

Answered = dict[str, set[tuple[str, str]]]
"""Names and fingerprints of who answered, by model."""


class Answering:
    """The file of who answered in a study. It is read once, and again before something is added."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._answered: Answered | None = None

    def note(self, model: str, returned: str, fingerprint: str, call: str, started: str) -> None:
        """Keep which model answered, under which fingerprint, the first time it did; with a warning
        if another had answered before.
        """
        if self._answered is None:
            self._answered = self._read()
        if (returned, fingerprint) in self._answered.get(model, ()):
            return
        # Another process may hold sessions of the study too, and may have met it first.
        with in_turn(self._path):
            self._answered = self._read()
            before = self._answered.setdefault(model, set())
            if (returned, fingerprint) in before:
                return
            facts = {
                "model": model,
                "model_returned": returned,
                "fingerprint": fingerprint,
                "call": call,
                "started": started,
                "warning": "another answered earlier in this study" if before else "",
            }
            append_line(self._path, facts)
            before.add((returned, fingerprint))

    def _read(self) -> Answered:
        answered: Answered = {}
        for line in read_lines(self._path)[0]:
            who = (str(line.get("model_returned")), str(line.get("fingerprint")))
            answered.setdefault(str(line.get("model")), set()).add(who)
        return answered


KEPT = 500  # runs of some 30 kB


class LazyRuns(Sequence[Run]):
    """The runs of these sessions, read when they are asked for; only some are kept, so that a study
    of any size fits into memory.
    """

    def __init__(self, read: Callable[[str], Run], sessions: Sequence[str]) -> None:
        self._read, self._sessions = read, sessions
        self._kept: dict[str, Run] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return LazyRuns(self._read, self._sessions[index])
        session = self._sessions[index]
        run = self._kept.get(session) or self._read(session)
        if len(self._kept) < KEPT:
            self._kept[session] = run
        return run


T = TypeVar("T")

SCORES, DETAILS = "scores", "details"
EXPORT, BENCH = "tables", "bench"
LAUNCHER = "launcher"
TEXTS, VOTERS, NOTES = "texts.jsonl", "voters.jsonl", "notes.jsonl"
"""The folders and the files of a study that hold no session."""
RESERVED = ("", ".", "..", SCORES, EXPORT, BENCH, LAUNCHER, TEXTS, VOTERS, NOTES, *WITHIN)


def scores_file(name: str, version: int) -> str:
    """The name of the file that holds the scores of a scorer."""
    return f"{slug(name)}.v{version}.jsonl"


class Runs:
    """The folder of one study. Runs are written once, atomically; exchanges are appended as they
    happen.

    study.json (settings), fingerprints.jsonl (who answered), <session>/session.json (plan),
    <session>/exchanges.jsonl, <session>/sent.jsonl, <session>/SHA256SUMS, <session>/run.json,
    scores/<scorer>.v<version>.jsonl, scores/details/<scorer>.v<version>.jsonl
    """

    def __init__(self, root: Path, study: str) -> None:
        self.study = study
        self.folder = folder_of(root, study)
        self.scored_in: Path | None = None
        """Another folder for the scores than that within the study."""
        self.durable = False
        """Whether what is written is on the disk at once (`limits.durable`)."""
        self._refuse_changed: Check | None = refuse_changed
        self._manifest: tuple[Any, Manifest | None] = None, None
        files.stay_private(self.folder)

    @classmethod
    def at(cls, folder: Path) -> "Runs":
        """The study that lies in a folder, whatever its name; WrongInput if none does."""
        runs = cls(folder.parent, folder.name)
        runs.folder = folder
        files.stay_private(folder)
        manifest = runs.manifest()
        if manifest is None:
            raise WrongInput(f"{folder} is not the folder of a study: it has no study.json")
        runs.study = manifest.study
        return runs

    @classmethod
    def open(cls, root: Path, study: str) -> "Runs":
        """An existing study; WrongInput with the closest names if there is none."""
        runs = cls(root, study)
        if not (runs.folder / "study.json").is_file():
            known = [path.parent.name for path in root.glob("*/study.json")]
            raise unknown("study", study, known, f"Studies are folders in {root}")
        return runs

    def unchecked(self) -> "Runs":
        """The same study, of which plans and runs are read that are not what was written."""
        found = copy(self)
        found._refuse_changed = None
        return found

    def manifest(self) -> Manifest | None:
        """What the study is; None if it has not begun. WrongInput if study.json is damaged."""
        path = self.folder / "study.json"
        try:
            found = os.stat(path)
        except OSError:
            return read_manifest(path)
        stamp = found.st_ino, found.st_size, found.st_mtime_ns
        if self._manifest[0] != stamp:
            self._manifest = stamp, read_manifest(path)
        return self._manifest[1]

    def compare(self, new: Manifest, sessions: Iterable[Session] = ()) -> None:
        """Refuse what would change a study that exists: a shared setting, or a component under its
        name; WrongInput with the differences, those of the texts of its `sessions` among them.
        """
        if (self.folder / TEXTS).is_file():
            raise refused("holds_imported_texts", study=study_named(self.study))
        old = self.manifest()
        if old is None:
            refuse_key("study", self.study)
        elif (CONVERSATIONS in old.components) != (CONVERSATIONS in new.components):
            raise refused("conversations_or_sessions", study=study_named(self.study))
        kept = (plan for _, plan in self.each_plan())
        changed = [] if old is None else old.conflicts(new, kept, sessions)
        if changed:
            raise WrongInput(refusal(f"{study_named(self.study)} has other settings", changed))

    def settle(self, new: Manifest) -> None:
        """Keep what the study is: freeze it when it begins, later add what is new as an
        amendment.
        """
        self.compare(new)
        old = self.manifest()
        if old is None or old.amended(new) != old:
            amended = new if old is None else old.amended(new)
            write_manifest(self.folder / "study.json", amended, self.durable)

    def compare_plan(self, session: Session) -> None:
        """Refuse a session that was planned differently under its name; WrongInput with the
        differences.
        """
        if not is_file_name(session.id):
            raise refused("no_name_of_a_session", id=session.id)
        path = self.path(session.id) / "session.json"
        if not path.is_file():
            refuse_key("session", session.id)
            refuse_key("study", self.study)
            return
        kept = self._read(path, codec.session_from_json)
        if kept == session:
            return
        before, now = codec.session_to_plain(kept), codec.session_to_plain(session)
        if changed := codec.differences(before, now):
            problem = f"session '{session.id}' of {study_named(self.study)} was planned differently"
            raise WrongInput(refusal(problem, changed))

    def plan(self, session: Session) -> None:
        """Keep the plan of a session, once; WrongInput with the differences if another was kept
        under its name.
        """
        self.compare_plan(session)
        path = self.path(session.id) / "session.json"
        if not path.is_file():
            if session.seats_of_people:
                files.keep_private(self.folder)
            files.write_atomically(path, codec.session_to_json(session), self.durable)

    def is_held_with_people(self, session: str) -> bool:
        """Whether a server holds a session in which people take part now."""
        return files.is_taken(self.path(session) / "exchanges.jsonl")

    def lock(self) -> Any:
        """A context in which no other process holds sessions of this study, unless it is let in
        (see files.locked).
        """
        return files.locked(self.folder)

    def holder(self) -> str:
        """The number of the process that holds sessions of this study now; "" if none does."""
        return files.holder(self.folder)

    def joined(self, name: str) -> Any:
        """A context beside the process that shares the study under this name."""
        return files.joined(self.folder, name)

    def path(self, session: str) -> Path:
        """The folder of a session; WrongInput for a name that could lead out of the study."""
        if session in RESERVED or "/" in session or "\0" in session:
            raise WrongInput(f"'{session}' cannot name a session")
        return self.folder / session

    def sessions(self) -> list[str]:
        """The names of all sessions that were begun, in order of name."""
        return sorted(path.parent.name for path in self.folder.glob("*/session.json"))

    def planned(self, session: str) -> Session:
        """The plan of a session; WrongInput if there is none, Damaged if it cannot be read."""
        path = self.path(session) / "session.json"
        if not isfile(path):
            if lexists(path):
                raise codec.Damaged(f"{path}: it is not a file that can be read")
            advice = f"Sessions are folders in {self.folder}"
            raise unknown("session", session, self.sessions(), advice)
        return self._read(path, codec.session_from_json, self._refuse_changed)

    def each_plan(self) -> Iterator[tuple[str, Session]]:
        """The name and the plan of every session where it can be read, each read when it is asked
        for.
        """
        for session in self.sessions():
            with suppress(codec.Damaged):
                yield session, self.planned(session)

    def plans(self) -> list[Session]:
        """The plan of every session, where it can be read."""
        return list(self.plans_by_name().values())

    def plans_by_name(self) -> dict[str, Session]:
        """The plan of every session, where it can be read, by the name of the session's folder."""
        return dict(self.each_plan())

    def add(self, run: Run) -> Path:
        """Write a run, once; the folder it lies in. WrongInput if there is one already, or if the
        session was withdrawn.
        """
        path = self.path(run.session.id) / "run.json"
        self.refuse_withdrawn(run.session.id)
        if path.exists():
            raise WrongInput(f"{path} exists; runs are never overwritten")
        text = codec.run_to_json(run)
        write_sums(path.parent, text, self.durable)
        files.write_atomically(path, text, self.durable)
        return path.parent

    def held(self, session: str) -> bool:
        """Whether the session has a run; one that was withdrawn has none."""
        return isfile(self.path(session) / "run.json") and not self.withdrawn(session)

    def withdrawn(self, session: str) -> bool:
        """Whether the session was withdrawn: it has no run, and is not held again."""
        return is_withdrawn(self.path(session))

    def status(self, session: str) -> str:
        """The status of a run, read without the rest; "" if there is none, Damaged, naming the
        file, if it cannot be read.
        """
        path = self.path(session) / "run.json"
        if not self.held(session):
            return ""

        def own(content: bytes) -> str:
            try:
                return str(json_value(content)["status"])
            except (ValueError, LookupError, TypeError) as error:
                again = "move it away, and the same command makes it again from its record"
                raise ValueError(f"not the JSON of a run: {error}; {again}") from None

        return self._read(path, own, self._refuse_changed)

    def run(self, session: str) -> Run:
        """A run; Damaged, naming the file, if it cannot be read. WrongInput if there is none."""
        path = self.path(session) / "run.json"
        self.refuse_withdrawn(session)
        if not isfile(path):
            if session in self.sessions():
                raise refused("session_cut_off", session=session, study=study_named(self.study))
            held = [name for name in self.sessions() if self.held(name)]
            raise unknown("run", session, held, f"Runs are folders in {self.folder}")

        def own(content: bytes) -> Run:
            run = codec.run_from_json(content)
            if run.session.id != session:
                raise codec.Damaged(f"holds the run of another session, '{run.session.id}'")
            return run

        return self._read(path, own, self._refuse_changed)

    def run_of(self, session: str) -> Run | None:
        """The run of a session, None where it was not held; Damaged where the run cannot be read,
        or is gone.
        """
        if self.held(session):
            return self.run(session)
        for fault in lost_run(self.path(session)):
            raise codec.Damaged(fault)
        return None

    def all(self) -> tuple[LazyRuns, list[str]]:
        """Every run that can be read, and the faults of those that cannot. Each is read when it is
        asked for, and not kept.
        """
        faults: list[str] = []
        readable = [run.session.id for run in self.readable(faults)]
        return LazyRuns(self.run, readable), faults

    def readable(self, faults: list[str], known: Collection[str] = ()) -> Iterator[Run]:
        """Every run that can be read, one after another; what is wrong with the others is added to
        `faults`.

        `known` are the sessions whose plan was read before; the others' are looked at too.
        """
        for session in self.sessions():
            try:
                if session not in known and self.held(session):
                    self.planned(session)
                run = self.run_of(session)
            except codec.Damaged as error:
                faults.append(str(error))
                continue
            if run is not None:
                yield run

    def log(self, session: str) -> files.Log:
        """The log of a session, to which its exchanges are appended; who asked for it closes it."""
        return files.Log(self.path(session) / "exchanges.jsonl", self.durable)

    def record(self, session: str, exchange: Mapping[str, Any]) -> None:
        """Append one exchange to the log of a session."""
        files.append_line(self.path(session) / "exchanges.jsonl", exchange, self.durable)

    @cached_property
    def answering(self) -> Answering:
        """The file of who answered in the study."""
        return Answering(self.folder / "fingerprints.jsonl")

    def exchanges(self, session: str) -> tuple[list[dict[str, Any]], int]:
        """The exchanges of a session, and how many lines are damaged; none if it was withdrawn."""
        if self.withdrawn(session):
            return [], 0
        return files.read_lines(self.path(session) / "exchanges.jsonl")

    @property
    def scores_folder(self) -> Path:
        """The folder of the files of scores."""
        return self.scored_in or self.folder / SCORES

    def write_scores(self, name: str, version: int, scores: Iterable[Score]) -> Path:
        """Write all scores of one scorer, one JSON object a line; the file."""
        with self.writing_scores(name, version) as (path, write):
            write(scores)
        return path

    @contextmanager
    def writing_scores(
        self, name: str, version: int
    ) -> Generator[tuple[Path, Callable[[Iterable[Score]], None]]]:
        """Write the scores of one scorer part by part: the file, which is replaced when the context
        ends well, and what writes some of them.
        """
        path = self.scores_folder / scores_file(name, version)
        with files.written_atomically(path) as write:

            def write_some(scores: Iterable[Score]) -> None:
                write("".join(f"{codec.score_to_json(score)}\n" for score in scores))

            yield path, write_some

    def drop_scores(self, name: str, version: int) -> None:
        """Leave no file of a scorer that has no score for any run."""
        for folder in (self.scores_folder, self.scores_folder / DETAILS):
            (folder / scores_file(name, version)).unlink(missing_ok=True)

    def write_details(self, name: str, version: int, details: Iterable[Mapping[str, Any]]) -> Path:
        """Write how the scores of one scorer came about, one JSON object a line; the file."""
        path = self.scores_folder / DETAILS / scores_file(name, version)
        with files.written_atomically(path) as write:
            for record in details:
                write(f"{files.json_text(record)}\n")
        return path

    def scores(self) -> Iterator[Score]:
        """All scores that lie beside the runs; Damaged at last where a file holds anything else."""
        for path in sorted(self.scores_folder.glob("*.jsonl")):
            yield from codec.each_score(path)

    def _read(self, path: Path, read: Callable[[bytes], T], refuse: Check | None = None) -> T:
        """What a file describes; Damaged where it describes nothing, or `refuse` says so."""
        try:
            content = file_bytes(path)
            found = read(content)
        except ValueError as error:
            raise codec.Damaged(f"{path}: {error}") from None
        if refuse:
            refuse(path, content)
        return found

    def refuse_withdrawn(self, session: str) -> None:
        """WrongInput for a session that was withdrawn."""
        if self.withdrawn(session):
            raise WrongInput(why_withdrawn(self.path(session), session, self.study))
