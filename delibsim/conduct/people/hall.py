"""The hall: every room of a study whose sessions wait for people, held in this process."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from delibsim.conduct.hold import hold_session
from delibsim.conduct.observe import Observer
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.people.desk import RoomDesk, standing_in
from delibsim.conduct.people.pace import Paced
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.transcript import Statement
from delibsim.engine.event import Event
from delibsim.models.base import LanguageModel
from delibsim.models.person.browser import BrowserPerson
from delibsim.models.pool import ModelPool
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import WaitingRequest, open_request
from delibsim.store.people.rooms import (
    CANCELLED,
    HELD,
    LOBBY,
    OVER,
    SILENT,
    STOOD_IN,
    STOPPED,
    TAKEN,
    Room,
    last_change,
    lease,
    messages,
    note,
    open_room,
    release,
    rooms_of,
    seat_of,
    set_room,
    set_seat,
    take_seat,
)
from delibsim.store.people.rooms import say as say_in_room
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import WITHDRAWN

PERSON = "person"
"""The kind of a model that is a person in a browser."""
TICK = 0.5
AGAIN = 20.0
"""Seconds after which a room that was stopped is tried again."""
Told = Callable[[str], None]


@dataclass(frozen=True)
class View:
    """What the page of a seat shows: who is in the room, what was said, what waits for her.

    `waits` says how the seat stands: "lobby", "wait", "asked", "over", "cancelled", "stopped".
    """

    room: Room
    seat: str
    waits: str
    here: tuple[str, ...]
    said: tuple[Statement, ...]
    speaker: str
    request: WaitingRequest | None
    messages: tuple[str, ...]
    change: int
    question: str


class Hall(Observer):
    """The rooms of a study; `run` holds them until it is cancelled."""

    def __init__(
        self,
        runs: Runs,
        register: Register,
        hosting: Hosting,
        pool: ModelPool,
        sessions: Sequence[Session],
        told: Told = lambda line: None,
    ) -> None:
        self.runs, self.register, self.hosting, self.pool = runs, register, hosting, pool
        self.sessions = {one.id: one for one in sessions}
        self.told = told
        self.server = secrets.token_hex(8)
        self._held: dict[str, asyncio.Task[None]] = {}
        self._desks: dict[str, RoomDesk] = {}
        self._said: dict[str, list[Statement]] = {name: [] for name in self.sessions}
        self._speaker: dict[str, str] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._stopped: dict[str, float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        for name, session in self.sessions.items():
            open_room(register, name, people_of(session))

    async def run(self) -> None:
        """Begin rooms as they fill, hold them, and go on with those that were held before."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                for room in await asyncio.to_thread(self._rooms):
                    await self._tend(room)
                await asyncio.sleep(TICK)
        finally:
            for task in self._held.values():
                task.cancel()
            await asyncio.gather(*self._held.values(), return_exceptions=True)
            release(self.register, self.server)
            await self.pool.close()

    def join(self, person: str, session: str = "", seat: str = "") -> tuple[str, str] | None:
        """Seat a person; where she sits, None where no seat is free."""
        found = take_seat(self.register, person, session, seat)
        if found is not None:
            self._tell(found[0])
        return found

    def view(self, person: str) -> View | None:
        """What the page of a person shows; None where she has no seat."""
        seated = seat_of(self.register, person)
        if seated is None:
            return None
        name, seat = seated
        (room,) = rooms_of(self.register, name)
        own = next(one for one in room.seats if one.name == seat)
        request = open_request(self.register, name, seat) if own.state == TAKEN else None
        waits = {LOBBY: "lobby", OVER: "over", CANCELLED: "cancelled", STOPPED: "stopped"}
        state = waits.get(room.state, "asked" if request else "wait")
        if own.state in (SILENT, STOOD_IN):
            state, request = "left", None
        session = self.sessions.get(name)
        people = session.participants if session else ()
        return View(
            room=room,
            seat=seat,
            waits=state,
            here=tuple(one.id for one in people),
            said=() if room.detail == WITHDRAWN else tuple(self.heard(name, seat)),
            speaker=self._speaker.get(name, ""),
            request=request,
            messages=tuple(messages(self.register, name, person)),
            change=last_change(self.register, name),
            question=session.topic.question if session else "",
        )

    def heard(self, session: str, seat: str) -> list[Statement]:
        """What a seat has heard: its own words, and those of its neighbours."""
        neighbours = _neighbours(self.sessions[session], seat)
        return [one for one in self._said[session] if one.turn.speaker in neighbours]

    async def changes(self, session: str, after: int) -> AsyncIterator[int]:
        """The id of the last change, whenever there is a new one: here at once, of another server
        within a second.
        """
        while True:
            event = self._changed.setdefault(session, asyncio.Event())  # before the look
            try:
                found = await asyncio.to_thread(last_change, self.register, session)
            except Unavailable:
                found = after
            if found > after:
                after = found
                yield after
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), 1.0)

    def handed_in(self, session: str) -> None:
        """Somebody has handed something in: the desk looks at once."""
        if session in self._desks:
            self._soon(self._desks[session].wake)
        self._tell(session)

    def leave(self, person: str) -> None:
        """A person leaves her seat; what was declared follows."""
        seated = seat_of(self.register, person)
        if seated is None:
            return
        stands_in = self.hosting.drop_out == "stand_in"
        by = self.hosting.stand_in if stands_in else ""
        set_seat(self.register, *seated, STOOD_IN if stands_in else SILENT, by)
        self.handed_in(seated[0])

    def say(self, session: str, text: str, person: str = "") -> None:
        """Send a message of the researcher."""
        say_in_room(self.register, session, text, person)
        self._tell(session)

    async def end(self, session: str, detail: str = "ended by the researcher") -> None:
        """End a room: what is held stops, and its record stays."""
        if task := self._held.pop(session, None):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        set_room(self.register, session, CANCELLED, detail)
        self._tell(session)

    def holds(self, session: str) -> bool:
        """Whether a room is held in this process now."""
        return session in self._held and not self._held[session].done()

    def drop_words(self, session: str) -> None:
        """Forget what was said in a session that was withdrawn."""
        if session in self._said:
            self._said[session] = []

    def restart(self, session: str) -> None:
        """Let a room that was stopped go on."""
        self._stopped.pop(session, None)
        set_room(self.register, session, HELD)

    def on_event(self, event: Event) -> None:
        """Keep what was said, and tell who waits."""
        if event.turn is not None:
            self._speaker[event.session] = "" if event.done else event.participant
        if isinstance(event.said, Statement):
            self._said[event.session].append(event.said)
        if event.turn is not None:
            note(self.register, event.session, "turn", {"done": event.done})
        self._tell(event.session)

    def _rooms(self) -> list[Room]:
        try:
            return [room for room in rooms_of(self.register) if room.session in self.sessions]
        except Unavailable:
            return []

    async def _tend(self, room: Room) -> None:
        """Do for a room what is due."""
        name = room.session
        if name in self._held and not self._held[name].done():
            await asyncio.to_thread(lease, self.register, name, self.server)
            return
        if room.state == LOBBY:
            await self._wait_for_people(room)
        elif room.state == HELD or (room.state == STOPPED and self._is_due(name)):
            self._begin(room)

    async def _wait_for_people(self, room: Room) -> None:
        """Begin where all seats are taken; else do what was declared when nobody comes."""
        if not room.missing:
            set_room(self.register, room.session, HELD)
            return
        limit = self.hosting.lobby.minutes
        if limit is None or room.first is None or now() - room.first < 60 * limit:
            return
        if self.hosting.nobody_comes == "cancel":
            set_room(self.register, room.session, CANCELLED, "not enough people came")
        elif self.hosting.nobody_comes == "stand_in":
            for seat in room.seats:
                if seat.state == "free":
                    set_seat(
                        self.register, room.session, seat.name, STOOD_IN, self.hosting.stand_in
                    )
            set_room(self.register, room.session, HELD)
        self._tell(room.session)

    def _is_due(self, name: str) -> bool:
        return now() - self._stopped.get(name, 0.0) > AGAIN

    def _begin(self, room: Room) -> None:
        """Hold a room in this process, unless another server does."""
        name = room.session
        if self.runs.held(name) or self.runs.withdrawn(name):
            set_room(self.register, name, OVER)
            return
        if not lease(self.register, name, self.server):
            return
        self._said[name] = []
        self._held[name] = asyncio.create_task(self._hold(self.sessions[name]))

    async def _hold(self, session: Session) -> None:
        desk = RoomDesk(self.register, session.id, self.hosting, self._stand_in(session))
        self._desks[session.id] = desk
        set_room(self.register, session.id, HELD)
        voices = _voices(self.pool, session, desk)
        pool = ModelPool(self.pool.limits, self.pool.budget, models=voices)

        def pace(voice: LanguageModel, asked: Callable[[], int]) -> LanguageModel:
            return Paced(voice, asked, self.hosting.typing)

        try:
            outcome: Outcome = await hold_session(session, self.runs, pool, self, pace)
        except Exception as error:  # noqa: BLE001 - one room must not end the others
            self._stop(session.id, f"{type(error).__name__}: {error}")
            return
        if outcome.status:
            set_room(self.register, session.id, OVER)
            self.told(f"{session.id}: {outcome.status}")
        else:
            self._stop(session.id, outcome.fault)
        self._tell(session.id)

    def _stop(self, session: str, fault: str) -> None:
        self._stopped[session] = now()
        set_room(self.register, session, STOPPED, fault)
        self.told(f"{session}: stopped: {fault}; it is tried again")

    def _stand_in(self, session: Session) -> Any:
        """The model that stands in for people of a session."""
        name = self.hosting.stand_in
        settings = session.models.get(name, {"name": name, "kind": "citizen"})
        return standing_in(self.pool.model(name, settings, session.seed_for("population")), name)

    def _tell(self, session: str) -> None:
        self._soon(partial(self._wake, session))

    def _wake(self, session: str) -> None:
        if event := self._changed.pop(session, None):
            event.set()

    def _soon(self, act: Callable[[], None]) -> None:
        """Do something in the event loop; pages call from threads, in which nothing is woken."""
        if self._loop is None or self._loop.is_closed():
            act()
        else:
            self._loop.call_soon_threadsafe(act)


def _voices(pool: ModelPool, session: Session, desk: RoomDesk) -> dict[str, LanguageModel]:
    """The models of one room: people at its desk, all others from the pool of the hall."""
    found: dict[str, LanguageModel] = {}
    population = session.seed_for("population")
    for name, settings in session.voices.items():
        if settings.get("kind") == PERSON:
            found[name] = BrowserPerson(name, settings.get("temperature"), session.id, desk)
        else:
            found[name] = pool.model(name, settings, population)
    return found


def people_of(session: Session) -> list[str]:
    """The seats of a session that are people's."""
    kinds: Mapping[str, Mapping[str, Any]] = session.models
    return [one.id for one in session.participants if kinds[one.model].get("kind") == PERSON]


def _neighbours(session: Session, seat: str) -> set[str]:
    """Whom a seat hears, itself among them."""
    from delibsim.engine.network import network_of

    network = network_of(session)
    return {seat, *network.neighbors(seat)} if seat in network else {seat}
