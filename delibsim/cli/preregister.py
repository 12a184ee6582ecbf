"""`delibsim preregister`: the plan of a study as a document, before the first call."""

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder, Sweep, with_runs
from delibsim.cli.terminal import console, safe, shown, study_at, tell_folder
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.planning.preregistration.design import plans_of, plans_of_study
from delibsim.planning.preregistration.document import document, power_analysis, refuse_if_filled_in
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts

app = typer.Typer(add_completion=False)
FILE = "preregistration.md"

EPILOG = (
    "Give the same settings as to delibsim run, before it, or the name of a study that exists."
    " Hypotheses, primary outcome and analysis are left as blanks marked FILL IN. A file that was"
    " filled in is never overwritten."
)
SETTINGS = "Settings as key=value, as for delibsim run; or a study."
POWER = (
    "The answer of delibsim power --json, kept as a file: it goes into the section on sample size."
)
TO = f"The file; {FILE} in the folder of the study where left out."


@app.command(epilog=EPILOG)
def preregister(
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="settings", help=SETTINGS)
    ] = None,
    multirun: Sweep = False,
    to: Annotated[Path | None, typer.Option("--to", help=TO)] = None,
    power: Annotated[Path | None, typer.Option(help=POWER)] = None,
    root: RunsFolder = RUNS,
) -> None:
    """Write the plan of a study (design, instruments, measures, models, prompts, rules, versions),
    hypotheses left for you to fill in.
    """
    given = overrides or []
    if not given:
        raise WrongInput(
            "name a study that exists, or give the settings that delibsim run will get, such as"
            " study=pilot topic=acp; nothing was written"
        )
    analysis = power_analysis(power) if power else ""
    if len(given) == 1 and "=" not in given[0]:
        runs = study_at(given[0], root)
        refuse_texts(runs, "the plan of a study is that of its sessions")
        plans = plans_of_study(runs)
    else:
        planned = plan(with_runs(given, root), sweep=multirun)
        runs = Runs(planned.root, planned.study)
        tell_folder(runs)
        plans = asyncio.run(plans_of(planned, frozen(planned), runs))
    path = to or runs.folder / FILE
    refuse_if_filled_in(path, plans.begun)
    text = document(replace(plans, power=analysis))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    sessions = counted(len(plans.manifest.sessions), "session")
    screen = console()
    screen.print(f"{shown(path.resolve())}: {sessions}; SHA-256 {digest}", soft_wrap=True)
    after = (
        "Next  fill in what is marked FILL IN, register the file, and only then give the command to"
        " delibsim run"
    )
    if plans.begun:
        after = f"This is no preregistration. {safe(plans.begun)} The document says so."
    screen.print(after, soft_wrap=True)
