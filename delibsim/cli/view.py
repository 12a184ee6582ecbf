"""Views of what is being held, a session or a study: each is painted by the thread that changes it,
never by another.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from delibsim.analysis.table import numbers, texts
from delibsim.cli.table import table_lines
from delibsim.cli.terminal import brief, safe
from delibsim.conduct.outcome import Observer, SessionProgress
from delibsim.conduct.progress import StudyProgress
from delibsim.conduct.study import Prepared
from delibsim.domain.run import Session
from delibsim.domain.transcript import Silence, Statement
from delibsim.engine.agenda import Event
from delibsim.models.replay import Exchange

TICK = 0.25  # seconds between two ticks
EVERY = 10.0  # seconds between two lines where there is no terminal


class View(ABC):
    """Paints on a terminal at every tick how something stands; elsewhere prints a line at times.

    The screen is that of stderr, so that what a command prints stays clean.
    """

    observer: Observer
    """Learns what is to be shown."""

    def __init__(self, screen: Console, quiet: bool, live: bool = True) -> None:
        self.screen, self.quiet = screen, quiet
        self.started = self._printed = time.monotonic()
        self._live = None
        if live and screen.is_terminal and not quiet:
            # A thread of its own would read what is shown while it changes.
            self._live = Live(console=screen, auto_refresh=False, get_renderable=self.render)

    @abstractmethod
    def render(self) -> RenderableType:
        """What is painted now."""

    def line(self) -> str:
        """How it stands, in one line; "" where lines are printed otherwise."""
        return ""

    def tick(self) -> None:
        """Show how it stands now."""
        if self._live:
            self._live.refresh()
        elif time.monotonic() - self._printed >= EVERY:
            self._print_line()

    def _print_line(self) -> None:
        self._printed = time.monotonic()
        line = self.line()
        if line and not self.quiet:
            self.screen.print(line, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()
        else:
            self._print_line()


async def keep_ticking(view: View) -> None:
    """Let a view tick until this task is cancelled."""
    while True:
        await asyncio.sleep(TICK)
        view.tick()


LONGEST = 1_500  # characters of a statement that are shown


class SessionView(View, Observer):
    """Shows phase, speaker, what is said, calls and time."""

    def __init__(self, session: Session, screen: Console, quiet: bool = False) -> None:
        self.session, self.observer = session, self
        self.progress = SessionProgress(session)
        self.now = Text("")
        self.last = Text("")
        # A person who is asked at this terminal needs it whole.
        asks = any(settings.get("kind") == "human" for settings in session.voices.values())
        super().__init__(screen, quiet, live=not asks)

    def on_event(self, event: Event) -> None:
        """Take note of who is asked, or of what was said."""
        self.progress.on_event(event)
        if not event.done:
            self.now = Text(self.progress.asked(event))
            return
        if isinstance(event.said, Statement):
            self.last = Text(f"{event.participant}: {brief(event.said.text, LONGEST)[0]}")
        elif isinstance(event.said, Silence):
            self.last = Text(f"{event.participant} said nothing that counts: {event.said.status}")
        line = self.progress.line(event)
        if line and not self.quiet and not self._live:
            self.screen.print(f"{self.progress.seconds:6.1f}s  {safe(line)}")

    def on_exchange(self, exchange: Exchange) -> None:
        """Count a call that came back."""
        self.progress.on_exchange(exchange)

    def render(self) -> Panel:
        """Phases, who is asked now, what was said last, and calls."""
        phases = Text()
        for name, done, planned in self.progress.phases():
            begun = "bold" if done else "dim"
            style = "green" if planned and done == planned else begun
            phases.append(f"{name} {done}/{planned}   ", style=style)
        foot = Text(f"{self.progress.calls()}, {self.progress.seconds:.1f} s", style="dim")
        lines = Group(phases, self.now, self.last, foot)
        return Panel(lines, title=self.session.id, title_align="left")


HEADS = ("done", "of", "running", "failed", "to be tried again")


class StudyView(View):
    """Shows sessions by combination of models, calls and tokens a minute, money and time left."""

    def __init__(self, prepared: Prepared, screen: Console, quiet: bool = False) -> None:
        self.progress = StudyProgress(prepared.waiting, prepared.pool, len(prepared.held))
        self.observer = self.progress
        super().__init__(screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.line()

    def render(self) -> RenderableType:
        """The table, the totals, and the last failure."""
        columns = [*texts("models"), *numbers(HEADS)]
        rows = []
        for combination, *counts in self.progress.table():
            # The models may stand on several lines, each whole.
            models = safe(combination).replace("+", " + ")
            rows.append([models, *(str(n) if n else "-" for n in counts)])
        lines = table_lines(columns, rows, self.screen.width, self.screen)
        table = Group(*(Text(line, style=style) for line, style in lines))
        failure = self.progress.last_failure
        last = f"last failure: {safe(failure)}" if failure else ""
        return Group(table, Text(self.progress.totals(), style="dim"), Text(last, style="dim"))


class WorkersView(StudyView):
    """Shows, in one line, what the workers have reported."""

    def __init__(self, prepared: Prepared, workers: int, screen: Console, quiet: bool) -> None:
        self.workers = workers
        super().__init__(prepared, screen, quiet)

    def line(self) -> str:
        """How it stands, in one line."""
        return self.progress.workers_line(self.workers)

    def render(self) -> RenderableType:
        """The line."""
        return Text(self.line(), style="dim")
