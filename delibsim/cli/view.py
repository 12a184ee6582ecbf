"""Views of what is being held: each is painted by the thread that changes it, never by another."""

import asyncio
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live

from delibsim.conduct.observe import Observer

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
