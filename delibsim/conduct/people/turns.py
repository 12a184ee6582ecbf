"""What is said in rooms, kept in the register in order, while the event loop goes on."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from delibsim.store.people.register import Register, Unavailable
from delibsim.store.people.rooms import Said, keep_said

AGAIN = 0.5
"""Seconds after which what could not be kept is tried again."""


class Turns:
    """Turns that wait to be kept; `told` is called with a session once its turns are kept.

    The record of the session does not depend on it: it is for pages alone, of every server.
    """

    def __init__(self, register: Register, told: Callable[[str], None]) -> None:
        self.register, self.told = register, told
        self._waiting: dict[str, deque[Said]] = {}
        self._kept: dict[str, asyncio.Event] = {}
        self._some, self._one = asyncio.Event(), threading.Lock()

    def put(self, session: str, about: dict[str, Any], said: Any = None) -> None:
        """Let the begin or the end of a turn be kept, with the number of a statement and itself."""
        self._waiting.setdefault(session, deque()).append((about, said))
        self._some.set()

    async def settled(self, session: str) -> None:
        """Wait until what came of a session so far is kept, so that what comes next is kept after
        it: else the order of changes would depend on who was quicker.
        """
        if self._waiting.get(session):
            await self._kept.setdefault(session, asyncio.Event()).wait()

    async def run(self) -> None:
        """Keep what comes until this is cancelled, and then once more what is left."""
        try:
            while True:
                await self._some.wait()
                self._some.clear()
                try:
                    await asyncio.to_thread(self._keep)
                    for session in [one for one in self._kept if not self._waiting.get(one)]:
                        self._kept.pop(session).set()
                except Unavailable:
                    self._some.set()
                    await asyncio.sleep(AGAIN)
        finally:
            with suppress(Unavailable):
                self._keep()

    def _keep(self) -> None:
        """Keep what waits, one session after the other, each in one transaction."""
        with self._one:  # at the end a thread may still be at it
            for session, waiting in list(self._waiting.items()):
                kept = list(waiting)
                if kept:
                    keep_said(self.register, session, kept)
                    self.told(session)
                for _ in kept:
                    waiting.popleft()
