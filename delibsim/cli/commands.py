"""The commands of `delibsim`, as data/commands.json lists them."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from typer.main import get_command

DATA = Path(__file__).parents[1] / "data/commands.json"
"""Groups with what they are about, and commands: JSON, as `delibsim --help` does without YAML."""


class Command(NamedTuple):
    """One command: the group in which the help lists it ("" for none), its module in
    `delibsim.cli`, one line of help, and what the module calls it.
    """

    group: str
    module: str
    help: str
    app: str = "app"


STOPPED = "Stopped. What was recorded is kept; the same command goes on from there."

_KNOWN = json.loads(DATA.read_text(encoding="utf-8"))
GROUPS: dict[str, str] = _KNOWN["groups"]
COMMANDS = {name: Command(**own) for name, own in _KNOWN["commands"].items()}


def loaded(name: str) -> Any:
    """A command by its word, whose module is imported; its help is plain text."""
    found = COMMANDS[name]
    module = import_module(f"delibsim.cli.{found.module}")
    made = module.app_of(name) if hasattr(module, "app_of") else getattr(module, found.app)
    return _plain(get_command(made))


def _plain(command: Any) -> Any:
    """A command whose help is plain text, as that of `delibsim` itself; its own commands too."""
    command.rich_markup_mode = None
    for inner in getattr(command, "commands", {}).values():
        inner.short_help = " ".join((inner.help or "").partition("\n\n")[0].split())  # uncut
        _plain(inner)
    return command
