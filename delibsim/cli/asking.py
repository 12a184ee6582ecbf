"""What the commands share that ask about finished texts: carry a plan out, or say what it takes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer
from rich.console import Console

from delibsim.asking.nouns import Outcome, Plan
from delibsim.asking.road import Replayed, estimate, replay
from delibsim.cli.estimate import print_lines
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, safe, say
from delibsim.conduct.ask import ask
from delibsim.domain.text import counted, plural_of
from delibsim.planning.estimate import Estimate
from delibsim.planning.estimate_tables import plain

LISTED = 40  # differences printed
Lines = Callable[[Plan, Estimate], Sequence[str]]


@dataclass(frozen=True)
class View:
    """How a kind is shown: what its answers are called (`units`, "votes"), what is said of an
    estimate before its table and after it, its further plain values, what came of asking as plain
    values and on the screen, and how scores are written anew that are made old.
    """

    units: str
    before: Lines
    values: Callable[[Plan, Estimate], Mapping[str, Any]]
    plain: Callable[[Plan, Outcome], Mapping[str, Any]]
    show: Callable[[Plan, Outcome, Console], None]
    after: Lines = lambda plan, found: ()
    rescore: Callable[[Plan, Outcome], None] = lambda plan, outcome: None


def carry_out(plan: Plan, view: View, only: bool, as_json: bool) -> None:
    """Have a plan asked, or with `only` say what it takes; print what came of it, and exit: 0, 3 if
    something is missing, 4 if there is nothing.
    """
    screen = console(stderr=True)
    print_each([f"note: {line}" for line in plan.notes], screen)
    print_each([f"warning: {line}" for line in plan.warnings], screen)
    if only:
        show_estimate(plan, view, as_json)
        return
    outcome = asyncio.run(ask(plan, partial(screen.print, soft_wrap=True)))
    plan = plan.kind.now(plan)
    view.rescore(plan, outcome)
    if as_json:
        echo_json(view.plain(plan, outcome))
    else:
        view.show(plan, outcome, console())
        print_each([f"missing: {fault}" for fault in (*outcome.faults, *plan.faults)], screen)
    complete = outcome.whole and not plan.faults
    raise typer.Exit(exit_code(bool(outcome.usable), complete))


def show_estimate(plan: Plan, view: View, as_json: bool) -> None:
    """Say what the answers that are still to be asked for will take."""
    found = estimate(plan)
    plan = plan.kind.at_most(plan)
    if as_json:
        values: dict[str, Any] = plain(plan.limits, found)
        counts = values.pop("sessions")
        answers = {name: counts[name] for name in ("planned", "held", "waiting")}
        own = {"study": plan.runs.study, view.units: answers}
        echo_json(values | own | dict(view.values(plan, found)))
        return
    screen = console()
    print_each(view.before(plan, found), screen)
    print_lines(plan.limits, found, screen, view.units, plan.runs)
    print_each(view.after(plan, found), screen)


def replay_and_exit(plan: Plan, called: str, as_json: bool) -> None:
    """Compute a task as it was kept again from its record alone, print the verdict and what
    differs, and exit: 0 if all is equal, 4 if not. `called` is what the task is called.
    """
    found = asyncio.run(replay(plan))
    end_with_replayed(plan.runs.study, found, (called, plan.kind.noun), as_json)


def end_with_replayed(study: str, found: Replayed, words: tuple[str, str], as_json: bool) -> None:
    """Print the verdict and what differs, and exit: 0 if all is equal, 4 if not.

    `words` are what the task and its answers are called, such as ("scheme", "sample").
    """
    task, noun = words
    if as_json:
        echo_json(
            {
                "study": study,
                task: found.task,
                plural_of(noun): found.answers,
                "verdict": found.verdict,
                "differences": list(found.differences),
            }
        )
    else:
        say(f"{study}, {found.task}: {found.verdict}, {counted(found.answers, noun)}")
        for line in found.differences[:LISTED]:
            say(f"  {safe(line)}")
        more = len(found.differences) - LISTED
        if more > 0:
            say(f"  and {more} more")
    raise typer.Exit(0 if found.verdict == "equal" else 4)
