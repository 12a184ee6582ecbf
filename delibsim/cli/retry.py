"""`delibsim retry`: hold the sessions of a study again that have no run, from their plans."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from delibsim.cli.study import conclude, hold_waiting
from delibsim.cli.terminal import console, study_at
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Session
from delibsim.models.base import OUTCOMES, STATUSES
from delibsim.planning.compose import Plan, plan
from delibsim.planning.presets import Presets
from delibsim.store.manifest import Manifest
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
ALLOWED = ("base_url", "limits")


@app.command()
def retry(
    study: Annotated[str, typer.Argument(help="Name or folder of the study.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="limits.* and base_url, which are in no record.")
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Only sessions in which a call ended so, such as rate_limited; may be given several"
                " times."
            )
        ),
    ] = None,
    root: Annotated[Path, typer.Option("--runs", help="The folder that holds all studies.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Hold again the sessions that were begun and have no run; what their records hold is not asked
    again. Runs are left alone.
    """
    runs = study_at(study, root)
    for name in status or []:
        if name not in STATUSES:
            raise unknown("status", name, STATUSES)
    failed = [runs.planned(session) for session in runs.sessions() if not runs.held(session)]
    chosen = [session for session in failed if not status or ended(runs, session.id) & set(status)]
    if not chosen:
        missing = (
            "1 session has no run" if len(failed) == 1 else f"{len(failed)} sessions have no run"
        )
        console().print(
            f"study {runs.study}: {missing}" + (", none that ended so." if failed else ".")
        )
        raise typer.Exit(0 if not failed else 3)
    planned = again(runs, chosen, overrides or [])
    screen = console(stderr=True)
    try:
        held = asyncio.run(hold_waiting(planned, chosen, runs, screen, quiet))
    except KeyboardInterrupt:
        screen.print(
            "Stopped. What was recorded is kept; the same command goes on from there.",
            soft_wrap=True,
        )
        raise typer.Exit(3) from None
    raise typer.Exit(conclude(planned, held, runs, as_json))


def ended(runs: Runs, session: str) -> set[str]:
    """How the calls ended that left a session without a run; where none of them failed, how the
    last one did.

    The calls of a survey come back in any order, so the one that failed need not be the last of the
    record; what was asked again since counts by its last line. Empty if no call can be read.
    """
    records, _ = runs.exchanges(session)
    last: dict[tuple[Any, ...], str] = {}
    for record in records:
        call = tuple(
            record.get("purpose", {}).get(part) for part in ("participant", "occasion", "attempt")
        )
        last[call] = status = str(record.get("completion", {}).get("status", ""))
    return set(last.values()) - OUTCOMES or ({status} if records else set())


def again(runs: Runs, sessions: Sequence[Session], overrides: Sequence[str]) -> Plan:
    """The plan of sessions that lie on disk, under the limits and at the addresses of now."""
    for override in overrides:
        if override.lstrip("+").partition("=")[0].split(".")[0] not in ALLOWED:
            raise WrongInput(
                f"'{override}' would change what was planned; only base_url and limits.* can be"
                " given here"
            )
    now = plan(list(overrides))
    known, asked = (
        Presets(Path.cwd()).names("model"),
        sorted({name for session in sessions for name in session.models}),
    )
    addresses: dict[str, str] = {}
    for name in asked:
        # A model that was given a name of its own has no preset; it is reached at the address given
        # now.
        preset = name if name in known else "local" if _gives(overrides, "base_url") else None
        for address in plan([f"model={preset}", *overrides]).addresses.values() if preset else ():
            addresses[name] = address
    manifest = runs.manifest() or Manifest(runs.study, {}, {})
    return Plan(tuple(sessions), runs.folder.parent, manifest, now.limits, addresses, now.sweep)


def _gives(overrides: Sequence[str], key: str) -> bool:
    return any(override.lstrip("+").partition("=")[0] == key for override in overrides)
