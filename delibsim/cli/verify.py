"""`delibsim verify`: whether a study is what was written, and what its records give."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from delibsim.cli.options import RUNS, Json, Quiet, RunsFolder
from delibsim.cli.replay import RECORDED
from delibsim.cli.terminal import console, echo_json, print_each, run_at, study_at
from delibsim.cli.texts import kept_if_stopped
from delibsim.conduct.verify import (
    EQUAL,
    NO_RECORD,
    NO_RUN,
    WITHDRAWN,
    Verified,
    verify_run,
    verify_study,
)
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, study_named
from delibsim.store.places import is_run
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)
PLACE = "Name or folder of the study; or one run: its folder, or study/session."
LISTED, LINES = 40, 6
"""The sessions and tasks that are printed, and the differences of each; of one alone `LISTED`."""
MEANT = "what is written -> what the record gives"
UNKNOWN = "{} without check sums (held by an earlier version, or SHA256SUMS is gone or damaged)"


@app.command()
def verify(
    study: Annotated[str, typer.Argument(help=PLACE)],
    recorded: Annotated[bool, typer.Option("--recorded", help=RECORDED)] = False,
    quiet: Quiet = False,
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """Check a study without asking any model: every run against its record and its check sums,
    plans, topics and surveys against study.json, codes, votes, ratings, summaries and judgments
    against their records; with forks and probes. Exit code 0 if nothing differs, 4 if anything does
    or there is nothing to compare.
    """
    runs, session = _place(study, root)
    if session:
        found = asyncio.run(verify_run(runs, session, recorded))
    else:
        with kept_if_stopped() as progress:
            watch = _silent if quiet or as_json else progress
            found = asyncio.run(verify_study(runs, watch, recorded))
    if as_json:
        echo_json(found.plain())
    else:
        named = f"{runs.study}/{session}" if session else study_named(runs.study)
        print_each([_verdict(found, named), *_told(found, recorded)], console())
    raise typer.Exit(0 if found.something and not found.differing else 4)


def _place(name: str, root: Path) -> tuple[Runs, str]:
    """The study that is named; or a run, and its study."""
    if is_run(name, root):
        return run_at(name, root)
    try:
        return study_at(name, root), ""
    except WrongInput:
        with suppress(WrongInput):
            return run_at(name, root)
        raise


def _told(found: Verified, recorded: bool) -> list[str]:
    """What came of it, in sentences."""
    counts = found.counts
    runs = sum(n for verdict, n in counts.items() if verdict not in (NO_RUN, WITHDRAWN))
    on = " on recorded prompts" if recorded else ""
    lines = []
    if counts[EQUAL]:
        lines.append(f"{counts[EQUAL]:,} of {counted(runs, 'run')} equal to their record{on}")
    for verdict, n in counts.items():
        if verdict not in (EQUAL, NO_RUN):
            lines.append(f"{counted(n, 'session')} {verdict}")
    if waiting := counts[NO_RUN] + len(found.not_begun):
        lines.append(f"{counted(waiting, 'session')} without a run, not compared")
    for task in found.tasks:
        said = f"{counted(task.answers, 'answer')}, {task.verdict}"
        lines.append(f"{task.name}: {'no record' if task.verdict == NO_RECORD else said}")
    if found.without_sums:
        lines.append(UNKNOWN.format(counted(len(found.without_sums), "run")))
    differing = found.differing
    if differing:
        lines.append(f"what differs ({MEANT}):")
    most = LISTED if len(differing) == 1 else LINES
    for one in differing[:LISTED]:
        lines.append(f"  {one.name}: {one.verdict}")
        lines += [f"    {line}" for line in one.changed[:most]]
        if len(one.changed) > most:
            lines.append(f"    and {len(one.changed) - most} more: --json lists all")
    if len(differing) > LISTED:
        lines.append(f"  and {len(differing) - LISTED} more: --json lists all")
    return lines


def _verdict(found: Verified, named: str) -> str:
    """The verdict in a sentence."""
    if n := len(found.differing):
        among = len(found.sessions) + len(found.tasks)
        things = counted(among, "session or task", "sessions and tasks")
        return f"{named}: {n:,} of {things} {'differs' if n == 1 else 'differ'}"
    if not found.something:
        return f"{named}: nothing to compare yet"
    return f"{named}: nothing differs"


def _silent(what: str, done: int, among: int) -> None:
    """Show no progress."""
