"""How far one session is while it is held: answers, notes and speeches, also in words."""

import time
from collections import Counter

from delibsim.conduct.outcome import Observer
from delibsim.domain.run import Session
from delibsim.domain.survey import Response
from delibsim.domain.text import counted
from delibsim.domain.transcript import PREPARATION, Silence
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange

NOTES = "notes"
"""The phase in which the sides of a debate take notes, which is a turn of its own."""
OCCASIONS = {
    "pre": "survey before",
    NOTES: "notes",
    "turn": "deliberation",
    "post": "survey after",
    "consensus": "collective statement",
}


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
            name = "speeches" if self.is_debate and phase == "turn" else OCCASIONS[phase]
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
            return f"{OCCASIONS[event.occasion]} {done}/{planned}"
        if not self.is_debate:
            of = "" if self.left else f"/{planned}"
            return f"deliberation {done}{of}, round {event.turn.round}"
        if event.turn.task == PREPARATION:
            return f"debate, notes {done} of {planned}"
        return f"debate, speech {done} of {planned}, {event.turn.task}"


def _planned(session: Session) -> dict[str, int]:
    asked, turns = len(session.respondents), session.planned_turns
    notes = sum(turn.task == PREPARATION for turn in turns)
    counts = {"pre": asked, NOTES: notes, "turn": len(turns) - notes, "post": asked}
    counts["consensus"] = _planned_for_consensus(session)
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
