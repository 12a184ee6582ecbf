"""What an earlier look found in the sessions of a study that are complete and well: kept beside
them, and valid as long as their files are as they were.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from delibsim.analysis.calls import Ids, Tally, dropped, fingerprints, noted, tally
from delibsim.domain.cost import Money
from delibsim.domain.run import Run, Session
from delibsim.store.codec import NAMES
from delibsim.store.files import append_line, json_text, read_lines
from delibsim.store.reading import file_bytes, json_value
from delibsim.store.runs import Runs

FILE = ".known.jsonl"
"""One line a look at a session, of which the last counts. It can be removed at any time."""
FILES = ("session.json", "run.json", "exchanges.jsonl", "withdrawn.json")
EDITION = 1
"""Of another edition nothing is taken."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a session that is complete: its plan, what the log of its calls comes to,
    the provider's fingerprints by model, and the parameters that were dropped by model.
    """

    plan: Session
    log: Tally
    fingerprints: Mapping[str, list[str]]
    parameters_dropped: Mapping[str, list[str]]


class Earlier:
    """What earlier looks at the sessions of a study found.

    Their plans are equal but for their names where what else they hold is equal: of these one is
    read.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._plans: dict[str, Session] = {}
        self._lines: dict[str, Mapping[str, Any]] = {}
        for line in read_lines(runs.folder / FILE)[0]:
            if line.get("edition") == EDITION:
                self._lines[str(line.get("session"))] = line

    def of(self, session: str, ids: Ids) -> Known | None:
        """What is known of a session, its response ids added to `ids`; None where its files must be
        read: nothing is known, or a file has changed.
        """
        line = self._lines.get(session)
        if line is None or line.get("files") != _files(self._runs, session):
            return None
        try:
            found = line["found"]
            plan = self._plan(session, found["plan"])
            log = Tally({"ok": found["calls"]}, (), found["retried"], Money(found["usd"]))
            for one in found["ids"]:
                ids.note(*one)
            return Known(plan, log, found["fingerprints"], found["dropped"])
        except (LookupError, TypeError, ValueError):
            return None

    def _plan(self, session: str, names: Mapping[str, Any]) -> Session:
        """The plan of a session, by what it has alike with others, and its own names."""
        own = {name: names[name] for name in NAMES}
        alike = names["alike"]
        if alike not in self._plans:
            self._plans[alike] = self._runs.planned(session)
        return replace(self._plans[alike], **own)


def remember_run(runs: Runs, run: Run, records: Sequence[Mapping[str, Any]]) -> None:
    """Keep what is known of a session that was held just now, by all records of its log; what its
    prompts said need not be among them.
    """
    if run.status == "complete":
        log = tally(records, 0, run.session.voices)
        remember(runs, Known(run.session, log, fingerprints(records), dropped(records)), records)


def remember(runs: Runs, known: Known, records: Sequence[Mapping[str, Any]]) -> None:
    """Keep what is known of a complete session for the next look, where every call is ok at a known
    cost, and no person took part: nothing that anybody said is kept.
    """
    plan, log = known.plan, known.log
    well = not (log.failed or log.damaged_lines) and log.money == Money(log.money.spent_usd)
    if plan.seats_of_people or not well:
        return
    found = {
        "plan": {**{name: getattr(plan, name) for name in NAMES}, "alike": _alike(runs, plan.id)},
        "calls": log.calls["ok"],
        "retried": log.retried,
        "usd": log.money.spent_usd,
        "fingerprints": known.fingerprints,
        "dropped": known.parameters_dropped,
        "ids": noted(records),
    }
    line = {"session": plan.id, "edition": EDITION, "files": _files(runs, plan.id), "found": found}
    with suppress(OSError):  # a study that may only be read is looked at anew each time
        append_line(runs.folder / FILE, line)


def _alike(runs: Runs, session: str) -> str:
    """What the plan of a session has alike with those that differ in their names alone, as a
    digest.
    """
    plain = json_value(file_bytes(runs.path(session) / "session.json"))
    rest = {name: value for name, value in plain.items() if name not in NAMES}
    return hashlib.blake2b(json_text(rest).encode(), digest_size=16).hexdigest()


def _files(runs: Runs, session: str) -> list[list[int]]:
    """Size and time of the last change of each file of a session; nothing for one that is not
    there.
    """
    found = []
    for name in FILES:
        try:
            status = os.stat(f"{runs.folder}/{session}/{name}")
        except OSError:
            found.append([])
        else:
            found.append([status.st_size, status.st_mtime_ns])
    return found
