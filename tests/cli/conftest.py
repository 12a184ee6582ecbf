"""The command line as a user types it, in an empty folder, without the cost of a process of its
own.
"""

import asyncio
import json
import shutil
import signal
from dataclasses import dataclass

import pytest

from delibsim import Citizen, Completion, ModelPool, Runs, Usage
from delibsim.cli.main import main
from delibsim.conduct.hold import hold_all
from delibsim.planning.compose import plan

SMALL = ("topic=ccps", "group.size=2", "rounds=1", "seed=7")


@dataclass(frozen=True)
class Answer:
    """What a command left behind: exit code, output and errors."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The output as JSON, in which there is no NaN."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def delibsim(home, monkeypatch, capsys):
    """Call `delibsim` with these words: everything a process does, from reading its arguments to
    its exit code.
    """

    def call(*words):
        monkeypatch.setattr("sys.argv", ["delibsim", *map(str, words)])
        capsys.readouterr()
        on_terminate = signal.getsignal(signal.SIGTERM)
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        finally:
            signal.signal(signal.SIGTERM, on_terminate)
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def files(home):
    """Every file below the folder with its bytes, locks apart."""

    def read(where="."):
        return {
            str(path.relative_to(home)): path.read_bytes()
            for path in sorted((home / where).rglob("*"))
            if path.is_file() and path.name != ".lock"
        }

    return read


class Silent:
    """A model that refuses everything for Participant 1, and answers as the citizen for others."""

    name = "citizen"
    citizen = Citizen(population=1)

    async def complete(self, prompt, seed):
        if prompt.purpose.participant == "Participant 1":
            return Completion("", "refusal", "against my policy", Usage(cost_usd=0.0), "citizen")
        return await self.citizen.complete(prompt, seed)


def hold(folder, overrides, models=None):
    """Hold a session as `delibsim run` does, with other models if need be."""
    planned = plan(overrides, folder)
    runs = Runs(planned.root, planned.study)
    runs.settle(planned.manifest)
    asyncio.run(hold_all([planned.session], runs, pool=ModelPool(models=models)))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A folder with two studies: `s` holds a complete run, `p` a partial one, in which Participant
    1 refused everything.
    """
    folder = tmp_path_factory.mktemp("prepared")
    hold(folder, ["study=s", *SMALL])
    hold(folder, ["study=p", *SMALL], {"citizen": Silent()})
    return folder


@pytest.fixture
def study(home, prepared):
    """The complete study in the user's folder; the folder of its only session."""
    shutil.copytree(prepared / "runs" / "s", home / "runs" / "s")
    return home / "runs" / "s" / "ccps.normative.citizen_rounds1_size2.r1"


@pytest.fixture
def partial(home, prepared):
    """The partial study in the user's folder; the folder of its only session."""
    shutil.copytree(prepared / "runs" / "p", home / "runs" / "p")
    return home / "runs" / "p" / "ccps.normative.citizen_rounds1_size2.r1"


@pytest.fixture
def small():
    """The overrides of the prepared sessions: the smallest deliberation."""
    return SMALL
