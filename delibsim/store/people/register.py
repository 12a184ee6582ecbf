"""The register as a database: SQLite in the folder of the study, or PostgreSQL by its address."""

import os
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from delibsim.domain.errors import WrongInput
from delibsim.store.people.schema import TABLES
from delibsim.store.runs import Runs

ADDRESS = "DELIBSIM_DATABASE_URL"
"""The variable of the environment that names another database; it may hold a password."""
FILE = "people.sqlite"
BUSY = 10.0
"""Seconds to wait for a database that another process writes to."""


class Unavailable(RuntimeError):
    """The database cannot be read or written now; it may be back later."""


class Register:
    """The register of one study. Every change is on disk when its `with` block ends.

    Functions in the modules beside this one read and write it, each within one transaction.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def of(cls, runs: Runs, address: str | None = None) -> "Register":
        """That of a study; `address`, or the environment, may name a PostgreSQL database.

        WrongInput for an address that is none, or that cannot be reached.
        """
        address = address or os.environ.get(ADDRESS, "")
        made = cls(_by_address(address) if address else _beside(runs.folder))
        try:
            with made.writing() as connection:
                TABLES.create_all(connection)
        except Unavailable as error:
            raise WrongInput(f"the register of the people cannot be opened: {error}") from None
        return made

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction that changes something; Unavailable if it cannot be written."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except OperationalError as error:
            raise Unavailable(_cause(error)) from None

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """One look at the register; Unavailable if it cannot be read."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except OperationalError as error:
            raise Unavailable(_cause(error)) from None

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def now() -> float:
    """Seconds since 1970, by the clock of this machine: browsers' clocks may be off by hours."""
    return time.time()


def _beside(folder: Path) -> Engine:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE
    file.touch(mode=0o600, exist_ok=True)
    made = create_engine(f"sqlite:///{file}", connect_args={"timeout": BUSY})

    @event.listens_for(made, "connect")
    def prepare(connection: sqlite3.Connection, record: Any) -> None:
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")  # what was handed in survives a power cut
        connection.execute("pragma foreign_keys=on")
        connection.execute("pragma secure_delete=on")  # what is deleted is overwritten

    return made


def _by_address(address: str) -> Engine:
    try:
        url = make_url(address)
    except ArgumentError:
        raise WrongInput(f"{ADDRESS} is no address of a database") from None
    if url.get_backend_name() != "postgresql":
        raise WrongInput(f"{ADDRESS} must begin with postgresql://, or be left out for SQLite")
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ModuleNotFoundError:
        wanted = "the package psycopg is not installed: pip install 'delibsim[postgres]'"
        raise WrongInput(wanted) from None


def _cause(error: OperationalError) -> str:
    """What the database says, in one line, without the statement and its values."""
    return str(error.orig).splitlines()[0]
