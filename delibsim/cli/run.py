"""`delibsim run`: hold one session, watch it, and see what changed."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from delibsim.cli.compose import Plan, plan
from delibsim.cli.live import Live
from delibsim.cli.summary import print_summary, summary
from delibsim.cli.terminal import console, echo_json, shown
from delibsim.conduct import Held, hold_all, score_all, spent, usual_scorers
from delibsim.domain.errors import WrongInput
from delibsim.engine.hold import check
from delibsim.models.limits import Budget
from delibsim.store.runs import Runs
from delibsim.voices import Voices

app = typer.Typer(add_completion=False)

EPILOG = """
Overrides: study=NAME topic=ID survey=ID treatment=NAME model=NAME group.size=N group.models=[A,B] rounds=N persona=NAME
temperature=X replicate=N seed=N wording=NAME runs=FOLDER, procedure.shuffle_items=false, procedure.audience.network=ring,
model.susceptibility=0.3 and every other line of conf/. Names are listed when one is wrong; `delibsim topics` and
`delibsim surveys` list those. The same command again does nothing, or goes on where it was cut off.
"""


@app.command(epilog=EPILOG)
def run(
    overrides: Annotated[list[str] | None, typer.Argument(help="Settings as key=value, such as topic=acp treatment=basic.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Hold one deliberation: survey, rounds of speech, survey again."""
    planned = plan(overrides or [])
    runs = Runs(planned.root, planned.study)
    screen = console(stderr=True)
    try:
        held = asyncio.run(_hold(planned, runs, screen, quiet))
    except KeyboardInterrupt:
        screen.print("Stopped. What was recorded is kept; the same command goes on from there.", soft_wrap=True)
        raise typer.Exit(3) from None
    if held.damaged_lines:
        screen.print(f"{held.damaged_lines} damaged line(s) in the log were left alone; what they held was asked again.", soft_wrap=True)
    if held.run is None:
        screen.print(f"No run: {held.fault}", soft_wrap=True)
        screen.print(f"{held.recorded + held.asked} exchanges are kept in {shown(runs.path(planned.session.id))}; ", end="", soft_wrap=True)
        screen.print("when the cause is mended, the same command goes on from there.", soft_wrap=True)
        raise typer.Exit(4)
    scores, faults, _ = score_all(runs, usual_scorers())
    for fault in faults:
        screen.print(f"left out: {fault}", soft_wrap=True)
    result = summary(held, [s for s in scores if s.target.split("/")[0] == planned.session.id], runs)
    if as_json:
        echo_json(result)
    else:
        print_summary(result, console())
    raise typer.Exit(0 if held.run.status == "complete" and not faults else 3)


async def _hold(planned: Plan, runs: Runs, screen: Console, quiet: bool) -> Held:
    """Hold the session; WrongInput, before anything is written, asked or paid, if that cannot be done."""
    session, limits = planned.session, planned.limits
    check(session)
    runs.compare(planned.settings, planned.parts)
    runs.compare_plan(session)
    usd, tokens = spent(runs) if limits.budget_usd is not None or limits.budget_tokens is not None else (0.0, 0)
    voices = Voices(limits, Budget(limits.budget_usd, limits.budget_tokens, usd, tokens), planned.addresses)
    findings = [] if runs.held(session.id) else await voices.preflight([session])
    for finding in findings:
        screen.print(f"{finding.level}: {finding.model}: {finding.text}", soft_wrap=True)
    if any(finding.level == "error" for finding in findings):
        await voices.close()
        raise WrongInput("nothing was asked and nothing was paid; mend what is said above and give the command again")
    with runs.lock():
        runs.settle(planned.settings, planned.parts)
    with Live(session, screen, quiet) as live:
        return (await hold_all([session], runs, live.watch, live.heed, voices))[0]
