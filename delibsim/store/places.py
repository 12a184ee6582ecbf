"""Where a study or a run lies that a user names: by its name, or by a path."""

from collections.abc import Sequence
from os.path import isfile  # unlike Path.is_file, False for what can be no file name
from pathlib import Path

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.study import slug
from delibsim.domain.text import study_named
from delibsim.store.branch_folders import BRANCHES, FORKS, folder_of
from delibsim.store.branches import branches_of
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts

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
