"""The public names, and what is not loaded until it is needed."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import delibsim
from delibsim.cli.commands import COMMANDS, loaded
from delibsim.domain.data import read_data

SLOW = ("mesa", "pandas", "scipy", "litellm", "numpy", "networkx", "hydra")
LOADED = f"\nprint(*sorted(name for name in {SLOW!r} if name in sys.modules))"


def last_line(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_all_names_what_has_a_home_and_nothing_else():
    at_home = [name for names in delibsim._HOMES.values() for name in names]
    assert len(set(at_home)) == len(at_home)
    assert len(set(delibsim.__all__)) == len(delibsim.__all__)
    assert set(delibsim.__all__) == set(at_home)
    assert dir(delibsim) == sorted(delibsim.__all__)


@pytest.mark.parametrize("name", delibsim.__all__)
def test_every_public_name_can_be_imported_and_has_a_docstring(name):
    (home,) = [home for home, names in delibsim._HOMES.items() if name in names]
    value = getattr(delibsim, name)
    assert value is getattr(import_module(home), name)
    if callable(value) and name != "Transcript":
        assert value.__doc__
        assert not value.__doc__.startswith(f"{name}(")


def test_the_type_checker_sees_the_same_names():
    source = inspect.getsource(delibsim)
    for home, names in delibsim._HOMES.items():
        assert f"    from {home} import {', '.join(names)}\n" in source


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'delibsim' has no attribute 'Parliament'"):
        delibsim.Parliament  # noqa: B018
    assert not hasattr(delibsim, "Parliament")


def test_star_import_gives_all_names():
    here = {}
    exec("from delibsim import *", here)
    assert set(here) - {"__builtins__"} == set(delibsim.__all__)


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
