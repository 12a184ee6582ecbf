"""The branches of the runs of a study, and what each has of the record of its parent."""

from collections.abc import Iterable, Mapping
from typing import Any

from delibsim.domain.text import counted, quoted
from delibsim.store.branch_folders import BRANCHES, FORKS, INHERITED, PROBES
from delibsim.store.files import json_text, read_lines, write_atomically
from delibsim.store.runs import Runs


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
