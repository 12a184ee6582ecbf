"""`delibsim fork`: go on from a turn of a run with something else, and see what it changes."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from delibsim.analysis.forks import unmeasured
from delibsim.cli.branch_options import WithMoreOptions, parted, print_estimate, root_in, told
from delibsim.cli.estimate import EstimateOnly
from delibsim.cli.forks import print_effects
from delibsim.cli.options import Json, RunName
from delibsim.cli.study import STOPPED, hold_shown, printer
from delibsim.cli.terminal import console, echo_json, print_each, run_at, shown
from delibsim.conduct.fork import Branches, branches, parent_of, prepare_branches
from delibsim.conduct.forks import fork_plain, fork_report
from delibsim.conduct.outcome import exit_code, report
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import quoted
from delibsim.planning.estimate import estimate
from delibsim.planning.fork import ForkPlan, plan_forks
from delibsim.planning.fork_request import Places, places_of
from delibsim.store.branch_folders import FORKS
from delibsim.store.branches import is_of_branches, place_of_branches
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

SETTINGS = "What differs: study=NAME model=NAME treatment=NAME wording=NAME persona=NAME seed=N ..."
AT = "The first turn that may differ (0: the survey before); several as 0,2,4 or range(0,10)."
SAY = "Let a turn be said in the words of a file: 6=say.txt; without a turn, the one of --at."
TIMES = "How many forks of each kind, every one with seeds of its own."
CONTROL = "As many forks in which nothing differs but the seed: the noise to beat."
EPILOG = """
For example: delibsim fork pilot/ccps.normative.citizen.r1 --at 6 --say 6=say.txt --times 20
--control study=whatif. What came before is taken from the record and costs nothing. Several values
of a setting or a file are a sweep: treatment=basic,normative --say 6=a.txt,b.txt. Turns are counted
as in the run. Forks lie in the folder forks/ of the study and are never among its sessions;
`delibsim forks` shows their effects again, and all that takes a study takes NAME/forks.
"""


@app.command(epilog=EPILOG, cls=WithMoreOptions)
def fork(
    run: RunName,
    settings: Annotated[list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)] = None,
    at: Annotated[str, typer.Option(help=AT)] = "",
    say: Annotated[list[str] | None, typer.Option(help=SAY)] = None,
    times: Annotated[int, typer.Option(min=1, max=1000, help=TIMES)] = 1,
    control: Annotated[bool, typer.Option("--control", help=CONTROL)] = False,
    only: EstimateOnly = False,
    as_json: Json = False,
) -> None:
    """Hold a run again from a turn on, with something changed there: a model, a treatment, a
    wording, personas, who sits there, what is said, or only the seed. The same command again asks
    nothing, or goes on where it was cut off. Exit code 0; 3 if a fork is not complete, 4 if none is
    held.
    """
    options, rest = parted(settings or [])
    options["at"] = [*options.get("at", []), *([at] if at else [])]
    options["say"] = [*options.get("say", []), *(say or [])]
    options.setdefault("times", [str(times)])
    root = root_in(options)
    runs, session = run_at(run, root)
    places = places_of(options, Path.cwd(), control)
    parent = parent_of(runs, session)
    made = plan_forks(parent, places, rest)
    target = _target(runs, made, root)
    found = branches(made.sessions, (runs, session), target, made.limits, rest, made.addresses)
    if only:
        expected = asyncio.run(
            estimate(made.sessions, target, made.limits, found.plan.addresses, past=found.past)
        )
        print_estimate(found.plan, target, expected, console(), as_json)
        return
    raise typer.Exit(_hold(found, places, as_json))


def _target(runs: Runs, made: ForkPlan, root: Path) -> Runs:
    """Where the forks will lie: in the study that was named, or in that of the run."""
    if made.study:
        return place_of_branches(Runs(root, made.study.removesuffix(f"/{FORKS}")), FORKS)
    if not is_of_branches(runs):
        return place_of_branches(runs, FORKS)
    if runs.folder.name != FORKS:
        raise WrongInput("a probe ends with its survey; fork the run that was probed")
    return runs


def _hold(found: Branches, places: Places, as_json: bool) -> int:
    """Hold the forks and print what came of them; the exit code."""
    screen = console(stderr=True)
    try:
        preparing = prepare_branches(found, printer(screen))
        outcomes = asyncio.run(hold_shown(preparing, screen, False))
    except KeyboardInterrupt:
        screen.print(STOPPED, soft_wrap=True)
        return 3
    result = report(found.plan, outcomes)
    own = {session.parentage.place for session in found.plan.sessions if session.parentage}
    scored = fork_report(found.runs)
    effects = [one for one in scored.effects if one.parent in own and one.at in places.at]
    if as_json:
        forks = [fork_plain(session) for session in found.plan.sessions]
        plain = {"forks": forks, "effects": [effect.plain() for effect in effects]}
        echo_json(result | plain | {"folder": shown(found.runs.folder)})
        return exit_code(outcomes)
    print_each(told(found, outcomes, ("fork", "forks")), console())
    print_effects(effects, scored.labels, False, console())
    own_forks = [one for one in scored.values if one.parent in own and one.at in places.at]
    print_each(unmeasured(own_forks, scored.study), console())
    print_each([f"Next  delibsim forks {quoted(shown(found.runs.folder))}"], console())
    return exit_code(outcomes)
