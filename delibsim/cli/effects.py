"""Printing what is said of settings without effect, and of conditions that are the same."""

from rich.console import Console

from delibsim.cli.terminal import safe
from delibsim.planning.effects import Effects


def print_effects(effects: Effects, screen: Console) -> None:
    """Print the notes, where there are any."""
    for line in effects.lines():
        screen.print(safe(line), soft_wrap=True)
