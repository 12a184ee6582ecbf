"""A pool of models that have passed their preflight, before anything is asked or paid; and how a
model fares with the first question of a study.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from delibsim.conduct.cost import budget_of
from delibsim.conduct.outcome import Observer, SessionOutcome, gone
from delibsim.domain.errors import refused
from delibsim.domain.run import Session
from delibsim.domain.text import counted, quoted
from delibsim.models.base import capabilities_of, read
from delibsim.models.clients.settings import context_window
from delibsim.models.limits import Budget, Limits
from delibsim.models.pool import ModelPool, PlannedCalls
from delibsim.models.retry import estimated_tokens
from delibsim.planning.compose import StudyPlan
from delibsim.planning.dry_run import dry_run
from delibsim.planning.freeze import as_begun, cells_of, frozen, settled, those_of
from delibsim.prompts.session import longest_prompt
from delibsim.store.runs import Runs

Notify = Callable[[str], None]
"""Shows one line to the user."""


async def proven_pool(
    calls: Sequence[PlannedCalls],
    limits: Limits,
    addresses: Mapping[str, str],
    budget: Budget | None = None,
    notify: Notify = lambda line: None,
) -> ModelPool:
    """A pool for these calls; WrongInput if one of their models cannot be asked.

    `budget` is that of the limits with what it has been charged before; without it nothing was
    charged. Every issue that the preflight finds is handed to `notify`.
    """
    pool = ModelPool(limits, budget, addresses)
    async with closed_on_failure(pool):
        issues = await pool.check(calls)
        told = [f"{issue.level}: {issue.model}: {issue.text}" for issue in issues]
        for line in told:
            notify(line)
        if any(issue.level == "error" for issue in issues):
            fault = refused("nothing_asked_yet")
            for line in told:  # a traceback shows them, where nobody was notified
                fault.add_note(line)
            raise fault
    return pool


@asynccontextmanager
async def closed_on_failure(pool: ModelPool) -> AsyncGenerator[None]:
    """Close the connections of a pool where what is done here fails, and nobody will ask it."""
    try:
        yield
    except BaseException:
        await pool.close()
        raise


@dataclass(frozen=True)
class Prepared:
    """A plan that can be held: the outcomes of its sessions that have a run, the sessions that are
    waiting for theirs, and the models, which have passed their preflight.
    """

    plan: StudyPlan
    runs: Runs
    held: tuple[SessionOutcome, ...]
    waiting: tuple[Session, ...]
    pool: ModelPool


async def hold_plan(
    plan: StudyPlan,
    runs: Runs,
    observer: Observer | None = None,
    notify: Notify = lambda text: None,
) -> list[SessionOutcome]:
    """Hold the sessions of a plan that have no run yet; the outcomes of all its sessions.

    WrongInput, before anything is asked or paid, if that cannot be.
    """
    return await hold_prepared(await prepare(plan, runs, notify), observer)


async def prepare(plan: StudyPlan, runs: Runs, notify: Notify = lambda text: None) -> Prepared:
    """Check that a plan can be held, and freeze its study.

    WrongInput, before anything is written or asked, if it would change what the study is, if
    another process holds the study, or if a model fails its preflight.
    """
    runs.durable = runs.durable or plan.limits.durable
    plan = as_begun(plan, runs)
    manifest = frozen(plan)
    runs.compare(manifest, plan.sessions)
    for session in plan.sessions:
        runs.compare_plan(session)
    prepared = await prepare_as_planned(plan, runs, notify)
    if prepared.waiting:
        async with closed_on_failure(prepared.pool):
            found = settled(plan, prepared.pool.settled)
            if found is not plan:
                waiting = those_of(found, prepared.waiting)
                prepared, manifest = replace(prepared, plan=found, waiting=waiting), frozen(found)
            with runs.lock():
                runs.settle(manifest)
    return prepared


async def prepare_as_planned(
    plan: StudyPlan, runs: Runs, notify: Notify = lambda text: None
) -> Prepared:
    """Check that sessions whose plans lie on disk can be held; WrongInput if they cannot."""
    held = tuple(outcomes_on_disk(plan, runs))
    known = {outcome.session.id for outcome in held}
    waiting = tuple(session for session in plan.sessions if session.id not in known)
    alone = tuple(session for session in waiting if not session.seats_of_people)
    if len(alone) < len(waiting) and (alone or held):
        others = counted(len(waiting) - len(alone), "session")
        notify(f"note: {others} with people: delibsim serve {quoted(plan.study)} waits for them")
        waiting = alone
    if not waiting:
        return Prepared(plan, runs, held, waiting, ModelPool(plan.limits))
    if runs.holder():
        with runs.lock():  # raises WrongInput, which names the process that holds the study
            pass
    pool = await proven_models(waiting, runs, plan.limits, plan.addresses, notify)
    return Prepared(plan, runs, held, waiting, pool)


async def hold_prepared(
    prepared: Prepared, observer: Observer | None = None
) -> list[SessionOutcome]:
    """Hold the waiting sessions; the outcomes of those that were held before come first."""
    if not prepared.waiting:
        return list(prepared.held)
    from delibsim.conduct.hold import hold_all  # Mesa takes half a second to import

    # With twice as many sessions as calls in flight, one prepares its prompt while another asks.
    at_once = 2 * prepared.plan.limits.concurrency
    held = await hold_all(prepared.waiting, prepared.runs, prepared.pool, observer, at_once)
    return [*prepared.held, *held]


def outcomes_on_disk(plan: StudyPlan, runs: Runs) -> list[SessionOutcome]:
    """The sessions of a plan that have a run already, and those that were withdrawn."""
    found = []
    for session in plan.sessions:
        if runs.withdrawn(session.id):
            found.append(gone(session))
        elif runs.held(session.id):
            found.append(SessionOutcome(session, None, runs.status(session.id), already=True))
    return found


async def proven_models(
    sessions: Sequence[Session],
    runs: Runs,
    limits: Limits,
    addresses: Mapping[str, str],
    notify: Notify = lambda text: None,
) -> ModelPool:
    """The models of sessions after their preflight, with a budget that knows what the study has
    cost; WrongInput if one of them cannot be asked.
    """
    calls = []
    for session in cells_of(sessions).values():
        calls.append(PlannedCalls(session.id, session.voices, longest_prompt(session)))
    return await proven_pool(calls, limits, addresses, budget_of(limits, runs), notify)


async def check_models(plan: StudyPlan, notify: Notify) -> bool:
    """Ask the models of the first session of a plan what they are asked first in it, one call each,
    and say what came; whether all answers can be read. Nothing is written.

    WrongInput where a model fails its preflight.
    """
    session = plan.sessions[0]
    longest = longest_prompt(session)
    calls = PlannedCalls(session.id, session.voices, longest)
    pool = await proven_pool([calls], plan.limits, plan.addresses, notify=notify)
    session = settled(plan, pool.settled).sessions[0]
    whole, asked = True, {call.model: call.prompt for call in reversed(await dry_run(session))}
    try:
        for name, model in pool.of(session).items():
            settings = str(session.voices[name].get("model", ""))
            window = capabilities_of(model).window or context_window(settings)
            told = f"{window:,} tokens" if window else "not known; the server does not tell it"
            notify(f"{name}: window: {told}")
            tokens = estimated_tokens(longest.messages)
            notify(f"{name}: longest prompt: at most {tokens:,} tokens")
            begun = time.monotonic()
            _, answer = read(asked[name], await model.complete(asked[name], session.seed))
            seconds, used = time.monotonic() - begun, answer.usage
            whole = whole and answer.status == "ok"
            sent, said = used.input_tokens, used.output_tokens
            counts = f"{sent} tokens in, {said} out" if sent is not None else "tokens not counted"
            speed = f", {said / seconds:.1f} a second" if said else ""
            detail = f" ({answer.detail})" if answer.detail else ""
            if "response_format" in answer.parameters_sent:
                detail += ", with a schema"
            notify(
                f"{name}: {asked[name].purpose.occasion}: {answer.status}{detail}, {counts}"
                f" in {seconds:.1f} s{speed}"
            )
    finally:
        await pool.close()
    return whole
