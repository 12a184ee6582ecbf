"""Holding a planned study in several processes: how many workers, their start, what they report."""

import asyncio
import contextlib
import functools
import json
import math
import os
import socket
import threading
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
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
from delibsim.conduct.launch.folder import (
    Launch,
    most_workers,
    outcome_from_line,
    outcome_to_line,
    write_batches,
)
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.conduct.study import Notify, Prepared, prepare
from delibsim.domain.errors import refused
from delibsim.domain.run import Session
from delibsim.models.clients.settings import price_in
from delibsim.models.pool import ModelPool
from delibsim.models.retry import estimated_tokens, worst_case
from delibsim.planning.compose import StudyPlan
from delibsim.planning.freeze import cells_of
from delibsim.planning.presets import Presets
from delibsim.prompts.session import longest_prompt
from delibsim.store.files import append_line
from delibsim.store.runs import Runs

ADDRESSES = "DELIBSIM_ADDRESSES"
"""The variable that hands workers the addresses of models, which may hold secrets, where a task
would be written to disk.
"""
LOOK_TO_STOP = 1.0  # seconds between two looks of a worker whether it is to stop


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
    while not (await asyncio.wait({holding}, timeout=LOOK_TO_STOP))[0]:
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
        raise refused(
            "launcher_takes_no_settings", overrides=next(iter(overrides)), extras=", ".join(EXTRAS)
        )
    if name == OURS:
        return
    here = [launcher for launcher, extra in EXTRAS.items() if _installed(extra)]
    installed = f"installed: {', '.join([OURS, *here])}"
    if name not in EXTRAS:
        raise refused(
            "launcher_unknown", named=name, given=", ".join([OURS, *EXTRAS]), installed=installed
        )
    if name not in here:
        raise refused(
            "launcher_not_installed", named=name, extras=EXTRAS[name], installed=installed
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
