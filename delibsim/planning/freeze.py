"""Freezing a plan: its manifest with the prompts, versions and commits of the moment it begins; and
what structured=auto of its models turned out to be.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.engine.check import check, prompt_hash, provenance
from delibsim.models.ask import Settled, models_settled, settled_in
from delibsim.planning.compose import StudyPlan
from delibsim.store.manifest import Manifest, commits
from delibsim.store.runs import Runs
from delibsim.store.tables.study_facts import design_of_cells

REPOSITORY = Path(__file__).parents[2]
"""The repository of delibsim in a checkout; of an installed package, the folder it lies in."""


def frozen(plan: StudyPlan) -> Manifest:
    """The manifest of a plan: what is asked, when, with which versions, from which commit.

    WrongInput for a session that cannot be held.
    """
    prompts, cells = {}, cells_of(plan.sessions)
    for cell, session in cells.items():
        check(session)
        prompts[cell] = prompt_hash(session)
    begun = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": provenance(),
        "commit": commits(_repositories(plan)),
    }
    return replace(plan.manifest, begun=begun, prompts=prompts, design=design_of_cells(cells))


def _repositories(plan: StudyPlan) -> dict[str, Path]:
    """The folders whose commits are recorded.

    An installed delibsim has no commit: git would answer with that of whatever repository its
    environment lies in.
    """
    folders = {"study": plan.root.parent}
    return {"delibsim": REPOSITORY} | folders if (REPOSITORY / ".git").exists() else folders


def cells_of(sessions: Iterable[Session]) -> dict[str, Session]:
    """One session of every cell of the design, by the name that its replicates share."""
    cells: dict[str, Session] = {}
    for session in sessions:
        cells.setdefault(cell_of(session), session)
    return cells


def as_begun(plan: StudyPlan, runs: Runs) -> StudyPlan:
    """A plan with what its study has settled already, so that none changes its method halfway."""
    manifest = runs.manifest()
    known = {} if manifest is None else manifest.components.get("models", {})
    return settled(plan, settled_in(known.values()))


def settled(plan: StudyPlan, found: Settled) -> StudyPlan:
    """A plan in whose models `auto` is replaced by what it turned out to be."""
    models = plan.manifest.components.get("models", {})
    after = models_settled(models, found)
    if after == models:
        return plan
    sessions = []
    for session in plan.sessions:
        sessions.append(replace(session, models=models_settled(session.models, found)))
    components = {**plan.manifest.components, "models": after}
    manifest = replace(plan.manifest, components=components)
    return replace(plan, sessions=tuple(sessions), manifest=manifest)


def those_of(plan: StudyPlan, sessions: Iterable[Session]) -> tuple[Session, ...]:
    """The sessions of a plan that have the names of these."""
    names = {session.id for session in sessions}
    return tuple(session for session in plan.sessions if session.id in names)
