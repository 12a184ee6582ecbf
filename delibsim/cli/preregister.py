"""`delibsim preregister`: the plan of a study as a document, before the first call."""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, RunsFolder, with_runs
from delibsim.cli.terminal import console, safe, shown, study_at
from delibsim.domain.errors import WrongInput
from delibsim.domain.run import Session
from delibsim.domain.score import Scorer
from delibsim.planning.compose import Plan, plan
from delibsim.planning.estimate import estimate
from delibsim.planning.freeze import frozen
from delibsim.planning.preregistration import Plans, document, untouched
from delibsim.plugins import load, names
from delibsim.store.files import write_atomically
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
FILE = "preregistration.md"

EPILOG = """
Give the same overrides as to delibsim run, before it, or the name of a study that exists. Hypotheses, primary outcome and analysis are
left as blanks marked FILL IN. A file that was filled in is never overwritten.
"""


@app.command(epilog=EPILOG)
def preregister(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Settings as key=value, as for delibsim run; or a study."),
    ] = None,
    multirun: Annotated[
        bool,
        typer.Option("--multirun", "-m", help="Every combination of the values given: a sweep."),
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option("--to", help=f"The file; {FILE} in the folder of the study where left out."),
    ] = None,
    root: RunsFolder = RUNS,
) -> None:
    """Write the plan of a study (design, instruments, measures, models, prompts, rules, versions),
    hypotheses left for you to fill in.
    """
    given = overrides or []
    if len(given) == 1 and "=" not in given[0]:
        runs = study_at(given[0], root)
        plans = _of_study(runs)
    else:
        planned = plan(with_runs(given, root), sweep=multirun)
        runs = Runs(planned.root, planned.study)
        plans = _of_plan(planned, runs)
    path = to or runs.folder / FILE
    _refuse(path, plans.begun)
    text = document(plans)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    screen = console()
    screen.print(
        f"{shown(path.resolve())}: {len(plans.manifest.sessions)} sessions; SHA-256"
        f" {_sha256(text)}",
        soft_wrap=True,
    )
    if plans.begun:
        screen.print(
            f"This is no preregistration. {safe(plans.begun)} The document says so.", soft_wrap=True
        )
    else:
        screen.print(
            "Next  fill in what is marked FILL IN, register the file, and only then give the"
            " command to delibsim run",
            soft_wrap=True,
        )


def _of_plan(planned: Plan, runs: Runs) -> Plans:
    """What the overrides plan; refused like the run itself where the study has other settings."""
    manifest = frozen(planned)
    runs.compare(manifest)
    for session in planned.sessions:
        runs.compare_plan(session)
    begun, size = _begun(runs), _size(planned.sessions)
    if not begun:
        found = asyncio.run(estimate(planned.sessions, runs, planned.limits, planned.addresses))
        size["calls to models, re-asks not counted"] = f"{found.total.calls:,}"
        if any(line.usd is None for line in found.lines):
            size["estimated cost"] = "unknown: a price is unknown"
        else:
            size["estimated cost"] = f"{found.usd.low:,.2f} to {found.usd.high:,.2f} USD"
    old = runs.manifest()
    return Plans(
        manifest if old is None else old.amended(manifest),
        planned.sessions,
        _scorers(),
        size,
        planned.limits,
        begun,
    )


def _of_study(runs: Runs) -> Plans:
    """What is frozen in a study that exists; its sessions as far as they are planned on disk."""
    manifest = runs.manifest()
    if manifest is None:
        raise WrongInput(f"{runs.folder} has no study.json")
    sessions = [runs.planned(name) for name in runs.sessions()]
    return Plans(manifest, sessions, _scorers(), _size(sessions), None, _begun(runs))


def _begun(runs: Runs) -> str:
    """How far a study has come; "" if nothing was asked yet."""
    paths = [runs.path(name) / "exchanges.jsonl" for name in runs.sessions()]
    logs = [path for path in paths if path.is_file() and path.stat().st_size]
    held = sum(map(runs.held, runs.sessions()))
    if not logs and not held:
        return ""
    manifest = runs.manifest()
    since = manifest.begun.get("at", "an unknown time") if manifest else "an unknown time"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return (
        f"It began at {since}; at {now}, {len(logs)} sessions had been asked something and {held}"
        " were over."
    )


def _size(sessions: Sequence[Session]) -> dict[str, str]:
    seats = sum(len(session.participants) for session in sessions)
    return {
        "sessions": f"{len(sessions):,}",
        "participants, over all sessions": f"{seats:,}",
        "surveys answered": f"{2 * seats:,}",
    }


def _scorers() -> list[Scorer]:
    return [load("delibsim.scorers", name) for name in names("delibsim.scorers")]


def _refuse(path: Path, begun: str) -> None:
    """WrongInput for a file that must not be overwritten: one that was filled in, or may have been
    registered.
    """
    if not path.exists():
        return
    if not path.is_file() or not untouched(path.read_text(encoding="utf-8", errors="replace")):
        raise WrongInput(
            f"{path} exists and was filled in or changed; it is left as it is. Name another file:"
            " --to FILE"
        )
    if begun:
        raise WrongInput(
            f"{path} exists, and the study has begun since; it is left as it is. Name another file:"
            " --to FILE"
        )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
