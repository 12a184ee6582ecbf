"""Where a study or a run lies that a user names: by its name, or by a path."""

from collections.abc import Sequence
from os.path import isfile  # unlike Path.is_file, False for what can be no file name
from pathlib import Path

from delibsim.domain.errors import WrongInput, unknown
from delibsim.store.runs import Runs

FEW = 5  # names listed in a message


def study_at(place: str, root: Path) -> Runs:
    """A study by the name it was given or by the path of its folder."""
    path = Path(place)
    if isfile(path / "study.json"):
        return Runs.at(path.resolve())
    return Runs.open(root, place)


def run_at(place: str, root: Path) -> tuple[Runs, str]:
    """A run by path (its folder or its run.json), by study/session, or by study where that has one
    session.
    """
    path = Path(place)
    folder = path.parent if path.name == "run.json" else path
    if isfile(folder / "session.json"):
        folder = folder.resolve()
        return Runs.at(folder.parent), folder.name
    study, _, session = place.rstrip("/").rpartition("/")
    if not study or isfile(path / "study.json"):
        runs = study_at(place, root)
        sessions = runs.sessions()
        if len(sessions) != 1:
            names = _few([f"{runs.study}/{session}" for session in sessions])
            raise WrongInput(
                f"study '{runs.study}' has {len(sessions)} sessions; name one: {names}"
            )
        return runs, sessions[0]
    runs = study_at(study, root)
    sessions = runs.sessions()
    if session not in sessions:
        raise unknown("session", session, sessions)
    return runs, session


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more
