"""Watching a session while it is held: a live view on a terminal, plain lines elsewhere."""

import time
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.panel import Panel
from rich.text import Text

from delibsim.cli.terminal import brief, safe
from delibsim.conduct.hold import Outcome
from delibsim.domain.run import Session
from delibsim.domain.survey import Response
from delibsim.domain.transcript import Silence, Statement
from delibsim.engine.forum import Event
from delibsim.models.replay import Exchange

PHASES = {"pre": "survey before", "turn": "deliberation", "post": "survey after"}


class Live:
    """Shows phase, speaker, what is said, calls and time; on stderr, so that what a command prints
    stays clean.
    """

    def __init__(self, session: Session, screen: Console, quiet: bool = False) -> None:
        self.session, self.screen, self.quiet = session, screen, quiet
        self.started = time.monotonic()
        self.done = {"pre": 0, "turn": 0, "post": 0}
        self.calls = 0
        self.statuses: dict[str, int] = {}
        self.now = Text("")
        self.last = Text("")
        # A person who is asked at this terminal needs it whole.
        asks = any(settings.get("kind") == "human" for settings in session.models.values())
        live = screen.is_terminal and not quiet and not asks
        self._rich = (
            RichLive(console=screen, refresh_per_second=8, get_renderable=self._view)
            if live
            else None
        )

    def __enter__(self) -> "Live":
        if self._rich:
            self._rich.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._rich:
            self._rich.stop()

    def watch(self, moment: Event) -> None:
        """Take note of a moment of the session."""
        phase = PHASES[moment.occasion]
        if not moment.done:
            verb = "speaks" if moment.turn else "answers"
            self.now = Text(f"{moment.participant} {verb}")
            return
        self.done[moment.occasion] += 1
        if isinstance(moment.said, Statement):
            self.last = Text(f"{moment.participant}: {brief(moment.said.text, 1_500)[0]}")
        elif isinstance(moment.said, Silence):
            self.last = Text(f"{moment.participant} said nothing that counts: {moment.said.status}")
        if self.quiet or self._rich:
            return
        total, seconds = self._totals()[moment.occasion], time.monotonic() - self.started
        round_ = f", round {moment.turn.round}" if moment.turn else ""
        fault = _fault(moment)
        if fault or moment.turn or self.done[moment.occasion] == total:
            self.screen.print(
                f"{seconds:6.1f}s  {phase} {self.done[moment.occasion]}/{total}{round_}:"
                f" {moment.participant}{fault}"
            )

    def heed(self, exchange: Exchange) -> None:
        """Take note of a call that came back."""
        self.calls += 1
        status = exchange.completion.status
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def tell(self, held: Outcome) -> None:
        """The session is over; its summary says more."""

    def _totals(self) -> dict[str, int]:
        n, treatment = len(self.session.participants), self.session.treatment
        return {"pre": n, "turn": n * treatment.rounds if treatment.interaction else 0, "post": n}

    def _view(self) -> Panel:
        phases = Text()
        for occasion, total in self._totals().items():
            done = self.done[occasion]
            style = "green" if total and done == total else "bold" if done else "dim"
            phases.append(f"{PHASES[occasion]} {done}/{total}   ", style=style)
        others = ", ".join(f"{n} {status}" for status, n in self.statuses.items() if status != "ok")
        foot = Text(
            f"{self.calls} calls{f' ({others})' if others else ''},"
            f" {time.monotonic() - self.started:.1f} s",
            style="dim",
        )
        return Panel(
            Group(phases, self.now, self.last, foot), title=self.session.id, title_align="left"
        )


def _fault(moment: Event) -> str:
    if isinstance(moment.said, Silence):
        return f": {moment.said.status}: {safe(moment.said.reason)}"
    if isinstance(moment.said, Response) and moment.said.missing:
        return (
            f": {len(moment.said.missing)} answers missing:"
            f" {safe(str(next(iter(moment.said.missing.values()))))}"
        )
    return ""
