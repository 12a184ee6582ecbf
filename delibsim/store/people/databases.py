"""PostgreSQL by its address; databases that fail, and what they say, without their passwords."""

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as NoConnection

from delibsim.domain.errors import WrongInput

ADDRESS = "DELIBSIM_DATABASE_URL"
"""The variable of the environment that names another database; it may hold a password."""
POOL: dict[str, Any] = {"pool_size": 10, "max_overflow": 10, "pool_timeout": 3.0}
"""Connections of one server to PostgreSQL, and the seconds that a page waits for one."""
POOL_OF_FILE = POOL | {"pool_size": 60, "max_overflow": 0, "pool_use_lifo": True}
"""The same of SQLite, one a thread: those who read do not wait for those who cannot write. They
stay open: to open one takes longer than to read a page.
"""
SECONDS = 3
"""Seconds to wait for PostgreSQL: for a connection, and for a lock."""
LONGEST = 5
"""Seconds that one statement may take, or that PostgreSQL may be silent."""
GONE = (OperationalError, InterfaceError, InternalError, NoConnection)
"""Failures that pass when the database is back."""


def postgres(address: str) -> Engine:
    """The connections to a PostgreSQL database; WrongInput for an address that is none. No message
    repeats any of it: it may hold a password.
    """
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise WrongInput(
            f"{ADDRESS} is no address of a database: it has the form"
            " postgresql://USER:PASSWORD@HOST/DATABASE, and in a password @ is %40, : is %3A, / is"
            " %2F, % is %25"
        ) from None
    if url.get_backend_name() != "postgresql":
        raise WrongInput(f"{ADDRESS} must begin with postgresql://, or be left out for SQLite")
    if "@" in (url.host or ""):
        raise WrongInput(f"{ADDRESS} has two signs @: in a password write %40 for it")
    settings = {
        "lock_timeout": f"{SECONDS}s",
        "statement_timeout": f"{LONGEST}s",
        "idle_in_transaction_session_timeout": "60s",
        "synchronous_commit": "on",  # what was handed in survives a power cut
    }
    own = url.query.get("options", "")
    options = [own if isinstance(own, str) else " ".join(own)]
    options += [f"-c {name}={value}" for name, value in settings.items()]
    arguments = {
        "connect_timeout": SECONDS,
        "tcp_user_timeout": 1000 * LONGEST,
        "keepalives_idle": LONGEST,
        "application_name": "delibsim",
        "options": " ".join(options).strip(),
    }
    try:
        return create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args=arguments,
            **POOL,
        )
    except ModuleNotFoundError:
        wanted = (
            "the package psycopg is not installed: pip install '.[postgres]' in the clone of"
            " delibsim"
        )
        raise WrongInput(wanted) from None


def is_unavailable(error: Exception) -> bool:
    """Whether a failure is one of the database, and no fault of what was asked of it."""
    if isinstance(error, GONE):
        return True
    if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError):
        return type(error.orig) is sqlite3.DatabaseError  # a damaged file, or none of SQLite
    return False


def is_gone(cause: object) -> bool:
    """Whether a failure is one of the whole database: no connection, or it shuts down; not that one
    lock or one statement took too long.
    """
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def without(url: URL, said: str) -> str:
    """The first line of what a database said, without its statement, its values and any password.

    >>> url = make_url("postgresql://anna:p%40ss@localhost/hall?sslpassword=key")
    >>> without(url, "no p@ss for anna, p%40ss, key")
    'no *** for anna, ***, ***'
    """
    line = (said.splitlines() or ["no reason was given"])[0]
    hidden = [str(url.password)] if url.password else []
    for name, value in url.query.items():
        if "password" in name:
            hidden += [value] if isinstance(value, str) else value
    for secret in hidden:
        for form in (secret, quote(secret, safe=""), quote_plus(secret)):
            line = line.replace(form, "***")
    return line


class Outage:
    """Whether a database fails now, and since when it last did.

    Hundreds of pages that each waited for some seconds would wait for each other's threads.
    """

    def __init__(self) -> None:
        self.cause = ""
        self._failing = False
        self._last: float | None = None
        self._one = threading.Lock()

    @contextmanager
    def waiting(self) -> Generator[bool]:
        """Whether who wants the database may wait for it: all, or one at a time while it fails."""
        if not self._failing:
            yield True
            return
        mine = self._one.acquire(blocking=False)
        try:
            yield mine
        finally:
            if mine:
                self._one.release()

    @property
    def lasts(self) -> bool:
        """Whether it fails now."""
        return self._failing

    def failed(self, cause: str, gone: bool) -> None:
        """It failed; `gone`: nobody can use it now, so that others need not wait as well."""
        self._last = time.monotonic()
        if gone:
            self.cause, self._failing = cause, True

    def over(self) -> None:
        """It works."""
        self._failing = False

    def within(self, seconds: float) -> bool:
        """Whether it failed at any time in the last seconds."""
        return self._last is not None and time.monotonic() - self._last < seconds
