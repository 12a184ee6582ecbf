"""`delibsim retry`: hold the sessions of a study again that have no run, from their plans."""

import asyncio
from typing import Annotated

import typer

from delibsim.cli.estimate import EstimateOnly, show_waiting
from delibsim.cli.options import RUNS, Json, Quiet, RunsFolder, StudyName
from delibsim.cli.study import STOPPED, conclude, hold_shown, printer
from delibsim.cli.terminal import console, print_each
from delibsim.conduct.retry import damaged, ended_in, plan_again, without_run
from delibsim.conduct.study import prepare_as_planned
from delibsim.domain.text import study_named
from delibsim.store.account import account_of
from delibsim.store.places import study_at
from delibsim.store.study_texts import refuse_texts

app = typer.Typer(add_completion=False)

SETTINGS = "limits.* and base_url, which are in no record."
STATUS = "Only sessions in which a call ended so, such as rate_limited; may be given several times."


@app.command()
def retry(
    study: StudyName,
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    status: Annotated[list[str] | None, typer.Option(help=STATUS)] = None,
    only: EstimateOnly = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Hold again the sessions that were begun and have no run; what their records hold is not asked
    again. Runs are left alone, damaged ones are named. Exit code 3 if a run is damaged, or sessions
    of the study were never begun: only the command of the study holds those.
    """
    runs = study_at(study, root)
    refuse_texts(runs, "sessions are held again here")
    failed = without_run(runs)
    chosen = ended_in(runs, failed, status or [])
    if only:
        show_waiting(plan_again(runs, chosen, overrides or []), runs, as_json)
        return
    never, faults = account_of(runs).notice(), damaged(runs)
    print_each((f"damaged: {fault}" for fault in faults), console(stderr=True))
    if not chosen:
        number = "1 session has" if len(failed) == 1 else f"{len(failed)} sessions have"
        ended = ", none that ended so." if failed else "."
        console().print(f"{study_named(runs.study)}: {number} no run{ended}")
        if never:
            console().print(f"{never}.", soft_wrap=True)
        raise typer.Exit(3 if failed or never or faults else 0)
    planned = plan_again(runs, chosen, overrides or [])
    screen = console(stderr=True)
    try:
        preparing = prepare_as_planned(planned, runs, printer(screen))
        outcomes = asyncio.run(hold_shown(preparing, screen, quiet))
    except KeyboardInterrupt:
        screen.print(STOPPED, soft_wrap=True)
        raise typer.Exit(3) from None
    code = conclude(planned, outcomes, runs, as_json)
    raise typer.Exit(3 if (never or faults) and code == 0 else code)
