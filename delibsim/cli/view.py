"""What a terminal shows while sessions are held: repainted by whatever holds them, never by a thread
of its own.
"""

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live

from delibsim.conduct.observe import Observer

TICK = 0.25  # seconds between two repaintings


class View(ABC):
    """Something that is repainted at every tick; on stderr, so that what a command prints stays
    clean.

    The thread that changes what is shown is the one that paints it, so that nothing is read while
    it changes.
    """

    observer: Observer
    """Learns what is to be shown."""

    def __init__(self, screen: Console, quiet: bool, live: bool = True) -> None:
        self.screen, self.quiet = screen, quiet
        painted = live and screen.is_terminal and not quiet
        self._live = (
            Live(console=screen, auto_refresh=False, get_renderable=self.render)
            if painted
            else None
        )

    @abstractmethod
    def render(self) -> RenderableType:
        """What is shown now on a terminal."""

    def print_line(self) -> None:
        """Print how it stands where nothing is painted; called at every tick."""

    def print_last(self) -> None:
        """Print how it ended where nothing is painted."""

    def tick(self) -> None:
        """Show how it stands now."""
        if self._live:
            self._live.refresh()
        elif not self.quiet:
            self.print_line()

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
        elif not self.quiet:
            self.print_last()


async def keep_ticking(view: View) -> None:
    """Let a view tick until this task is cancelled."""
    while True:
        await asyncio.sleep(TICK)
        view.tick()
