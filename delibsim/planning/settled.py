"""Plans in which models are set to structured=auto, with what that turned out to be."""

from collections.abc import Iterable
from dataclasses import replace

from delibsim.domain.run import Session
from delibsim.models.ask import Settled, models_settled, settled_in
from delibsim.planning.compose import StudyPlan
from delibsim.store.runs import Runs


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
