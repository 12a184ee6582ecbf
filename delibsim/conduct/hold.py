"""Holding sessions and keeping them: where the engine meets the store."""

import asyncio
import gc
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from delibsim.conduct.replay import exchanges_of
from delibsim.domain.run import Run, Session
from delibsim.engine.forum import Watch
from delibsim.engine.hold import hold
from delibsim.models.ask import Interrupted
from delibsim.models.base import OUTCOMES
from delibsim.models.pool import ModelPool
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Outcome:
    """What came of holding a session: its run, or why there is none; how many answers came from the
    record and how many were asked for.

    `status` is that of the run ("complete" or "partial"), "" if there is none. Of many sessions the
    runs are left on disk.
    """

    session: Session
    run: Run | None
    status: str = ""
    fault: str = ""
    recorded: int = 0
    asked: int = 0
    damaged_lines: int = 0
    already: bool = False


async def hold_session(
    session: Session,
    runs: Runs,
    watch: Watch = lambda moment: None,
    heed: Callable[[Exchange], None] = lambda exchange: None,
    voices: ModelPool | None = None,
) -> Outcome:
    """Hold a session and write its run, going on from its record if it was cut off; an existing run
    is left as it is.

    `heed` is told of every exchange after it was appended to the log.
    """
    await asyncio.to_thread(runs.plan, session)  # waits for the disk, and nobody waits for it
    if runs.held(session.id):
        run = runs.run(session.id)
        return Outcome(session, run, run.status, already=True)
    exchanges, damaged = exchanges_of(runs, session.id)
    reused, asked = sum(exchange.completion.status in OUTCOMES for exchange in exchanges), 0

    def keep(exchange: Exchange) -> None:
        nonlocal asked
        asked += exchange.completion.status != "budget"  # which was not sent
        runs.record(session.id, exchange.record())
        if (answer := exchange.completion).response_id or answer.fingerprint:
            runs.note_answering(
                exchange.model,
                answer.model_returned,
                answer.fingerprint,
                f"{session.id}/{exchange.id}",
                exchange.started,
            )
        heed(exchange)

    live = (voices or ModelPool()).of(session)
    recorded = {
        name: Replay(name, exchanges, then=Recorder(model, keep)) for name, model in live.items()
    }
    try:
        run = await hold(session, recorded, watch)
    except (Interrupted, Diverged) as error:
        return Outcome(session, None, "", str(error), reused, asked, damaged)
    await asyncio.to_thread(runs.add, run)
    return Outcome(session, run, run.status, "", reused, asked, damaged)


async def hold_all(
    sessions: Iterable[Session],
    runs: Runs,
    watch: Watch = lambda moment: None,
    heed: Callable[[Exchange], None] = lambda exchange: None,
    voices: ModelPool | None = None,
    at_once: int = 1,
    tell: Callable[[Outcome], None] = lambda held: None,
    lock: AbstractContextManager[Any] | None = None,
) -> list[Outcome]:
    """Hold sessions under the lock of the study's folder: of each set-up of models so many at once,
    so that none waits for another.

    `tell` is told of every session that is over. The outcomes come in the order of the sessions and
    without their runs, which would fill the memory. The voices are closed at the end. `lock` takes
    the place of the lock for this process alone.
    """
    voices = voices or ModelPool()
    seats: defaultdict[frozenset[str], asyncio.Semaphore] = defaultdict(
        lambda: asyncio.Semaphore(at_once)
    )

    async def one(session: Session) -> Outcome:
        async with seats[frozenset(session.models)]:
            if fault := voices.closed(session):
                await asyncio.to_thread(runs.plan, session)
                held = Outcome(session, None, fault=fault)
            elif runs.held(session.id):
                held = Outcome(session, None, runs.status(session.id), already=True)
            else:
                held = replace(await hold_session(session, runs, watch, heed, voices), run=None)
            tell(held)
            return held

    try:
        with lock or runs.lock(), _settled_heap():
            # Whichever fails, the others finish first: what is in flight has been paid for and is
            # to be kept.
            settled = await asyncio.gather(
                *(one(session) for session in sessions), return_exceptions=True
            )
    finally:
        await voices.close()
    for outcome in settled:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in settled if isinstance(outcome, Outcome)]


@contextmanager
def _settled_heap() -> Generator[None]:
    """Spare the collector what was imported and planned before, and let it look at the rest less
    often, which takes time.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
