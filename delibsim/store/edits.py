"""What was edited of the topics and surveys of a study since it began: as texts, not as hashes."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from delibsim.domain.run import Session
from delibsim.domain.survey import Survey
from delibsim.domain.topic import Topic
from delibsim.store.codec import differences

KINDS = ("topics", "surveys")
"""What a manifest keeps the hash of, while the plans of sessions hold it whole."""
UNTOLD = "was edited since the study began, in what the plans of its sessions do not hold"
Name = tuple[str, str]
"""A kind and an id."""


def edits(edited: Sequence[Name], kept: Iterable[Session], now: Iterable[Session]) -> list[str]:
    """One line for each difference of the topics and surveys named, between the plans that were
    kept and those of now: where, what stood there, what stands there now.
    """
    before, after = _texts(edited, kept), _texts(edited, now)
    lines = []
    for name in edited:
        place = ".".join(name)
        old, new = before.get(name), after.get(name)
        found = differences(old, new, place) if old and new else []
        lines += found or [f"{place}: {UNTOLD}"]
    return lines


def _texts(wanted: Sequence[Name], sessions: Iterable[Session]) -> dict[Name, dict[str, Any]]:
    """The topics and surveys wanted as plain values, as far as sessions hold them."""
    found: dict[Name, dict[str, Any]] = {}
    for session in sessions:
        for kind, entry in zip(KINDS, (session.topic, session.survey), strict=True):
            name = kind, entry.id
            if name in wanted and name not in found:
                found[name] = _plain(entry)
        if len(found) == len(wanted):
            break
    return found


def _plain(entry: Topic | Survey) -> dict[str, Any]:
    """A topic or survey as plain values; the items of a survey by their labels."""
    plain = asdict(entry)
    if isinstance(entry, Survey):
        plain["items"] = {item["id"]: item for item in plain["items"]}
    return plain
