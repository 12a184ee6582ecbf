"""The account of a study: which of its sessions are planned, begun and held."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from os.path import isfile
from typing import Any

from delibsim.domain.hosting import PERSON
from delibsim.domain.study import natural
from delibsim.store.branch_folders import FORKS, PROBES
from delibsim.store.codec import Damaged
from delibsim.store.places import is_of_branches
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import FILE as TOMBSTONE

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
