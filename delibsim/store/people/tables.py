"""The register as tidy tables, to be joined to those of runs by session and participant."""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import select

from delibsim.domain.hosting import Hosting
from delibsim.store.files import json_text, staged
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.store.people.endings import endings, told
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import (
    ANSWER,
    ERASURE,
    IDENTITY,
    INVITATION,
    PERSON,
    REQUEST,
    ROOM,
    SEAT,
)
from delibsim.store.people.states import SeatState
from delibsim.store.reading import read_yaml
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import SheetWriter, sha256_of

PEOPLE = "people"
"""The folder of a study into which the register is exported, if no other is named."""
NAMES = "names"
"""The table that says who people are; it is written only where it is asked for."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class PeopleExport:
    """What was written: where, and rows by table."""

    folder: Path
    rows: Mapping[str, int]


@cache
def people_tables() -> dict[str, tuple[str, tuple[Column, ...]]]:
    """What a row of each table is, and its columns."""
    plain = read_yaml(Path(__file__).parents[2] / "data" / "people_tables.yaml")
    found = {}
    for name, own in plain.items():
        found[name] = own["row"], tuple(Column(**column) for column in own["columns"])
    return found


def export_people(
    register: Register,
    study: str,
    folder: Path,
    checks: Collection[str],
    names: bool,
    hosting: Hosting | None = None,
) -> PeopleExport:
    """Write the register into a folder, which holds the whole of it or what it held before.

    `checks` are the ids of questions that are checks; `hosting` has the codes of endings and the
    rules of a bonus. Texts that a spreadsheet would take for
    formulas begin with an apostrophe. With `names` who people are is in a file of its own. The user
    alone can read any of it (`private.keep_private`). WrongInput if the folder holds anything else.
    """
    refuse_others(folder, "export")
    folder = folder.resolve()
    wanted = [name for name in people_tables() if names or name != NAMES]
    counts = {}
    with staged(folder) as new:
        for name in wanted:
            counts[name] = _write(register, new, name, checks, hosting)
        _write_codebook(new, wanted)
        files = {}
        for path in sorted(new.iterdir()):
            files[path.name] = {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        facts = {
            "study": study,
            "delibsim": version("delibsim"),
            "spreadsheet_safe": True,
            "rows": counts,
            "files": files,
        }
        (new / MANIFEST).write_text(json_text(facts, indent=1) + "\n", encoding="utf-8")
    return PeopleExport(folder, counts)


def _write(
    register: Register, folder: Path, table: str, checks: Collection[str], hosting: Hosting | None
) -> int:
    """Write one table; how many rows it has."""
    columns = people_tables()[table][1]
    with SheetWriter(folder, table, columns, ("csv",), True) as sheet:
        for row in _rows(register, table, checks, hosting):
            values = [row.get(column.name) for column in columns]
            sheet.add([None if value == "" else value for value in values])
        return sheet.rows


def _rows(
    register: Register, table: str, checks: Collection[str], hosting: Hosting | None
) -> Iterator[Row]:
    """The rows of a table."""
    if table == "persons":
        yield from _persons(register, hosting)
    elif table in ("answers", "checks"):
        for row in _all(register, select(ANSWER).order_by(ANSWER.c.given)):
            if (row["question"] in checks) == (table == "checks"):
                passed = None if row["passed"] is None else bool(row["passed"])
                yield row | {"given": _time(row["given"]), "passed": passed}
    elif table == "times":
        yield from _times(register)
    elif table == "groups":
        yield from _groups(register)
    elif table == "links":
        for row in _all(register, select(INVITATION).order_by(INVITATION.c.made)):
            yield row | _timed(row, "made", "used", "expires", "revoked") | {"state": _state(row)}
    elif table == "erasures":
        for row in _all(register, select(ERASURE).order_by(ERASURE.c.begun)):
            yield row | _timed(row, "begun", "done")
    elif table == NAMES:
        joined = select(PERSON.c.id.label("person"), IDENTITY).join(
            IDENTITY, IDENTITY.c.key == PERSON.c.identity
        )
        yield from _all(register, joined.order_by(PERSON.c.made, PERSON.c.id))


def _persons(register: Register, hosting: Hosting | None) -> Iterator[Row]:
    ended = endings(register)
    seats = {row["person"]: row for row in _all(register, select(SEAT)) if row["person"]}
    for row in _all(register, select(PERSON).order_by(PERSON.c.made, PERSON.c.id)):
        own, end = seats.get(row["id"], {}), ended[row["id"]]
        code, earned = told(hosting, end)
        yield {
            "person": row["id"],
            "role": row["role"],
            "language": row["language"],
            "stage": row["stage"],
            "invited": _time(row["made"]),
            "last_seen": _time(row["seen"]),
            "consent_version": row["consent_version"],
            "consented": _time(row["consented"]),
            "withdrawn": _time(row["withdrawn"]),
            "identity_kept": row["identity"] is not None,
            "session": own.get("session"),
            "participant": own.get("name"),
            "seat_state": own.get("state"),
            "seated": _time(own.get("taken")),
            "left": _time(own.get("left")),
            "stand_in": own.get("stand_in"),
            "task": row["task"],
            "ending": end.ending,
            "completion_code": code,
            "statements": end.statements,
            "sheets": end.sheets,
            "waited": end.waited,
            "bonus": None if earned is None else float(earned),
        }


def _groups(register: Register) -> Iterator[Row]:
    states: dict[str, list[str]] = {}
    for row in _all(register, select(SEAT)):
        states.setdefault(row["session"], []).append(row["state"])
    for row in _all(register, select(ROOM).order_by(ROOM.c.session)):
        own = states.get(row["session"], [])
        seats = {state: own.count(state) for state in (SeatState.FREE, *SeatState.LEFT)}
        yield row | seats | {"seats": len(own)} | _timed(row, "opened", "first", "begun", "ended")


def _times(register: Register) -> Iterator[Row]:
    seated = {}
    for row in _all(register, select(SEAT)):
        seated[row["session"], row["name"]] = row["person"]
    for row in _all(register, select(REQUEST).order_by(REQUEST.c.asked, REQUEST.c.key)):
        seconds = None
        if row["given"] is not None and row["shown"] is not None:
            seconds = round(max(0.0, row["given"] - row["shown"] - row["paused"]), 3)
        yield row | {
            "person": row["person"] or seated.get((row["session"], row["seat"])),
            "participant": row["seat"],
            "sheet": row["unit"],
            "seconds": seconds,
            **_timed(row, "asked", "shown", "given"),
        }


def _all(register: Register, statement: Any) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in register.all(statement)]


def _timed(row: Row, *names: str) -> dict[str, str | None]:
    return {name: _time(row[name]) for name in names}


def _time(seconds: float | None) -> str | None:
    """Seconds since 1970 as a date and time in UTC, to the millisecond."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _state(row: Row) -> str:
    if row["revoked"] is not None:
        return "revoked"
    if row["used"] is not None:
        return "used"
    return "expired" if row["expires"] < now() else "open"


def _write_codebook(folder: Path, tables: Sequence[str]) -> None:
    """What every column means, for programs."""
    with (folder / "codebook.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", *Column.__dataclass_fields__])
        for table in tables:
            for column in people_tables()[table][1]:
                writer.writerow([table, *asdict(column).values()])
