"""Holding a study in several processes, here or on other machines: a Hydra launcher starts them,
each holds a batch of sessions.
"""

import asyncio
import contextlib
import dataclasses
import functools
import json
import math
import os
import socket
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hydra.version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

from delibsim.conduct.cost import spent
from delibsim.conduct.hold import Outcome, hold_all
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.models.limits import Budget, Limits
from delibsim.models.pool import ModelPool
from delibsim.store import codec
from delibsim.store.files import append_line, json_text, read_lines, write_atomically
from delibsim.store.runs import LAUNCHER, Runs

OURS = "delibsim"
"""The launcher that is none: one process holds all sessions."""
EXTRAS = {"joblib": "joblib", "submitit_local": "slurm", "submitit_slurm": "slurm", "ray": "ray"}
"""The launchers of Hydra that hold a study, and the extra of delibsim that brings each."""
PLUGINS = {
    "joblib": "hydra_joblib_launcher",
    "slurm": "hydra_submitit_launcher",
    "ray": "hydra_ray_launcher",
}
ADDRESSES = "DELIBSIM_ADDRESSES"
"""The variable that hands workers the addresses of models, which may hold secrets, where a task
would be written to disk.
"""
LOOK = 1.0  # seconds between two looks of a worker whether it is to stop


def check(name: str, overrides: Collection[str]) -> None:
    """Refuse a launcher that cannot hold a study, or is not installed, and settings for the one
    that has none; WrongInput.
    """
    if name == OURS and overrides:
        raise WrongInput(
            f"'{next(iter(overrides))}' is for a launcher that starts processes:"
            f" hydra/launcher={', '.join(EXTRAS)}"
        )
    if name == OURS:
        return
    here = [launcher for launcher, extra in EXTRAS.items() if _installed(extra)]
    installed = f"installed: {', '.join([OURS, *here])}"
    if name not in EXTRAS:
        raise WrongInput(
            f"hydra/launcher={name} holds no study; there are {', '.join([OURS, *EXTRAS])}"
            f" ({installed})"
        )
    if name not in here:
        raise WrongInput(
            f"hydra/launcher={name} is not installed: pip install 'delibsim[{EXTRAS[name]}]'"
            f" ({installed})"
        )


def _installed(extra: str) -> bool:
    return (
        find_spec("hydra_plugins") is not None
        and find_spec(f"hydra_plugins.{PLUGINS[extra]}") is not None
    )


def most_workers(limits: Limits, wanted: int, largest: int = 1) -> int:
    """Among how many workers, at most `wanted`, limits can be divided so that the share of each
    lets a call of `largest` tokens through.

    A gate lets a call that is larger than its limit through when nothing else was, so smaller
    shares would add up to too much.
    """
    counts = [limits.concurrency, limits.requests_per_minute]
    tokens = [limits.tokens_per_minute, limits.budget_tokens]
    most = [count for count in counts if count is not None] + [
        count // max(1, largest) for count in tokens if count is not None
    ]
    return max(1, min(wanted, *most))


def shares(limits: Limits, workers: int) -> list[Limits]:
    """What each of so many workers may use. The shares add up to the limits and never to more; no
    limit stays none.
    """

    def part(name: str, k: int) -> int | None:
        whole = getattr(limits, name)
        return None if whole is None else whole // workers + (k < whole % workers)

    counts = ("concurrency", "requests_per_minute", "tokens_per_minute", "budget_tokens")
    usd = limits.budget_usd
    if usd is not None and workers > 1:
        usd = math.nextafter(usd / workers, 0.0)  # a quotient may have been rounded up
    return [
        dataclasses.replace(limits, budget_usd=usd, **{name: part(name, k) for name in counts})
        for k in range(workers)
    ]


def batches(sessions: Sequence[Session], workers: int) -> list[list[Session]]:
    """Sessions dealt out to workers like cards, so that every worker has its part of every set-up
    of models and every topic.
    """
    suits = sorted(sessions, key=lambda session: (sorted(session.models), session.topic.id))
    return [suits[k::workers] for k in range(workers)]


@dataclass(frozen=True)
class Launch:
    """One start of workers: the study, the name under which its folder is shared with them, and
    what each of them may use.
    """

    folder: Path
    name: str
    limits: tuple[Limits, ...]

    @property
    def place(self) -> Path:
        """Where the batches lie, what the workers tell, and what Hydra and the launcher write."""
        return self.folder / LAUNCHER / self.name

    def stop(self) -> None:
        """Ask all workers to stop in order: what is in flight is given up and recorded, and no
        session begun.
        """
        (self.place / "stop").touch()

    @property
    def stopped(self) -> bool:
        """Whether the workers were asked to stop."""
        return (self.place / "stop").exists()

    def told(self) -> dict[str, dict[str, Any]]:
        """What the workers have told of the sessions that are over, by name; of one held again by a
        second worker, what is better.
        """
        found: dict[str, dict[str, Any]] = {}
        for path in sorted(self.place.glob("*.told.jsonl")):
            for line in read_lines(path)[0]:
                if (name := line.get("session")) is not None and not found.get(name, {}).get(
                    "status"
                ):
                    found[name] = line
        return found

    def outcomes(self, sessions: Sequence[Session], fault: str) -> list[Outcome]:
        """What came of sessions: as told, else as it lies on disk, else `fault`."""
        runs, told = Runs.at(self.folder), self.told()
        return [
            (
                held_as_told(s, told[s.id])
                if s.id in told
                else Outcome(s, None, runs.status(s.id), fault)
            )
            for s in sessions
        ]


def held_as_told(session: Session, line: Mapping[str, Any]) -> Outcome:
    """What came of a session, from a worker's line."""
    return Outcome(
        session,
        None,
        line["status"],
        line["fault"],
        line["recorded"],
        line["asked"],
        line["damaged_lines"],
    )


def prepare(
    runs: Runs,
    sessions: Sequence[Session],
    limits: Limits,
    left: tuple[float | None, int | None],
    workers: int,
) -> Launch:
    """Cut sessions into batches, written into the folder of the study, with a share of the limits
    for each; `left` is what may be spent.
    """
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}"
    dealt = batches(sessions, workers)
    given = []
    for batch, share in zip(
        dealt,
        shares(dataclasses.replace(limits, budget_usd=left[0], budget_tokens=left[1]), workers),
        strict=True,
    ):
        # A worker that is started anew counts what its batch has cost, so what it had cost before
        # is added to its share.
        usd, tokens = (
            spent(runs, [session.id for session in batch]) if left != (None, None) else (0.0, 0)
        )
        given.append(dataclasses.replace(
            share,
            budget_usd=None if share.budget_usd is None else share.budget_usd + usd,
            budget_tokens=None if share.budget_tokens is None else share.budget_tokens + tokens,
        ))  # fmt: skip
    launch = Launch(runs.folder.resolve(), name, tuple(given))
    for k, batch in enumerate(dealt):
        lines = (
            json_text({"schema": codec.SCHEMA, **codec.session_to_plain(session)})
            for session in batch
        )
        write_atomically(launch.place / f"{k}.batch.jsonl", "".join(f"{line}\n" for line in lines))
    return launch


def start(
    launch: Launch, launcher: str, overrides: Sequence[str], addresses: Mapping[str, str]
) -> None:
    """Let a launcher of Hydra start the workers, and wait for them; whatever it or a worker raises
    comes through.

    Addresses go to the workers through the environment where the launcher writes their task to disk
    (submitit), else with it.
    """
    written = launcher.startswith("submitit")
    task = functools.partial(
        hold_batch, launch=launch, addresses={} if written else dict(addresses)
    )
    node: dict[str, Any] = {
        "defaults": [{"override hydra/launcher": launcher}, {"override hydra/job_logging": "none"},
                     {"override hydra/hydra_logging": "none"}, "_self_"],
        "batch": 0,
        "hydra": {"sweep": {"dir": str(launch.place).replace("${", "\\${"), "subdir": "${hydra.job.num}"}, "output_subdir": None,
                  "job": {"chdir": False, "name": "delibsim"}, "launcher": _settings(launcher, len(launch.limits))},
    }  # fmt: skip
    hydra.version.setbase("1.3")
    ConfigStore.instance().store("delibsim_worker", node)
    with _variables({ADDRESSES: json.dumps(dict(addresses))} if written else {}):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing here reports to anybody
        machinery = Hydra.create_main_hydra2("delibsim", create_config_search_path(None))
        try:
            jobs = f"batch={','.join(map(str, range(len(launch.limits))))}"
            machinery.multirun(
                "delibsim_worker", task, [*overrides, jobs], with_log_configuration=False
            )
        finally:
            GlobalHydra.instance().clear()


def _settings(launcher: str, workers: int) -> dict[str, Any]:
    """What a launcher is told where the user says nothing."""
    if launcher == "joblib":
        return {"n_jobs": workers}
    if launcher == "ray":
        # The plug-in would set a size, which Ray refuses where it joins a cluster.
        return {
            "ray": {
                "init": {
                    "object_store_memory": None,
                    "logging_level": "ERROR",
                    "log_to_driver": False,
                }
            }
        }
    return {}


def hold_batch(config: DictConfig, launch: Launch, addresses: Mapping[str, str]) -> None:
    """What a worker does: hold the sessions of one batch, telling of each that is over; it ends
    early where it is asked to.
    """
    addresses = addresses or json.loads(os.environ.get(ADDRESSES, "{}"))
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(_hold(int(config.batch), launch, addresses))


async def _hold(k: int, launch: Launch, addresses: Mapping[str, str]) -> None:
    runs, limits = Runs.at(launch.folder), launch.limits[k]
    plans = (launch.place / f"{k}.batch.jsonl").read_bytes().splitlines()
    sessions = [codec.session_from_json(plan) for plan in plans]
    told = launch.place / f"{k}.told.jsonl"
    append_line(
        told,
        {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    )
    if launch.stopped:
        return

    def tell(held: Outcome) -> None:
        plain = {
            name: getattr(held, name)
            for name in ("status", "fault", "recorded", "asked", "damaged_lines")
        }
        append_line(told, {"session": held.session.id, **plain})

    lock = runs.joined(launch.name)
    capped = limits.budget_usd is not None or limits.budget_tokens is not None
    usd, tokens = spent(runs, [session.id for session in sessions]) if capped else (0.0, 0)
    voices = ModelPool(
        limits, Budget(limits.budget_usd, limits.budget_tokens, usd, tokens), addresses
    )
    # Twice as many sessions as calls may be in flight, as where one process holds all.
    holding = asyncio.ensure_future(
        hold_all(
            sessions, runs, voices=voices, at_once=2 * limits.concurrency, tell=tell, lock=lock
        )
    )
    while not (await asyncio.wait({holding}, timeout=LOOK))[0]:
        if launch.stopped:
            holding.cancel()
    await holding


@contextlib.contextmanager
def _variables(values: Mapping[str, str]) -> Generator[None]:
    """Variables of the environment, for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
