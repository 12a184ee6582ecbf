"""What changes in rooms, told to all who wait: at once in this process, soon after in any other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from delibsim.store.people.changes import BEFORE, Change, changed_since
from delibsim.store.people.register import Register, Unavailable

LOOK = 0.25
"""Seconds between two looks at the register for what other servers have changed."""
SIGN = 3.0
"""Seconds after which who waits for a change goes on anyway."""
TOGETHER = 0.03
"""Seconds in which changes count as one: the end of a turn and the begin of the next."""


class Watch:
    """Wakes who waits for a change of a room. One look at the register serves all of them: hundreds
    of pages that looked for themselves would keep each other waiting.
    """

    def __init__(self, register: Register) -> None:
        self.register = register
        self._next: dict[str, asyncio.Event] = {}
        self._last: dict[tuple[str, str | None], int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()

    async def run(self) -> None:
        """Look for changes until this is cancelled."""
        self._loop = asyncio.get_running_loop()
        known: list[int] | None = None
        while True:
            self._told.clear()
            with suppress(Unavailable):
                ids = known or [0]
                found = await asyncio.to_thread(changed_since, self.register, ids[-1], set(ids))
                self._note(found, wake=known is not None)
                known = sorted([*ids, *(change.id for change in found)])[-2 * BEFORE :]
            if await woken(self._told, LOOK):
                await asyncio.sleep(TOGETHER)

    def last(self, session: str, seat: str) -> int:
        """The id of the last change that can be seen from a seat; 0 where none was seen here."""
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

    def tell(self, session: str) -> None:
        """Something has changed here. Pages call this from threads, in which nothing is woken."""
        if self._loop is None or self._loop.is_closed():
            self._wake(session)
        else:
            self._loop.call_soon_threadsafe(self._told.set)

    def _note(self, found: Sequence[Change], wake: bool) -> None:
        for change in found:
            place = change.session, change.seat
            self._last[place] = max(change.id, self._last.get(place, 0))
        for session in {change.session for change in found if wake}:
            self._wake(session)

    def _wake(self, session: str) -> None:
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
