"""`delibsim status`: how a study stands."""

import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import typer
from rich.console import Console

from delibsim.cli.options import RUNS, declared
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, say, shown
from delibsim.conduct.cost import calls_by_task
from delibsim.conduct.status import COMPLETE, PARTIAL, StudyStatus, effects_in, study_status
from delibsim.conduct.status_tables import (
    Watch,
    counts_of_studies,
    lines_of_tasks,
    remarks,
    table_of_sessions,
    table_of_studies,
)
from delibsim.domain.cost import total_of
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.effects import Effects
from delibsim.store.places import study_at
from delibsim.store.runs import Runs
from delibsim.store.study_texts import StudyTexts

app = typer.Typer(add_completion=False)
EVERY = 5.0  # seconds between two lines of --watch


@declared(app, "status", "status")
def status(
    study: str | None = None, root: Path = RUNS, watch: bool = False, as_json: bool = False
) -> None:
    """What was held, cut off or damaged, how the calls ended and what they cost, or may have cost
    where a process was killed. Exit code 0 if all is complete, 3 if not, 4 if nothing is. Of a
    study of texts: how many there are, and the calls.
    """
    if study is None:
        _list(root, as_json)
        return
    runs = study_at(study, root)
    if watch and not StudyTexts(runs).held():
        with suppress(KeyboardInterrupt):
            _watch(runs, as_json)
    if StudyTexts(runs).held():
        _print_texts(runs, as_json)
        return
    found = study_status(runs)
    effects = effects_in(runs, found)
    if as_json:
        echo_json(found.plain() | effects.plain() | effects.recorded())
    else:
        _print(runs, found, effects, console())
    states = found.states
    if states[COMPLETE] == states.total() and not found.damaged_tasks:
        raise typer.Exit(0)
    raise typer.Exit(exit_code(bool(states[COMPLETE] or states[PARTIAL]), whole=False))


def _print_texts(runs: Runs, as_json: bool) -> None:
    """Print how many texts a study of texts holds."""
    texts, logs = StudyTexts(runs).count(), calls_by_task(runs)
    money = total_of(log.money for log in logs.values())
    if as_json:
        plain = {"study": runs.study, "texts": texts, "sessions": [], "money": asdict(money)}
        echo_json(plain | {"calls_by_task": {task: dict(log.calls) for task, log in logs.items()}})
        return
    screen = console()
    screen.print(f"{study_named(runs.study)}: {counted(texts, 'imported text')}, no sessions")
    print_each(lines_of_tasks(logs), screen)
    if logs:
        screen.print(f"money: {money}", soft_wrap=True)
    screen.print(f"Next       delibsim list texts {quoted(runs.study)}")


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
    counts = counts_of_studies(root)
    if as_json:
        echo_json(counts)
    elif not counts:
        say(f"no studies in {root} yet")
    else:
        show_table(table_of_studies(counts), console())


def _print(runs: Runs, found: StudyStatus, effects: Effects, screen: Console) -> None:
    states = ", ".join(f"{n} {name}" for name, n in found.states.items())
    screen.print(f"{study_named(runs.study)}: {states or 'no sessions yet'}")
    print_each(effects.lines(), screen)
    table, left_out = table_of_sessions(found)
    if table.rows:
        show_table(table, screen)
    if left_out:
        screen.print(f"not listed: {counted(left_out, 'session')}; --json lists all")
    print_each(remarks(runs, found, effects, shown(runs.folder)), screen)
