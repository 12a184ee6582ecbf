"""How a study stands, for reading: a table of its sessions, and what must be known of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from delibsim.analysis.table import Table, numbers, texts
from delibsim.conduct.status import COMPLETE, CUT_OFF, StudyStatus
from delibsim.planning.effects import Effects
from delibsim.store.account import account_of
from delibsim.store.runs import Runs

WORST = 10
"""The number of calls listed."""
LISTED = 40
"""The number of sessions listed; in a larger study those that are not complete."""


def table_of_studies(counts: Sequence[Mapping[str, Any]]) -> Table:
    """All studies, with how many sessions of each are planned and held."""
    rows = [list(map(str, row.values())) for row in counts]
    return Table([*texts("study"), *numbers(("sessions", "held"))], rows)


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
    failed = found.failed_calls()
    lines += [f"not ok: {call}" for call in failed[:WORST]]
    if len(failed) > WORST:
        more = f"and {len(failed) - WORST} more calls that were not ok"
        lines.append(f"{more}; delibsim show RUN --call all lists them")
    lines += found.doubts()
    if found.states[CUT_OFF]:
        text = "A session that was cut off goes on when its `delibsim run` command is given again"
        lines.append(f"{text}, or with `delibsim retry {folder}`.")
    notice = "" if runs.holder() else account_of(runs).notice()
    if notice:
        lines.append(f"{notice}.")
    return lines


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts)
