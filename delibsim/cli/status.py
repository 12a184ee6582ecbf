"""`delibsim status`: how a study stands."""

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from delibsim.cli.options import RUNS, RunsFolder
from delibsim.cli.table import Column, print_table
from delibsim.cli.terminal import console, echo_json, exit_code, safe, say, shown
from delibsim.conduct.standing import Watch, studies_in
from delibsim.conduct.status import (
    COMPLETE,
    CUT_OFF,
    PARTIAL,
    SessionStatus,
    StudyStatus,
    effects_in,
    study_status,
)
from delibsim.domain.study import natural
from delibsim.planning.effects import Effects
from delibsim.store.account import account_of
from delibsim.store.places import study_at
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
WORST = 10  # calls listed
LISTED = 40  # sessions listed; in a larger study those that are not complete
EVERY = 5.0  # seconds between two lines of --watch

Study = Annotated[
    str | None,
    typer.Argument(help="Name or folder of the study; without one, all studies are listed."),
]
Watching = Annotated[
    bool,
    typer.Option(
        "--watch", help="Report progress every few seconds until no process holds the study."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print as JSON; with --watch one object a line.")
]


@app.command()
def status(
    study: Study = None,
    root: RunsFolder = RUNS,
    watch: Watching = False,
    as_json: AsJson = False,
) -> None:
    """What was held, cut off or damaged, and how the calls ended. Exit code 0 if all is complete, 3
    if not, 4 if nothing is.
    """
    if study is None:
        _list(root, as_json)
        return
    runs = study_at(study, root)
    if watch:
        with suppress(KeyboardInterrupt):
            _watch(runs, as_json)
    found = study_status(runs)
    effects = effects_in(runs, found)
    if as_json:
        echo_json(found.plain() | effects.plain() | effects.recorded())
    else:
        _print(runs, found, effects, console())
    states = found.states
    if states[COMPLETE] == states.total():
        raise typer.Exit(0)
    raise typer.Exit(exit_code(bool(states[COMPLETE] or states[PARTIAL]), whole=False))


def _watch(runs: Runs, as_json: bool) -> None:
    """Print how many sessions are held, as long as a process holds them."""
    watch = Watch(runs)
    while True:
        now = watch.look()
        if as_json:
            typer.echo(json.dumps(now.plain()))
        else:
            say(now.line())
        if not now.process:
            return
        time.sleep(EVERY)


def _list(root: Path, as_json: bool) -> None:
    """Print all studies, with how many sessions of each are planned and held."""
    rows = []
    for runs in sorted(studies_in(root), key=lambda runs: natural(runs.study)):
        account = account_of(runs)
        counts = {"sessions": len(account.planned), "held": len(account.held)}
        rows.append({"study": runs.study, **counts})
    if as_json:
        echo_json(rows)
        return
    if not rows:
        say(f"no studies in {root} yet")
        return
    columns = [Column("study", text=True), Column("sessions"), Column("held")]
    cells = [list(map(safe, map(str, row.values()))) for row in rows]
    print_table("", columns, cells, console())


def _print(runs: Runs, found: StudyStatus, effects: Effects, screen: Console) -> None:
    states = ", ".join(f"{n} {name}" for name, n in found.states.items())
    screen.print(f"study {runs.study}: {states or 'no sessions yet'}")
    for line in effects.lines():
        screen.print(safe(line), soft_wrap=True)
    _print_table(found.sessions, screen)
    lines = found.faults()
    for cell, counts in found.calls_by_cell().items():
        lines.append(f"calls, {cell}{effects.mark(cell)}: {_counted(counts.most_common())}")
    failed = found.failed_calls()
    lines += [f"not ok: {call}" for call in failed[:WORST]]
    if len(failed) > WORST:
        more = f"and {len(failed) - WORST} more calls that were not ok"
        lines.append(f"{more}; delibsim show RUN --call all lists them")
    lines += found.doubts()
    if found.states[CUT_OFF]:
        text = "A session that was cut off goes on when its `delibsim run` command is given again"
        lines.append(f"{text}, or with `delibsim retry {shown(runs.folder)}`.")
    notice = "" if runs.holder() else account_of(runs).notice()
    if notice:
        lines.append(f"{notice}.")
    for line in lines:
        screen.print(safe(line), soft_wrap=True)


def _print_table(sessions: tuple[SessionStatus, ...], screen: Console) -> None:
    """Print a row for each session; in a large study only for those that are not complete."""
    columns = [Column("session", text=True), Column("state", text=True), Column("calls")]
    columns.append(Column("not ok", text=True))
    rows = []
    listed = list(sessions)
    if len(sessions) > LISTED:
        listed = [entry for entry in sessions if entry.state != COMPLETE][:LISTED]
    for entry in listed:
        faults = _counted((name, n) for name, n in entry.calls.items() if name != "ok")
        rows.append([entry.session, entry.state, str(sum(entry.calls.values())), faults or "-"])
    if listed:
        print_table("", columns, rows, screen)
    if len(listed) < len(sessions):
        screen.print(f"{len(sessions) - len(listed)} sessions are not listed; --json lists all")


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts)
