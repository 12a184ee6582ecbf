"""The options of `fork` and `probe` that reach them as settings, because a function may not have as
many arguments; and what both print.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand
from typer.main import get_command

from delibsim.cli.estimate import print_lines
from delibsim.cli.options import RUNS, RunsFolder
from delibsim.cli.terminal import echo_json, safe
from delibsim.cli.words import QUOTES
from delibsim.conduct.cost import money_of
from delibsim.conduct.fork import Branches
from delibsim.conduct.outcome import Outcome, failures, logs_of, report
from delibsim.domain.text import counted, study_named
from delibsim.planning.compose import Plan
from delibsim.planning.estimate import Estimate
from delibsim.planning.estimate_tables import plain
from delibsim.store.runs import Runs

OWN = ("at", "say", "insert", "remove", "leave", "join", "seat", "times", "runs")
"""Options of `fork` that may also be given as settings."""
INSERT = "Before a turn, let a seat say what a file holds: 6:2=say.txt."
REMOVE = "Leave this turn out; several as 6,7."
LEAVE = "The participant in this seat leaves; several as 2,3."
JOIN = "So many participants join, who answer the survey before as they do."
SEAT = "Another model or persona in this seat only; several as 2,3."


def _of_fork(
    insert: Annotated[list[str] | None, typer.Option(help=INSERT)] = None,
    remove: Annotated[str, typer.Option(help=REMOVE)] = "",
    leave: Annotated[str, typer.Option(help=LEAVE)] = "",
    join: Annotated[int, typer.Option(help=JOIN, show_default=False)] = 0,
    seat: Annotated[str, typer.Option(help=SEAT)] = "",
    root: RunsFolder = RUNS,
) -> None:
    """The options that are listed and read as settings."""


_alone = typer.Typer(add_completion=False)
_alone.command()(_of_fork)
LISTED = get_command(_alone).params
for _option in LISTED:
    _option.expose_value = False


class WithMoreOptions(TyperCommand):
    """A command that lists options of which `as_settings` made settings before it was called."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, those of `_of_fork` before --help."""
        *own, last = super().get_params(ctx)
        return [*own, *LISTED, last]


def parted(words: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options among settings by name, each with all that was given; and the other settings.

    >>> parted(["treatment=basic", "remove='6'", "at=range(0,4)"])
    ({'remove': ['6'], 'at': ['range(0,4)']}, ['treatment=basic'])
    """
    found: dict[str, list[str]] = {}
    rest = []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in OWN:
            if value[:1] in QUOTES and value[-1:] == value[:1]:
                value = value[1:-1].replace("\\'", "'")
            found.setdefault(name, []).append(value)
        else:
            rest.append(word)
    return found, rest


def root_in(options: dict[str, list[str]]) -> Path:
    """The folder of all studies, as it was given or by default."""
    return Path(options["runs"][-1]) if options.get("runs") else RUNS


def print_estimate(
    planned: Plan, runs: Runs, found: Estimate, screen: Console, as_json: bool
) -> None:
    """Print what branches will take; `runs` are those that were held already."""
    if as_json:
        echo_json(plain(planned, found))
        return
    counts = f"{found.held} held already, {found.waiting} to be held"
    heading = f"{study_named(planned.study)}: {counted(found.planned, 'branch', 'branches')}"
    screen.print(safe(f"{heading}, {counts}"), soft_wrap=True)
    print_lines(planned, found, screen, "branches", runs)


def told(found: Branches, outcomes: Sequence[Outcome], what: tuple[str, str]) -> list[str]:
    """What came of holding branches, in sentences; `what` is the noun, singular and plural."""
    planned, runs = found.plan, found.runs
    result = report(planned, outcomes)
    states = ", ".join(f"{n} {state}" for state, n in result["states"].items() if n)
    lines = [f"{study_named(planned.study)}: {counted(result['sessions'], *what)}, {states}"]
    asked, before = result["calls_asked_now"], result["held_before"]
    lines.append(f"{before} held before; {counted(asked, 'call')} asked now.")
    lines += failures(result["failed"], logs_of(runs, outcomes))
    return [*lines, f"money: {money_of(runs, planned.sessions)}"]
