"""How the researcher gets in: a password, of which the register keeps the argon2 hash alone."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, insert, select

from delibsim.domain.errors import WrongInput
from delibsim.store.people.entry import RESEARCHER, Login, log_in, login_of
from delibsim.store.people.register import Register, now
from delibsim.store.people.schema import LOGIN, OFFICE

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
        return connection.execute(delete(LOGIN).where(LOGIN.c.role == RESEARCHER)).rowcount


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


def let_in(register: Register) -> str:
    """Keep a login of the researcher; the secret of its cookie."""
    return log_in(register, "", RESEARCHER, SHIFT)


def researcher_of(register: Register, token: str) -> Login | None:
    """The researcher's login that a cookie is; None for a cookie of anybody else, or of before."""
    found = login_of(register, token)
    return found if found is not None and found.role == RESEARCHER else None


def log_out(register: Register, login: Login) -> None:
    """End one login."""
    own = (LOGIN.c.csrf == login.csrf) & (LOGIN.c.role == RESEARCHER)
    with register.writing() as connection:
        connection.execute(delete(LOGIN).where(own))


def _kept(register: Register) -> str:
    with register.reading() as connection:
        return connection.execute(select(OFFICE.c.password)).scalar() or ""
