"""The hall: every room of a study whose sessions wait for people, held in this process."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

from delibsim.conduct.hold import hold_session
from delibsim.conduct.observe import Observer
from delibsim.conduct.outcome import Outcome
from delibsim.conduct.people.desk import RoomDesk, StandIn, standing_in
from delibsim.conduct.people.intervention_record import InterventionRecord
from delibsim.conduct.people.lobby import tend_lobby
from delibsim.conduct.people.pace import Paced
from delibsim.conduct.people.presence import Presence
from delibsim.conduct.people.turns import Turns
from delibsim.conduct.people.view import View, view_of
from delibsim.conduct.people.watch import Watch
from delibsim.domain.hosting import Hosting
from delibsim.domain.presence import PERSON
from delibsim.domain.run import Session
from delibsim.domain.transcript import PREPARATION, Silence, Statement, Turn
from delibsim.engine.event import Event
from delibsim.models.base import LanguageModel
from delibsim.models.person.browser import BrowserPerson
from delibsim.models.pool import ModelPool
from delibsim.store.files import alone
from delibsim.store.people import interventions as acts
from delibsim.store.people import rooms
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import not_counted
from delibsim.store.people.rooms import (
    CANCELLED,
    HELD,
    LOBBY,
    OVER,
    SILENT,
    STOOD_IN,
    STOPPED,
    Room,
    held_last,
    lease,
    open_room,
    release,
    room_of,
    rooms_of,
    said_in,
    seat_of,
    set_room,
    set_seat,
    silent_in,
    speaking,
    take_seat,
)
from delibsim.store.runs import Runs
from delibsim.store.withdrawn import WITHDRAWN

TICK = 0.5
AGAIN = 20.0
"""Seconds after which a room that was stopped is tried again."""
Told = Callable[[str], None]


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
        visitor: Callable[[LanguageModel], StandIn] | None = None,
    ) -> None:
        self.runs, self.register, self.hosting, self.pool = runs, register, hosting, pool
        self.sessions = {one.id: one for one in sessions}
        self.told, self._visitor = told, visitor
        self.server = secrets.token_hex(8)
        self._held: dict[str, asyncio.Task[None]] = {}
        self._said: dict[str, list[Statement]] = {name: [] for name in self.sessions}
        self._silent: dict[str, list[Turn]] = {name: [] for name in self.sessions}
        self._speaker: dict[str, str] = {}
        self._stopped: dict[str, float] = {}
        self._leased: dict[str, float] = {}
        self.watch, self.presence = Watch(register), Presence(register)
        self._record = InterventionRecord(runs, register, self.sessions, told)
        self._turns = Turns(register, self.watch.tell)
        for name, session in self.sessions.items():
            open_room(register, name, session.seats_of_people)

    async def run(self) -> None:
        """Begin rooms as they fill, hold them, and go on with those that were held before."""
        parts = self._turns, self.watch, self.presence
        beside = [asyncio.create_task(part.run()) for part in parts]
        try:
            while True:
                with suppress(Unavailable):  # rooms are looked at again when the register is back
                    for room in await asyncio.to_thread(self._rooms):
                        await self._tend(room)
                await asyncio.to_thread(self._record.keep)
                await asyncio.sleep(TICK)
        finally:
            for task in self._held.values():
                task.cancel()
            await asyncio.gather(*self._held.values(), return_exceptions=True)
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            with suppress(Unavailable):  # what is held is free anyway after the lease
                release(self.register, self.server)
            await self.pool.close()

    def join(self, person: str, session: str = "", seat: str = "") -> tuple[str, str] | None:
        """Seat a person; where she sits, None where no seat is free."""
        found = take_seat(self.register, person, session, seat)
        if found is not None:
            self.watch.tell(found[0])
        return found

    def view(self, person: str) -> View | None:
        """What the page of a person shows; None where she has no seat."""
        with self.register.reading():
            return self._view(person)

    def _view(self, person: str) -> View | None:
        found = room_of(self.register, person)
        if found is None:
            return None
        room, own = found
        name = room.session
        session = self.sessions.get(name)
        speaker = self._speaking(name)
        return view_of(self.register, room, own, session, self.heard, self.silent, speaker)

    def heard(self, session: str, seat: str) -> list[Statement]:
        """What a seat has heard: its own words, and those of its neighbours that are no notes."""
        here = self.holds(session)
        said = self._said[session] if here else said_in(self.register, session)
        hears = _hears(self.sessions[session], seat)
        return [one for one in said if hears(one.turn)]

    def silent(self, session: str, seat: str) -> list[Turn]:
        """The turns that were taken without a word, of those in which a seat hears who speaks."""
        here = self.holds(session)
        turns = self._silent[session] if here else silent_in(self.register, session)
        if not turns:
            return []
        hears = _hears(self.sessions[session], seat)
        return [turn for turn in turns if hears(turn)]

    def _speaking(self, session: str) -> str:
        """Who speaks now; "" where nobody does."""
        if self.holds(session):
            return self._speaker.get(session, "")
        return speaking(self.register, session)

    def leave(self, person: str) -> None:
        """A person leaves her seat; what was declared follows."""
        seated = seat_of(self.register, person)
        if seated is None:
            return
        by = self.follows
        set_seat(self.register, *seated, STOOD_IN if by else SILENT, by)
        self.watch.tell(seated[0])

    @property
    def follows(self) -> str:
        """The model that follows who leaves; "" where the seat is silent from then on."""
        return self.hosting.stand_in if self.hosting.drop_out == "stand_in" else ""

    def take_away(self, person: str) -> bool:
        """The researcher takes a seat from a person, as if she had left; False where she has none,
        or had left it before.
        """
        seated = acts.take_away(self.register, person, self.follows)
        if seated is not None:
            self.watch.tell(seated[0])
        return seated is not None

    def say(self, session: str, text: str, person: str = "") -> None:
        """Send a message of the researcher."""
        acts.say(self.register, session, text, person)
        self.watch.tell(session)

    def end(self, session: str) -> bool:
        """The researcher ends a room, and its record stays; False where it was over before.

        Whichever server holds it stops within two ticks.
        """
        ended = acts.end_room(self.register, session)
        self.watch.tell(session)
        return ended

    def holds(self, session: str) -> bool:
        """Whether a room is held in this process now."""
        return session in self._held and not self._held[session].done()

    async def withdraw(self, session: str) -> None:
        """End a room that all its people have withdrawn from, and hold it no longer."""
        await self._set(session, CANCELLED, WITHDRAWN, (HELD, STOPPED))
        await self._let_go(session)

    def drop_words(self, session: str) -> None:
        """Forget what was said in a session that was withdrawn."""
        if session in self._said:
            self._said[session] = []

    def restart(self, session: str) -> bool:
        """The researcher lets a room that was stopped go on now; False where it was not stopped."""
        begun = acts.restart_room(self.register, session)
        self._stopped.pop(session, None)
        self.watch.tell(session)
        return begun

    def on_event(self, event: Event) -> None:
        """Keep what was said; who waits is told as soon as that is kept."""
        if event.turn is not None:
            self._speaker[event.session] = "" if event.done else event.participant
        new = isinstance(event.said, Statement)
        if new:
            self._said[event.session].append(event.said)
        if event.turn is not None:
            about = {"done": event.done, "turn": event.turn.index, "by": event.participant}
            if isinstance(event.said, Silence):
                self._silent[event.session].append(event.turn)
                about["silent"] = [event.turn.round, event.turn.task]
            said = len(self._said[event.session]), event.said
            self._turns.put(event.session, about, said if new else None)

    def _rooms(self) -> list[Room]:
        due = rooms_of(self.register, due=True)
        return [room for room in due if room.session in self.sessions]

    async def _tend(self, room: Room) -> None:
        """Do for a room what is due."""
        name = room.session
        if name in self._held and not self._held[name].done():
            if room.state == CANCELLED or not await self._lease(name):
                await self._let_go(name)  # it was ended elsewhere, or another server has it now
            return
        if room.state == CANCELLED and self.runs.held(name):
            await self._set(name, OVER)  # it was ended while its run was written
        elif room.state == LOBBY:
            await asyncio.to_thread(tend_lobby, self.register, self.hosting, room)
            self.watch.tell(name)
        elif room.state in (HELD, STOPPED) and self._is_due(name):
            await self._begin(room)

    async def _lease(self, name: str) -> bool:
        """Go on holding a room, said in time; False where another server holds it."""
        if now() - self._leased.get(name, 0.0) < rooms.LEASE / 3:
            return True
        self._leased[name] = now()
        return await asyncio.to_thread(lease, self.register, name, self.server)

    async def _set(self, name: str, state: str, detail: str = "", of: Sequence[str] = ()) -> bool:
        """Keep the state of a room while the event loop goes on."""
        return await asyncio.to_thread(set_room, self.register, name, state, detail, of)

    def _is_due(self, name: str) -> bool:
        return now() - self._stopped.get(name, 0.0) > AGAIN

    async def _begin(self, room: Room) -> None:
        """Hold a room in this process, unless another server does.

        Two things keep others out: the lease, and a lock on the record of the session, which a
        server that was only slow still has when its lease is over.
        """
        name = room.session
        if self.runs.held(name) or self.runs.withdrawn(name):
            await self._set(name, OVER)
            return
        with ExitStack() as stack:
            await asyncio.to_thread(self.runs.plan, self.sessions[name])
            if not stack.enter_context(alone(self.runs.path(name) / "exchanges.jsonl")):
                return
            last = await asyncio.to_thread(held_last, self.register, name)
            self._leased.pop(name, None)
            if not await self._lease(name):
                return
            if not await self._set(name, HELD, of=(HELD, STOPPED)):
                return  # it was ended meanwhile
            if last is not None:
                await asyncio.to_thread(not_counted, self.register, name, last)
            if name in self._held:  # it was stopped here before
                self.pool.ask_again()
            self._stopped.pop(name, None)
            self._said[name], self._silent[name] = [], []
            held = self._hold(self.sessions[name], stack.pop_all())
            self._held[name] = asyncio.create_task(held)

    async def _hold(self, session: Session, lock: ExitStack) -> None:
        """Hold a session. Where the register fails at the end, `_tend` does it again."""
        with lock, suppress(Unavailable):
            await self._hold_locked(session)

    async def _hold_locked(self, session: Session) -> None:
        def pace(voice: LanguageModel, asked: Callable[[], int]) -> LanguageModel:
            return Paced(voice, asked, self.hosting.typing)

        try:
            voices = _voices(self.pool, session, self._desk(session))
            pool = ModelPool(self.pool.limits, self.pool.budget, models=voices)
            outcome: Outcome = await hold_session(session, self.runs, pool, self, pace)
        except Exception as error:  # noqa: BLE001 - one room must not end the others
            await self._stop(session.id, f"{type(error).__name__}: {error}")
            return
        if outcome.status:
            await self._set(session.id, OVER)
            self.told(f"{session.id}: {outcome.status}")
        else:
            await self._stop(session.id, outcome.fault)
        self.watch.tell(session.id)

    async def _let_go(self, name: str) -> None:
        """Hold a room no longer; its record stays."""
        task = self._held.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.watch.tell(name)

    async def _stop(self, session: str, fault: str) -> None:
        self._stopped[session] = now()
        if not await self._set(session, STOPPED, fault, (HELD,)):
            return
        self.told(f"{session}: stopped: {fault}; it is tried again")

    def _desk(self, session: Session) -> RoomDesk:
        """The desk of a session; in a dry run citizens sit in the seats of people."""
        name = self.hosting.stand_in
        stand_in = standing_in(self._model(session, name), name)
        desk = RoomDesk(self.register, session.id, self.hosting, self.watch, self._turns, stand_in)
        if self._visitor is not None:
            desk.visitor = self._visitor(self._model(session, "citizen"))
        return desk

    def _model(self, session: Session, name: str) -> LanguageModel:
        """A model that is none of the seats: that of the session with this name, or a citizen."""
        settings = session.models.get(name, {"name": name, "kind": "citizen"})
        return self.pool.model(name, settings, session.seed_for("population"))


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


def _hears(session: Session, seat: str) -> Callable[[Turn], bool]:
    """Whether a seat hears what is said in a turn: its own words, and those of its neighbours that
    are no notes.
    """
    from delibsim.engine.network import network_of

    network = network_of(session)
    neighbours = set(network.neighbors(seat)) if seat in network else set()

    def hears(turn: Turn) -> bool:
        return turn.speaker == seat or (turn.task != PREPARATION and turn.speaker in neighbours)

    return hears
