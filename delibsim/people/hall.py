"""The hall: every room of a study whose sessions wait for people, held in this process."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from delibsim.conduct.hold import hold_session
from delibsim.conduct.outcome import Observer, SessionOutcome
from delibsim.domain.hosting import Hosting
from delibsim.domain.run import Session
from delibsim.domain.transcript import Silence, Statement, Turn
from delibsim.engine.agenda import Event, is_heard
from delibsim.models.base import LanguageModel
from delibsim.models.pool import ModelPool
from delibsim.people.desk import Paced, RoomDesk, StandIn, View, standing_in, view_of, voices_of
from delibsim.people.presence import InterventionRecord, Presence, RoomWatch
from delibsim.store.files import alone
from delibsim.store.people import rooms
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import not_counted
from delibsim.store.people.schema import RoomState, SeatState
from delibsim.store.people.server import Serving, serving
from delibsim.store.runs import Runs

TICK = 0.5
AGAIN = 20.0
"""Seconds after which a room that was stopped is tried again."""
Told = Callable[[str], None]


@dataclass
class Talk:
    """What was said in a room since it is held here, and its last turn: `speaker` is "" where
    nobody speaks, `since` when the turn began or ended.
    """

    said: list[Statement]
    silent: list[Turn]
    turn: int | None = None
    speaker: str = ""
    since: float = 0.0


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
        self._held: dict[str, asyncio.Task[None]] = {}
        self._talks = {name: Talk([], []) for name in self.sessions}
        self._stopped: dict[str, float] = {}
        self._until: dict[str, float] = {}
        self._known: dict[str, rooms.Room] = {}
        self.watch, self.presence = RoomWatch(), Presence(register)
        self._record = InterventionRecord(runs, register, self.sessions, told)
        for name, session in self.sessions.items():
            rooms.open_room(register, name, session.seats_of_people)

    async def run(self) -> None:
        """Begin rooms as they fill, hold them, and go on with those that were held before.

        WrongInput where another process serves the study, or takes over.
        """
        self.watch.begin()
        with serving(self.runs, self.register) as server:
            seen = asyncio.create_task(self.presence.run())
            try:
                while True:
                    with suppress(Unavailable):  # looked at again when the register is back
                        await self._look(server)
                    await asyncio.to_thread(self._record.keep)
                    await asyncio.sleep(TICK)
            finally:
                tasks = [*self._held.values(), seen]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self.pool.close()

    async def _look(self, server: Serving) -> None:
        """Do what is due in every room, and tell what commands changed in the register."""
        await asyncio.to_thread(server.renew)
        for room in await asyncio.to_thread(self._rooms):
            self._tell_changed(room)
            await self._tend(room, server.before)

    def _tell_changed(self, room: rooms.Room) -> None:
        """Tell who waits what is not as it was when the room was looked at last."""
        before = self._known.get(room.session)
        self._known[room.session] = room
        if before is None or before == room:
            return
        if before.state != room.state:
            self.watch.tell(room.session)
        for old, new in zip(before.seats, room.seats, strict=True):
            if old != new:
                self.watch.tell(room.session, new.name)

    def join(self, person: str, session: str = "", seat: str = "") -> tuple[str, str] | None:
        """Seat a person; where she sits, None where no seat is free."""
        found = rooms.take_seat(self.register, person, session, seat)
        if found is not None:
            self.watch.tell(found[0])
        return found

    def view(self, person: str) -> View | None:
        """What the page of a person shows; None where she has no seat."""
        with self.register.reading():
            return self._view(person)

    def _view(self, person: str) -> View | None:
        found = rooms.room_of(self.register, person)
        if found is None:
            return None
        room, own = found
        name = room.session
        session = self.sessions.get(name)
        speaker = self.talk(name).speaker
        return view_of(self.register, room, own, session, self.heard, self.silent, speaker)

    def talk(self, session: str) -> Talk:
        """What was said in a room since it is held here."""
        return self._talks.get(session) or Talk([], [])

    def heard(self, session: str, seat: str) -> list[Statement]:
        """What a seat has heard: its own words, and those of its neighbours that are no notes."""
        hears = _hears(self.sessions[session], seat)
        return [one for one in self.talk(session).said if hears(one.turn)]

    def silent(self, session: str, seat: str) -> list[Turn]:
        """The turns that were taken without a word, of those in which a seat hears who speaks."""
        turns = self.talk(session).silent
        if not turns:
            return []
        hears = _hears(self.sessions[session], seat)
        return [turn for turn in turns if hears(turn)]

    def leave(self, person: str) -> None:
        """A person leaves her seat; what was declared follows."""
        seated = rooms.seat_of(self.register, person)
        if seated is None:
            return
        rooms.give_up(self.register, self.hosting, seated)
        self.watch.tell(*seated)

    def take_away(self, person: str) -> bool:
        """The researcher takes a seat from a person, as if she had left; False where she has none,
        or had left it before.
        """
        seated = rooms.take_away(self.register, person, self.hosting.follows)
        if seated is not None:
            self.watch.tell(*seated)
        return seated is not None

    def say(self, session: str, text: str, person: str = "") -> None:
        """Send a message of the researcher."""
        rooms.say(self.register, session, text, person)
        self.watch.tell(session)

    def end(self, session: str) -> bool:
        """The researcher ends a room within two ticks, and its record stays; False where it was
        over before.
        """
        ended = rooms.end_room(self.register, session)
        self.watch.tell(session)
        return ended

    def holds(self, session: str) -> bool:
        """Whether a room is held in this process now."""
        return session in self._held and not self._held[session].done()

    def drop_words(self, session: str) -> None:
        """Forget what was said in a session that was withdrawn."""
        self._talks.pop(session, None)

    def restart(self, session: str) -> bool:
        """The researcher lets a room that was stopped go on now; False where it was not stopped."""
        begun = rooms.restart_room(self.register, session)
        self._stopped.pop(session, None)
        self.watch.tell(session)
        return begun

    def on_event(self, event: Event) -> None:
        """Keep what was said, and tell who waits."""
        if event.turn is None:
            return
        talk = self._talks[event.session]
        talk.turn, talk.since = event.turn.index, now()
        talk.speaker = "" if event.done else event.participant
        if isinstance(event.said, Statement):
            talk.said.append(event.said)
        elif isinstance(event.said, Silence):
            talk.silent.append(event.turn)
        self.watch.tell(event.session)

    def _rooms(self) -> list[rooms.Room]:
        due = rooms.rooms_of(self.register, due=True)
        return [room for room in due if room.session in self.sessions]

    async def _tend(self, room: rooms.Room, before: float | None) -> None:
        """Do for a room what is due; `before` is when the server before this one was last seen."""
        name = room.session
        if self.holds(name):
            if room.state == RoomState.CANCELLED:
                await self._let_go(name)
        elif room.state == RoomState.CANCELLED and self.runs.held(name):
            await self._set(name, RoomState.OVER)  # it was ended while its run was written
        elif room.state == RoomState.LOBBY:
            if await asyncio.to_thread(tend_lobby, self.register, self.hosting, room):
                self.watch.tell(name)
        elif room.state in (RoomState.HELD, RoomState.STOPPED) and self._is_due(name):
            await self._begin(room, before)

    async def _set(self, name: str, state: str, detail: str = "", of: Sequence[str] = ()) -> bool:
        """Keep the state of a room while the event loop goes on, and tell it."""
        changed = await asyncio.to_thread(rooms.set_room, self.register, name, state, detail, of)
        if changed:
            self.watch.tell(name)
        return changed

    def _is_due(self, name: str) -> bool:
        return now() - self._stopped.get(name, 0.0) > AGAIN

    async def _begin(self, room: rooms.Room, before: float | None) -> None:
        """Hold a room, unless the record of its session is in use."""
        name = room.session
        if self.runs.held(name) or self.runs.withdrawn(name):
            await self._set(name, RoomState.OVER)
            return
        with ExitStack() as stack:
            await asyncio.to_thread(self.runs.plan, self.sessions[name])
            if not stack.enter_context(alone(self.runs.path(name) / "exchanges.jsonl")):
                return
            if not await self._set(name, RoomState.HELD, of=(RoomState.HELD, RoomState.STOPPED)):
                return  # it was ended meanwhile
            since = self._until.get(name, before)
            if since is not None:
                await asyncio.to_thread(not_counted, self.register, name, since)
            if name in self._held:  # it was stopped here before
                self.pool.ask_again()
            self._stopped.pop(name, None)
            self._talks[name] = Talk([], [])
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
            voices = voices_of(self.pool, session, self._desk(session))
            pool = ModelPool(self.pool.limits, self.pool.budget, models=voices)
            outcome: SessionOutcome = await hold_session(session, self.runs, pool, self, pace)
        except Exception as error:  # noqa: BLE001 - one room must not end the others
            await self._stop(session.id, f"{type(error).__name__}: {error}")
            return
        if outcome.status:
            await self._set(session.id, RoomState.OVER)
            self.told(f"{session.id}: {outcome.status}")
        else:
            await self._stop(session.id, outcome.fault)

    async def _let_go(self, name: str) -> None:
        """Hold a room no longer; its record stays."""
        task = self._held.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.watch.tell(name)

    async def _stop(self, session: str, fault: str) -> None:
        self._stopped[session] = self._until[session] = now()
        if not await self._set(session, RoomState.STOPPED, fault, (RoomState.HELD,)):
            return
        self.told(f"{session}: stopped: {fault}; it is tried again")

    def _desk(self, session: Session) -> RoomDesk:
        """The desk of a session; in a dry run citizens sit in the seats of people."""
        name = self.hosting.stand_in
        stand_in = standing_in(self._model(session, name), name)
        desk = RoomDesk(self.register, session.id, self.hosting, self.watch, stand_in)
        if self._visitor is not None:
            desk.visitor = self._visitor(self._model(session, "citizen"))
        return desk

    def _model(self, session: Session, name: str) -> LanguageModel:
        """A model that is none of the seats: that of the session with this name, or a citizen."""
        settings = session.models.get(name, {"name": name, "kind": "citizen"})
        return self.pool.model(name, settings, session.seed_for("population"))


def tend_lobby(register: Register, hosting: Hosting, room: rooms.Room) -> bool:
    """Begin where all seats are taken; else do what was declared when nobody comes. Whether the
    room is not in its lobby any more.

    What somebody else did meanwhile stays: a person who took a seat, or the researcher.
    """
    name = room.session
    if not room.missing:
        return rooms.set_room(register, name, RoomState.HELD, of=(RoomState.LOBBY,))
    limit = hosting.lobby.minutes
    if limit is None or room.first is None or now() - room.first < 60 * limit:
        return False
    if hosting.nobody_comes == "cancel":
        return rooms.set_room(
            register, name, RoomState.CANCELLED, "not enough people came", (RoomState.LOBBY,)
        )
    if hosting.nobody_comes == "stand_in":
        for seat in room.seats:
            rooms.set_seat(
                register, name, seat.name, SeatState.STOOD_IN, hosting.stand_in, (SeatState.FREE,)
            )
        return rooms.set_room(register, name, RoomState.HELD, of=(RoomState.LOBBY,))
    return False


def _hears(session: Session, seat: str) -> Callable[[Turn], bool]:
    """Whether a seat hears what is said in a turn."""
    from delibsim.engine.network import network_of

    network = network_of(session)
    return lambda turn: is_heard(turn, seat, session, network.has_edge)
