"""What comes of holding sessions: how far each and the study are, the outcome of each, a report."""

import time
from collections import Counter, deque
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
from delibsim.models.pool import ModelPool
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


def _of(limit: int | None) -> str:
    return f" of {limit:,}" if limit else ""


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


MINUTE = 60.0  # seconds over which calls and tokens are counted


class StudyProgress(Observer):
    """Counts sessions by combination of models, and calls; `held_before` sessions have a run
    already.

    It is read and written by one thread, that of the event loop which holds the sessions.
    """

    def __init__(self, sessions: Sequence[Session], pool: ModelPool, held_before: int = 0) -> None:
        self.pool = pool
        self.started = time.monotonic()
        self.held_before, self.total = held_before, held_before + len(sessions)
        self.combinations = {session.id: "+".join(session.models) for session in sessions}
        self.planned = Counter(self.combinations.values())
        self.done: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.running: set[str] = set()
        self.calls = 0
        self.asked = 0  # calls of the sessions that are over
        self.faults: Counter[str] = Counter()
        self.last_failure = ""
        # A second, the calls that came back in it, their tokens: a sum, as calls are thousands.
        self._recent: deque[tuple[int, int, int]] = deque()

    def on_event(self, event: Event) -> None:
        """Count a session that has begun."""
        self.running.add(event.session)

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.calls += 1
        completion = exchange.completion
        if completion.status != "ok":
            self.faults[completion.status] += 1
        tokens = (completion.usage.input_tokens or 0) + (completion.usage.output_tokens or 0)
        second, calls = int(time.monotonic()), 1
        if self._recent and self._recent[-1][0] == second:
            _, before, known = self._recent.pop()
            calls, tokens = calls + before, tokens + known
        self._recent.append((second, calls, tokens))
        self._forget()

    def on_session(self, outcome: SessionOutcome) -> None:
        """Count a session that is over."""
        session = outcome.session.id
        self.asked += outcome.asked
        self.running.discard(session)
        if outcome.status:
            self.done[self.combinations[session]] += 1
        else:
            self.failed[self.combinations[session]] += 1
            self.last_failure = f"{session}: {outcome.fault}"

    @property
    def finished(self) -> int:
        """How many sessions have a run, those that were held before included."""
        return self.held_before + self.done.total()

    @property
    def seconds(self) -> float:
        """Seconds since the sessions began to be held."""
        return time.monotonic() - self.started

    def pace(self) -> tuple[float, float]:
        """Calls and tokens a minute, over the last minute."""
        self._forget()
        share = min(MINUTE, max(1.0, self.seconds)) / MINUTE
        calls = sum(n for _, n, _ in self._recent)
        tokens = sum(n for _, _, n in self._recent)
        return calls / share, tokens / share

    def sessions_left(self) -> int:
        """How many sessions are not over."""
        return self.total - self.finished - self.failed.total()

    def seconds_left(self) -> float | None:
        """An estimate of the seconds until the last session is over; None before the first is.

        Sessions are held side by side: those that are under way count half.
        """
        done, half = self.done.total(), len(self.running) / 2
        if not done:
            return None
        return self.seconds / (done + half) * (self.sessions_left() - half)

    def line(self) -> str:
        """How the study stands, in one line."""
        parts = [f"{len(self.running)} running"]
        if failed := self.failed.total():
            parts.append(f"{failed} failed")
        if waiting := sum(self.pool.retrying().values()):
            parts.append(f"{counted(waiting, 'call')} waiting to be tried again")
        return ", ".join([self._sessions(), *parts, *self._calls(), *self._money(), self._time()])

    def totals(self) -> str:
        """The same without what stands in the table by combination of models."""
        return ", ".join([self._sessions(), *self._calls(), *self._money(), self._time()])

    def workers_line(self, workers: int) -> str:
        """How the study stands by what so many workers have reported."""
        parts = [self._sessions(), counted(workers, "worker")]
        if failed := self.failed.total():
            parts.append(f"{failed} failed")
        return ", ".join(
            [*parts, f"{counted(self.asked, 'call')} of sessions that are over", self._time()]
        )

    def table(self) -> list[tuple[str, int, int, int, int, int]]:
        """For each combination of models how many sessions are done, planned, running and failed,
        and how many calls to its models wait to be tried again.
        """
        running = Counter(self.combinations[session] for session in self.running)
        retrying, rows = self.pool.retrying(), []
        for name, planned in self.planned.items():
            waiting = sum(retrying.get(model, 0) for model in name.split("+"))
            counts = (self.done[name], planned, running[name], self.failed[name], waiting)
            rows.append((name, *counts))
        return rows

    def _sessions(self) -> str:
        return f"{self.finished}/{self.total} sessions"

    def _calls(self) -> list[str]:
        limits, (calls, tokens) = self.pool.limits, self.pace()
        a_minute = f"{calls:,.0f}{_of(limits.requests_per_minute)} a minute"
        parts = [counted(self.calls, "call"), a_minute]
        if tokens:
            parts.append(f"{tokens:,.0f}{_of(limits.tokens_per_minute)} tokens a minute")
        return parts + [f"{n} {status}" for status, n in self.faults.most_common()]

    def _money(self) -> list[str]:
        """What is spent, with the worst case of calls in flight, so that it keeps to the budget."""
        budget, parts = self.pool.budget, []
        if budget.usd is not None:
            parts.append(f"{budget.spent_usd:.2f} of {budget.usd:g} USD spent or reserved")
        elif budget.spent_usd:
            parts.append(f"{budget.spent_usd:.2f} USD spent or reserved")
        if budget.tokens is not None:
            spent = f"{budget.spent_tokens:,} of {budget.tokens:,}"
            parts.append(f"{spent} tokens reserved or spent")
        return parts

    def _time(self) -> str:
        if not self.sessions_left():
            return f"{_clock(self.seconds)} in all"
        left = self.seconds_left()
        return f"{_clock(self.seconds)} so far" if left is None else f"about {_clock(left)} left"

    def _forget(self) -> None:
        """Leave out the calls that came back more than a minute ago."""
        since = time.monotonic() - MINUTE
        while self._recent and self._recent[0][0] < since:
            self._recent.popleft()
