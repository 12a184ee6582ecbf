"""How a study stands: its sessions, how their calls ended, what is missing and doubtful."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.analysis.calls import (
    Ids,
    dropped,
    fingerprints,
    note_ids,
    repeated,
    repetition,
    without_effect,
)
from delibsim.analysis.run_summary import missing
from delibsim.domain.measure import HEADINGS
from delibsim.domain.run import Session
from delibsim.domain.study import cell_of
from delibsim.domain.text import counted
from delibsim.planning.effects import Effects, effects_of
from delibsim.store.account import account_of
from delibsim.store.annotation_logs import annotation_logs
from delibsim.store.codec import Damaged
from delibsim.store.files import each_line
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import WITHDRAWN

COMPLETE, PARTIAL, CUT_OFF, UNDER_WAY, DAMAGED, NOT_BEGUN, GONE = (
    "complete",
    "partial",
    "cut off",
    "under way",
    "damaged",
    "not begun",
    WITHDRAWN,
)
"""The states of a session."""


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """How one session stands.

    `plan` is its plan, None where it cannot be read. `calls` counts its calls by how they ended at
    last, `failed_calls` names those that are not ok: one that failed and was answered when it was
    asked again is ok. `missing` lists the answers and statements that its run lacks, with reasons;
    `fault` says what is damaged.
    """

    session: str
    state: str
    calls: Mapping[str, int]
    damaged_lines: int
    failed_calls: tuple[str, ...]
    fingerprints: Mapping[str, list[str]]
    parameters_dropped: Mapping[str, list[str]]
    missing: tuple[Mapping[str, Any], ...] = ()
    fault: str = ""
    plan: Session | None = None

    @property
    def cell(self) -> str:
        """The name that the session shares with its replicates."""
        return self.session if self.plan is None else cell_of(self.plan)

    @property
    def condition(self) -> dict[str, Any] | None:
        """How the session was planned, as plain values; None where its plan cannot be read."""
        if self.plan is None:
            return None
        return {
            "treatment": self.plan.treatment.name,
            "topic": self.plan.topic.id,
            "models": sorted(self.plan.models),
            "replicate": self.plan.replicate,
        }

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        found = {
            "session": self.session,
            "state": self.state,
            "calls": dict(self.calls),
            "damaged_lines": self.damaged_lines,
            "worst": list(self.failed_calls),
            "fingerprints": dict(self.fingerprints),
            "parameters_dropped": dict(self.parameters_dropped),
            "missing": list(self.missing),
            "fault": self.fault,
        }
        condition = self.condition
        return found if condition is None else found | {"condition": condition}


@dataclass(frozen=True)
class StudyStatus:
    """How a study stands: the sessions that were begun, how many were not, and response ids that
    several calls came with (None if there are none). `asked_after` counts the calls to raters and
    coders by task and by how they ended.
    """

    study: str
    sessions: tuple[SessionStatus, ...]
    not_begun: int = 0
    repeated_ids: Mapping[str, Any] | None = field(default=None)
    asked_after: Mapping[str, Counter[str]] = field(default_factory=dict)

    @property
    def states(self) -> Counter[str]:
        """How many sessions are in each state."""
        states = Counter(entry.state for entry in self.sessions)
        if self.not_begun:
            states[NOT_BEGUN] = self.not_begun
        return states

    @property
    def calls(self) -> Counter[str]:
        """How many calls ended with each status."""
        return sum((Counter(entry.calls) for entry in self.sessions), Counter())

    def calls_by_cell(self) -> dict[str, Counter[str]]:
        """How many calls ended with each status, by cell of the design."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.sessions:
            found[entry.cell].update(entry.calls)
        return dict(found)

    def failed_calls(self) -> list[str]:
        """Every call that is not ok, in words."""
        lines = []
        for entry in self.sessions:
            lines += [f"{entry.session}, {call}" for call in entry.failed_calls]
        return lines

    def faults(self) -> list[str]:
        """What is damaged or missing, one line each."""
        lines = []
        for entry in self.sessions:
            if entry.fault:
                lines.append(f"damaged: {entry.fault}")
            if entry.damaged_lines:
                damaged = f"left alone: {counted(entry.damaged_lines, 'damaged line')} in its log"
                lines.append(f"{entry.session}: {damaged}")
            for gap in entry.missing:
                occasion = HEADINGS.get(gap["occasion"], gap["occasion"])
                where = f"{entry.session}, {gap['participant']}, {occasion}"
                lines.append(f"missing: {where}: {gap['reason']}")
        return lines

    def doubts(self) -> list[str]:
        """What a careful reader must know of the models that answered, one line each."""
        parameters = _united(entry.parameters_dropped for entry in self.sessions)
        lines = [f"dropped: {line}" for line in without_effect(parameters)]
        prints = _united(entry.fingerprints for entry in self.sessions)
        for model, names in prints.items():
            if len(names) > 1:
                changed = "the provider's fingerprint changed in mid-study"
                lines.append(f"warning: {model}: {changed}: {', '.join(names)}")
        if self.repeated_ids:
            lines.append(f"warning: {repetition(self.repeated_ids)}")
        return lines

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "study": self.study,
            "sessions": [entry.plain() for entry in self.sessions],
            "states": dict(self.states),
            "calls": dict(self.calls),
            "repeated_response_ids": self.repeated_ids,
            "calls_by_task": {task: dict(n) for task, n in self.asked_after.items()},
        }


def study_status(runs: Runs) -> StudyStatus:
    """How a study stands now, by its plans, records and runs."""
    ids = Ids()
    unfinished = UNDER_WAY if runs.holder() else CUT_OFF
    account = account_of(runs)
    known: dict[str, Any] = {}
    sessions = []
    for name in account.begun:
        entry = session_status(runs, name, ids, unfinished)
        sessions.append(_sharing(entry, known))
    never, after = len(account.not_begun), calls_by_task(runs)
    return StudyStatus(runs.study, tuple(sessions), never, repeated(ids), after)


def _sharing(entry: SessionStatus, known: dict[str, Any]) -> SessionStatus:
    """The same status, holding the tables that earlier sessions had where its own are equal."""
    tables = {"calls": entry.calls, "fingerprints": entry.fingerprints}
    tables["parameters_dropped"] = entry.parameters_dropped
    shared = {name: known.setdefault(repr(table), table) for name, table in tables.items()}
    return replace(entry, **shared)


def calls_by_task(runs: Runs) -> dict[str, Counter[str]]:
    """How many calls to raters and coders ended with each status, by task; damaged lines too."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for log in annotation_logs(runs):
        for _, record in each_line(log.file):
            found[log.task][_status(record or {})] += 1
    return dict(found)


def effects_in(runs: Runs, found: StudyStatus) -> Effects:
    """What the sessions of a study vary without effect, by declaration and by the record."""
    read = [entry.plan for entry in found.sessions if entry.plan is not None]
    plans = sorted(read, key=lambda session: session.id)
    held = [session for session in plans if runs.held(session.id)]
    dropped = {entry.session: entry.parameters_dropped for entry in found.sessions}
    return effects_of(plans, held, dropped)


def session_status(runs: Runs, session: str, ids: Ids, unfinished: str = CUT_OFF) -> SessionStatus:
    """How one session stands; `unfinished` is the state of one without a run.

    The response ids of its calls are added to `ids`.
    """
    records, damaged_lines = runs.exchanges(session)
    note_ids(records, ids)
    ended = _last(records)
    statuses = [_status(record) for record in ended]
    failed = [record for record in ended if _status(record, "") != "ok"]
    state, gaps, fault, plan = unfinished, [], "", None
    try:
        plan = runs.planned(session)
        if runs.withdrawn(session):
            state = GONE
        elif runs.held(session):
            run = runs.run(session)
            state, gaps = run.status, missing(run)
    except Damaged as error:
        state, fault = DAMAGED, str(error)
    return SessionStatus(
        session,
        state,
        Counter(statuses),
        damaged_lines,
        tuple(_call(record) for record in failed),
        fingerprints(records),
        dropped(records),
        tuple(gaps),
        fault,
        plan,
    )


def _last(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The last record of each call; a call that stopped a session is asked again when it goes on.

    What is no record of a call is kept.
    """
    found: dict[Any, Mapping[str, Any]] = {}
    for n, record in enumerate(records):
        purpose = record.get("purpose")
        parts = ("participant", "occasion", "attempt")
        call = tuple(str(purpose.get(part)) for part in parts) if purpose else n
        found[call] = record
    return list(found.values())


def _status(record: Mapping[str, Any], unknown: str = DAMAGED) -> str:
    return record.get("completion", {}).get("status", unknown)


def _call(record: Mapping[str, Any]) -> str:
    """A call in words: whose it is, how it ended and why."""
    purpose = record.get("purpose", {})
    parts = (str(purpose.get(part, "?")) for part in ("participant", "occasion", "attempt"))
    detail = record.get("completion", {}).get("detail", "")
    return f"{'/'.join(parts)}: {_status(record)}: {detail}"


def _united(parts: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, list[str]]:
    """What was found by model in each session, by model in all of them."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for part in parts:
        for model, names in part.items():
            found[model].update(names)
    return {model: sorted(names) for model, names in found.items()}
