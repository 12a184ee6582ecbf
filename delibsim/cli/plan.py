"""Before a study: `delibsim estimate`, what it costs; `delibsim power`, how many topics and
replicates an effect needs; `delibsim preregister`, its plan as a document.

What is slow to import is no part of the help.
"""

import hashlib
import re
from dataclasses import asdict, replace
from pathlib import Path

import typer

from delibsim.cli.options import RUNS, Words, declared, study_first, with_runs
from delibsim.cli.table import show
from delibsim.cli.terminal import console, echo_json, safe, say, shown, study_at, tell_folder
from delibsim.domain.errors import WrongInput, refused
from delibsim.domain.text import counted

estimate_app = typer.Typer(add_completion=False)
power_app = typer.Typer(add_completion=False)
preregister_app = typer.Typer(add_completion=False)
FILE = "preregistration.md"


@declared(estimate_app, "estimate", "estimate")
def estimate(
    study: str | None = None,
    settings: Words = None,
    multirun: bool = False,
    words: str = "",
    latency: float = 10.0,
    thinking: str = "",
    folder: Path | None = None,
    every: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """What holding these sessions takes: calls, tokens, US dollars, time. Nothing is called, and
    the study is left as it is.
    """
    from delibsim.cli.estimate import show_estimate
    from delibsim.planning.compose import plan
    from delibsim.planning.costing import Assumptions
    from delibsim.planning.dry_run import render

    assumptions = Assumptions(_range(words, "words"), latency, _range(thinking, "thinking"))
    if every and folder is None:
        raise WrongInput("--every says how prompts are written, and needs --render FOLDER")
    named, words_of_plan = study_first(study, settings)
    planned = plan(with_runs(words_of_plan, root, named), sweep=multirun, named=False)
    if folder is None:
        show_estimate(planned, as_json, assumptions)
        return
    files, different = render(planned.sessions, folder, every)
    rendered = {"folder": str(folder), "files": files, "different": different}
    show_estimate(planned, as_json, assumptions, rendered)
    if not as_json:
        made = f"{counted(files, 'file')} in {shown(folder.resolve())}"
        say(f"Prompts    {made}, {different} of them different in more than the models asked")


def _range(text: str, option: str) -> tuple[int, int] | None:
    """The range that an option gives; None where it is not given, WrongInput where it is none."""
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", text.strip())
    if found:
        low, high = int(found[1]), int(found[2] or found[1])
        if low <= high:
            return low, high
    raise WrongInput(f"--{option} is a range of whole numbers, such as 75-200, not '{safe(text)}'")


@declared(power_app, "power", "power")
def power_of(
    study: str | None = None,
    settings: Words = None,
    effect: float = 0.03,
    power: float = 0.8,
    alpha: float = 0.05,
    contrast: str = "dri",
    sd: Words = None,
    size: Words = None,
    correlation: float | None = None,
    mixed: bool = False,
    price: Words = None,
    budget: float | None = None,
    multirun: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """How many replicates and topics an effect needs, what effect a design finds, and its price.
    Nothing is called.
    """
    from delibsim.conduct import power as of  # pandas is slow to import

    pilot, words = study_first(study, settings)
    asked = of.PowerOptions(effect, power, alpha, contrast, sd or [], size or [], correlation)
    if mixed:
        both = of.mixed_power(pilot, asked, price or [], budget, root)
        echo_json(asdict(both)) if as_json else show(of.told_of_mixed(both), console())
        return
    if price or budget is not None:
        raise WrongInput("--price and --budget are of --mixed; settings give the price of models")
    found, cost = of.answered(pilot, with_runs(words, root) if words else [], asked, root)
    if as_json:
        sample = found.sample
        sessions = sample.topics * sample.models * sample.replicates
        priced = cost.plain(sessions * cost.treatments) if cost else None
        echo_json({**found.plain(), "price": priced})
        return
    show(of.told(found, cost), console())


@declared(preregister_app, "preregister", "preregister")
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
    import asyncio

    from delibsim.conduct.power import contrasts_planned
    from delibsim.planning.compose import plan
    from delibsim.planning.freeze import as_begun, frozen
    from delibsim.planning.preregistered import (
        document,
        plans_of,
        plans_of_study,
        power_analysis,
        refuse_if_filled_in,
    )
    from delibsim.store.files import write_atomically
    from delibsim.store.runs import Runs
    from delibsim.store.study_texts import refuse_texts

    named, words = study_first(study, settings)
    if not named and not words:
        raise refused("no_settings_given")
    analysis = power_analysis(power) if power else ""
    if not words:
        runs = study_at(named, root)
        refuse_texts(runs, "the plan of a study is that of its sessions")
        plans = plans_of_study(runs)
    else:
        planned = plan(with_runs(words, root, named), sweep=multirun)
        runs = Runs(planned.root, planned.study)
        tell_folder(runs)
        planned = as_begun(planned, runs)
        plans = asyncio.run(plans_of(planned, frozen(planned), runs))
    path = to or runs.folder / FILE
    refuse_if_filled_in(path, plans.begun)
    contrasts = contrasts_planned(plans.sessions)
    text = document(replace(plans, power=analysis, contrasts=contrasts))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    sessions = counted(len(plans.manifest.sessions), "session")
    say(f"{shown(path.resolve())}: {sessions}; SHA-256 {digest}")
    after = (
        "Next  fill in what is marked FILL IN, register the file, and only then give the command to"
        " delibsim run"
    )
    if plans.begun:
        after = f"This is no preregistration. {safe(plans.begun)} The document says so."
    say(after)
