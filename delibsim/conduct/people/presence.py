"""Who is here: when people were last seen, and whose streams of events may go on."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from delibsim.store.interventions import Act, at_utc, write_interventions
from delibsim.store.people.entry import digest, still_good
from delibsim.store.people.persons import Person, note_seen
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.rooms import interventions, numbers_of_interventions
from delibsim.store.runs import Runs

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
