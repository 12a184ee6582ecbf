"""Conducting sessions: where the engine and the scorers meet the store."""

import asyncio
import gc
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.domain.measure import Measure, in_order
from delibsim.domain.run import Run, Session
from delibsim.domain.score import Score
from delibsim.engine.agent import Interrupted
from delibsim.engine.forum import Watch
from delibsim.engine.hold import hold
from delibsim.models.base import OUTCOMES
from delibsim.models.clients.prices import price_in
from delibsim.models.pool import Voices
from delibsim.models.replay import Diverged, Exchange, Recorder, Replay, exchanges_in
from delibsim.models.retry import charge, worst_case
from delibsim.plugins import declared, load
from delibsim.plugins import names as installed
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class Held:
    """What came of holding a session: its run, or why there is none; how many answers came from the record and how many were asked for.

    `status` is that of the run ("complete" or "partial"), "" if there is none. Of many sessions the runs are left on disk.
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
    voices: Voices | None = None,
) -> Held:
    """Hold a session and write its run, going on from its record if it was cut off; an existing run is left as it is.

    `heed` is told of every exchange after it was appended to the log.
    """
    await asyncio.to_thread(runs.plan, session)  # waits for the disk, and nobody waits for it
    if runs.held(session.id):
        run = runs.run(session.id)
        return Held(session, run, run.status, already=True)
    exchanges, damaged = exchanges_of(runs, session.id)
    reused, asked = sum(exchange.completion.status in OUTCOMES for exchange in exchanges), 0

    def keep(exchange: Exchange) -> None:
        nonlocal asked
        asked += exchange.completion.status != "budget"  # which was not sent
        runs.record(session.id, exchange.record())
        if (answer := exchange.completion).response_id or answer.fingerprint:
            runs.note_answering(exchange.model, answer.model_returned, answer.fingerprint, f"{session.id}/{exchange.id}", exchange.started)
        heed(exchange)

    live = (voices or Voices()).of(session)
    recorded = {name: Replay(name, exchanges, then=Recorder(model, keep)) for name, model in live.items()}
    try:
        run = await hold(session, recorded, watch)
    except (Interrupted, Diverged) as error:
        return Held(session, None, "", str(error), reused, asked, damaged)
    await asyncio.to_thread(runs.add, run)
    return Held(session, run, run.status, "", reused, asked, damaged)


async def hold_all(
    sessions: Iterable[Session],
    runs: Runs,
    watch: Watch = lambda moment: None,
    heed: Callable[[Exchange], None] = lambda exchange: None,
    voices: Voices | None = None,
    at_once: int = 1,
    tell: Callable[[Held], None] = lambda held: None,
    lock: AbstractContextManager[Any] | None = None,
) -> list[Held]:
    """Hold sessions under the lock of the study's folder: of each set-up of models so many at once, so that none waits for another.

    `tell` is told of every session that is over. The outcomes come in the order of the sessions and without their runs,
    which would fill the memory. The voices are closed at the end. `lock` takes the place of the lock for this process alone.
    """
    voices = voices or Voices()
    seats: defaultdict[frozenset[str], asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(at_once))

    async def one(session: Session) -> Held:
        async with seats[frozenset(session.models)]:
            if fault := voices.closed(session):
                await asyncio.to_thread(runs.plan, session)
                held = Held(session, None, fault=fault)
            elif runs.held(session.id):
                held = Held(session, None, runs.status(session.id), already=True)
            else:
                held = replace(await hold_session(session, runs, watch, heed, voices), run=None)
            tell(held)
            return held

    try:
        with lock or runs.lock(), _settled_heap():
            # Whichever fails, the others finish first: what is in flight has been paid for and is to be kept.
            settled = await asyncio.gather(*(one(session) for session in sessions), return_exceptions=True)
    finally:
        await voices.close()
    for outcome in settled:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in settled if isinstance(outcome, Held)]


@contextmanager
def _settled_heap() -> Generator[None]:
    """Spare the collector what was imported and planned before, and let it look at the rest less often, which takes time."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def spent(runs: Runs, among: Iterable[str] | None = None) -> tuple[float, int]:
    """US dollars and tokens that the exchanges of a study, those with raters included, or of the sessions named, have cost so far.

    An attempt of unknown cost counts with its worst case.
    """
    begun = runs.sessions()
    names = begun if among is None else sorted({*begun} & {*among})
    used = []
    asked = [(exchange, runs.planned(session).models) for session in names for exchange in exchanges_of(runs, session)[0]]
    if among is None:
        records, panels = Ratings.of(runs).asked()
        asked += [(exchange, panels) for exchange in exchanges_in(records)[0]]
    for exchange, models in asked:
        settings = models.get(exchange.model, {})
        worst = worst_case(exchange.messages, price_in(settings), settings.get("max_tokens"))
        used += [charge(attempt, worst) for attempt in (*exchange.completion.tries, exchange.completion)]
    return sum(u.cost_usd or 0.0 for u in used), sum((u.input_tokens or 0) + (u.output_tokens or 0) for u in used)


async def replay(runs: Runs, session: str) -> Run:
    """Hold a session again with its recorded exchanges as every voice; Diverged if it asks anything else."""
    planned = runs.planned(session)
    exchanges, _ = exchanges_of(runs, session)
    return await hold(planned, {name: Replay(name, exchanges) for name in planned.models})


def usual_scorers() -> list[str]:
    """The installed scorers that need not be asked for: all but those that are `on_request`."""
    return [name for name in installed("delibsim.scorers") if not getattr(load("delibsim.scorers", name), "on_request", False)]


def measures_of(names: Iterable[str]) -> dict[str, Measure]:
    """The measures that the scorers named declare, by id, in the order of tables."""
    found: dict[str, Measure] = {}
    for name in names:
        for measure in declared(name)[1]:
            found.setdefault(measure.id, measure)
    return in_order(found)


def score_all(
    runs: Runs, names: Iterable[str], watch: Callable[[str, int, int], None] | None = None
) -> tuple[list[Score], list[str], list[Path]]:
    """Score every readable run of a study with the scorers named; the scores, the faults of unreadable runs, the files.

    What a scorer has to say of how its scores came about (`details`) is written beside them. `watch` is told of the progress of
    a scorer that takes its time: what is being done, how much is done, of how much.
    """
    held, faults = runs.all()
    held = Ratings.of(runs).rated(held)
    scores: list[Score] = []
    files = []
    for name in names:
        scorer: Any = load("delibsim.scorers", name)  # a Scorer; some can do more
        if watch is not None and hasattr(scorer, "watch"):
            scorer.watch = watch
        found = scorer.score(held)
        files.append(runs.write_scores(scorer.name, scorer.version, found))
        if details := getattr(scorer, "details", None):
            files.append(runs.write_details(scorer.name, scorer.version, details(held)))
        scores += found
    return scores, faults, files


def exchanges_of(runs: Runs, session: str) -> tuple[list[Exchange], int]:
    """The readable exchanges of a session, in the order in which they were made, and how many lines of its log are not."""
    records, damaged = runs.exchanges(session)
    exchanges, unread = exchanges_in(records)
    return exchanges, damaged + unread
