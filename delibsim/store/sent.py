"""Calls that may cost: a line each beside the log of exchanges, written before the call is sent.

A process that is killed takes with it what it knew of its calls in flight; their lines stay. The
exchange that follows, of the same model, seed and start, settles a line. A call whose line nothing
settles was cut off: it may have cost what the line says.
"""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delibsim.store.codec import Damaged
from delibsim.store.files import Log, make_folder, read_lines
from delibsim.store.runs import Runs

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A call that was sent: the most that it may have cost by then with its failed attempts, in US
    dollars (None: nothing bounds it) and tokens.
    """

    model: str
    seed: int
    started: str
    usd: float | None
    tokens: int

    def record(self) -> dict[str, Any]:
        """As plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


class NotSent(OSError):
    """The line of a call could not be written, so the call is not sent."""


class SentLog:
    """The calls that one process sends on behalf of one log of exchanges.

    The file is gone when it is closed and every call was settled; where an earlier process left one
    behind, it stays.
    """

    def __init__(self, exchanges: Path, durable: bool = False) -> None:
        self._file = file_beside(exchanges)
        self.left_behind = self._file.exists()
        self._log, self._durable = Log(self._file, durable), durable
        self._open: set[Key] = set()
        self._written = False

    def note(self, sent: Sent) -> None:
        """Keep a call that is sent next, or another attempt of it; NotSent where that fails."""
        try:
            if not self._written:
                make_folder(self._file.parent, self._durable)
            self._log.append(sent.record())
        except OSError as error:
            raise NotSent(error.errno, error.strerror, str(self._file)) from None
        self._written = True
        self._open.add(_key(sent.model, sent.seed, sent.started))

    def settle(self, model: str, seed: int, started: str) -> None:
        """Take note that the exchange of a call is in the log."""
        self._open.discard(_key(model, seed, started))

    def close(self) -> None:
        """Close the file, and remove it where no line of it is needed."""
        self._log.close()
        if self._written and not self._open and not self.left_behind:
            with suppress(OSError):  # all its lines are settled, so that it may as well stay
                self._file.unlink()


def file_beside(exchanges: Path) -> Path:
    """The file of the calls that were sent, by the log of their exchanges."""
    return exchanges.with_name(exchanges.name.replace("exchanges", "sent"))


def cut_off(exchanges: Path, records: Iterable[Mapping[str, Any]]) -> list[Sent]:
    """The calls that were sent and have no exchange among the `records` of their log.

    A line that is no whole one was never finished, and its call never sent.
    """
    found: dict[Key, Sent] = {}
    for line in read_lines(file_beside(exchanges))[0]:
        with suppress(LookupError, TypeError, ValueError):
            sent = _sent(line)
            found[_key(sent.model, sent.seed, sent.started)] = sent
    if found:
        for record in records:
            if "completion" in record:
                found.pop(_key(*map(record.get, ("model", "seed", "started"))), None)
    return list(found.values())


def _key(*parts: Any) -> Key:
    return tuple(map(str, parts))


def _sent(line: Mapping[str, Any]) -> Sent:
    usd = None if line["usd"] is None else float(line["usd"])
    if usd is not None and not 0 <= usd < math.inf:
        raise ValueError("no amount")
    return Sent(str(line["model"]), int(line["seed"]), str(line["started"]), usd, line["tokens"])


Calls = tuple[list[dict[str, Any]], int, list[Sent]]
"""The records of a log, how many of its lines are damaged, and the calls that were cut off."""


def records_of(lines: list[dict[str, Any]], damaged: int) -> tuple[list[dict[str, Any]], int]:
    """The lines of a log that are records of calls; others count as damaged."""
    records = [line for line in lines if isinstance(line.get("completion", {}), dict)]
    return records, damaged + len(lines) - len(records)


def calls_of(runs: Runs, session: str) -> Calls:
    """The calls of a session, none if it was withdrawn; Damaged where a file cannot be read."""
    try:
        records, damaged = records_of(*runs.exchanges(session))
        if runs.withdrawn(session):
            return records, damaged, []
        return records, damaged, cut_off(runs.path(session) / "exchanges.jsonl", records)
    except OSError as error:
        raise Damaged(f"{error.filename}: {error.strerror}") from None


def calls_or_fault(runs: Runs, session: str) -> tuple[Calls, str]:
    """The same, and why a file cannot be read, "" where all can: then one line counts as
    damaged.
    """
    try:
        return calls_of(runs, session), ""
    except Damaged as error:
        return ([], 1, []), str(error)


def sent_log(runs: Runs, session: str) -> SentLog:
    """What keeps the calls of a session that are sent; who asked for it closes it."""
    return SentLog(runs.path(session) / "exchanges.jsonl", runs.durable)
