"""How the part of each person ended, and what she has earned by the declared rules."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy import select

from delibsim.domain.hosting import (
    A_PERSON,
    DONE,
    ENDED,
    LEFT,
    SCREENED_OUT,
    TIMED_OUT,
    Hosting,
)
from delibsim.domain.text import quoted
from delibsim.store.people.databases import ADDRESS
from delibsim.store.people.register import FILE, Register
from delibsim.store.people.rooms import ENDED as BY_THE_RESEARCHER
from delibsim.store.people.schema import PERSON, REQUEST, ROOM, SEAT
from delibsim.store.people.states import RoomState, SeatState, Stage
from delibsim.store.runs import Runs

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
