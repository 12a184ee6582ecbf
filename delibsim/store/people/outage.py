"""A database that fails: one at a time waits until it is back, and all others go on at once."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager


class Outage:
    """Whether a database fails now, and since when it last did.

    Hundreds of pages that each waited for some seconds would wait for each other's threads.
    """

    def __init__(self) -> None:
        self.cause = ""
        self._failing = False
        self._last: float | None = None
        self._one = threading.Lock()

    @contextmanager
    def waiting(self) -> Generator[bool]:
        """Whether who wants the database may wait for it: all, or one at a time while it fails."""
        if not self._failing:
            yield True
            return
        mine = self._one.acquire(blocking=False)
        try:
            yield mine
        finally:
            if mine:
                self._one.release()

    @property
    def lasts(self) -> bool:
        """Whether it fails now."""
        return self._failing

    def failed(self, cause: str, gone: bool) -> None:
        """It failed; `gone`: nobody can use it now, so that others need not wait as well."""
        self._last = time.monotonic()
        if gone:
            self.cause, self._failing = cause, True

    def over(self) -> None:
        """It works."""
        self._failing = False

    def within(self, seconds: float) -> bool:
        """Whether it failed at any time in the last seconds."""
        return self._last is not None and time.monotonic() - self._last < seconds
