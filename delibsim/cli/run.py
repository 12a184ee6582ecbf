"""`delibsim run`: hold one session, watch it, and see what changed; or all sessions of a sweep."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from delibsim.cli.effects import print_effects
from delibsim.cli.study import conclude, hold_plan, stopped
from delibsim.cli.summary import print_summary, summary
from delibsim.cli.terminal import console, echo_json, safe, shown
from delibsim.conduct.hold import Outcome
from delibsim.conduct.score import score_all, usual_scorers
from delibsim.planning.compose import Plan, plan
from delibsim.planning.debates import enlarged
from delibsim.planning.effects import effects_of
from delibsim.store.runs import Runs

STOPPED = "Stopped. What was recorded is kept; the same command goes on from there."

app = typer.Typer(add_completion=False)

EPILOG = """
Overrides: study=NAME topic=ID survey=ID treatment=NAME model=NAME group.size=N group.models=[A,B] rounds=N persona=NAME
temperature=X replicate=N seed=N wording=NAME runs=FOLDER, procedure.shuffle_items=false, procedure.audience.network=ring,
model.susceptibility=0.3 and every other line of conf/. Names are listed when one is wrong; `delibsim topics` and
`delibsim surveys` list those. The same command again does nothing, or goes on where it was cut off.

A sweep (-m) takes several values: topic=acp,ccps treatment=all 'replicate=range(1,6)' temperature=0,0.7, or a preset,
+experiment=smoke, whose values may be replaced. hydra/launcher=joblib (submitit_local, submitit_slurm, ray) holds it in several processes.
"""


@app.command(epilog=EPILOG)
def run(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Settings as key=value, such as topic=acp treatment=basic."),
    ] = None,
    multirun: Annotated[
        bool,
        typer.Option(
            "--multirun", "-m", help="Hold every combination of the values given: a sweep."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Hold one deliberation (survey, rounds of speech, survey again), or with -m a whole study."""
    planned = plan(overrides or [], sweep=multirun)
    runs = Runs(planned.root, planned.study)
    screen = console(stderr=True)
    if multirun and (counts := enlarged(planned.sessions, runs)):
        screen.print(
            "warning: with what the study holds already this tournament is not balanced:"
            f" {safe(counts)}",
            soft_wrap=True,
        )
    if multirun:
        print_effects(effects_of(planned.sessions), screen)
    try:
        held = _hold(planned, runs, screen, quiet)
    except KeyboardInterrupt:
        screen.print(STOPPED, soft_wrap=True)
        raise typer.Exit(3) from None
    if not multirun:
        raise typer.Exit(_tell(planned, held[0], runs, as_json))
    raise typer.Exit(conclude(planned, held, runs, as_json))


def _hold(planned: Plan, runs: Runs, screen: Console, quiet: bool) -> list[Outcome]:
    if planned.sweep.launcher == "delibsim" and not planned.sweep.launcher_overrides:
        return asyncio.run(hold_plan(planned, runs, screen, quiet))
    from delibsim.cli.workers import launch_plan  # which takes a while, and is needed by few

    return launch_plan(planned, runs, screen, quiet)


def _tell(planned: Plan, held: Outcome, runs: Runs, as_json: bool) -> int:
    """Say what came of one session; the exit code."""
    screen = console(stderr=True)
    if held.damaged_lines:
        screen.print(
            f"{held.damaged_lines} damaged line(s) in the log were left alone; what they held was"
            " asked again.",
            soft_wrap=True,
        )
    if not held.status:
        screen.print(f"No run: {held.fault}", soft_wrap=True)
        if stopped(held):
            screen.print(STOPPED, soft_wrap=True)
            return 3
        screen.print(
            f"{held.recorded + held.asked} exchanges are kept in"
            f" {shown(runs.path(planned.session.id))}; ",
            end="",
            soft_wrap=True,
        )
        screen.print(
            "when the cause is mended, the same command goes on from there.", soft_wrap=True
        )
        return 4
    scores, faults, _ = score_all(runs, usual_scorers())
    for fault in faults:
        screen.print(f"left out: {fault}", soft_wrap=True)
    result = summary(
        held, [s for s in scores if s.target.split("/")[0] == planned.session.id], runs
    )
    result["group"] = planned.manifest.parts.get("groups", {}).get(planned.session.id)
    if as_json:
        echo_json(result)
    else:
        print_summary(result, console())
    return 0 if held.status == "complete" and not faults else 3
