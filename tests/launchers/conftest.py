"""Rooms for the tests of launchers: real processes, and a Ray cluster of two nodes on loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("delibsim")
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.2", "include_dashboard": False})
cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(scope="session")
def cluster():
    """The overrides that lead to a Ray cluster of two nodes with one core each, which is known on
    loopback only.
    """
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    lines = iter(process.stdout.readline, "")
    address = next(line.strip() for line in lines if line.startswith("127.0.0.2:"))
    yield [
        f"hydra.launcher.ray.init.address={address}",
        "+hydra.launcher.ray.init._node_ip_address=127.0.0.2",
    ]
    process.communicate(timeout=180)


@pytest.fixture(params=["joblib", "submitit_local", "ray"])
def launcher(request):
    """The overrides that choose a launcher."""
    chosen = [f"hydra/launcher={request.param}"]
    if request.param == "ray":
        chosen += request.getfixturevalue("cluster")
    else:
        need(request.param)
    return chosen


def need(launcher):
    """Skip a test where the package of a launcher is not installed; joblib alone is none."""
    module = {"joblib": "hydra_joblib_launcher", "submitit_local": "hydra_submitit_launcher"}
    folders = find_spec("hydra_plugins")
    places = folders.submodule_search_locations if folders else ()
    if not any(Path(place, module[launcher]).is_dir() for place in places):
        pytest.skip(f"needs the extra of {launcher}")


@dataclass(frozen=True)
class Home:
    """A folder in which a user gives commands."""

    folder: Path

    def begin(self, *words):
        """A command that runs in a group of processes of its own."""
        variables = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        return subprocess.Popen(
            [PROGRAM, *words],
            cwd=self.folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *words):
        """Exit code, output and errors of a command."""
        process = self.begin(*words)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def held(self, study):
        """The bytes of every run of a study."""
        return {
            path.parent.name: path.read_bytes()
            for path in sorted((self.folder / "runs" / study).glob("*/run.json"))
        }

    def until(self, study, n, seconds=180):
        """Wait until so many runs of a study are held."""
        return until(lambda: len(self.held(study)) >= n, seconds)

    def workers(self, study):
        """The process ids of the workers of a study, as they told them."""
        lines = [
            line
            for path in self.folder.glob(f"runs/{study}/launcher/*/*.told.jsonl")
            for line in path.read_text().splitlines()
        ]
        return [line["process"] for line in map(json.loads, lines) if "process" in line]


@pytest.fixture
def home(tmp_path):
    """An empty folder to work in."""
    return Home(tmp_path)


def until(true, seconds=120):
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def alive(process):
    """Whether a process runs, or could go on to."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def send(process, number):
    """Send a signal to a process, if there is one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def kill(processes):
    """End processes so that they notice nothing, and wait until they are gone."""
    for process in processes:
        send(process, signal.SIGKILL)
    until(lambda: not any(map(alive, processes)))
