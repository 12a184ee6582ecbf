"""One session while it is held: painted on a terminal, plain lines elsewhere."""

import time
from collections import Counter

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from delibsim.cli.terminal import brief, safe
from delibsim.cli.view import View
from delibsim.conduct.observe import Observer
from delibsim.domain.run import Session
from delibsim.domain.survey import Response
from delibsim.domain.transcript import PREPARATION, Silence, Statement
from delibsim.engine.event import Event
from delibsim.models.replay import Exchange

NOTES = "notes"
"""The phase in which the sides of a debate take notes, which is a turn of its own."""
OCCASIONS = {"pre": "survey before", NOTES: "notes", "turn": "deliberation", "post": "survey after"}
LONGEST = 1_500  # characters of a statement that are shown


class SessionView(View, Observer):
    """Shows phase, speaker, what is said, calls and time."""

    def __init__(self, session: Session, screen: Console, quiet: bool = False) -> None:
        self.session, self.observer = session, self
        self.is_debate = bool(session.kind.sides)
        self.planned = _planned(session)
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.now = Text("")
        self.last = Text("")
        # A person who is asked at this terminal needs it whole.
        asks = any(settings.get("kind") == "human" for settings in session.models.values())
        super().__init__(screen, quiet, live=not asks)

    def on_event(self, event: Event) -> None:
        """Take note of who is asked, or of what was said."""
        if not event.done:
            verb = "speaks" if event.turn else "answers"
            task = f" ({event.turn.task})" if event.turn and self.is_debate else ""
            self.now = Text(f"{event.participant} {verb}{task}")
            return
        self.done[_phase(event)] += 1
        if isinstance(event.said, Statement):
            self.last = Text(f"{event.participant}: {brief(event.said.text, LONGEST)[0]}")
        elif isinstance(event.said, Silence):
            self.last = Text(f"{event.participant} said nothing that counts: {event.said.status}")
        if not self.quiet and not self._live:
            self._print(event)

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.statuses[exchange.completion.status] += 1

    def render(self) -> Panel:
        """Phases, who is asked now, what was said last, and calls."""
        phases = Text()
        for phase, planned in self.planned.items():
            done = self.done[phase]
            begun = "bold" if done else "dim"
            style = "green" if planned and done == planned else begun
            name = "speeches" if self.is_debate and phase == "turn" else OCCASIONS[phase]
            phases.append(f"{name} {done}/{planned}   ", style=style)
        others = ", ".join(f"{n} {status}" for status, n in self.statuses.items() if status != "ok")
        calls = f"{self.statuses.total()} calls" + (f" ({others})" if others else "")
        foot = Text(f"{calls}, {time.monotonic() - self.started:.1f} s", style="dim")
        lines = Group(phases, self.now, self.last, foot)
        return Panel(lines, title=self.session.id, title_align="left")

    def _print(self, event: Event) -> None:
        """Print a line for a turn, a fault, and the last answer to a survey."""
        done, planned = self.done[_phase(event)], self.planned[_phase(event)]
        fault = _fault(event)
        if not (fault or event.turn or done == planned):
            return
        seconds = time.monotonic() - self.started
        phase = self._place(event, done, planned)
        self.screen.print(f"{seconds:6.1f}s  {phase}: {event.participant}{fault}")

    def _place(self, event: Event, done: int, planned: int) -> str:
        """How far the session is, in words."""
        if event.turn is None:
            return f"{OCCASIONS[event.occasion]} {done}/{planned}"
        if not self.is_debate:
            return f"deliberation {done}/{planned}, round {event.turn.round}"
        if event.turn.task == PREPARATION:
            return f"debate, notes {done} of {planned}"
        return f"debate, speech {done} of {planned}, {event.turn.task}"


def _planned(session: Session) -> dict[str, int]:
    """How many answers, notes and speeches are planned, by phase; nothing that is not."""
    asked, turns = len(session.respondents), session.planned_turns
    notes = sum(turn.task == PREPARATION for turn in turns)
    counts = {"pre": asked, NOTES: notes, "turn": len(turns) - notes, "post": asked}
    return {phase: n for phase, n in counts.items() if n}


def _phase(event: Event) -> str:
    """The phase that an event belongs to."""
    if event.turn is not None and event.turn.task == PREPARATION:
        return NOTES
    return event.occasion


def _fault(event: Event) -> str:
    if isinstance(event.said, Silence):
        return f": {event.said.status}: {safe(str(event.said.reason))}"
    if isinstance(event.said, Response) and event.said.missing:
        reason = next(iter(event.said.missing.values()))
        return f": {len(event.said.missing)} answers missing: {safe(str(reason))}"
    return ""
