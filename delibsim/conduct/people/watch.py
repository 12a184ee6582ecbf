"""What changes in rooms, told to all who wait: at once in this process, soon after in any other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from delibsim.store.people.register import Register, Unavailable
from delibsim.store.people.rooms import changed_since

LOOK = 0.25
"""Seconds between two looks at the register for what other servers have changed."""
SIGN = 3.0
"""Seconds after which who waits for a change looks anyway."""
TOGETHER = 0.04
"""Seconds in which changes count as one: the end of a turn and the begin of the next."""


async def woken(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event is set within so many seconds.

    `asyncio.wait_for` of Python 3.11 would lose a cancellation that comes together with the event,
    and the server would then wait for ever for a room that is to end.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False


class Watch:
    """Wakes who waits for a change of a room. One look at the register serves all of them."""

    def __init__(self, register: Register) -> None:
        self.register = register
        self._next: dict[str, asyncio.Event] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Look for changes until this is cancelled."""
        self._loop = asyncio.get_running_loop()
        known: dict[int, str] | None = None
        while True:
            with suppress(Unavailable):
                last = max(known, default=0) if known else 0
                found = await asyncio.to_thread(changed_since, self.register, last)
                for change in found.keys() - (found if known is None else known).keys():
                    self._wake(found[change])
                known = found or known
            await asyncio.sleep(LOOK)

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
            if await woken(event, SIGN):
                await asyncio.sleep(TOGETHER)

    def tell(self, session: str) -> None:
        """Something has changed here. Pages call this from threads, in which nothing is woken."""
        if self._loop is None or self._loop.is_closed():
            self._wake(session)
        else:
            self._loop.call_soon_threadsafe(self._wake, session)

    def _wake(self, session: str) -> None:
        if event := self._next.pop(session, None):
            event.set()
