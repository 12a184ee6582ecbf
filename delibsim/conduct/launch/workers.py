"""Holding a planned study in several processes: how many workers, their start, what they report."""

import math
import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from delibsim.conduct.launch.folder import Launch, most_workers, outcome_from_line, write_batches
from delibsim.conduct.launch.hydra import check, start
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.conduct.study import Notify, Prepared, prepare
from delibsim.domain.run import Session
from delibsim.models.clients.settings import price_in
from delibsim.models.pool import ModelPool
from delibsim.models.retry import estimated_tokens, worst_case
from delibsim.planning.compose import StudyPlan
from delibsim.planning.freeze import cells_of
from delibsim.planning.presets import Presets
from delibsim.prompts.session import longest_prompt
from delibsim.store.runs import Runs

LOOK = 2.0  # seconds between two looks at what the workers have reported


async def prepare_workers(
    plan: StudyPlan, runs: Runs, notify: Notify = lambda text: None
) -> Prepared:
    """Check that a plan can be held by the launcher it names, and freeze its study; WrongInput,
    before anything is begun, if not.

    The models are closed after their preflight: each worker opens its own.
    """
    launcher, overrides = plan.sweep.launcher, plan.sweep.launcher_overrides
    check(launcher, overrides)
    Presets(Path.cwd()).launcher(launcher, overrides)
    prepared = await prepare(plan, runs, notify)
    await prepared.pool.close()
    return prepared


@contextmanager
def launching(prepared: Prepared, notify: Notify = lambda text: None) -> Generator[Launch]:
    """The batches of a study that is locked for its workers, until the last of them has ended."""
    plan, runs = prepared.plan, prepared.runs
    wanted = min(plan.limits.workers or max(2, os.cpu_count() or 1), len(prepared.waiting))
    overruns = prepared.pool.budget.overruns
    factors = [known.tokens.factor for known in overruns.values()]
    largest = math.ceil(largest_call(prepared.waiting) * max(factors, default=1.0))
    left = budget_left(prepared.pool)
    dearest = dearest_call(prepared.waiting) * max(factors, default=1.0)
    workers = most_workers(plan.limits, wanted, largest, left[0], dearest)
    if workers < wanted:
        notify(
            f"{workers} worker{'s' if workers > 1 else ''} instead of {wanted}: the limits cannot"
            f" be divided further (the largest call may have {largest:,} tokens"
            f"{f' and cost {dearest:.2g} USD' if dearest else ''}); raise the limits for more"
        )
    if left[0] is not None and left[0] / workers < dearest:
        notify(
            f"warning: of limits.budget_usd {left[0]:.2g} USD are left, and one call may cost"
            f" {dearest:.2g}: it would not be sent. Raise limits.budget_usd, or lower max_tokens"
        )
    with runs.lock() as share:
        launch = write_batches(runs, prepared.waiting, plan.limits, left, workers, overruns)
        share(launch.name)
        yield launch


def hold_in_workers(
    prepared: Prepared,
    launch: Launch,
    observer: Observer,
    notify: Notify = lambda text: None,
    on_look: Callable[[], None] = lambda: None,
) -> list[SessionOutcome]:
    """Start the workers, wait for them, and give the outcomes of all sessions of the plan.

    While they hold the sessions another thread looks at what they report: the observer learns from
    it of each session that is over, and `on_look` is called after every look.
    """
    plan, failure = prepared.plan, ""
    with _looking(launch, prepared.waiting, observer, on_look):
        try:
            start(launch, plan.sweep.launcher, plan.sweep.launcher_overrides, plan.addresses)
        except Exception as error:  # noqa: BLE001 - every launcher has errors of its own for a worker that died
            failure = f"{type(error).__name__}: {error}".splitlines()[0]
    if failure and not launch.stopped:
        notify(
            f"A worker did not end well: {failure}; what the launcher wrote is in {launch.place}"
        )
    held = launch.outcomes(prepared.waiting, failure or "its worker ended before it began")
    return [*prepared.held, *held]


@contextmanager
def _looking(
    launch: Launch,
    sessions: Sequence[Session],
    observer: Observer,
    on_look: Callable[[], None],
) -> Generator[None]:
    """Tell an observer, from another thread, of the sessions that workers report."""
    waiting = {session.id: session for session in sessions}
    over = threading.Event()

    def look() -> None:
        last = False
        while not last:
            last = over.wait(LOOK)
            for name, line in launch.reported().items():
                if name in waiting:
                    observer.on_session(outcome_from_line(waiting.pop(name), line))
            on_look()

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()


def budget_left(pool: ModelPool) -> tuple[float | None, int | None]:
    """US dollars and tokens that may still be spent; None where there is no budget."""
    budget = pool.budget
    usd = None if budget.usd is None else max(0.0, budget.usd - budget.spent_usd)
    tokens = None if budget.tokens is None else max(0, budget.tokens - budget.spent_tokens)
    return usd, tokens


def dearest_call(sessions: Sequence[Session]) -> float:
    """How many US dollars a call may cost in these sessions, at most."""
    dearest = 0.0
    for session in cells_of(sessions).values():
        messages = longest_prompt(session).messages
        for settings in session.voices.values():
            if settings["kind"] != "citizen":
                worst = worst_case(messages, price_in(settings), settings.get("max_tokens"))
                dearest = max(dearest, worst.cost_usd or 0.0)
    return dearest


def largest_call(sessions: Sequence[Session]) -> int:
    """How many tokens the largest call to a hosted model may have in these sessions; at least 1."""
    largest = 1
    for session in cells_of(sessions).values():
        models = session.voices.values()
        if all(settings["kind"] == "citizen" for settings in models):
            continue
        answer = max(int(settings.get("max_tokens") or 0) for settings in models)
        prompt = estimated_tokens(longest_prompt(session).messages)
        largest = max(largest, prompt + answer)
    return largest
