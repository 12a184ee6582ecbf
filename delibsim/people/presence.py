"""Who is here and what changes: signs of people, streams of events, and who waits for a change."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count

from delibsim.store.notes import Act, at_utc, write_interventions
from delibsim.store.people.persons import Person, digest, note_seen, still_good
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.rooms import interventions, numbers_of_interventions
from delibsim.store.runs import Runs

SIGN = 3.0
"""Seconds after which who waits for a change goes on anyway."""
TOGETHER = 0.03
"""Seconds in which changes count as one: the end of a turn and the begin of the next."""
NOBODY = ""
"""In the place of a seat: a change that no page shows, which the desk of a room waits for."""


class RoomWatch:
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


SEEN = 20.0
"""Seconds between two signs of a person that are noted."""
LOOK = 2.5
"""Seconds between two looks at the cookies of open streams."""


class Presence:
    """People whose pages are open in this process. One look serves all streams, and one transaction
    keeps who was seen: both come hundreds of times within a few seconds.
    """

    def __init__(self, register: Register) -> None:
        self.register = register
        self._open: Counter[str] = Counter()
        self._ended: set[str] = set()
        self._noted: dict[str, float] = {}
        self._due: set[str] = set()

    async def run(self) -> None:
        """Look and note until this is cancelled."""
        while True:
            with suppress(Unavailable):  # tried again when the register is back
                await asyncio.to_thread(self._look)
            await asyncio.sleep(LOOK)

    def note(self, person: Person) -> None:
        """Let it be kept that a person is here, every so often."""
        self._note(person.id, person.seen or 0.0)

    @contextmanager
    def stream(self, cookie: str) -> Generator[str]:
        """A stream of events that is open for who has this cookie; its name for `may_go_on`."""
        name = digest(cookie)
        self._open[name] += 1
        try:
            yield name
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]
                self._ended.discard(name)

    def may_go_on(self, stream: str) -> bool:
        """Whether the cookie of a stream was good when it was last looked at."""
        return stream not in self._ended

    def _note(self, code: str, seen: float) -> None:
        moment = now()
        if moment - max(seen, self._noted.get(code, 0.0)) > SEEN:
            self._noted[code] = moment
            self._due.add(code)

    def _look(self) -> None:
        """End the streams of cookies that are not good any more, and keep who was seen."""
        if cookies := list(self._open):
            good = still_good(self.register, cookies)
            self._ended.update(set(cookies) - good.keys())
            for code in good.values():
                self._note(code, 0.0)
        if due := list(self._due):
            note_seen(self.register, due, now())
            self._due.difference_update(due)


@dataclass
class InterventionRecord:
    """Brings what was done to these sessions from the register into the study.

    Each file is written whole, so that it does not matter how often.
    """

    runs: Runs
    register: Register
    sessions: Collection[str]
    told: Callable[[str], None]
    _kept: dict[str, int] = field(default_factory=dict)
    _failed: bool = False

    def keep(self) -> None:
        """Write the files of sessions in which something was done since the last time. What cannot
        be written now is written later, and told once.
        """
        try:
            numbers = numbers_of_interventions(self.register)
        except Unavailable:
            return
        for session, number in numbers.items():
            if session in self.sessions and self._kept.get(session) != number:
                self._keep(session, number)

    def _keep(self, session: str, number: int) -> None:
        try:
            found = interventions(self.register, session)
            acts = [Act(at_utc(one.at), one.kind, one.seat, one.text) for one in found]
            write_interventions(self.runs, session, acts)
        except (OSError, Unavailable) as error:
            if not self._failed:
                self.told(f"{session}: interventions cannot be kept yet: {error}")
            self._failed = True
            return
        self._kept[session], self._failed = number, False
