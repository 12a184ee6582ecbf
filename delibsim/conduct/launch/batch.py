"""What one worker does: it holds the sessions of its batch, and reports each that is over."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from omegaconf import DictConfig

from delibsim.conduct.cost import budget_of
from delibsim.conduct.hold import hold_all
from delibsim.conduct.launch.folder import Launch, outcome_to_line
from delibsim.conduct.observe import Observer
from delibsim.conduct.outcome import Outcome
from delibsim.models.pool import ModelPool
from delibsim.store.files import append_line
from delibsim.store.runs import Runs

ADDRESSES = "DELIBSIM_ADDRESSES"
"""The variable that hands workers the addresses of models, which may hold secrets, where a task
would be written to disk.
"""
LOOK = 1.0  # seconds between two looks of a worker whether it is to stop


class Report(Observer):
    """Writes a line for every session that is over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        """Write which host and process report here."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"host": socket.gethostname(), "process": os.getpid(), "begun": now}
        append_line(self.path, line)

    def on_session(self, outcome: Outcome) -> None:
        """Write what came of a session."""
        append_line(self.path, outcome_to_line(outcome))


def hold_batch(config: DictConfig, launch: Launch, addresses: Mapping[str, str]) -> None:
    """Hold the sessions of one batch; a worker ends early where it is asked to.

    Addresses that do not come with the task are read from the environment.
    """
    addresses = addresses or json.loads(os.environ.get(ADDRESSES, "{}"))
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_hold(int(config.batch), launch, addresses))


async def _hold(worker: int, launch: Launch, addresses: Mapping[str, str]) -> None:
    runs, limits = Runs.at(launch.folder), launch.limits[worker]
    sessions = launch.batch(worker)
    report = Report(launch.log(worker))
    report.begin()
    if launch.stopped:
        return
    lock = runs.joined(launch.name)
    names = [session.id for session in sessions]
    budget = budget_of(limits, runs, names, launch.overruns)
    pool = ModelPool(limits, budget, addresses)
    # Twice as many sessions as calls may be in flight, as where one process holds all.
    at_once = 2 * limits.concurrency
    holding = asyncio.ensure_future(hold_all(sessions, runs, pool, report, at_once, lock))
    while not (await asyncio.wait({holding}, timeout=LOOK))[0]:
        if launch.stopped:
            holding.cancel()
    await holding
