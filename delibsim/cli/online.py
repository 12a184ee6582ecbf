"""What the commands share that hand packs out on pages: `delibsim ratings online` and its like."""

from typing import Annotated, Any

import typer

from delibsim.asking.collect import Collected
from delibsim.cli.terminal import console, echo_json, exit_code, print_each
from delibsim.domain.text import counted, quoted

HAND_ON = "After how many hours without a sign what a rater left undone may go to the next."
HandOn = Annotated[float, typer.Option("--hand-on", min=0.1, max=10_000, help=HAND_ON)]
HOURS = 48.0


def show_online(study: str, pack: str, lines: list[str], plain: dict[str, Any] | None) -> None:
    """Print what was handed out on pages, and what comes next; `plain` is printed as JSON."""
    if plain is not None:
        echo_json({"task": pack, **plain})
        return
    screen = console()
    print_each(lines, screen)
    screen.print(f"Task       {pack}")
    screen.print(f"Next       delibsim people invite {quoted(study)} --rater {pack} --open")
    screen.print(f"           delibsim serve {quoted(study)}")


def show_collected(found: Collected, as_json: bool) -> int:
    """Print what came of a form; the exit code."""
    if as_json:
        echo_json(found.plain())
    else:
        before = found.given - found.new
        lines = [
            f"{counted(found.new, found.noun)} kept, {before:,} known before,"
            f" {counted(found.empty, 'cell')} left empty"
        ]
        lines += [f"{rater}: {counted(n, 'sheet')}" for rater, n in found.raters.items()]
        print_each([*lines, *found.notes, f"Study {', '.join(found.studies)}"], console())
    return exit_code(found.given > found.missing, found.whole)
