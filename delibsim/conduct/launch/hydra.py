"""Starting workers through a launcher of Hydra, here or on other machines."""

import contextlib
import functools
import json
import os
from collections.abc import Collection, Generator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import hydra.version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra

from delibsim.conduct.launch.batch import ADDRESSES, hold_batch
from delibsim.conduct.launch.folder import Launch
from delibsim.domain.errors import WrongInput

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
