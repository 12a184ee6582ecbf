"""`delibsim replay`: hold a run again from its log alone, or check a whole study."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from delibsim.cli.options import RUNS, declared
from delibsim.cli.terminal import (
    console,
    echo_json,
    print_each,
    progress,
    run_at,
    safe,
    say,
    study_at,
)
from delibsim.conduct.replay import Passage, compare, compare_on_record
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted, study_named
from delibsim.domain.word_differences import AROUND, marked
from delibsim.store.places import is_run
from delibsim.store.runs import Runs

if TYPE_CHECKING:
    from delibsim.conduct.verify import Verified

app = typer.Typer(add_completion=False)

LISTED, LINES = 40, 6
"""The differences, sessions and tasks that are printed; the differences of one among several."""
NOTHING = "imported: people held it elsewhere, so there is nothing to replay"
MEANT = "what is written -> what the record gives"
UNKNOWN = "{} without check sums (held by an earlier version, or SHA256SUMS is gone or damaged)"


@declared(app, "replay", "replay")
def replay(
    place: str,
    recorded: bool = False,
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Hold a run again from its log alone, or every run of a study: no model is asked. Exit code 0
    if nothing differs, 4 if anything does or there is nothing to compare.
    """
    runs, session = _place(place, root)
    if not session:
        raise typer.Exit(_check(runs, "", recorded, quiet, as_json))
    reworded: Sequence[Passage] = ()
    if recorded:
        verdict, changed, reworded = asyncio.run(compare_on_record(runs, session))
    else:
        verdict, changed = asyncio.run(compare(runs, session))
    if as_json:
        found = {"study": runs.study, "session": session, "verdict": verdict, "changed": changed}
        echo_json(found | ({"reworded": list(map(_plain, reworded))} if recorded else {}))
    else:
        told = NOTHING if verdict == "imported" else verdict
        say(f"{runs.study}/{session}: {told}{' on recorded prompts' if recorded else ''}")
        for line in changed[:LISTED]:
            say(f"  {safe(line)}")
        if verdict == "diverged" and not recorded:
            say("  replay --recorded lets the recorded answers stand, and shows every such passage")
        for passage in reworded[:LISTED]:
            calls = f"{counted(len(passage.calls), 'prompt')} (first: {passage.calls[0]})"
            say(f"  worded otherwise now in {safe(calls)}:")
            say(f"    {safe(marked(passage.words, AROUND))}")
    raise typer.Exit(0 if verdict == "equal" else 4)


verify = typer.Typer(add_completion=False)


@declared(verify, "replay", "verify")
def _verify(
    place: str,
    recorded: bool = False,
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Check a study, of one session too, or one run against its record and its check sums."""
    if is_run(place, root):
        runs, session = run_at(place, root)
    else:
        runs, session = _study_or_run(place, root)
    raise typer.Exit(_check(runs, session, recorded, quiet, as_json))


def _study_or_run(place: str, root: Path) -> tuple[Runs, str]:
    """The study that is named; or else a run, and its study."""
    try:
        return study_at(place, root), ""
    except WrongInput:
        with suppress(WrongInput):
            return run_at(place, root)
        raise


def _place(place: str, root: Path) -> tuple[Runs, str]:
    """The run that is named, and its study; or a study that has not one session, and ""."""
    try:
        return run_at(place, root)
    except WrongInput as error:
        if not is_run(place, root):
            with suppress(WrongInput):
                runs = study_at(place, root)
                if len(runs.sessions()) != 1:
                    return runs, ""
        raise error from None


def _check(runs: Runs, session: str, recorded: bool, quiet: bool, as_json: bool) -> int:
    """Compare a study, or one session, with its records and check sums; the exit code."""
    from delibsim.conduct.verify import verify_run, verify_study  # pandas is slow to import

    if session:
        found = asyncio.run(verify_run(runs, session, recorded))
    else:
        watch = progress(quiet or as_json)
        found = asyncio.run(verify_study(runs, watch, recorded))
    if as_json:
        echo_json(found.plain())
    else:
        named = f"{runs.study}/{session}" if session else study_named(runs.study)
        print_each([_verdict(found, named), *_told(found, recorded)], console())
    return 0 if found.something and not found.differing else 4


def _plain(passage: Passage) -> dict[str, object]:
    words = [[piece.kind, piece.text] for piece in passage.words]
    return {"calls": list(passage.calls), "words": words}


def _told(found: "Verified", recorded: bool) -> list[str]:
    """What came of it, in sentences."""
    from delibsim.conduct.verify import EQUAL, IMPORTED, NO_RECORD, NO_RUN, WITHDRAWN

    counts = found.counts
    apart = NO_RUN, WITHDRAWN, IMPORTED
    runs = sum(n for verdict, n in counts.items() if verdict not in apart)
    on = " on recorded prompts" if recorded else ""
    lines = []
    if counts[EQUAL]:
        within = [f"{n:,} in {kind}" for kind, n in found.within.items()]
        where = f" ({', '.join(within)})" if within else ""
        equal = f"{counts[EQUAL]:,} of {counted(runs, 'run')} equal to their record{on}"
        lines.append(f"{equal}{where}")
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


def _verdict(found: "Verified", named: str) -> str:
    """The verdict in a sentence."""
    if n := len(found.differing):
        among = len(found.sessions) + len(found.tasks)
        things = counted(among, "session or task", "sessions and tasks")
        return f"{named}: {n:,} of {things} {'differs' if n == 1 else 'differ'}"
    if not found.something:
        return f"{named}: nothing to compare yet"
    return f"{named}: nothing differs"
