"""How a study stands: its sessions, how their calls ended, what is missing and doubtful."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from delibsim.analysis.calls import (
    Ids,
    Tally,
    dropped,
    fingerprints,
    note_ids,
    noted,
    repeated,
    repetition,
    tally,
    unchecked,
    without_effect,
)
from delibsim.analysis.causes import CauseCount, causes_in
from delibsim.analysis.run.summary import missing
from delibsim.conduct.cost import calls_by_task
from delibsim.domain.cost import Money, total_of
from delibsim.domain.reason import MEANINGS, SEPARATOR, missing_kind
from delibsim.domain.run import Run, Session
from delibsim.domain.study import cell_of
from delibsim.domain.text import counted
from delibsim.models.ask import apart
from delibsim.models.counted import uncheckable
from delibsim.planning.effects import Effects, effects_of
from delibsim.store.codec import Damaged
from delibsim.store.places import account_of
from delibsim.store.runs import Runs
from delibsim.store.sent import Calls, calls_or_fault
from delibsim.store.session_files import WITHDRAWN, spent_before
from delibsim.store.session_notes import Found, SessionNotes, keep

COMPLETE, PARTIAL, CUT_OFF, UNDER_WAY, WAITING, DAMAGED, NOT_BEGUN, GONE = (
    "complete",
    "partial",
    "cut off",
    "under way",
    "waiting for people",
    "damaged",
    "not begun",
    WITHDRAWN,
)
"""The states of a session; one waits for people where nobody of its group was asked anything."""
STATUS = "status"
"""The name under which it is kept how complete sessions stand (store.session_notes)."""
SILENT = "statements"
"""What is missing where a turn was silent."""


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """How one session stands.

    `plan` is its plan, None where it cannot be read; `log` is what its log of calls comes to.
    `missing` lists the answers and statements that its run lacks, with reasons; `fault` says what
    is damaged.
    """

    session: str
    state: str
    log: Tally
    fingerprints: Mapping[str, list[str]]
    parameters_dropped: Mapping[str, list[str]]
    missing: tuple[Mapping[str, Any], ...] = ()
    fault: str = ""
    plan: Session | None = None
    unchecked: Mapping[str, list[str]] = field(default_factory=dict)

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
            "calls": dict(self.log.calls),
            "damaged_lines": self.log.damaged_lines,
            "worst": [call for _, call in self.log.failed],
            "money": asdict(self.log.money),
            "fingerprints": dict(self.fingerprints),
            "parameters_dropped": dict(self.parameters_dropped),
            "unchecked": dict(self.unchecked),
            "missing": list(self.missing),
            "fault": self.fault,
        }
        condition = self.condition
        return found if condition is None else found | {"condition": condition}

    def to_keep(self, records: Sequence[Mapping[str, Any]]) -> Found | None:
        """What is kept of it for the next look, by all records of its log: nothing unless it is
        complete, every call is ok at a known cost, and no person took part.
        """
        log, plan = self.log, self.plan
        well = not (log.failed or log.damaged_lines) and log.money == Money(log.money.spent_usd)
        if self.state != COMPLETE or self.missing or plan is None or not well:
            return None
        if plan.seats_of_people:
            return None
        return {
            "calls": log.calls["ok"],
            "retried": log.retried,
            "usd": log.money.spent_usd,
            "fingerprints": self.fingerprints,
            "dropped": self.parameters_dropped,
            "unchecked": self.unchecked,
            "ids": noted(records),
        }


@dataclass(frozen=True)
class StudyStatus:
    """How a study stands: the sessions that were begun, how many were not, and response ids that
    several calls came with (None if there are none). `asked_after` is what the calls to raters and
    coders come to, by task; `gone_usd` is what sessions had cost that were withdrawn;
    `damaged_tasks` says why the calls of a task are not among them.
    """

    study: str
    sessions: tuple[SessionStatus, ...]
    not_begun: int = 0
    repeated_ids: Mapping[str, Any] | None = field(default=None)
    asked_after: Mapping[str, Tally] = field(default_factory=dict)
    gone_usd: float = 0.0
    damaged_tasks: Sequence[str] = ()

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
        return sum((Counter(entry.log.calls) for entry in self.sessions), Counter())

    @property
    def money(self) -> Money:
        """What all its calls have cost, those to raters and coders and those of sessions that were
        withdrawn among them.
        """
        logs = [*(entry.log for entry in self.sessions), *self.asked_after.values()]
        return total_of([Money(self.gone_usd), *(log.money for log in logs)])

    @property
    def causes(self) -> list[CauseCount]:
        """Why calls of its sessions are not ok."""
        return causes_in(
            (entry.session, cause) for entry in self.sessions for cause, _ in entry.log.failed
        )

    @property
    def retried(self) -> Counter[str]:
        """How many attempts failed, by status, and were followed by another."""
        return sum((Counter(entry.log.retried) for entry in self.sessions), Counter())

    @property
    def silent_turns(self) -> int:
        """How many turns of its runs have no statement."""
        return sum(_kind(gap) == SILENT for entry in self.sessions for gap in entry.missing)

    def calls_by_cell(self) -> dict[str, Counter[str]]:
        """How many calls ended with each status, by cell of the design."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.sessions:
            found[entry.cell].update(entry.log.calls)
        return dict(found)

    def faults(self) -> list[str]:
        """What is damaged, one line a file, and what is missing, one line a reason."""
        lines = []
        for entry in self.sessions:
            if entry.fault:
                lines.append(f"damaged: {entry.fault}")
            if entry.log.damaged_lines:
                damaged = (
                    f"left alone: {counted(entry.log.damaged_lines, 'damaged line')} in its log"
                )
                lines.append(f"{entry.session}: {damaged}")
        lines += [f"damaged: {fault}; its calls are not counted" for fault in self.damaged_tasks]
        return [*lines, *self._gaps()]

    def _gaps(self) -> list[str]:
        """What is missing from runs, one line a kind and reason."""
        numbers: Counter[tuple[str, str]] = Counter()
        details: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        sessions: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for entry in self.sessions:
            for gap in entry.missing:
                code, _, detail = gap["reason"].partition(SEPARATOR)
                key = _kind(gap), code
                numbers[key] += gap["answers"] or 1
                details[key][detail] += 1
                sessions[key].add(entry.session)
        lines = []
        for (kind, code), n in numbers.most_common():
            what = "silent turn" if kind == SILENT else kind.removesuffix("s")
            (detail, _), *others = details[kind, code].most_common()
            such = "such as: " if others else ""
            said = f" ({such}{detail})" if detail else ""
            where = counted(len(sessions[kind, code]), "session")
            why = MEANINGS.get(code, code)
            lines.append(f"missing: {counted(n, what)} in {where}: {why}{said}")
        return lines

    def doubts(self) -> list[str]:
        """What a careful reader must know of the models that answered, one line each."""
        parameters = _united(entry.parameters_dropped for entry in self.sessions)
        lines = [f"dropped: {line}" for line in without_effect(parameters)]
        doubtful = _united(entry.unchecked for entry in self.sessions)
        lines += uncheckable({model: "; ".join(why) for model, why in doubtful.items()})
        prints = _united(entry.fingerprints for entry in self.sessions)
        for model, names in prints.items():
            if len(names) > 1:
                changed = "the provider's fingerprint changed in mid-study"
                lines.append(f"warning: {model}: {changed}: {', '.join(names)}")
        if self.repeated_ids:
            lines.append(f"warning: {repetition(self.repeated_ids)}")
        plans = (entry.plan for entry in self.sessions if entry.plan is not None)
        asked = {name: own for plan in plans for name, own in plan.models.items()}
        return [*lines, *(f"warning: {issue.text}" for issue in apart(asked.values()))]

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "study": self.study,
            "sessions": [entry.plain() for entry in self.sessions],
            "states": dict(self.states),
            "calls": dict(self.calls),
            "money": asdict(self.money),
            "causes": [one.plain() for one in self.causes],
            "attempts_tried_again": dict(self.retried),
            "silent_turns": self.silent_turns,
            "repeated_response_ids": self.repeated_ids,
            "damaged_tasks": list(self.damaged_tasks),
            "calls_by_task": {task: dict(log.calls) for task, log in self.asked_after.items()},
        }


def _kind(gap: Mapping[str, Any]) -> str:
    """What a gap of a run is a lack of."""
    return missing_kind(gap["occasion"], gap["answers"])


def with_people(runs: Runs, session: str, asked: bool) -> str:
    """How a session with people stands that has no run: it waits for them until anybody was
    `asked` anything, then it is under way while a server holds it; "" where none does.
    """
    if not asked:
        return WAITING
    return UNDER_WAY if runs.is_held_with_people(session) else ""


def study_status(runs: Runs) -> StudyStatus:
    """How a study stands now, by its plans, records and runs.

    What was found in a session is kept beside the study where all of it is well, and holds as long
    as its files are as they were.
    """
    ids = Ids()
    unfinished = UNDER_WAY if runs.holder() else CUT_OFF
    account, notes = account_of(runs), SessionNotes(runs)
    known: dict[str, Any] = {}
    sessions = []
    for name in account.begun:
        entry = _known(notes, name, ids) or _looked_at(notes, name, unfinished, ids)
        notes.forget(name)
        sessions.append(_sharing(entry, known))
    gone = math.fsum(spent_before(runs.path(name))[0] for name in account.withdrawn)
    never, faults = len(account.not_begun), list[str]()
    after = calls_by_task(runs, faults)
    return StudyStatus(runs.study, tuple(sessions), never, repeated(ids), after, gone, faults)


def _looked_at(notes: SessionNotes, session: str, unfinished: str, ids: Ids) -> SessionStatus:
    """How a session stands by its files, which is kept for the next look where it is complete."""
    log, fault = calls_or_fault(notes.runs, session)
    records = log[0]
    note_ids(records, ids)
    found = _status_of(notes.runs, session, log, unfinished)
    if fault:
        return replace(found, state=DAMAGED, fault=fault, log=replace(found.log, damaged_lines=0))
    status = found.to_keep(records)
    if status is not None and found.plan is not None:
        notes.keep(found.plan, {STATUS: status})
    return found


def _known(notes: SessionNotes, session: str, ids: Ids) -> SessionStatus | None:
    """How a session stood at an earlier look, its response ids added to `ids`; None where its files
    must be read.
    """
    found = notes.of(session, STATUS)
    if found is None:
        return None
    try:
        plan = notes.plan(session)
        log = Tally({"ok": found["calls"]}, (), found["retried"], Money(found["usd"]))
        for one in found["ids"]:
            ids.note(*one)
        tables = found["fingerprints"], found["dropped"]
        doubts = found["unchecked"]
        return SessionStatus(session, COMPLETE, log, *tables, plan=plan, unchecked=doubts)
    except (LookupError, TypeError, ValueError):
        return None


def remember_run(runs: Runs, run: Run, records: Sequence[Mapping[str, Any]]) -> None:
    """Keep what is known of a session that was held just now, by all records of its log; what its
    prompts said need not be among them.
    """
    from delibsim.store.tables.session_facts import facts_to_keep  # the columns, read from YAML

    kept = {"facts": facts_to_keep(runs, run, records)}
    log, tables = tally(records, 0, run.session.voices), (fingerprints(records), dropped(records))
    name, doubts = run.session.id, unchecked(records)
    held = SessionStatus(name, run.status, log, *tables, plan=run.session, unchecked=doubts)
    status = held.to_keep(records)
    keep(runs, run.session, kept if status is None else kept | {STATUS: status})


def _sharing(entry: SessionStatus, known: dict[str, Any]) -> SessionStatus:
    """The same status, holding the tables that earlier sessions had where its own are equal."""
    tables = {"fingerprints": entry.fingerprints, "parameters_dropped": entry.parameters_dropped}
    shared = {name: known.setdefault(repr(table), table) for name, table in tables.items()}
    return replace(entry, **shared)


def effects_in(runs: Runs, found: StudyStatus) -> Effects:
    """What the sessions of a study vary without effect, by declaration and by the record."""
    read = [entry.plan for entry in found.sessions if entry.plan is not None]
    plans = sorted(read, key=lambda session: session.id)
    held = [session for session in plans if runs.held(session.id)]
    dropped = {entry.session: entry.parameters_dropped for entry in found.sessions}
    return effects_of(plans, held, dropped)


def _status_of(runs: Runs, session: str, log: Calls, unfinished: str) -> SessionStatus:
    """How one session stands by its calls; `unfinished` is the state of one without a run."""
    records, damaged_lines, lost = log
    state, gaps, fault, plan = unfinished, [], "", None
    try:
        plan = runs.planned(session)
        if runs.withdrawn(session):
            state = GONE
        elif runs.held(session):
            run = runs.run(session)
            state, gaps = run.status, missing(run)
        elif plan.seats_of_people:
            state = with_people(runs, session, bool(records)) or unfinished
    except Damaged as error:
        state, fault = DAMAGED, str(error)
    return SessionStatus(
        session,
        state,
        tally(records, damaged_lines, plan.voices if plan else {}, lost),
        fingerprints(records),
        dropped(records),
        tuple(gaps),
        fault,
        plan,
        unchecked(records),
    )


def _united(parts: Iterable[Mapping[str, Iterable[str]]]) -> dict[str, list[str]]:
    """What was found by model in each session, by model in all of them."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for part in parts:
        for model, names in part.items():
            found[model].update(names)
    return {model: sorted(names) for model, names in found.items()}
