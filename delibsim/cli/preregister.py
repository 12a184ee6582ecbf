"""`delibsim preregister`: the plan of a study as a document, before the first call."""

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

import typer

from delibsim.cli.options import RUNS, Words, declared, study_first, with_runs
from delibsim.cli.terminal import console, safe, shown, study_at, tell_folder
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.compose import plan
from delibsim.planning.freeze import frozen
from delibsim.planning.preregistered import plans_of, plans_of_study
from delibsim.planning.preregistration import document, power_analysis, refuse_if_filled_in
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs
from delibsim.store.study_texts import refuse_texts

app = typer.Typer(add_completion=False)
FILE = "preregistration.md"


@declared(app, "preregister", "preregister")
def preregister(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    to: Path | None = None,
    power: Path | None = None,
    root: Path = RUNS,
) -> None:
    """Write the plan of a study (design, instruments, measures, models, prompts, rules, versions),
    hypotheses left for you to fill in.
    """
    named, words = study_first(study, settings)
    if not named and not words:
        raise WrongInput(
            "name a study that exists, or give the settings that delibsim run will get, such as"
            " study=pilot topic=acp; nothing was written"
        )
    analysis = power_analysis(power) if power else ""
    if not words:
        runs = study_at(named, root)
        refuse_texts(runs, "the plan of a study is that of its sessions")
        plans = plans_of_study(runs)
    else:
        planned = plan(with_runs(words, root, named), sweep=multirun)
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
