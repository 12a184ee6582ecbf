"""The desk of a room: requests wait there for people, and for the limits that were declared."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from delibsim.conduct.people.watch import NOBODY, Watch, woken
from delibsim.domain.hosting import A_PERSON, Hosting, Limit
from delibsim.models.person.browser import Asked, Given
from delibsim.models.person.questionnaire import Questionnaire, questionnaire
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import WaitingRequest, hand_in, put_request, request_of
from delibsim.store.people.rooms import give_up, last_seen, standing_of
from delibsim.store.people.states import SeatState

TIME_TO_SEND_AGAIN = 30.0
"""Seconds after a failure of the register in which no limit ends anything: people send again what
could not be kept.
"""
LOOK, SELDOM = 0.5, 5.0
"""Seconds after which the register is looked at again: where a limit binds, or it could not be
read; and where only a change that nobody told of could matter.
"""
PAGES: TypeAdapter[Questionnaire] = TypeAdapter(Questionnaire)
LEFT, LATE = "the person left", "the time was over"
StandIn = Callable[[Asked], Awaitable[Given]]


@dataclass
class RoomDesk:
    """The desk of one session; `stand_in` answers for who left, where that was declared."""

    register: Register
    session: str
    hosting: Hosting
    watch: Watch
    stand_in: StandIn | None = None
    visitor: StandIn | None = None
    """Who answers in the seats of people in a dry run."""
    _opened: float = field(default_factory=now)

    async def ask(self, asked: Asked) -> Given:
        """What came of a request, however long that takes."""
        if self.visitor is None:
            return await self._given(asked)
        visit = asyncio.create_task(self._visit(asked, self.visitor))
        try:
            return await self._given(asked)
        finally:
            visit.cancel()
            await asyncio.gather(visit, return_exceptions=True)

    async def _visit(self, asked: Asked, visitor: StandIn) -> None:
        """Let a visitor answer, as a person does on her page."""
        await self._keep(asked.key, await visitor(asked))
        self.watch.tell(self.session, NOBODY)

    async def _given(self, asked: Asked) -> Given:
        occasion = asked.prompt.purpose.occasion
        waiting = await self._kept(asked)
        while not waiting.status:
            changed, seconds = self.watch.next(self.session), LOOK
            with suppress(Unavailable):  # looked at again when the register is back
                waiting = await self._looked(asked, waiting)
                seconds = self._seconds(occasion)
            if waiting.status:
                break
            await woken(changed, seconds)
        return Given(waiting.reply, waiting.status, waiting.detail, waiting.by or A_PERSON)  # ty: ignore[invalid-argument-type]

    def _seconds(self, occasion: str) -> float:
        """How long nothing can be due, if nobody changes anything."""
        limits = (self._limit(occasion), self.hosting.away)
        return LOOK if any(one.binds for one in limits) else SELDOM

    def _limit(self, occasion: str) -> Limit:
        """The time that a person has."""
        return self.hosting.turn if occasion.startswith("turn ") else self.hosting.survey

    async def _kept(self, asked: Asked) -> WaitingRequest:
        """The request in the register, as soon as that can be written."""
        while True:
            try:
                return await asyncio.to_thread(self._put, asked)
            except Unavailable:
                await asyncio.sleep(LOOK)

    def _put(self, asked: Asked) -> WaitingRequest:
        """Keep a request, and tell that it waits."""
        page = PAGES.dump_json(questionnaire(asked.prompt)).decode()
        purpose = asked.prompt.purpose
        what = self.session, asked.seat, purpose.occasion, page
        found = put_request(self.register, asked.key, *what, again=purpose.attempt > 0)
        self.watch.tell(self.session, asked.seat)
        return found

    async def _looked(self, asked: Asked, waiting: WaitingRequest) -> WaitingRequest:
        """The request as it stands; what may wait no longer is ended: in a seat that was left, and
        by a limit that binds.
        """
        state, person, waiting = await asyncio.to_thread(self._standing, asked)
        if waiting.status:
            return waiting
        if state == SeatState.STOOD_IN and self.stand_in is not None:
            await self._keep(asked.key, await self.stand_in(asked))
        elif state in SeatState.LEFT:
            await self._keep(asked.key, Given("", "absent", LEFT))
        elif not await asyncio.to_thread(self._ends, asked, waiting, person):
            return waiting
        return (await asyncio.to_thread(self._standing, asked))[2]

    def _standing(self, asked: Asked) -> tuple[str, str, WaitingRequest]:
        """The state of the seat, whose it is, and the request as it stands."""
        with self.register.reading():
            found = request_of(self.register, asked.key)
            state, person = standing_of(self.register, self.session, asked.seat)
        if found is None:  # a database that ended at once has lost what it had not yet written
            found = self._put(asked)
        return state, person, found

    async def _keep(self, key: str, given: Given) -> None:
        """Hand in for a person, as soon as that can be written: a model is not asked twice."""
        what = key, given.text, given.status, given.detail, given.by
        while True:
            try:
                await asyncio.to_thread(hand_in, self.register, *what)
                return
            except Unavailable:
                await asyncio.sleep(LOOK)

    def _ends(self, asked: Asked, waiting: WaitingRequest, person: str) -> bool:
        """End what a limit ends, or the seat of who has been away for too long; whether one was."""
        if not person or self.register.failed_within(TIME_TO_SEND_AGAIN):
            return False
        if self._late(asked, waiting):
            hand_in(self.register, asked.key, "", "absent", LATE)
            return True
        if self._away(person, waiting):
            give_up(self.register, self.hosting, (self.session, asked.seat))
            self.watch.tell(self.session, asked.seat)
            return True
        return False

    def _late(self, asked: Asked, waiting: WaitingRequest) -> bool:
        limit = self._limit(asked.prompt.purpose.occasion)
        if limit.minutes is None or not limit.binds:
            return False
        begun = waiting.shown or waiting.asked
        return now() - begun - waiting.paused > 60 * limit.minutes

    def _away(self, person: str, waiting: WaitingRequest) -> bool:
        """Whether a person was not there for too long while she was asked, and could be there."""
        limit = self.hosting.away
        if limit.minutes is None or not limit.binds:
            return False
        seen = last_seen(self.register, person) or 0.0
        return now() - max(seen, waiting.asked, self._opened) > 60 * limit.minutes
