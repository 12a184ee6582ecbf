"""Quotas: how many people of a kind have entered, and whether one more may."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from delibsim.domain.hosting import Quota
from delibsim.store.people.persons import CONSENTED, DONE, OVER_QUOTA, READY
from delibsim.store.people.register import Register
from delibsim.store.people.rooms import SILENT, STOOD_IN
from delibsim.store.people.schema import ANSWER, OWN, PERSON, SEAT


def enter_within(register: Register, code: str, quotas: Sequence[Quota]) -> bool:
    """Let a person in who has answered all questions, unless a quota of her kind is full: then she
    is over the quota, and False.

    Those count who have the same role and are in, and have not left. Two who come at once are
    counted one after the other.
    """
    own = (PERSON.c.id == code) & (PERSON.c.stage == CONSENTED)
    with register.writing() as connection:
        connection.execute(select(OWN.c.version).with_for_update())  # one at a time, everywhere
        role = connection.execute(select(PERSON.c.role).where(own)).scalar()
        if role is None:
            return True  # handed in twice: the first counts
        given = _answers(connection, [code]).get(code, {})
        there = _answers(connection, _inside(connection, role)).values() if quotas else ()
        stage = READY
        for quota in quotas:
            if quota.is_of(given) and sum(map(quota.is_of, there)) >= quota.most:
                stage = OVER_QUOTA
        connection.execute(update(PERSON).where(own).values(stage=stage))
    return stage == READY


def _inside(connection: Connection, role: str) -> list[str]:
    """The codes of those in this role who have entered and have not left."""
    left = select(SEAT.c.person).where(
        SEAT.c.person.is_not(None), SEAT.c.state.in_((SILENT, STOOD_IN))
    )
    inside = (PERSON.c.role == role) & PERSON.c.stage.in_((READY, DONE))
    statement = select(PERSON.c.id).where(inside, PERSON.c.id.not_in(left))
    return list(connection.execute(statement).scalars())


def _answers(connection: Connection, codes: Sequence[str]) -> dict[str, dict[str, str]]:
    """The answers of persons to the researcher's own questions, checks aside."""
    found: dict[str, dict[str, str]] = {}
    wanted = ANSWER.c.person.in_(codes) & ANSWER.c.passed.is_(None)
    for row in connection.execute(select(ANSWER).where(wanted)):
        found.setdefault(row.person, {})[row.question] = row.value
    return found
