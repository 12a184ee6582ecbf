"""The calls of one session: those on record, and those that were cut off before they were."""

from typing import Any

from delibsim.store.codec import Damaged
from delibsim.store.runs import Runs
from delibsim.store.sent import Sent, SentLog, cut_off

Calls = tuple[list[dict[str, Any]], int, list[Sent]]
"""The records of a log, how many of its lines are damaged, and the calls that were cut off."""


def calls_of(runs: Runs, session: str) -> Calls:
    """The calls of a session, none if it was withdrawn; Damaged where a file cannot be read."""
    try:
        records, damaged = runs.exchanges(session)
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
