"""The register as tidy tables: who came, how their parts ended, and what they have earned."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import select

from delibsim.domain.hosting import A_PERSON, DONE, ENDED, LEFT, SCREENED_OUT, TIMED_OUT, Hosting
from delibsim.domain.text import quoted
from delibsim.store.files import staged
from delibsim.store.own_folder import refuse_others
from delibsim.store.people.register import ADDRESS, FILE, Register, now
from delibsim.store.people.rooms import ENDED as BY_THE_RESEARCHER
from delibsim.store.people.schema import (
    ANSWER,
    ERASURE,
    IDENTITY,
    INVITATION,
    PERSON,
    REQUEST,
    ROOM,
    SEAT,
    RoomState,
    SeatState,
    Stage,
)
from delibsim.store.runs import Runs
from delibsim.store.tables.sheets import SheetWriter, tables_in, write_codebook, write_manifest

OF_STAGE = {
    Stage.DONE: DONE,
    Stage.FAILED: SCREENED_OUT,
    Stage.OVER_QUOTA: SCREENED_OUT,
    Stage.DECLINED: Stage.DECLINED,
    Stage.WITHDRAWN: Stage.WITHDRAWN,
}

GOES_ON = "not over"


@dataclass(frozen=True)
class Ended:
    """How far the part of one person is: `ending` is "" while it goes on.

    `waited` is in whole minutes, from taking a seat to the begin of the group, or to its end where
    it did not begin.
    """

    ending: str
    statements: int = 0
    sheets: int = 0
    waited: int = 0

    def earned(self, rules: Mapping[str, Decimal]) -> Decimal:
        """What she has earned; nothing while her part goes on, or where she has withdrawn.

        >>> rules = {"done": Decimal("2"), "statement": Decimal("0.25")}
        >>> Ended("done", statements=2).earned(rules), Ended("").earned(rules)
        (Decimal('2.50'), Decimal('0'))
        """
        if self.ending in ("", Stage.WITHDRAWN, Stage.DECLINED):
            return Decimal(0)
        counts = {
            self.ending: 1,
            "statement": self.statements,
            "sheet": self.sheets,
            "waiting_minute": self.waited,
        }
        return sum((rules.get(name, Decimal(0)) * n for name, n in counts.items()), Decimal(0))


def ending_of(stage: str, seat: str = "", room: str = "", detail: str = "") -> str:
    """How a part ended, by the stage of the person, the state of her seat and that of her room.

    >>> ending_of("ready", "taken", "cancelled", "not enough people came")
    'timed_out'
    """
    if stage in OF_STAGE:
        return OF_STAGE[stage]
    if stage != Stage.READY:
        return ""
    if seat in SeatState.LEFT:
        return LEFT
    if room == RoomState.CANCELLED:
        return ENDED if detail == BY_THE_RESEARCHER else TIMED_OUT
    return DONE if room == RoomState.OVER else ""


def endings(register: Register) -> dict[str, Ended]:
    """How the part of each person ended, by code."""
    statement = (
        select(
            PERSON.c.id,
            PERSON.c.stage,
            SEAT.c.state.label("seat"),
            SEAT.c.taken,
            ROOM.c.state.label("room"),
            ROOM.c.detail,
            ROOM.c.begun,
            ROOM.c.ended,
        )
        .join_from(PERSON, SEAT, SEAT.c.person == PERSON.c.id, isouter=True)
        .join(ROOM, ROOM.c.session == SEAT.c.session, isouter=True)
    )
    with register.reading() as connection:
        rows = connection.execute(statement).mappings().all()
        spoken, sheets = _spoken(connection), _sheets(connection)
    found = {}
    for row in rows:
        code, detail = row["id"], row["detail"] or ""
        ending = ending_of(row["stage"], row["seat"] or "", row["room"] or "", detail)
        until = row["begun"] or row["ended"]
        waited = 0
        if until is not None and row["taken"] is not None:
            waited = int((until - row["taken"]) // 60)
        found[code] = Ended(ending, spoken[code], sheets[code], max(waited, 0))
    return found


def _spoken(connection: Any) -> Counter[str]:
    """The turns in which each person said something, by code; one that came back counts once."""
    turns = select(SEAT.c.person, REQUEST.c.session, REQUEST.c.occasion).join(
        REQUEST, (REQUEST.c.session == SEAT.c.session) & (REQUEST.c.seat == SEAT.c.name)
    )
    given = (REQUEST.c.status == "ok") & (REQUEST.c.by == A_PERSON)
    own = given & REQUEST.c.occasion.like("turn %") & SEAT.c.person.is_not(None)
    return Counter(row.person for row in connection.execute(turns.where(own).distinct()))


def _sheets(connection: Any) -> Counter[str]:
    """The sheets of each rater that stand in the study, by code."""
    kept = REQUEST.c.task.is_not(None) & REQUEST.c.kept.is_not(None)
    sheets = select(REQUEST.c.person, REQUEST.c.task, REQUEST.c.unit).where(kept).distinct()
    return Counter(row.person for row in connection.execute(sheets))


def endings_line(runs: Runs) -> str:
    """How many people's parts ended how, in a sentence; "" where nobody was invited."""
    if not ((runs.folder / FILE).is_file() or os.environ.get(ADDRESS)):
        return ""
    register = Register.of(runs)
    try:
        found = Counter(one.ending or GOES_ON for one in endings(register).values())
    finally:
        register.close()
    listed = ", ".join(f"{n} {ending}" for ending, n in found.most_common())
    return (
        f"People: {listed}; delibsim people list {quoted(runs.study)} has codes." if found else ""
    )


def cents(amount: Decimal | int) -> Decimal:
    """An amount in whole cents."""
    return Decimal(amount).quantize(Decimal("0.01"), ROUND_HALF_UP)


def told(hosting: Hosting | None, ended: Ended) -> tuple[str, Decimal | None]:
    """The completion code of who has ended so, and what she has earned; None without rules."""
    if hosting is None:
        return "", None
    code = hosting.completion(ended.ending).code if ended.ending else ""
    return code, cents(ended.earned(hosting.bonus)) if hosting.bonus else None


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
    tables = dict(tables_in("people_tables.yaml"))
    if not names:
        del tables[NAMES]
    columns_of = {name: columns for name, (_, columns) in tables.items()}
    counts = {}
    with staged(folder) as new:
        for name, columns in columns_of.items():
            with SheetWriter(new, name, columns, ("csv",), True) as sheet:
                for row in _rows(register, name, checks, hosting):
                    values = [row.get(column.name) for column in columns]
                    sheet.add([None if value == "" else value for value in values])
                counts[name] = sheet.rows
        write_codebook(new, columns_of)
        facts = {"study": study, "delibsim": version("delibsim"), "spreadsheet_safe": True}
        write_manifest(new, {**facts, "rows": counts})
    return PeopleExport(folder, counts)


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
        yield (
            row
            | own
            | vars(end)
            | {
                "person": row["id"],
                "invited": _time(row["made"]),
                "last_seen": _time(row["seen"]),
                **_timed(row, "consented", "withdrawn"),
                "identity_kept": row["identity"] is not None,
                "participant": own.get("name"),
                "seat_state": own.get("state"),
                "seated": _time(own.get("taken")),
                "left": _time(own.get("left")),
                "completion_code": code,
                "bonus": None if earned is None else float(earned),
            }
        )


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
