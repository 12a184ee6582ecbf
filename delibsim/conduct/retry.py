"""Retrying: which sessions of a study have no run, how their calls ended, and the plan to hold
them again.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from delibsim.domain.errors import refused, unknown
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, STATUSES
from delibsim.planning.compose import StudyPlan, plan
from delibsim.planning.presets import Presets
from delibsim.store.codec import Damaged
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

ALLOWED = ("base_url", "limits")
"""Settings that are in no record, so that they may differ when a session is held again."""


def without_run(runs: Runs) -> list[Session]:
    """The sessions of a study that were begun and have no run; those that were withdrawn are never
    held again.
    """
    names = [name for name in runs.sessions() if not runs.held(name)]
    return [runs.planned(name) for name in names if not runs.withdrawn(name)]


def damaged(runs: Runs) -> list[str]:
    """What is wrong with runs that are no JSON, and what to do; they are left alone."""
    faults = []
    for name in runs.sessions():
        try:
            runs.status(name)
        except Damaged as error:
            faults.append(str(error))
    return faults


def ended_in(runs: Runs, sessions: Sequence[Session], statuses: Collection[str]) -> list[Session]:
    """Those sessions in which a call ended in one of these statuses; all, where none is given."""
    for name in statuses:
        if name not in STATUSES:
            raise unknown("status", name, STATUSES)
    if not statuses:
        return list(sessions)
    return [session for session in sessions if final_statuses(runs, session.id) & {*statuses}]


def final_statuses(runs: Runs, session: str) -> set[str]:
    """How the calls ended that left a session without a run; if none of them failed, how the last
    one did; nothing if no call can be read.

    The calls of a survey come back in any order, so the one that failed need not be the last of the
    record. Of a call that was asked again the last line counts.
    """
    records, _ = runs.exchanges(session)
    last: dict[tuple[Any, ...], str] = {}
    status = ""
    for record in records:
        purpose = record.get("purpose", {})
        call = tuple(purpose.get(part) for part in ("participant", "occasion", "attempt"))
        status = str(record.get("completion", {}).get("status", ""))
        last[call] = status
    failed = set(last.values()) - OUTCOMES
    if failed or not records:
        return failed
    return {status}


def plan_again(runs: Runs, sessions: Sequence[Session], overrides: Sequence[str]) -> StudyPlan:
    """The plan of sessions that lie on disk, under the limits and at the addresses of now.

    WrongInput for an override that would change what was planned.
    """
    for override in overrides:
        if _key(override).split(".")[0] not in ALLOWED:
            raise refused("plan_would_change", override=override)
    now = plan(list(overrides))
    addresses = addresses_now(sessions, overrides)
    manifest = runs.manifest() or Manifest(runs.study, {}, {})
    return StudyPlan(
        tuple(sessions), runs.folder.parent, manifest, now.limits, addresses, now.sweep
    )


def addresses_now(sessions: Sequence[Session], overrides: Sequence[str]) -> dict[str, str]:
    """The base_url of every model that has one, by the name it has in these sessions."""
    known = Presets(Path.cwd()).names("model")
    moved = any(_key(override) == "base_url" for override in overrides)
    addresses: dict[str, str] = {}
    for name in sorted({name for session in sessions for name in session.voices}):
        if name not in known and not moved:
            continue
        # A model with a name of its own has no preset; it is reached at the address given now.
        preset = name if name in known else "local"
        for address in plan([f"model={preset}", *overrides]).addresses.values():
            addresses[name] = address
    return addresses


def _key(override: str) -> str:
    return override.lstrip("+").partition("=")[0]
