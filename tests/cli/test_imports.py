"""What commands import: those that hold nothing do without what takes long to import.

Several commands share a process: what none of them imported is not in it at the end.
"""

import json
import subprocess
import sys

import pytest

from delibsim.cli.main import COMMANDS

SLOW = (
    *("mesa", "networkx", "pandas", "scipy", "sklearn", "statsmodels", "litellm", "aiohttp"),
    *("starlette", "uvicorn", "sqlalchemy", "sse_starlette", "argon2", "httptools"),
)
NUMBERS = ("numpy", "hydra", "omegaconf")
OF_ARRAYS = ("code", "compare", "rate", "summarise", "judge")
"""The commands whose modules import numpy for their help too, and no more than that."""
CODE = """
import contextlib, io, json, sys
from delibsim.cli.main import main
done = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["delibsim", *words]
    code = 0
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            code = end.code
    done.append([" ".join(words), code, sorted(sys.modules)])
print(json.dumps(done))
"""
SESSION = ("study=s", "topic=ccps", "group.size=2", "rounds=1", "seed=7")
DEBATE = ("format=debate", "motion=voting")


@pytest.fixture
def imported(home):
    """Run commands one after another in one new process, in which all succeed: for each its words
    and all modules that are imported by then.
    """

    def run(*commands):
        argv = [sys.executable, "-c", CODE, json.dumps(commands)]
        done = subprocess.run(argv, cwd=home, capture_output=True, text=True, check=True)
        results = json.loads(done.stdout.splitlines()[-1])
        assert {words: code for words, code, _ in results if code} == {}, done.stderr
        return {words: set(modules) for words, _, modules in results}

    return run


def test_what_reads_files_imports_nothing_that_computes_or_composes(imported, study):
    after = imported(
        ("list", "topics"),
        ("list", "topics", "ccps"),
        ("list", "surveys"),
        ("list", "surveys", "ccps"),
        ("status",),
        ("status", "s"),
        ("status", "s", "--json"),
        ("show", "s", "--no-answers"),
        ("show", "s", "--call", "Participant 1/pre/0"),
        *((command, "--help") for command in COMMANDS if command not in OF_ARRAYS),
    )
    for words, modules in after.items():
        assert modules.isdisjoint((*SLOW, *NUMBERS)), words


def test_what_holds_nothing_imports_neither_mesa_nor_tables_nor_clients(imported, study):
    after = imported(
        ("estimate", *SESSION),
        ("estimate", "topic=acp", "group.size=3"),
        ("estimate", *DEBATE),
        ("run", "-q", *SESSION),
        ("run", "-q", "-m", *SESSION),
        ("run", "-q", "--retry", "s"),
        ("show", "s"),
        ("score", "s"),
        ("score", "s", "--by", "participant"),
    )
    for words, modules in after.items():
        assert modules.isdisjoint(SLOW), words


def test_help_imports_nothing_that_composes(imported):
    for words, modules in imported(*((command, "--help") for command in OF_ARRAYS)).items():
        assert modules.isdisjoint((*SLOW, "hydra", "omegaconf")), words


def test_a_replay_does_without_what_mesa_imports_beside_its_core(imported, study):
    (modules,) = imported(("replay", "s")).values()
    assert "mesa.model" in modules
    unneeded = {"scipy", "statsmodels", "litellm", "hydra", "mesa.space", "mesa.batchrunner"}
    assert modules.isdisjoint(unneeded)


def test_a_network_that_is_not_complete_is_estimated_without_mesa(imported):
    (modules,) = imported(("estimate", "topic=acp", "procedure.audience.network=ring")).values()
    assert modules.isdisjoint({"mesa", "pandas", "scipy"})


def test_only_the_plug_ins_that_a_study_uses_are_loaded(imported, study):
    """The study has citizens; `status` asks what has no effect on them."""
    (modules,) = imported(("status", "s")).values()
    assert "delibsim.models.citizen.citizen" in modules
    clients = [f"delibsim.models.clients.{name}" for name in ("openai_compatible", "litellm")]
    others = (*clients, "delibsim.models.person.person", "delibsim.scorers")
    assert not [name for name in modules if name.startswith(others)]


def test_help_is_printed_without_rich(imported):
    (modules,) = imported(("--help",)).values()
    assert modules.isdisjoint((*SLOW, *NUMBERS, "rich", "pydantic", "yaml", "importlib.metadata"))
