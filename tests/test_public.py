"""The public names, and what is not loaded until it is needed."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import delibsim
from delibsim.cli.commands import COMMANDS, loaded
from delibsim.domain.data import read_data

SLOW = ("mesa", "pandas", "scipy", "litellm", "numpy", "networkx", "hydra")
LOADED = f"\nprint(*sorted(name for name in {SLOW!r} if name in sys.modules))"


def last_line(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_public_names_are_those_of_the_stub_each_once():
    stub = Path(delibsim.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    named = re.findall(r"^from \S+ import (\w+) as \1$", stub, re.MULTILINE)
    assert len(named) == stub.count(" import ")
    assert sorted(named) == delibsim.__all__ == dir(delibsim)


@pytest.mark.parametrize("name", delibsim.__all__)
def test_every_public_name_can_be_imported_and_has_a_docstring(name):
    value = getattr(delibsim, name)
    if callable(value) and name != "Transcript":
        assert value.__doc__
        assert not value.__doc__.startswith(f"{name}(")


def test_import_delibsim_loads_nothing_slow():
    assert last_line("import sys, delibsim" + LOADED) == ""


HELP = """
import sys
from delibsim.cli.main import main
sys.argv = ["delibsim", {word!r}]
try:
    main()
except SystemExit:
    pass
"""


@pytest.mark.parametrize("word", ["--help", "--version", "scroe"])
def test_help_loads_nothing_slow(word):
    assert last_line(HELP.format(word=word) + LOADED) == ""


def commands():
    """Every command by its words, such as `code ask`."""
    for name in COMMANDS:
        for inner in getattr(loaded(name), "commands", None) or ("",):
            yield f"{name} {inner}".strip()


def test_python_can_do_what_every_command_does():
    """The blocks themselves are run with docs/commands-in-python.md."""
    known = read_data("in_python.yaml")
    assert list(known) == list(commands())
    for command, told in known.items():
        for line in ast.walk(ast.parse(told["code"])):
            if isinstance(line, ast.ImportFrom) and line.module.startswith("delibsim"):
                for name in [one.name for one in line.names]:
                    value = getattr(import_module(line.module), name)
                    assert value.__doc__, (command, name)
                    assert "_" not in (name[0], *(part[0] for part in line.module.split(".")))
    assert sum("needs" in told for told in known.values()) == 6
