"""Making a study ready to be served: it is frozen, and its models are checked, people aside."""

from collections.abc import Sequence

from delibsim.conduct.cost import budget_of
from delibsim.conduct.study import Notify, closed_on_failure, proven_pool
from delibsim.domain.hosting import PERSON
from delibsim.domain.run import Session
from delibsim.models.planned import PlannedCalls
from delibsim.models.pool import ModelPool
from delibsim.planning.compose import Plan
from delibsim.planning.freeze import cells_of, frozen
from delibsim.prompts.session import longest_prompt
from delibsim.store.runs import Runs


async def prepared_for_people(
    plan: Plan, runs: Runs, sessions: Sequence[Session], notify: Notify
) -> ModelPool:
    """The models of sessions that wait for people, after their preflight.

    WrongInput, before anything is written or asked, if the study is another one, or if a model
    cannot be asked.
    """
    runs.durable = True  # what people have given is on the disk before it counts
    manifest = frozen(plan)
    runs.compare(manifest, plan.sessions)
    for session in plan.sessions:
        runs.compare_plan(session)
    calls = []
    for session in cells_of(sessions).values():
        asked = {}
        for name, settings in session.voices.items():
            if settings.get("kind") != PERSON:
                asked[name] = settings
        calls.append(PlannedCalls(session.id, asked, longest_prompt(session)))
    budget = budget_of(plan.limits, runs)
    pool = await proven_pool(calls, plan.limits, plan.addresses, budget, notify)
    async with closed_on_failure(pool):
        with runs.lock():
            runs.settle(manifest)
            for session in sessions:
                runs.plan(session)  # so that the study can be served again by its name
    return pool
