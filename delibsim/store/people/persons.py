"""Persons by their codes: how far they have come, what they answered; and who gets in, by links,
cookies and the password of the researcher, of all of which hashes alone are kept.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import Quota
from delibsim.store.people.register import Register, noun_of, now
from delibsim.store.people.schema import (
    ANSWER,
    IDENTITY,
    INVITATION,
    LOGIN,
    OFFICE,
    OWN,
    PERSON,
    SEAT,
    Role,
    SeatState,
    Stage,
)


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


def answers_in_seats(register: Register, question: str) -> dict[str, list[Sequence[str]]]:
    """What each person who took a seat answered to a question last, by session; nothing where she
    was not asked.
    """
    asked = select(ANSWER).where(ANSWER.c.question == question).order_by(ANSWER.c.attempt)
    given = {row.person: row.value.split("; ") for row in register.all(asked)}
    found: dict[str, list[Sequence[str]]] = {}
    for row in register.all(select(SEAT).where(SEAT.c.person.is_not(None))):
        found.setdefault(row.session, []).append(given.get(row.person, ()))
    return found


def attempts(register: Register, code: str, question: str) -> int:
    """How often a person has answered a question."""
    own = (ANSWER.c.person == code) & (ANSWER.c.question == question)
    return len(register.all(select(ANSWER.c.attempt).where(own)))


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


DAY = 86_400.0
STAYS = 60 * DAY
"""Seconds for which a cookie is good."""


@dataclass(frozen=True)
class Invitation:
    """What a link is for: a person, "" where it is open to all; a seat, or a task of raters."""

    person: str
    role: str
    session: str = ""
    seat: str = ""
    task: str = ""


@dataclass(frozen=True)
class Login:
    """Whom a cookie belongs to, and the secret that her forms carry."""

    person: str
    role: str
    csrf: str


def secret() -> str:
    """A secret of 192 bits, as it stands in a link or a cookie."""
    return secrets.token_urlsafe(24)


def digest(text: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def invite(
    register: Register, invitation: Invitation, days: float, used: float | None = None
) -> str:
    """Keep an invitation; the secret of its link, which is nowhere else."""
    token = secret()
    own = {name: value or None for name, value in vars(invitation).items()}
    times = {"made": now(), "expires": now() + days * DAY, "used": used}
    register.change(insert(INVITATION).values(token=digest(token), **own, **times))
    return token


def invite_person(
    register: Register, invitation: Invitation, days: float, language: str, who: Identity
) -> tuple[str, str]:
    """Keep a person with an invitation of her own; her code, and the secret of her link."""
    with register.writing():
        code = add_person(register, invitation.role, language, who)
        return code, invite(register, replace(invitation, person=code), days)


def accept(register: Register, link: Invitation, language: str, who: Identity | None) -> Invitation:
    """The invitation of who comes by a link that is open to all, as a new person; of a panel's id
    that came at the same moment, the person who is kept already.

    The person has what the link is for, and no other link.
    """
    try:
        with register.writing(durable=False):
            own = replace(link, person=add_person(register, link.role, language, who))
            invite(register, own, 0, used=now())
    except IntegrityError:
        if who is None:
            raise
        return replace(link, person=person_of_panel(register, who.panel, who.panel_id))
    return own


OF_TOKEN = select(INVITATION).where(INVITATION.c.token == bindparam("token"))


def invited(register: Register, token: str) -> Invitation | None:
    """What a link is for; None where there is none, or it was revoked, or is too old."""
    wanted = digest(token)
    row = register.first(OF_TOKEN, {"token": wanted})
    if row is None or not hmac.compare_digest(row.token, wanted):
        return None
    good = row.revoked is None and row.expires >= now()
    return noun_of(Invitation, row) if good else None


def invitation_of(register: Register, person: str) -> Invitation | None:
    """The invitation of a person, as she was invited."""
    row = register.first(select(INVITATION).where(INVITATION.c.person == person))
    return None if row is None else noun_of(Invitation, row)


def let_in(register: Register, token: str, link: Invitation) -> str:
    """Keep that a link was used, and a cookie of the person who came by it; its secret. It opens
    nothing where the link was revoked meanwhile.
    """
    own = (INVITATION.c.token == digest(token)) & INVITATION.c.used.is_(None)
    with register.writing(durable=False) as connection:
        cookie = log_in(register, link.person, link.role)  # waits for who revokes her links
        connection.execute(update(INVITATION).where(own).values(used=now()))
        if invited(register, token) is None:
            connection.execute(delete(LOGIN).where(LOGIN.c.cookie == digest(cookie)))
    return cookie


def revoke(register: Register, person: str) -> int:
    """Revoke every link and cookie of a person; how many links. Cookies that are made meanwhile
    wait for the transaction.
    """
    own = (INVITATION.c.person == person) & INVITATION.c.revoked.is_(None)
    with register.writing() as connection:
        connection.execute(select(PERSON.c.id).where(PERSON.c.id == person).with_for_update())
        connection.execute(delete(LOGIN).where(LOGIN.c.person == person))
        return register.change(update(INVITATION).where(own).values(revoked=now()))


def log_in(register: Register, person: str, role: str, stays: float = STAYS) -> str:
    """Keep a cookie of a person, or of the researcher (""), good for so many seconds; its
    secret.
    """
    token = secret()
    values = {"cookie": digest(token), "person": person or None, "role": role, "csrf": secret()}
    register.change(insert(LOGIN).values(**values, made=now(), expires=now() + stays))
    return token


def login_of(register: Register, token: str) -> Login | None:
    """Whom a cookie belongs to; None for one that is unknown or too old."""
    found = visitor_of(register, token)
    return None if found is None else found[0]


VISITOR = (
    select(LOGIN.c.cookie, LOGIN.c.expires, LOGIN.c.role.label("as_role"), LOGIN.c.csrf)
    .add_columns(*COLUMNS)
    .join_from(LOGIN, PERSON, LOGIN.c.person == PERSON.c.id, isouter=True)
    .where(LOGIN.c.cookie == bindparam("cookie"))
)
"""A cookie with its person. It is made once: it is read for every page."""


def visitor_of(register: Register, token: str) -> tuple[Login, Person | None] | None:
    """Whom a cookie belongs to, with the person as she stands; None for one that is unknown or too
    old.
    """
    if not token:
        return None
    wanted = digest(token)
    row = register.first(VISITOR, {"cookie": wanted})
    if row is None or row.expires < now() or not hmac.compare_digest(row.cookie, wanted):
        return None
    person = None if row.id is None else noun_of(Person, row)
    return Login(row.id or "", row.as_role, row.csrf), person


def still_good(register: Register, cookies: Collection[str]) -> dict[str, str]:
    """The persons who take part and whose cookies are good, by the digests of their cookies."""
    statement = select(LOGIN.c.cookie, LOGIN.c.person).join(PERSON, LOGIN.c.person == PERSON.c.id)
    good = LOGIN.c.cookie.in_(list(cookies)) & (LOGIN.c.expires >= now())
    rows = register.all(statement.where(good, PERSON.c.stage != Stage.WITHDRAWN))
    return {row.cookie: row.person for row in rows}


def has_links(register: Register) -> bool:
    """Whether any link is good now."""
    good = INVITATION.c.revoked.is_(None) & (INVITATION.c.expires >= now())
    return register.first(select(INVITATION.c.token).where(good).limit(1)) is not None


def is_revoked(register: Register, person: str) -> bool:
    """Whether every link of a person was revoked: no other link leads to her then."""
    times = register.column(select(INVITATION.c.revoked).where(INVITATION.c.person == person))
    return bool(times) and None not in times


def revoke_open(register: Register) -> int:
    """Revoke every link that is open to all; how many. Who came by one stays."""
    own = INVITATION.c.person.is_(None) & INVITATION.c.revoked.is_(None)
    return register.change(update(INVITATION).where(own).values(revoked=now()))


SHIFT = 12 * 3600.0
"""Seconds for which a researcher's login is good."""
SHORTEST, LONGEST = 12, 1_000
"""Characters of a password."""


def set_password(register: Register, password: str) -> int:
    """Keep a password in the place of the one before, and end every login of the researcher; how
    many logins were ended. WrongInput for one that is too short or too long.
    """
    if not SHORTEST <= len(password) <= LONGEST:
        raise WrongInput(
            f"the password has {len(password)} characters; {SHORTEST} are needed at least, and"
            f" {LONGEST:,} can be kept"
        )
    kept = PasswordHasher().hash(password)
    with register.writing() as connection:
        connection.execute(delete(OFFICE))
        connection.execute(insert(OFFICE).values(id=1, password=kept, made=now()))
        return connection.execute(delete(LOGIN).where(LOGIN.c.role == Role.RESEARCHER)).rowcount


def has_password(register: Register) -> bool:
    """Whether a password is set."""
    return _kept(register) != ""


def is_password(register: Register, password: str) -> bool:
    """Whether this is the password; False where none is set. It takes a moment, as it should."""
    kept = _kept(register)
    if not kept or len(password) > LONGEST:
        return False
    try:
        return PasswordHasher().verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


def let_researcher_in(register: Register) -> str:
    """Keep a login of the researcher; the secret of its cookie."""
    return log_in(register, "", Role.RESEARCHER, SHIFT)


def researcher_of(register: Register, token: str) -> Login | None:
    """The researcher's login that a cookie is; None for a cookie of anybody else, or of before."""
    found = login_of(register, token)
    return found if found is not None and found.role == Role.RESEARCHER else None


def log_researcher_out(register: Register, login: Login) -> None:
    """End one login."""
    own = (LOGIN.c.csrf == login.csrf) & (LOGIN.c.role == Role.RESEARCHER)
    register.change(delete(LOGIN).where(own))


def _kept(register: Register) -> str:
    return register.value(select(OFFICE.c.password)) or ""
