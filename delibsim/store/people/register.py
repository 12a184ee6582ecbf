"""The register as a database: SQLite in the folder of the study, or PostgreSQL by its address."""

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from sqlalchemy import URL, Connection, CursorResult, Engine, Executable, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as NoConnection

from delibsim.domain.errors import WrongInput, phrase, refused
from delibsim.store.files import keep_private
from delibsim.store.people.schema import check, settle
from delibsim.store.runs import Runs

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
        raise refused("no_address_of_a_database", address=ADDRESS) from None
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
        wanted = phrase("psycopg_missing")
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


FILE = "people.sqlite"
BUSY = 3.0
"""Seconds to wait for a database that another process writes to; pages wait that long."""


Values = Mapping[str, Any] | None
T = TypeVar("T")


def noun_of(kind: type[T], row: Any, **known: Any) -> T:
    """A row as a noun that has fields of the names of its columns, but for those that are `known`;
    a text that is missing is "".
    """
    columns = row._mapping
    for field in fields(cast(Any, kind)):
        if field.name not in known:
            value = columns[field.name]
            known[field.name] = "" if value is None and field.type is str else value
    return kind(**known)


class Unavailable(OSError):
    """The database cannot be read or written now; it may be back later."""


class Register:
    """The register of one study. Every change is on disk when its `with` block ends.

    Functions in the modules beside this one read and write it, each within one transaction.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._outage = Outage()
        self._mine, self._writes = threading.local(), threading.Lock()

    @classmethod
    def of(cls, runs: Runs, address: str | None = None) -> "Register":
        """That of a study; `address`, or the environment where it is None, may name a PostgreSQL
        database, and "" is SQLite in the folder of the study.

        WrongInput for an address that is none, or that cannot be reached, and for tables of another
        study or version.
        """
        keep_private(runs.folder)
        address = os.environ.get(ADDRESS, "") if address is None else address
        made = cls(postgres(address) if address else _beside(runs.folder))
        try:
            with made.reading() as connection:
                known = check(connection, runs.study)
            if not known:
                with made.writing() as connection:
                    settle(connection, runs.study)
        except Unavailable as error:
            made.close()
            raise WrongInput(f"the register of the people cannot be opened: {error}") from None
        except BaseException:
            made.close()
            raise
        return made

    @contextmanager
    def writing(self, durable: bool = True) -> Generator[Connection]:
        """One transaction that changes something; Unavailable if it cannot be written. Within
        another of the same thread it is part of that one.

        What is not `durable` outlives the process, and a loss of power once a later transaction is
        durable: to wait for the disk takes longer than all else.

        SQLite lets one transaction at a time change anything. PostgreSQL lets many, each of which
        sees what others have committed: who reads before it writes locks what it read.
        """
        with self._within("written", "read", self._transaction(True, durable)) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One look at the register; Unavailable if it cannot be read. Within another look or a
        transaction of the same thread it is part of that one.
        """
        with self._within("read", "", self._transaction(False)) as connection:
            yield connection

    @contextmanager
    def _within(
        self, kind: str, also: str, made: AbstractContextManager[Connection]
    ) -> Generator[Connection]:
        """The connection of this kind that this thread has, or a new one, which it has meanwhile
        for this kind, and `also` for another.
        """
        mine = self._mine.__dict__
        if mine.get(kind) is not None:
            yield mine[kind]
            return
        with made as connection:
            before = {one: mine.get(one) for one in (kind, also)}
            mine.update(dict.fromkeys(before, connection))
            try:
                yield connection
            finally:
                mine.update(before)

    def all(self, statement: Executable, values: Values = None) -> Sequence[Any]:
        """Every row that a query gives."""
        with self.reading() as connection:
            return connection.execute(statement, values).all()

    def first(self, statement: Executable, values: Values = None) -> Any:
        """The first row that a query gives; None without one."""
        with self.reading() as connection:
            return connection.execute(statement, values).first()

    def value(self, statement: Executable, values: Values = None) -> Any:
        """The first value of the first row; None without one."""
        with self.reading() as connection:
            return connection.execute(statement, values).scalar()

    def column(self, statement: Executable, values: Values = None) -> list[Any]:
        """The first value of every row."""
        with self.reading() as connection:
            return list(connection.execute(statement, values).scalars())

    def change(self, *statements: Executable, durable: bool = True) -> int:
        """Change something in one transaction; how many rows the last statement changed."""
        with self.writing(durable) as connection:
            done = [connection.execute(statement) for statement in statements]
        return cast(CursorResult[Any], done[-1]).rowcount

    def failed_within(self, seconds: float) -> bool:
        """Whether the register could not be read or written at any time in the last seconds."""
        return self._outage.within(seconds)

    @contextmanager
    def _transaction(self, writes: bool, durable: bool = True) -> Generator[Connection]:
        """One transaction; while the database fails, one at a time waits for it."""
        sqlite = self.engine.dialect.name == "sqlite"
        with self._outage.waiting() as may_wait:
            if not (may_wait or sqlite):
                raise Unavailable(self._outage.cause)
            try:
                if writes and sqlite:
                    with self._in_turn(may_wait, durable) as connection:
                        yield connection
                else:
                    with self.engine.begin() if writes else self.engine.connect() as connection:
                        if not durable:
                            connection.exec_driver_sql("set local synchronous_commit to off")
                        yield connection
            except SQLAlchemyError as error:
                raise self._told(error) from None
        if writes or not sqlite:  # SQLite can be read while another process writes
            self._outage.over()

    @contextmanager
    def _in_turn(self, may_wait: bool, durable: bool) -> Generator[Connection]:
        """A transaction of SQLite, which lets one at a time write. Those of this process wait in
        turn; it is by chance whom SQLite itself lets in next, and some would wait for too long.
        """
        lasts = self._outage.lasts
        if not self._writes.acquire(timeout=BUSY if may_wait else 0):
            raise Unavailable(self._outage.cause or "database is locked")
        try:
            may_wait = may_wait and (lasts or not self._outage.lasts)  # it may have begun meanwhile
            with self.engine.begin() as connection:
                wait = round(1000 * BUSY) if may_wait else 0
                sync = "full" if durable else "normal"
                connection.exec_driver_sql(f"pragma busy_timeout={wait}")
                connection.exec_driver_sql(f"pragma synchronous={sync}")
                connection.exec_driver_sql("begin immediate")
                yield connection
        finally:
            self._writes.release()

    def _told(self, error: Exception) -> Exception:
        """What is raised for a failure: Unavailable where it may pass, else the failure itself."""
        if not is_unavailable(error):
            return error
        cause = error.orig if isinstance(error, DBAPIError) else error
        said = without(self.engine.url, str(cause))
        self._outage.failed(said, is_gone(cause))
        return Unavailable(said)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def now() -> float:
    """Seconds since 1970, by the clock of this machine: browsers' clocks may be off by hours."""
    return time.time()


def _beside(folder: Path) -> Engine:
    file = folder / FILE
    try:
        file.touch(0o600, exist_ok=True)
    except OSError as error:
        fault = f"the register of the people cannot be opened: {file}: {error.strerror}"
        raise WrongInput(fault) from None
    where = URL.create("sqlite", database=str(file))
    made = create_engine(
        where, connect_args={"timeout": BUSY}, hide_parameters=True, **POOL_OF_FILE
    )

    @event.listens_for(made, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        _keep_a_log(connection)
        connection.execute("pragma synchronous=full")  # what was handed in survives a power cut
        connection.execute("pragma foreign_keys=on")
        connection.execute("pragma secure_delete=on")  # what is deleted is overwritten

    return made


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Let others read a file while it is written; of many that open a new one at once, one changes
    it, and SQLite does not wait for it by itself.
    """
    end = time.monotonic() + BUSY
    while True:
        try:
            connection.execute("pragma journal_mode=wal")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
