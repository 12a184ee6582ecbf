"""`delibsim probe`: the survey after given turns of a run, which is left as it is."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.table import Table
from delibsim.analysis.trajectories import answer_tables, course_table
from delibsim.cli.estimate import ask_first
from delibsim.cli.options import (
    RUNS,
    Dir,
    EstimateOnly,
    Json,
    Quiet,
    RunName,
    Yes,
    number,
)
from delibsim.cli.study import STOPPED, hold_shown, print_estimate_of_branches, printer, told
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, run_at
from delibsim.conduct.fork import Branches, branches, parent_of, prepare_branches
from delibsim.conduct.probes import Course, course_of
from delibsim.domain.errors import WrongInput
from delibsim.domain.reason import in_words
from delibsim.domain.text import quoted
from delibsim.planning.fork import plan_probes
from delibsim.store.branch_folders import PROBES
from delibsim.store.branches import place_of_branches
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

SETTINGS = "Limits and addresses: limits.budget_usd=1 base_url=... seed=N"
AFTER = (
    "After which turns: 3, a list (2,4), range(1,9), each, or rounds (after each round). Without it"
    " what is on record is shown."
)
TIMES = "How often after each turn, every time with seeds of its own."
ANSWERS = "Also everybody's answers, from survey to survey."
EPILOG = (
    "For example: delibsim probe pilot/ccps.normative.citizen.r1 --after each --estimate. Probes"
    " lie in the folder probes/ of the study; the run is not changed, and what is on record is not"
    " asked again."
)


@app.command(epilog=EPILOG)
def probe(
    run: RunName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    after: Annotated[str, typer.Option(help=AFTER)] = "",
    n: Annotated[int, number(TIMES)] = 1,
    only: EstimateOnly = False,
    yes: Yes = False,
    quiet: Quiet = False,
    answers: Annotated[bool, typer.Option("--answers", help=ANSWERS)] = False,
    root: Dir = RUNS,
    as_json: Json = False,
) -> None:
    """Ask the participants of a run the survey after given turns, as if it had ended there: how the
    index, agreement and diversity move from turn to turn. The same command again asks nothing, or
    goes on where it was cut off. Exit code 0; 3 if a probe or an answer in one is missing, 4 if
    there is no probe.
    """
    runs, session = run_at(run, root)
    if after:
        found = _planned(runs, session, (after, n), settings or [])
        if only:
            print_estimate_of_branches(found, as_json)
            return
        ask_first(found.plan, found.runs, yes, found.past)
        _hold(found, as_json, quiet)
    elif only:
        raise WrongInput("--estimate is about turns that are to be asked about: --after each")
    course = course_of(runs, session)
    if as_json:
        echo_json(course.plain())
    else:
        _print(course, answers, console())
    whole = course.held == course.planned and not (course.incomplete or course.faults)
    raise typer.Exit(exit_code(bool(course.held), whole))


def _planned(runs: Runs, session: str, asked: tuple[str, int], settings: list[str]) -> Branches:
    """The probes of a run, with the part of its record that each has."""
    parent = parent_of(runs, session)
    made = plan_probes(parent, *asked, settings)
    target = place_of_branches(runs, PROBES)
    return branches(made.sessions, (runs, session), target, made.limits, settings, made.addresses)


def _hold(found: Branches, as_json: bool, quiet: bool) -> None:
    """Hold the probes that have no run yet, and say what came of them."""
    screen = console(stderr=True)
    try:
        preparing = prepare_branches(found, printer(screen))
        outcomes = asyncio.run(hold_shown(preparing, screen, quiet))
    except KeyboardInterrupt:
        screen.print(STOPPED, soft_wrap=True)
        raise typer.Exit(3) from None
    lines = told(found, outcomes, ("probe", "probes"))
    print_each(lines, screen if as_json else console())


def _print(course: Course, with_answers: bool, screen: Console) -> None:
    """Print the course of a run."""
    if not course.held:
        screen.print(
            f"{course.place} has no probes yet: delibsim probe {quoted(course.place)} --after each"
        )
    table = course_table(course.readings, course.labels)
    show_table(Table(table.columns, table.rows, f"Course of {course.place}"), screen)
    for note in dict.fromkeys(reading.note for reading in course.readings if reading.note):
        print_each([f"no value: {', '.join(map(in_words, note.split('; ')))}"], screen)
    for own in answer_tables(course.answers) if with_answers else ():
        screen.print()
        show_table(own, screen)
    print_each((f"left out, damaged: {fault}" for fault in course.faults), screen)
