"""The one server of a study: who serves it, and when another process may.

A server writes a sign of life into the register every RENEWED seconds. Another server is refused
while that sign is younger than STALE seconds, or while the process that wrote it lives on this
machine; a lock on a file in the folder of the study says the same of processes that share it.
"""

import os
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, update

from delibsim.domain.errors import WrongInput
from delibsim.store.files import alone, is_taken
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.schema import OWN
from delibsim.store.runs import Runs

LOCK = ".serving"
"""The file in the folder of a study that its server locks."""
RENEWED, STALE = 5.0, 15.0
"""Seconds between two signs of life, and after which a server without one counts as gone."""


@dataclass(frozen=True)
class Server:
    """The process that serves a study; times in seconds since 1970."""

    name: str
    host: str
    process: int
    since: float
    seen: float

    @property
    def is_gone(self) -> bool:
        """Whether it gave no sign of life for STALE seconds, or has ended on this machine."""
        if now() - self.seen > STALE:
            return True
        return self._is_here and not _runs(self.process)

    @property
    def was_this_one(self) -> bool:
        """Whether it had the number of this process: a container counts anew when it starts."""
        return self._is_here and self.process == os.getpid()

    @property
    def _is_here(self) -> bool:
        return self.host == socket.gethostname()

    def refusal(self, study: str) -> str:
        """Why no other process may serve the study now, and what to do."""
        begun = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M:%S")
        return (
            f"{study} is served already, by process {self.process} on {self.host} since"
            f" {begun} UTC: one server at a time serves a study. End that one there, with Ctrl-C or"
            f" kill {self.process}. If it has died, this command works {STALE:g} seconds after its"
            f" last sign of life, which was {max(0.0, now() - self.seen):.0f} seconds ago"
        )


@dataclass
class Serving:
    """This process as the server of a study; `before` is the last sign of life of the server
    before it, None where there was none.
    """

    register: Register
    study: str
    before: float | None
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    _renewed: float = 0.0

    def renew(self) -> None:
        """Give a sign of life, if one is due; WrongInput where another server took over, because
        this one gave none for too long.
        """
        if now() - self._renewed < RENEWED:
            return
        own = OWN.c.server == self.name
        with self.register.writing(durable=False) as connection:
            changed = connection.execute(update(OWN).where(own).values(seen=now())).rowcount
        if not changed:
            found = server_of(self.register)
            who = found.refusal(self.study) if found else "its register says that nobody serves it"
            raise WrongInput(f"this server was taken for dead and ends: {who}")
        self._renewed = now()

    def end(self) -> None:
        """Note that nobody serves the study from now on."""
        own = OWN.c.server == self.name
        with self.register.writing() as connection:
            connection.execute(update(OWN).where(own).values(server=None, seen=now()))


def server_of(register: Register) -> Server | None:
    """The process that serves a study, as it last said; None where none does."""
    return _server_in(register.first(select(OWN)))


def is_served(register: Register) -> bool:
    """Whether a server serves a study now."""
    found = server_of(register)
    return found is not None and not found.is_gone


def refuse_second(runs: Runs, register: Register) -> None:
    """WrongInput where another process serves a study; this one is told so before it begins."""
    _refuse(server_of(register), runs, register, is_taken(runs.folder / LOCK))


@contextmanager
def serving(runs: Runs, register: Register) -> Generator[Serving]:
    """This process serves a study; WrongInput where another does."""
    with alone(runs.folder / LOCK) as mine:
        server = _taken(runs, register, not mine)
        try:
            yield server
        finally:
            with suppress(Unavailable):  # it counts as gone after a while
                server.end()


def _refuse(found: Server | None, runs: Runs, register: Register, locked: bool) -> None:
    """WrongInput where another process serves a study, whose file may be `locked`. The lock alone
    decides where the register is a file: all servers of it are on one machine.
    """
    shares = register.engine.dialect.name == "sqlite"
    gone = found is None or shares or found.is_gone or found.was_this_one
    if found is not None and (locked or not gone):
        raise WrongInput(found.refusal(runs.study))
    if locked:
        raise WrongInput(f"{runs.study} is served already, by a process that begins at this moment")


def _taken(runs: Runs, register: Register, locked: bool) -> Serving:
    """Write into the register that this process serves the study, unless another does."""
    with register.writing() as connection:
        row = connection.execute(select(OWN).with_for_update()).one()
        _refuse(_server_in(row), runs, register, locked)
        made = Serving(register, runs.study, row.seen)
        values = {"server": made.name, "host": socket.gethostname(), "process": os.getpid()}
        times = {"since": now(), "seen": now()}
        connection.execute(update(OWN).values(**values, **times))
    return made


def _server_in(row: Any) -> Server | None:
    if row is None or row.server is None:
        return None
    return Server(row.server, row.host, row.process, row.since, row.seen)


def _runs(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
