"""`delibsim run`: hold one session, watch it, and see what changed; or all sessions of a sweep."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from delibsim.cli.estimate import EstimateOnly, show_estimate
from delibsim.cli.options import RUNS, Json, Quiet, RunsFolder, Settings, with_runs
from delibsim.cli.study import STOPPED, conclude, hold
from delibsim.cli.summary import print_summary, summary
from delibsim.cli.terminal import console, echo_json, print_each, shown, tell_folder
from delibsim.conduct.cost import money_of
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.score import score_study, usual_scorers
from delibsim.domain.score import Score
from delibsim.domain.text import counted
from delibsim.planning.compose import Plan, plan
from delibsim.planning.debates import doubts
from delibsim.planning.effects import effects_of
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

EPILOG = """
Settings: study=NAME topic=ID survey=ID treatment=NAME model=NAME group.size=N group.models=[A,B]
rounds=N persona=NAME temperature=X replicate=N seed=N wording=NAME,
procedure.shuffle_items=false, procedure.audience.network=ring, model.susceptibility=0.3 and every
other line of conf/. Names are listed when one is wrong; `delibsim topics` and `delibsim surveys`
list those. The same command again does nothing, or goes on where it was cut off.

A sweep (-m) takes several values: topic=acp,ccps treatment=all 'replicate=range(1,6)'
temperature=0,0.7, or a preset, +experiment=smoke, whose values may be replaced.
hydra/launcher=joblib (submitit_local, submitit_slurm, ray) holds it in several processes.
"""


Sweep = Annotated[
    bool,
    typer.Option("--multirun", "-m", help="Hold every combination of the values given: a sweep."),
]


@app.command(epilog=EPILOG)
def run(
    overrides: Settings = None,
    multirun: Sweep = False,
    only: EstimateOnly = False,
    as_json: Json = False,
    quiet: Quiet = False,
    root: RunsFolder = RUNS,
) -> None:
    """Hold one deliberation (survey, rounds of speech, survey again), or with -m a whole study."""
    planned = plan(with_runs(overrides or [], root), sweep=multirun, named=not only)
    if only:
        show_estimate(planned, as_json)
        return
    runs = Runs(planned.root, planned.study)
    tell_folder(runs)
    screen = console(stderr=True)
    print_each(effects_of(planned.sessions).warned(), screen)
    if multirun:
        print_each(doubts(planned.sessions, runs), screen)
    try:
        outcomes = hold(planned, runs, screen, quiet)
    except KeyboardInterrupt:
        screen.print(STOPPED, soft_wrap=True)
        raise typer.Exit(3) from None
    if multirun:
        raise typer.Exit(conclude(planned, outcomes, runs, as_json))
    (outcome,) = outcomes
    if not outcome.status:
        raise typer.Exit(_print_fault(outcome, runs, screen))
    raise typer.Exit(_print_run(planned, outcome, runs, as_json))


def _print_fault(outcome: Outcome, runs: Runs, screen: Console) -> int:
    """Print why there is no run, and how to go on; the exit code."""
    lines = [*outcome.damage(), f"No run: {outcome.fault}"]
    if outcome.stopped:
        print_each([*lines, STOPPED], screen)
        return 3
    exchanges = counted(outcome.recorded + outcome.asked, "exchange")
    again = "when the cause is mended, the same command goes on from there."
    lines.append(f"Kept: {exchanges}, in {shown(runs.path(outcome.session.id))}; {again}")
    lines.append(f"money: {money_of(runs, [outcome.session])}")
    print_each(lines, screen)
    return 4


def _print_run(planned: Plan, outcome: Outcome, runs: Runs, as_json: bool) -> int:
    """Score the study and print the summary of the run; the exit code."""
    screen = console(stderr=True)
    print_each(outcome.damage(), screen)
    own: list[Score] = []

    def take(_: str, scores: Sequence[Score]) -> None:
        own.extend(one for one in scores if one.target.split("/")[0] == planned.session.id)

    faults = score_study(runs, usual_scorers(), take).faults
    print_each((f"left out: {fault}" for fault in faults), screen)
    result = summary(outcome, own, runs)
    result["group"] = planned.manifest.components.get("groups", {}).get(planned.session.id)
    if as_json:
        echo_json(result)
    else:
        print_summary(result, console())
    return 0 if outcome.status == "complete" and not faults else 3
