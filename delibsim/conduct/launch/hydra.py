"""What one worker does: it holds the sessions of its batch, and reports each that is over."""

import asyncio
import contextlib
import functools
import json
import os
import socket
from collections.abc import Collection, Generator, Mapping, Sequence
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

from delibsim.conduct.cost import budget_of
from delibsim.conduct.hold import hold_all
from delibsim.conduct.launch.folder import Launch, outcome_to_line
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.domain.errors import WrongInput
from delibsim.models.pool import ModelPool
from delibsim.store.files import append_line
from delibsim.store.runs import Runs

ADDRESSES = "DELIBSIM_ADDRESSES"
"""The variable that hands workers the addresses of models, which may hold secrets, where a task
would be written to disk.
"""
LOOK = 1.0  # seconds between two looks of a worker whether it is to stop


class WorkerLog(Observer):
    """Writes a line for every session that is over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self) -> None:
        """Write which host and process report here."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"host": socket.gethostname(), "process": os.getpid(), "begun": now}
        append_line(self.path, line)

    def on_session(self, outcome: SessionOutcome) -> None:
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
    report = WorkerLog(launch.log(worker))
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


OURS = "delibsim"
"""The launcher that starts no process: this one holds all sessions."""
EXTRAS = {"joblib": "joblib", "submitit_local": "slurm", "submitit_slurm": "slurm", "ray": "ray"}
"""The launchers of Hydra that hold a study, and the extra of delibsim that brings each."""
PLUGINS = {
    "joblib": "hydra_joblib_launcher",
    "slurm": "hydra_submitit_launcher",
    "ray": "hydra_ray_launcher",
}
JOIN_RAY = {"init": {"object_store_memory": None, "logging_level": "ERROR", "log_to_driver": False}}
"""Settings for Ray. The plug-in would set a size, which Ray refuses where it joins a cluster."""


def check(name: str, overrides: Collection[str]) -> None:
    """Refuse a launcher that cannot hold a study or is not installed, and settings for a launcher
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
            f"hydra/launcher={name} is not installed: pip install '.[{EXTRAS[name]}]' in the"
            f" clone of delibsim ({installed})"
        )


def _installed(extra: str) -> bool:
    if find_spec("hydra_plugins") is None:
        return False
    return find_spec(f"hydra_plugins.{PLUGINS[extra]}") is not None


def start(
    launch: Launch, launcher: str, overrides: Sequence[str], addresses: Mapping[str, str]
) -> None:
    """Let a launcher of Hydra start the workers, and wait for them; what it or a worker raises
    comes through.

    Addresses go to the workers through the environment where the launcher writes their task to disk
    (submitit), else with it.
    """
    written = launcher.startswith("submitit")
    with_task, in_environment = ({}, dict(addresses)) if written else (dict(addresses), {})
    task = functools.partial(hold_batch, launch=launch, addresses=with_task)
    hydra.version.setbase("1.3")
    config = _config(launch, launcher)
    ConfigStore.instance().store("delibsim_worker", config)
    variables = {ADDRESSES: json.dumps(in_environment)} if written else {}
    with _environment(variables):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing here reports to anybody
        machinery = Hydra.create_main_hydra2("delibsim", create_config_search_path(None))
        workers = ",".join(str(k) for k in range(len(launch.limits)))
        try:
            machinery.multirun(
                "delibsim_worker",
                task,
                [*overrides, f"batch={workers}"],
                with_log_configuration=False,
            )
        finally:
            GlobalHydra.instance().clear()


def _config(launch: Launch, launcher: str) -> dict[str, Any]:
    """The configuration of the workers: Hydra writes into the folder of the launch, and no log."""
    place = str(launch.place).replace("${", "\\${")
    return {
        "defaults": [
            {"override hydra/launcher": launcher},
            {"override hydra/job_logging": "none"},
            {"override hydra/hydra_logging": "none"},
            "_self_",
        ],
        "batch": 0,
        "hydra": {
            "sweep": {"dir": place, "subdir": "${hydra.job.num}"},
            "output_subdir": None,
            "job": {"chdir": False, "name": "delibsim"},
            "launcher": _settings(launcher, len(launch.limits)),
        },
    }


def _settings(launcher: str, workers: int) -> dict[str, Any]:
    """The settings of a launcher where the user gives none."""
    if launcher == "joblib":
        return {"n_jobs": workers}
    return {"ray": JOIN_RAY} if launcher == "ray" else {}


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Generator[None]:
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
