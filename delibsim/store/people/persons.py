"""Persons by their codes: how far they have come, what they agreed to, what they answered."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Quota
from delibsim.store.people.register import Register, noun_of, now
from delibsim.store.people.schema import ANSWER, IDENTITY, OWN, PERSON, SEAT, SeatState, Stage


@dataclass(frozen=True)
class Person:
    """A person by her code, which says nothing of who she is."""

    id: str
    role: str
    language: str
    stage: str
    identity: str = ""
    consent_version: str = ""
    consented: float | None = None
    made: float = 0.0
    seen: float | None = None


@dataclass(frozen=True)
class Identity:
    """Who a person is; all of it may be empty."""

    name: str = ""
    address: str = ""
    panel: str = ""
    panel_id: str = ""


COLUMNS = [PERSON.c[name] for name in Person.__dataclass_fields__]


def new_code() -> str:
    """A code that nobody can guess, of 64 bits: it opens nothing."""
    return secrets.token_hex(8)


def add_person(
    register: Register, role: str, language: str = "en", identity: Identity | None = None
) -> str:
    """Keep a person, and who she is apart from her, if that is known; her code."""
    code, key = new_code(), None
    with register.writing() as connection:
        if identity is not None and any(vars(identity).values()):
            key = new_code()
            connection.execute(insert(IDENTITY).values(key=key, made=now(), **vars(identity)))
        values = {"id": code, "role": role, "language": language, "identity": key}
        connection.execute(insert(PERSON).values(**values, stage=Stage.INVITED, made=now()))
    return code


def person_of(register: Register, code: str) -> Person | None:
    """The person of a code."""
    row = register.first(select(*COLUMNS).where(PERSON.c.id == code))
    return None if row is None else noun_of(Person, row)


def persons(register: Register) -> list[Person]:
    """Every person, in the order in which they were invited."""
    rows = register.all(select(*COLUMNS).order_by(PERSON.c.made, PERSON.c.id))
    return [noun_of(Person, row) for row in rows]


def person_of_panel(register: Register, panel: str, panel_id: str) -> str:
    """The code of who came from a panel under this id; "" where nobody did."""
    same = (IDENTITY.c.panel == panel) & (IDENTITY.c.panel_id == panel_id)
    statement = select(PERSON.c.id).join(IDENTITY, IDENTITY.c.key == PERSON.c.identity)
    return register.value(statement.where(same)) or ""


def identities(register: Register) -> dict[str, Identity]:
    """Who people are, by the keys of their identities."""
    return {row.key: noun_of(Identity, row) for row in register.all(select(IDENTITY))}


def set_stage(register: Register, code: str, stage: str) -> None:
    """Keep how far a person has come, unless she has withdrawn."""
    own = (PERSON.c.id == code) & (PERSON.c.stage != Stage.WITHDRAWN)
    register.change(update(PERSON).where(own).values(stage=stage))


def set_language(register: Register, code: str, language: str) -> None:
    """Keep the language of a person's pages."""
    register.change(update(PERSON).where(PERSON.c.id == code).values(language=language))


def consent(register: Register, code: str, version: str, stage: str = Stage.CONSENTED) -> None:
    """Keep that a person agreed to this version of the consent text, and when: once; and how far
    she is with that, READY where nothing comes before the conversation.
    """
    values = {"stage": stage, "consent_version": version, "consented": now()}
    own = (PERSON.c.id == code) & PERSON.c.stage.in_((Stage.INVITED, Stage.DECLINED))
    register.change(update(PERSON).where(own).values(**values))


def note_withdrawn(register: Register, code: str) -> None:
    """Keep that a person withdraws, and when; who she is is forgotten at once."""
    own = select(PERSON.c.identity).where(PERSON.c.id == code).scalar_subquery()
    values = {"stage": Stage.WITHDRAWN, "withdrawn": now(), "identity": None}
    register.change(
        delete(IDENTITY).where(IDENTITY.c.key == own),
        update(PERSON).where(PERSON.c.id == code).values(**values),
    )


def note_seen(register: Register, codes: Collection[str], moment: float) -> None:
    """Keep when persons last asked for a page."""
    wanted = PERSON.c.id.in_(sorted(codes))
    register.change(update(PERSON).where(wanted).values(seen=moment), durable=False)


def keep_answers(
    register: Register,
    code: str,
    answers: Mapping[str, str],
    attempt: int = 0,
    passed: Mapping[str, bool] | None = None,
) -> None:
    """Keep what a person answered to the researcher's own questions and checks, once an attempt."""
    rows = []
    for question, value in answers.items():
        own = None if passed is None else int(passed[question])
        row = {"person": code, "question": question, "attempt": attempt}
        rows.append(row | {"value": value, "passed": own, "given": now()})
    try:
        with register.writing() as connection:
            if rows:
                connection.execute(insert(ANSWER), rows)
    except IntegrityError:
        pass  # handed in twice: the first counts


def attempts(register: Register, code: str, question: str) -> int:
    """How often a person has answered a question."""
    own = (ANSWER.c.person == code) & (ANSWER.c.question == question)
    return len(register.all(select(ANSWER.c.attempt).where(own)))


def answers_of(register: Register) -> list[Mapping[str, object]]:
    """Every answer to the researcher's own questions, in the order in which they came."""
    return [dict(row._mapping) for row in register.all(select(ANSWER).order_by(ANSWER.c.given))]


def named(register: Register, who: str) -> Person:
    """The person of a code, or of the beginning of one; WrongInput for none or several."""
    found = [one for one in persons(register) if one.id.startswith(who)]
    if len(found) != 1 or not who:
        fault = "nobody has" if not found else "several persons have"
        raise WrongInput(f"{fault} the code '{who}'; delibsim people list names all")
    return found[0]


def enter(register: Register, code: str, quotas: Sequence[Quota]) -> bool:
    """Let a person in who has answered all questions, unless a quota of her kind is full: then she
    is over the quota, and False.

    Those count who have the same role and are in, and have not left. Two who come at once are
    counted one after the other.
    """
    own = (PERSON.c.id == code) & (PERSON.c.stage == Stage.CONSENTED)
    with register.writing() as connection:
        connection.execute(select(OWN.c.version).with_for_update())  # one at a time, everywhere
        role = connection.execute(select(PERSON.c.role).where(own)).scalar()
        if role is None:
            return True  # handed in twice: the first counts
        given = _answers(connection, [code]).get(code, {})
        there = _answers(connection, _inside(connection, role)).values() if quotas else ()
        stage = Stage.READY
        for quota in quotas:
            if quota.is_of(given) and sum(map(quota.is_of, there)) >= quota.most:
                stage = Stage.OVER_QUOTA
        connection.execute(update(PERSON).where(own).values(stage=stage))
    return stage == Stage.READY


def _inside(connection: Connection, role: str) -> list[str]:
    """The codes of those in this role who have entered and have not left."""
    left = select(SEAT.c.person).where(SEAT.c.person.is_not(None), SEAT.c.state.in_(SeatState.LEFT))
    inside = (PERSON.c.role == role) & PERSON.c.stage.in_((Stage.READY, Stage.DONE))
    statement = select(PERSON.c.id).where(inside, PERSON.c.id.not_in(left))
    return list(connection.execute(statement).scalars())


def _answers(connection: Connection, codes: Sequence[str]) -> dict[str, dict[str, str]]:
    """The answers of persons to the researcher's own questions, checks aside."""
    found: dict[str, dict[str, str]] = {}
    wanted = ANSWER.c.person.in_(codes) & ANSWER.c.passed.is_(None)
    for row in connection.execute(select(ANSWER).where(wanted)):
        found.setdefault(row.person, {})[row.question] = row.value
    return found
