"""What comes of holding sessions: how far each is, the outcome of each, a report of all of them."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.calls import Tally
from delibsim.analysis.causes import CauseCount, causes_in, causes_told
from delibsim.conduct.cost import log_of
from delibsim.domain.cost import OUTCOMES, Money
from delibsim.domain.hosting import STOPPED
from delibsim.domain.reason import Reason
from delibsim.domain.run import Run, Session
from delibsim.domain.score import heading_of
from delibsim.domain.survey import Response
from delibsim.domain.text import counted, quoted, study_named
from delibsim.domain.transcript import PREPARATION, Silence
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange
from delibsim.planning.compose import REPEATED, StudyPlan
from delibsim.store.runs import Runs
from delibsim.store.session_files import WITHDRAWN

FAULTS = 10
"""The number of faults of sessions that are told at the end."""


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """What came of holding one session: its run, or the fault for which there is none.

    `status` is that of the run ("complete" or "partial"), "" if there is none, "withdrawn" if its
    session was withdrawn. `recorded` counts
    the answers that the record held already, `asked` the calls that were made; `reason` is that of
    the call that could not be made. Where many sessions are held the runs are left on disk.
    `already` says that the session had a run before; `unchecked`, in sentences, of which models
    it cannot be said whether they read whole prompts.
    """

    session: Session
    run: Run | None
    status: str = ""
    fault: str = ""
    recorded: int = 0
    asked: int = 0
    damaged_lines: int = 0
    already: bool = False
    reason: Reason | None = None
    unchecked: Sequence[str] = ()

    @property
    def stopped(self) -> bool:
        """Whether a person at the terminal stopped the session, which is no failure."""
        return self.reason == Reason("cancelled", STOPPED)

    def damage(self) -> list[str]:
        """That lines of its log are damaged, and what could not be checked, in sentences."""
        if not self.damaged_lines:
            return list(self.unchecked)
        damaged = counted(self.damaged_lines, "damaged line")
        told = f"left alone: {damaged} in the log; what was lost was asked again."
        return [told, *self.unchecked]


def gone(session: Session) -> SessionOutcome:
    """What there is of a session that was withdrawn: it is not held again."""
    return SessionOutcome(session, None, WITHDRAWN, already=True)


def report(plan: StudyPlan, outcomes: Sequence[SessionOutcome]) -> dict[str, Any]:
    """What came of a plan, as plain values."""
    states = Counter(outcome.status or "failed" for outcome in outcomes)
    shown = ["complete", "partial", "failed", *([WITHDRAWN] if states[WITHDRAWN] else [])]
    failed = [outcome for outcome in outcomes if not outcome.status]
    return {
        "study": plan.study,
        "sessions": len(plan.sessions),
        "combinations_without_a_session_of_their_own": plan.repeated,
        "held_before": sum(outcome.already for outcome in outcomes),
        "states": {state: states[state] for state in shown},
        "calls_asked_now": sum(outcome.asked for outcome in outcomes),
        "calls_from_the_record": sum(outcome.recorded for outcome in outcomes),
        "damaged_lines": sum(outcome.damaged_lines for outcome in outcomes),
        "unchecked": sorted({line for outcome in outcomes for line in outcome.unchecked}),
        "failed": [{"session": one.session.id, "fault": one.fault} for one in failed],
    }


def logs_of(runs: Runs, outcomes: Sequence[SessionOutcome]) -> dict[str, Tally]:
    """What the logs of the sessions come to, by name, that are not complete and were held now."""
    lacking = [one for one in outcomes if one.status != "complete" and not one.already]
    return {one.session.id: log_of(runs, one.session) for one in lacking}


def causes_of(logs: Mapping[str, Tally]) -> list[CauseCount]:
    """Why calls in these logs are not ok."""
    return causes_in((name, cause) for name, log in logs.items() for cause, _ in log.failed)


def report_in_words(
    result: Mapping[str, Any], notice: str, spent: Money, logs: Mapping[str, Tally]
) -> list[str]:
    """What came of a plan, from its report, and what can be done next, in sentences.

    Beside what `report` gives the result holds the `folder` of the study as a user types it.
    `notice` says that sessions were never begun, "" if all were; `spent` is what the whole study
    has cost, and `logs` are those of the sessions that are not complete.
    """
    states, before, sessions = result["states"], result["held_before"], result["sessions"]
    counts = ", ".join(f"{n} {state}" for state, n in states.items() if n)
    lines = [f"{study_named(result['study'])}: {counted(sessions, 'session')}, {counts}"]
    if gone_before := states.get(WITHDRAWN, 0):
        counts = counted(gone_before, "session")
        lines.append(f"{counts} withdrawn by a person who took part: not held again.")
    if before == sessions:
        lines.append("All were held before; nothing was asked now.")
    else:
        asked, recorded = result["calls_asked_now"], result["calls_from_the_record"]
        now = "call was" if asked == 1 else "calls were"
        calls = f"{asked} {now} asked now, {recorded} came from the record"
        lines.append(f"{before} {'was' if before == 1 else 'were'} held before; {calls}.")
    if repeated := result["combinations_without_a_session_of_their_own"]:
        lines.append(REPEATED.format(repeated))
    if damaged := result["damaged_lines"]:
        told = counted(damaged, "damaged line")
        lines.append(f"left alone: {told} in logs; what was lost was asked again.")
    lines += [*result["unchecked"], *failures(result["failed"], logs)]
    lines.append(f"money: {spent}")
    if notice:
        lines.append(f"{notice}.")
    return [*lines, *following(result["folder"], states)]


def _the_same_command(settings: str) -> str:
    return f"the same command with {settings}" if settings else "the same command"


def failures(failed: Sequence[Mapping[str, Any]], logs: Mapping[str, Tally]) -> list[str]:
    """Why calls are not ok, one line a cause; then the sessions without a run in which no call
    failed: those that were not asked, because another's call had failed, and the others, one line
    a fault.
    """
    causes = causes_of(logs)
    lines = causes_told(causes, _the_same_command)
    stopped = [f": {one.cause.status}: " for one in causes if one.cause.status not in OUTCOMES]
    unasked, unexplained = 0, Counter[str]()
    for entry in failed:
        known = any(status in entry["fault"] for status in stopped)
        calls = [cause for cause, _ in logs[entry["session"]].failed]
        if not known:
            unexplained[entry["fault"]] += 1
        elif all(cause.status in OUTCOMES for cause in calls):
            unasked += 1
    if unasked:
        lines.append(f"not begun: {counted(unasked, 'session')}, for the same reason")
    for fault, n in unexplained.most_common(FAULTS):
        lines.append(f"failed: {counted(n, 'session')}: {fault}")
    return lines


def following(place: str, states: Mapping[str, int]) -> list[str]:
    """The commands that come next: those that show results where there are some, else how the
    study stands.
    """
    if not states.get("complete") and not states.get("partial"):
        return [f"Next  delibsim status {quoted(place)}"]
    lines = [
        f"Next  delibsim analyze {quoted(place)}   what the study shows, in words and figures",
        f"      delibsim view {quoted(place)}      read its runs in a browser",
    ]
    if states.get("failed") or states.get("partial"):
        lines.append(f"      delibsim status {quoted(place)}    what is missing, and why")
    return lines


def exit_code(outcomes: Sequence[SessionOutcome]) -> int:
    """0 if every session is complete, 4 if there is no run at all, else 3.

    A session that a person at the terminal stopped ends as one that was interrupted does: with 3.
    """
    if all(outcome.status == "complete" for outcome in outcomes):
        return 0
    return 3 if any(outcome.status or outcome.stopped for outcome in outcomes) else 4


class Observer:
    """Does nothing with what it learns; an observer overrides the methods it needs.

    The methods are called by whatever holds the sessions and must return soon: the sessions wait.
    """

    def on_event(self, event: Event) -> None:
        """A participant begins, or has finished, a survey or a turn."""

    def on_exchange(self, exchange: Exchange) -> None:
        """A call to a model came back and was appended to the log of its session."""

    def on_session(self, outcome: SessionOutcome) -> None:
        """A session is over: it has a run, or the outcome says why it has none."""


NOTES = "notes"
"""The phase in which the sides of a debate take notes, which is a turn of its own."""
OCCASIONS = {
    "pre": "survey before",
    NOTES: "notes",
    "turn": "deliberation",
    "post": "survey after",
    "consensus": "collective statement",
}


def _in_words(phase: str) -> str:
    return OCCASIONS.get(phase) or f"survey {heading_of(phase)}"


class SessionProgress(Observer):
    """Counts what is done in each phase, and the calls by how they ended.

    `planned` holds how many answers, notes and speeches are planned, by phase; nothing that is not.
    """

    def __init__(self, session: Session) -> None:
        self.started = time.monotonic()
        self.is_debate = bool(session.kind.sides)
        self.planned = _planned(session)
        self.left = len(session.seats) > len(session.participants)
        """Whether somebody left; who had spoken by then decides how many turns remain."""
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()

    def on_event(self, event: Event) -> None:
        """Count an answer, a note or a speech."""
        if event.done:
            self.done[phase_of(event)] += 1

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.statuses[exchange.completion.status] += 1

    @property
    def seconds(self) -> float:
        """Seconds since the session began to be held."""
        return time.monotonic() - self.started

    def phases(self) -> list[tuple[str, int, int]]:
        """For each phase its name, how much of it is done, and how much is planned."""
        found = []
        for phase, planned in self.planned.items():
            name = "speeches" if self.is_debate and phase == "turn" else _in_words(phase)
            found.append((name, self.done[phase], planned))
        return found

    def calls(self) -> str:
        """How many calls came back, and how those ended that are not ok."""
        others = ", ".join(f"{n} {status}" for status, n in self.statuses.items() if status != "ok")
        return f"{counted(self.statuses.total(), 'call')}" + (f" ({others})" if others else "")

    def asked(self, event: Event) -> str:
        """Who is asked for what."""
        task = f" ({event.turn.task})" if event.turn and self.is_debate else ""
        return f"{event.participant} {'speaks' if event.turn else 'answers'}{task}"

    def line(self, event: Event) -> str:
        """What a turn, a fault or the last answer to a survey came to; "" for other answers."""
        done, planned = self.done[phase_of(event)], self.planned[phase_of(event)]
        fault = _fault(event)
        if not (fault or event.turn or done == planned):
            return ""
        return f"{self._place(event, done, planned)}: {event.participant}{fault}"

    def _place(self, event: Event, done: int, planned: int) -> str:
        """How far the session is, in words."""
        if event.turn is None:
            return f"{_in_words(event.occasion)} {done}/{planned}"
        if not self.is_debate:
            of = "" if self.left else f"/{planned}"
            return f"deliberation {done}{of}, round {event.turn.round}"
        if event.turn.task == PREPARATION:
            return f"debate, notes {done} of {planned}"
        return f"debate, speech {done} of {planned}, {event.turn.task}"


def _planned(session: Session) -> dict[str, int]:
    asked, turns = len(session.respondents), session.planned_turns
    notes = sum(turn.task == PREPARATION for turn in turns)
    first, *later = session.waves
    counts = {first: asked, NOTES: notes, "turn": len(turns) - notes}
    counts |= {**dict.fromkeys(later, asked), "consensus": _planned_for_consensus(session)}
    return {phase: n for phase, n in counts.items() if n}


def _planned_for_consensus(session: Session) -> int:
    """The replies that a collective statement takes where nothing is missing."""
    rule, people = session.consensus, len(session.respondents)
    if rule is None:
        return 0
    written = people if rule.position == "written" else 0
    once = rule.candidates + people
    return written + once + (people + once if rule.critique else 0)


def phase_of(event: Event) -> str:
    """The phase that an event belongs to."""
    if event.turn is not None and event.turn.task == PREPARATION:
        return NOTES
    return event.occasion


def _fault(event: Event) -> str:
    if isinstance(event.said, Silence):
        return f": {event.said.status}: {event.said.reason}"
    if isinstance(event.said, Response) and event.said.missing:
        reason = next(iter(event.said.missing.values()))
        return f": {counted(len(event.said.missing), 'answer')} missing: {reason}"
    return ""
