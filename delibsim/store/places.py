"""Where a study or a run lies that a user names, by its name or by a path; the forks and probes of
a study; and its account: which of its sessions are planned, begun and held.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import isfile  # unlike Path.is_file, False for what can be no file name
from pathlib import Path
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.hosting import PERSON
from delibsim.domain.study import natural, slug
from delibsim.domain.text import counted, quoted, study_named
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text, read_lines, write_atomically
from delibsim.store.runs import Runs
from delibsim.store.session_files import BRANCHES, FORKS, INHERITED, PROBES, TOMBSTONE, folder_of
from delibsim.store.study_texts import refuse_texts


def place_of_branches(runs: Runs, kind: str) -> Runs:
    """Where the forks or the probes of a study lie, whether it has any or not."""
    found = Runs(runs.folder.parent, runs.study)
    found.folder, found.study = runs.folder / kind, f"{runs.study}/{kind}"
    found.durable = runs.durable
    return found


def branches_of(runs: Runs, kind: str) -> Runs | None:
    """The forks or the probes of a study, as a study; None if it has none."""
    found = place_of_branches(runs, kind)
    return found if (found.folder / "study.json").is_file() else None


def is_of_branches(runs: Runs) -> bool:
    """Whether these are the forks or the probes of a study."""
    return runs.study.rpartition("/")[2] in BRANCHES and "/" in runs.study


def inherited(runs: Runs, session: str) -> tuple[list[dict[str, Any]], int]:
    """The exchanges that a branch has of its parent's record, and how many lines are damaged; none
    of a session that is no branch.
    """
    return read_lines(runs.path(session) / INHERITED)


def inherit(runs: Runs, session: str, records: Iterable[Mapping[str, Any]]) -> None:
    """Keep what a branch has of its parent's record: it can be held and replayed without it."""
    text = "".join(f"{json_text(record)}\n" for record in records)
    write_atomically(runs.path(session) / INHERITED, text, runs.durable)


def on_branches(runs: Runs) -> list[str]:
    """That a study has forks or probes, which are counted apart, a sentence a kind."""
    lines = []
    for kind, command in ((FORKS, "fork"), (PROBES, "status")):
        found = branches_of(runs, kind)
        if found is not None:
            n, noun = len(found.sessions()), kind.removesuffix("s")
            place = found.study if command == "status" else runs.study
            told = f"{counted(n, noun)} of its runs, not counted here"
            lines.append(f"{told}: delibsim {command} {quoted(place)}")
    return lines


FEW = 5  # names listed in a message
STUDY = "study.json"
"""The file by which a folder is known as that of a study."""


def study_at(place: str, root: Path) -> Runs:
    """A study by the name it was given or by the path of its folder; pilot/forks are the forks of
    pilot. A study that holds forks and no sessions is these.
    """
    path = Path(place)
    if isfile(path / STUDY):
        return Runs.at(path.resolve())
    if isfile(path / FORKS / STUDY):
        return Runs.at((path / FORKS).resolve())
    forks = Runs(root, f"{place}/{FORKS}")
    if not isfile(root / slug(place) / STUDY) and isfile(forks.folder / STUDY):
        return forks
    return Runs.open(root, place)


def run_at(place: str, root: Path) -> tuple[Runs, str]:
    """A run by path (its folder or its run.json), by study/session, or by study where that has one
    session; pilot/forks is such a study.
    """
    path = Path(place)
    folder = path.parent if path.name == "run.json" else path
    if isfile(folder / "session.json"):
        folder = folder.resolve()
        return Runs.at(folder.parent), folder.name
    study, _, session = place.rstrip("/").rpartition("/")
    of_branches = session in BRANCHES and isfile(folder_of(root, place.rstrip("/")) / STUDY)
    if not study or of_branches or isfile(path / STUDY):
        runs = study_at(place, root)
        refuse_texts(runs, "a run is named here")
        sessions = runs.sessions()
        if len(sessions) != 1:
            names = _few([f"{runs.study}/{session}" for session in sessions])
            raise WrongInput(
                f"{study_named(runs.study)} has {len(sessions)} sessions; name one: {names}"
            )
        return runs, sessions[0]
    runs = study_at(study, root)
    refuse_texts(runs, "a run is named here")
    sessions = runs.sessions()
    for kind in BRANCHES if session not in sessions else ():
        branches = branches_of(runs, kind)
        if branches is not None and session in branches.sessions():
            return branches, session
    if session not in sessions:
        raise unknown("session", session, sessions)
    return runs, session


def is_run(place: str, root: Path) -> bool:
    """Whether a place names a run, and no study: by path, or by study/session."""
    path = Path(place)
    folder = path.parent if path.name == "run.json" else path
    if isfile(folder / "session.json"):
        return True
    study, _, _ = place.rstrip("/").rpartition("/")
    forks = folder_of(root, place.rstrip("/"))  # or probes, which are named as study/probes
    if not study or isfile(path / STUDY) or isfile(forks / STUDY):
        return False
    return isfile(Path(study) / STUDY) or isfile(root / study / STUDY)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


TOLD = "people.yaml"
"""The file that declares what people are told: beside the user, and in the folder of a study that
has begun to be served.
"""
COMMANDS = {FORKS: "fork", PROBES: "probe"}
"""The commands that hold branches, by their folder."""


@dataclass(frozen=True)
class Account:
    """The names of the sessions of a study, in order of name, r2 before r10.

    `planned` are those that study.json names and those that were begun, `begun` those that have a
    plan of their own on disk, `held` those that have a run. A run is valid if it can be read; those
    that are not are found by reading them (`Runs.all`).
    """

    planned: tuple[str, ...]
    begun: tuple[str, ...]
    held: tuple[str, ...]
    command: str = "run"
    """The command that holds what was never begun."""
    withdrawn: tuple[str, ...] = ()
    """Those of the begun ones that were withdrawn: they have no run, and get none."""
    for_people: tuple[str, ...] = ()
    """Those of the sessions not begun that people in browsers hold, as `serve` lets them."""

    @property
    def not_begun(self) -> tuple[str, ...]:
        """The sessions that are planned, and for which nobody was asked anything."""
        begun = set(self.begun)
        return tuple(name for name in self.planned if name not in begun)

    def notice(self) -> str:
        """That sessions were never begun, and how they are held; "" if all were begun."""
        of, people = len(self.planned), len(self.for_people)
        told = [_notice(len(self.not_begun) - people, of, self.command)]
        told.append(_notice(people, of, "serve"))
        return "; ".join(filter(None, told))


def _notice(never: int, planned: int, command: str = "run") -> str:
    """That so many of the planned sessions were never begun, and how they are held; "" for none."""
    if not never:
        return ""
    verb = "session was" if never == 1 else "sessions were"
    return (
        f"{never} {verb} never begun, of {planned} that the study plans: give the"
        f" `delibsim {command}` command of the study again to hold what is missing"
    )


def account_of(runs: Runs) -> Account:
    """The account of a study as it lies on disk now."""
    begun, manifest = sorted(runs.sessions(), key=natural), runs.manifest()
    planned = {*begun, *(manifest.sessions if manifest else ())}
    folder = str(runs.folder)
    gone = tuple(name for name in begun if isfile(f"{folder}/{name}/{TOMBSTONE}"))
    left = set(gone)
    held = tuple(n for n in begun if n not in left and isfile(f"{folder}/{n}/run.json"))
    ordered = tuple(sorted(planned, key=natural))
    design = manifest.design if manifest else {}
    waiting = planned.difference(begun) if design else ()
    people = tuple(name for name in waiting if _of_people(name, design))
    return Account(ordered, tuple(begun), held, command_of(runs), gone, people)


def _of_people(session: str, design: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether people sit in a session that was not begun, by what the study says of its cell."""
    cell = design.get("cells", {}).get(session.rpartition(".r")[0], {})
    settings = design.get("settings", {}).get(cell.get("settings"), ())
    return any(key.endswith(".kind") and value == PERSON for key, value in settings)


def command_of(runs: Runs) -> str:
    """The command that holds the sessions of a study."""
    if is_of_branches(runs):
        return COMMANDS.get(runs.folder.name, "run")
    return "serve" if _waits_for_people(runs) else "run"


def _waits_for_people(runs: Runs) -> bool:
    """Whether people in browsers take part: the study keeps what they are told, and its first
    session has seats for them.
    """
    if not (runs.folder / TOLD).is_file():
        return False
    with suppress(Damaged):
        return any(runs.planned(name).seats_of_people for name in runs.sessions()[:1])
    return False
