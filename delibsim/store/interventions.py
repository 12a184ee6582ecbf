"""What the researcher did to a group of people, beside its run: `<session>/interventions.jsonl`.

The server that people take part at writes it from its register, whole and atomically, whenever
something is added. A session in which nobody intervened has no such file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from delibsim.domain.data import read_data
from delibsim.store.files import json_text, read_lines, write_atomically
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import tables_in
from delibsim.store.tables.sheets import Table

FILE = "interventions.jsonl"
KINDS: dict[str, str] = read_data("messages.yaml")["interventions"]
"""What was done, by kind, in words."""


@dataclass(frozen=True)
class Act:
    """One intervention as it stands beside a run: `at` in UTC, `seat` "" for the whole group."""

    at: str
    kind: str
    seat: str = ""
    text: str = ""


def at_utc(seconds: float) -> str:
    """A time in seconds since 1970 as a text.

    >>> at_utc(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def interventions_file(runs: Runs, session: str) -> Path:
    """The file of a session; it need not be there."""
    return runs.path(session) / FILE


def write_interventions(runs: Runs, session: str, acts: Iterable[Act]) -> None:
    """Write all interventions in a session, one a line, in the place of what was there."""
    text = "".join(f"{json_text(asdict(act))}\n" for act in acts)
    write_atomically(interventions_file(runs, session), text, runs.durable)


def interventions_in(runs: Runs, session: str) -> tuple[list[Act], int]:
    """The interventions in a session, and how many lines of their file are damaged."""
    records, damaged = read_lines(interventions_file(runs, session))
    found = []
    for record in records:
        known = {name: str(record.get(name, "")) for name in Act.__dataclass_fields__}
        if known["kind"] in KINDS:
            found.append(Act(**known))
    return found, damaged + len(records) - len(found)


def intervention_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The table of the export, where there is anything in it; damaged lines are told."""
    rows = list(_rows(runs, faults))
    row, columns = tables_in("intervention_tables.yaml")["interventions"]
    return [Table("interventions", row, columns, rows)] if rows else []


def _rows(runs: Runs, faults: list[str]) -> Iterator[list[Any]]:
    for session in runs.sessions():
        acts, damaged = interventions_in(runs, session)
        if damaged:
            faults.append(f"{interventions_file(runs, session)}: {damaged} damaged lines left out")
        for act in acts:
            yield [runs.study, session, act.at, act.kind, act.seat or None, act.text or None]
