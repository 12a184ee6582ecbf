"""Holding sessions and keeping them: where the engine meets the store."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from typing import Any

from delibsim.conduct.outcome import Observer, SessionOutcome, gone
from delibsim.conduct.replay import exchanges_of, past_of
from delibsim.conduct.status import remember_run
from delibsim.domain.run import Run, Session
from delibsim.engine.forum import hold
from delibsim.models.ask import Interrupted
from delibsim.models.base import OUTCOMES, LanguageModel
from delibsim.models.counted import InputCounts, of_whole_prompts, uncheckable
from delibsim.models.pool import ModelPool, few_sweeps
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, branch_voices
from delibsim.store.runs import Runs
from delibsim.store.sent import sent_log

Pace = Callable[[LanguageModel, Callable[[], int]], LanguageModel]
"""From a voice, and what gives the number of calls that were made, to a voice."""


async def hold_session(
    session: Session,
    runs: Runs,
    pool: ModelPool | None = None,
    observer: Observer | None = None,
    pace: Pace = lambda model, asked: model,
) -> SessionOutcome:
    """Hold a session and write its run, going on from its record if it was cut off.

    A run that exists is left as it is. The observer learns of every exchange after it was appended
    to the log. `pace` may delay what a model has said, which is on record by then; it is given the
    number of calls that were made now.
    """
    pool, observer = pool or ModelPool(), observer or Observer()
    runs.durable = runs.durable or pool.limits.durable
    await asyncio.to_thread(runs.plan, session)  # the event loop does not wait for the disk
    if runs.withdrawn(session.id):
        return gone(session)
    if runs.held(session.id):
        run = runs.run(session.id)
        return SessionOutcome(session, run, run.status, already=True)
    recorded_before, damaged = exchanges_of(runs, session.id)
    exchanges = of_whole_prompts(recorded_before)
    past = past_of(runs, session.id)
    reused = sum(exchange.completion.status in OUTCOMES for exchange in exchanges)
    asked, log, sent = 0, runs.log(session.id), sent_log(runs, session.id)
    added: list[dict[str, Any]] = []

    def keep(exchange: Exchange) -> None:
        nonlocal asked
        asked += exchange.completion.status != "budget"  # such a call was not sent
        record = exchange.record()
        log.append(record)
        sent.settle(exchange.model, exchange.seed, exchange.started)
        added.append(record | {"messages": ()})  # prompts would fill the memory
        _note_answering(runs, session, exchange)
        observer.on_exchange(exchange)

    recorded: dict[str, LanguageModel] = {}
    counts: dict[str, InputCounts] = {}
    for name, model in pool.of(session).items():
        counts[name] = InputCounts(one for one in exchanges if one.model == name)
        recorder = Recorder(model, keep, sent.note, counts[name])
        replayed = Replay(name, exchanges, then=recorder)
        recorded[name] = pace(replayed, lambda: asked)
    try:
        with closing(log), closing(sent):
            voices = branch_voices(session, recorded, past)
            run = await hold(session, voices, observer.on_event)
    except (Interrupted, Diverged) as error:
        reason = error.reason if isinstance(error, Interrupted) else None
        told = _unchecked(counts)
        found = SessionOutcome(session, None, "", str(error), reused, asked, damaged, reason=reason)
        return replace(found, unchecked=told)
    all_known = not (recorded_before or damaged or sent.left_behind)
    await asyncio.to_thread(_write, runs, run, added if all_known else [])
    held = SessionOutcome(session, run, run.status, "", reused, asked, damaged)
    return replace(held, unchecked=_unchecked(counts))


def _unchecked(counts: Mapping[str, InputCounts]) -> list[str]:
    """The models of which it cannot be said whether they read whole prompts, in sentences."""
    return uncheckable({name: own.unchecked for name, own in counts.items()})


def _write(runs: Runs, run: Run, records: list[dict[str, Any]]) -> None:
    """Write a run, and what `delibsim status` need not find out again, where all records are
    known.
    """
    runs.add(run)
    if records:
        remember_run(runs, run, records)


def _note_answering(runs: Runs, session: Session, exchange: Exchange) -> None:
    """Keep which model answered, where the provider says so."""
    answer = exchange.completion
    if not answer.response_id and not answer.fingerprint:
        return
    call = f"{session.id}/{exchange.id}"
    runs.answering.note(
        exchange.model, answer.model_returned, answer.fingerprint, call, exchange.started
    )


async def hold_all(
    sessions: Iterable[Session],
    runs: Runs,
    pool: ModelPool | None = None,
    observer: Observer | None = None,
    at_once: int = 1,
    lock: AbstractContextManager[Any] | None = None,
) -> list[SessionOutcome]:
    """Hold sessions concurrently, at most `at_once` per combination of models, under the lock of
    the study's folder.

    The outcomes come in the order of the sessions and without their runs, which would fill the
    memory. The models are closed at the end. `lock` takes the place of the lock that is for this
    process alone.
    """
    pool, observer = pool or ModelPool(), observer or Observer()
    sessions = list(sessions)
    outcomes: dict[int, SessionOutcome] = {}
    failures: dict[int, BaseException] = {}

    async def hold_one(number: int) -> None:
        try:
            outcome = await _hold_once(sessions[number], runs, pool, observer)
            observer.on_session(outcome)
            outcomes[number] = outcome
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Where one fails the others finish first: calls in flight are paid for, and are kept.
            failures[number] = error

    async def hold_in_turn(waiting: deque[int]) -> None:
        while waiting:
            await hold_one(waiting.popleft())

    combinations: dict[frozenset[str], deque[int]] = {}
    for number, session in enumerate(sessions):
        combinations.setdefault(frozenset(session.voices), deque()).append(number)
    seats = []
    for waiting in combinations.values():
        seats += [waiting] * min(at_once, len(waiting))
    try:
        with lock or runs.lock(), few_sweeps():
            # A cancellation waits until every call in flight is recorded.
            await asyncio.gather(*map(hold_in_turn, seats), return_exceptions=True)
    finally:
        await pool.close()
    if failures:
        raise failures[min(failures)]
    return [outcomes[number] for number in range(len(sessions))]


async def _hold_once(
    session: Session, runs: Runs, pool: ModelPool, observer: Observer
) -> SessionOutcome:
    """Hold a session unless it has a run, or its models cannot be asked any more."""
    if fault := pool.closed(session):
        await asyncio.to_thread(runs.plan, session)
        return SessionOutcome(session, None, fault=fault)
    if runs.withdrawn(session.id):
        return gone(session)
    if runs.held(session.id):
        return SessionOutcome(session, None, runs.status(session.id), already=True)
    return replace(await hold_session(session, runs, pool, observer), run=None)
