"""Forking a run: what came before a turn is taken from its record, what follows is held anew."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.conduct.replay import record_of
from delibsim.conduct.retry import addresses_now
from delibsim.conduct.study import Notify, Prepared, closed_on_failure, hold_prepared, prepare
from delibsim.domain.errors import WrongInput
from delibsim.domain.parentage import position_of
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES
from delibsim.models.limits import Limits
from delibsim.models.replay import Exchange
from delibsim.planning.compose import StudyPlan
from delibsim.planning.fork import Parent
from delibsim.planning.overrides import Sweep
from delibsim.store.branches import inherit
from delibsim.store.manifest import Manifest
from delibsim.store.reading import file_bytes
from delibsim.store.runs import Runs

OF_THE_PROCESS = ("base_url=", "limits")
"""What settings begin with that are for this process, and recorded nowhere."""


@dataclass(frozen=True)
class Branches:
    """Branches of one run that can be held: their plans, the study they lie in, and the record of
    the run before each, by name.
    """

    plan: StudyPlan
    runs: Runs
    past: Mapping[str, Sequence[Exchange]]


def parent_of(runs: Runs, session: str) -> Parent:
    """The run that is branched off; WrongInput if it cannot be read."""
    run = runs.run(session)
    sha256 = hashlib.sha256(file_bytes(runs.path(session) / "run.json")).hexdigest()
    return Parent(run, runs.study, sha256)


def branches(
    sessions: Sequence[Session],
    parent: tuple[Runs, str],
    runs: Runs,
    limits: Limits,
    settings: Sequence[str],
    addresses: Mapping[str, str] | None = None,
) -> Branches:
    """Branches of a run, to lie in the study `runs`, with the part of its record that each has.

    Models are reached at the addresses of now. WrongInput where the record lacks a call.
    """
    record = record_of(*parent)
    before: dict[int, list[Exchange]] = {}
    past = {}
    for session in sessions:
        if session.parentage is None:
            raise WrongInput(f"{session.id} is no branch of a run")
        at = session.parentage.at
        if at not in before:
            before[at] = [one for one in record if _is_before(one, at)]
        past[session.id] = before[at]
    own = [setting for setting in settings if setting.startswith(OF_THE_PROCESS)]
    reached = {**addresses_now(sessions, own), **(addresses or {})}
    names = tuple(session.id for session in sessions)
    manifest = Manifest(runs.study, {}, {}, names)
    plan = StudyPlan(tuple(sessions), runs.folder.parent, manifest, limits, reached, Sweep(()))
    return Branches(plan, runs, past)


async def prepare_branches(found: Branches, notify: Notify = lambda text: None) -> Prepared:
    """Check that branches can be held, freeze their study, and give each its part of the record.

    WrongInput, before anything is asked or paid, if one cannot be held.
    """
    prepared = await prepare(found.plan, found.runs, notify)
    async with closed_on_failure(prepared.pool):
        for session in prepared.waiting:
            records = [exchange.record() for exchange in found.past[session.id]]
            inherit(found.runs, session.id, records)
    return prepared


async def hold_branches(found: Branches, observer: Observer | None = None) -> list[SessionOutcome]:
    """Hold the branches of a run that have no run yet; the outcomes of all of them."""
    return await hold_prepared(await prepare_branches(found), observer)


def _is_before(exchange: Exchange, at: int) -> bool:
    """Whether an exchange is an outcome, and lies before a branch."""
    before = position_of(exchange.purpose.occasion) < at
    return before and exchange.completion.status in OUTCOMES
