"""How a study stands, for reading: a table of its sessions, and what must be known of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.analysis.table import Table, numbers, texts
from delibsim.conduct.status import COMPLETE, CUT_OFF, GONE, StudyStatus
from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.planning.effects import Effects
from delibsim.store.account import TOLD, command_of, notice
from delibsim.store.branches import on_branches
from delibsim.store.runs import Runs

WORST = 10
"""The number of calls listed."""
LISTED = 40
"""The number of sessions listed; in a larger study those that are not complete."""


def table_of_studies(counts: Sequence[Mapping[str, Any]]) -> Table:
    """All studies, with how many sessions of each are planned and held."""
    headings = ["sessions", "held"]
    headings += ["texts"] if any("texts" in row for row in counts) else []
    rows = []
    for row in counts:
        rows.append([row["study"], *(str(row.get(heading, "")) for heading in headings)])
    return Table([*texts("study"), *numbers(headings)], rows)


def table_of_sessions(found: StudyStatus) -> tuple[Table, int]:
    """A row for each session, in a large study only for those that are not complete; and how many
    sessions have no row.
    """
    listed = list(found.sessions)
    if len(found.sessions) > LISTED:
        listed = [entry for entry in found.sessions if entry.state != COMPLETE][:LISTED]
    rows = []
    for entry in listed:
        faults = _counted((name, n) for name, n in entry.calls.items() if name != "ok")
        rows.append([entry.session, entry.state, str(sum(entry.calls.values())), faults or "-"])
    columns = [*texts("session", "state"), *numbers(["calls"]), *texts("not ok")]
    return Table(columns, rows), len(found.sessions) - len(listed)


def remarks(runs: Runs, found: StudyStatus, effects: Effects, folder: str) -> list[str]:
    """What is damaged, missing or doubtful, how the calls ended, and how the study goes on, in
    sentences; `folder` is that of the study as a user types it.
    """
    lines = found.faults()
    for cell, counts in found.calls_by_cell().items():
        lines.append(f"calls, {cell}{effects.mark(cell)}: {_counted(counts.most_common())}")
    lines += lines_of_tasks(found.asked_after)
    failed = found.failed_calls()
    lines += [f"not ok: {call}" for call in failed[:WORST]]
    if len(failed) > WORST:
        more = f"and {len(failed) - WORST} more calls that were not ok"
        lines.append(f"{more}; delibsim show RUN --call all lists them")
    lines += found.doubts()
    if found.states[CUT_OFF]:
        lines.append(_how_it_goes_on(runs, folder))
    if gone := found.states[GONE]:
        was = "was" if gone == 1 else "were"
        lines.append(
            f"{counted(gone, 'session')} {was} withdrawn: a person had her words deleted. Nothing"
            " of it is read, and it is not held again."
        )
    planned = len(found.sessions) + found.not_begun
    told = notice(found.not_begun, planned, command_of(runs))
    never_begun = "" if runs.holder() else told
    if never_begun:
        lines.append(f"{never_begun}.")
    if people := _people(runs):
        lines.append(people)
    return [*lines, *on_branches(runs)]


def _people(runs: Runs) -> str:
    """How the parts of people ended, in a sentence; "" where the study has none."""
    if not (runs.folder / TOLD).is_file():
        return ""
    try:
        from delibsim.store.people.endings import endings_line  # the databases take long to import

        return endings_line(runs)
    except (ImportError, WrongInput) as error:  # the extra is missing, or the database is down
        return f"People: how far they are cannot be read: {error}"


def _how_it_goes_on(runs: Runs, folder: str) -> str:
    """How sessions that were cut off go on, in a sentence; those with people may be waiting."""
    command = command_of(runs)
    if command == "serve":
        return (
            f"A session with people that has no run waits or goes on while `delibsim serve"
            f" {runs.study}` runs; the researcher's page says how each group stands."
        )
    return (
        f"A session that was cut off goes on when its `delibsim {command}` command is given again,"
        f" or with `delibsim retry {folder}`."
    )


def lines_of_tasks(calls: Mapping[str, Counter[str]]) -> list[str]:
    """How the calls to raters and coders ended, a line a task."""
    return [f"calls, {task}: {_counted(own.most_common())}" for task, own in calls.items()]


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts)
