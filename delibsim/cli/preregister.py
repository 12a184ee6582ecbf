"""`delibsim preregister`: the plan of a study as a document, before the first call."""

import asyncio
import hashlib
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder, Sweep, with_runs
from delibsim.cli.terminal import console, safe, shown, study_at
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.planning.preregistration.document import document, refuse_if_filled_in
from delibsim.planning.preregistration.plans import plans_of, plans_of_study
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
FILE = "preregistration.md"

EPILOG = (
    "Give the same overrides as to delibsim run, before it, or the name of a study that exists."
    " Hypotheses, primary outcome and analysis are left as blanks marked FILL IN. A file that was"
    " filled in is never overwritten."
)
SETTINGS = "Settings as key=value, as for delibsim run; or a study."
TO = f"The file; {FILE} in the folder of the study where left out."


@app.command(epilog=EPILOG)
def preregister(
    overrides: Annotated[list[str] | None, typer.Argument(help=SETTINGS)] = None,
    multirun: Sweep = False,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    root: RunsFolder = RUNS,
) -> None:
    """Write the plan of a study (design, instruments, measures, models, prompts, rules, versions),
    hypotheses left for you to fill in.
    """
    given = overrides or []
    if len(given) == 1 and "=" not in given[0]:
        runs = study_at(given[0], root)
        plans = plans_of_study(runs)
    else:
        planned = plan(with_runs(given, root), sweep=multirun)
        runs = Runs(planned.root, planned.study)
        plans = asyncio.run(plans_of(planned, frozen(planned), runs))
    path = to or runs.folder / FILE
    refuse_if_filled_in(path, plans.begun)
    text = document(plans)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    sessions = len(plans.manifest.sessions)
    screen = console()
    screen.print(f"{shown(path.resolve())}: {sessions} sessions; SHA-256 {digest}", soft_wrap=True)
    after = (
        "Next  fill in what is marked FILL IN, register the file, and only then give the command to"
        " delibsim run"
    )
    if plans.begun:
        after = f"This is no preregistration. {safe(plans.begun)} The document says so."
    screen.print(after, soft_wrap=True)
