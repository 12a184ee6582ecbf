"""What changes in rooms, told to all who wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count

from delibsim.store.people.register import now

SIGN = 3.0
"""Seconds after which who waits for a change goes on anyway."""
TOGETHER = 0.03
"""Seconds in which changes count as one: the end of a turn and the begin of the next."""
NOBODY = ""
"""In the place of a seat: a change that no page shows, which the desk of a room waits for."""


class Watch:
    """Wakes who waits for a change of a room, and counts the changes that each seat can see. The
    numbers only grow, also from one server to the next: browsers tell which they have seen.
    """

    def __init__(self) -> None:
        self._numbers = count(int(1000 * now()))
        self._next: dict[str, asyncio.Event] = {}
        self._last: dict[tuple[str, str | None], int] = {}
        self._due: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.newest = 0
        """The number of the last change of any room."""

    def begin(self) -> None:
        """Wake who waits in this event loop from now on."""
        self._loop = asyncio.get_running_loop()

    def last(self, session: str, seat: str) -> int:
        """The number of the last change that can be seen from a seat; 0 before the first."""
        return max(self._last.get((session, None), 0), self._last.get((session, seat), 0))

    def next(self, session: str) -> asyncio.Event:
        """What is set with the next change of a session. Take it before you look: a change that
        comes while you look is then not missed.
        """
        return self._next.setdefault(session, asyncio.Event())

    async def changes(self, session: str) -> AsyncIterator[None]:
        """One item at once, and whenever something may have changed since the one before."""
        while True:
            event = self.next(session)
            yield
            await woken(event, SIGN)

    def tell(self, session: str, seat: str | None = None) -> None:
        """Something has changed that can be seen from this seat alone, from every seat (None), or
        by NOBODY. What is asked of others cannot be seen, nor who left: it would tell people from
        models. Pages call this from threads, in which nothing is woken.
        """
        self.newest = next(self._numbers)
        if seat != NOBODY:
            self._last[session, seat] = self.newest
        if self._loop is None or self._loop.is_closed():
            self._wake(session)
        elif session not in self._due:
            self._due.add(session)
            self._loop.call_soon_threadsafe(self._loop.call_later, TOGETHER, self._wake, session)

    def _wake(self, session: str) -> None:
        self._due.discard(session)
        if event := self._next.pop(session, None):
            event.set()


async def woken(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event is set within so many seconds.

    `asyncio.wait_for` of Python 3.11 would lose a cancellation that comes together with the event,
    and the server would then wait for ever for a room that is to end.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
