"""The folder of one study: its settings, and for each session the plan, the exchanges and the run."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.domain.study import is_file_name, slug
from delibsim.store import codec
from delibsim.store.files import append_line, json_text, locked, read_lines, write_atomically

SCORES, DETAILS = "scores", "details"


class Runs:
    """The folder of one study. Runs are written once, atomically; exchanges are appended as they happen.

    study.json (settings), <session>/session.json (plan), <session>/exchanges.jsonl, <session>/run.json,
    scores/<scorer>.v<version>.jsonl, scores/details/<scorer>.v<version>.jsonl
    """

    def __init__(self, root: Path, study: str) -> None:
        self.study = study
        self.folder = root / slug(study)

    @classmethod
    def at(cls, folder: Path) -> "Runs":
        """The study that lies in a folder, whatever its name; WrongInput if none does."""
        runs = cls(folder.parent, folder.name)
        runs.folder = folder
        manifest = runs._manifest()
        if manifest is None:
            raise WrongInput(f"{folder} is not the folder of a study: it has no study.json")
        runs.study = str(manifest["study"])
        return runs

    @classmethod
    def open(cls, root: Path, study: str) -> "Runs":
        """An existing study; WrongInput with the closest names if there is none."""
        runs = cls(root, study)
        if not (runs.folder / "study.json").is_file():
            known = [path.parent.name for path in root.glob("*/study.json")]
            raise unknown("study", study, known, f"Studies are folders in {root}")
        return runs

    def compare(self, settings: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse what would change a study that exists: its shared settings, or a part it has; WrongInput with the differences.

        Parts are what sessions are made of (topics, models ... by name); parts may be added to a study.
        """
        old = self._manifest()
        if old is None:
            return
        changed = codec.differences(old["settings"], dict(settings))
        for kind, named in old["parts"].items():
            given = parts.get(kind, {})
            changed += codec.differences(
                {n: part for n, part in named.items() if n in given}, {n: given[n] for n in named if n in given}, kind
            )
        if changed:
            raise WrongInput(self._refusal(f"study '{self.study}' has other settings", changed))

    def settle(self, settings: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep the settings all sessions share and the parts they are made of, added to those the study has."""
        self.compare(settings, parts)
        old = self._manifest() or {"parts": {}}
        merged = {kind: {**old["parts"].get(kind, {}), **parts.get(kind, {})} for kind in [*old["parts"], *parts]}
        new = {"schema": codec.SCHEMA, "study": self.study, "settings": settings, "parts": merged}
        if new != old:
            write_atomically(self.folder / "study.json", json_text(new, indent=1) + "\n")

    def compare_plan(self, session: Session) -> None:
        """Refuse a session that was planned differently under its name; WrongInput with the differences."""
        path = self.path(session.id) / "session.json"
        if not is_file_name(session.id):
            raise WrongInput(f"'{session.id}' cannot name a session: use lower-case letters, digits, '-', '_' and single dots")
        if path.is_file():
            changed = codec.differences(codec.session_to_plain(self._session(path)), codec.session_to_plain(session))
            if changed:
                raise WrongInput(self._refusal(f"session '{session.id}' of study '{self.study}' was planned differently", changed))

    def plan(self, session: Session) -> None:
        """Keep the plan of a session, once; WrongInput with the differences if another was kept under its name."""
        self.compare_plan(session)
        path = self.path(session.id) / "session.json"
        if not path.is_file():
            write_atomically(path, codec.session_to_json(session))

    def lock(self) -> Any:
        """A context in which no other process holds sessions of this study."""
        return locked(self.folder)

    def path(self, session: str) -> Path:
        """The folder of a session; WrongInput for a name that could leave the folder of the study."""
        if session in ("", ".", "..", SCORES) or "/" in session or "\0" in session:
            raise WrongInput(f"'{session}' cannot name a session")
        return self.folder / session

    def sessions(self) -> list[str]:
        """The names of all sessions that were begun, in order of name."""
        return sorted(path.parent.name for path in self.folder.glob("*/session.json"))

    def planned(self, session: str) -> Session:
        """The plan of a session; WrongInput if there is none, Damaged if it cannot be read."""
        path = self.path(session) / "session.json"
        if session not in self.sessions():
            raise unknown("session", session, self.sessions(), f"Sessions are folders in {self.folder}")
        return self._session(path)

    def add(self, run: Run) -> Path:
        """Write a run, once; the folder it lies in. WrongInput if there is one already."""
        path = self.path(run.session.id) / "run.json"
        if path.exists():
            raise WrongInput(f"{path} exists; runs are never overwritten")
        write_atomically(path, codec.run_to_json(run))
        return path.parent

    def held(self, session: str) -> bool:
        """Whether the session has a run."""
        return (self.path(session) / "run.json").is_file()

    def run(self, session: str) -> Run:
        """A run; Damaged, naming the file, if it cannot be read."""
        path = self.path(session) / "run.json"
        if session in self.sessions() and not path.is_file():
            raise WrongInput(f"session '{session}' of study '{self.study}' was cut off and has no run yet; give its run command again")
        if not path.is_file():
            held = [name for name in self.sessions() if self.held(name)]
            raise unknown("run", session, held, f"Runs are folders in {self.folder}")
        try:
            run = codec.run_from_json(path.read_bytes())
        except codec.Damaged as error:
            raise codec.Damaged(f"{path}: {error}") from None
        if run.session.id != session:
            raise codec.Damaged(f"{path}: holds the run of another session, '{run.session.id}'")
        return run

    def all(self) -> tuple[list[Run], list[str]]:
        """Every run that can be read, and the faults of those that cannot."""
        runs, faults = [], []
        for session in filter(self.held, self.sessions()):
            try:
                self.planned(session)
                runs.append(self.run(session))
            except codec.Damaged as error:
                faults.append(str(error))
        return runs, faults

    def record(self, session: str, exchange: Mapping[str, Any]) -> None:
        """Append an exchange to the log of a session."""
        append_line(self.path(session) / "exchanges.jsonl", exchange)

    def exchanges(self, session: str) -> tuple[list[dict[str, Any]], int]:
        """The exchanges of a session as plain values, and how many lines of its log are damaged."""
        return read_lines(self.path(session) / "exchanges.jsonl")

    def write_scores(self, name: str, version: int, scores: Iterable[Score]) -> Path:
        """Write all scores of one scorer, one JSON object a line; the file."""
        return self._write_lines(SCORES, name, version, map(codec.score_to_plain, scores))

    def write_details(self, name: str, version: int, details: Iterable[Mapping[str, Any]]) -> Path:
        """Write what a scorer has to say of how its scores came about, one JSON object a line; the file."""
        return self._write_lines(f"{SCORES}/{DETAILS}", name, version, details)

    def _write_lines(self, folder: str, name: str, version: int, records: Iterable[Mapping[str, Any]]) -> Path:
        path = self.folder / folder / f"{slug(name)}.v{version}.jsonl"
        write_atomically(path, "".join(f"{json_text(record)}\n" for record in records))
        return path

    def scores(self) -> Iterator[Score]:
        """All scores that lie beside the runs."""
        for path in sorted((self.folder / SCORES).glob("*.jsonl")):
            records, damaged = read_lines(path)
            if damaged:
                raise codec.Damaged(f"{path}: {damaged} damaged lines; score the study again")
            try:
                yield from map(codec.score_from_plain, records)
            except codec.Damaged as error:
                raise codec.Damaged(f"{path}: {error}; score the study again") from None

    def _session(self, path: Path) -> Session:
        try:
            return codec.session_from_json(path.read_bytes())
        except codec.Damaged as error:
            raise codec.Damaged(f"{path}: {error}") from None

    def _manifest(self) -> dict[str, Any] | None:
        """What study.json holds, or None if there is none."""
        path = self.folder / "study.json"
        if not path.is_file():
            return None
        try:
            plain = json.loads(path.read_bytes())
        except ValueError as error:
            raise WrongInput(f"{path} is damaged ({error}); move it away to start the study anew") from None
        if not isinstance(plain, dict) or plain.get("schema") != codec.SCHEMA or not {"study", "settings", "parts"} <= plain.keys():
            raise WrongInput(f"{path} was not written under schema {codec.SCHEMA}; this version leaves it untouched")
        return plain

    def _refusal(self, problem: str, changed: list[str]) -> str:
        shown = "\n".join(f"  {line}" for line in changed[:20]) + (f"\n  and {len(changed) - 20} more" if len(changed) > 20 else "")
        return f"{problem}; it is left as it is:\n{shown}\nGive the new settings a study of their own: study=NAME"
