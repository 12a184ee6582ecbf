"""The desk of a room: requests wait there for people, and for the limits that were declared."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from delibsim.domain.hosting import Hosting
from delibsim.domain.presence import A_PERSON, named_stand_in
from delibsim.models.base import LanguageModel
from delibsim.models.person.browser import Asked, Given
from delibsim.models.person.questionnaire import Questionnaire, questionnaire
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import WaitingRequest, hand_in, put_request, request_of
from delibsim.store.people.rooms import (
    SILENT,
    STOOD_IN,
    last_seen,
    note,
    rooms_of,
    set_seat,
)

LOOK = 0.5
"""Seconds after which the register is looked at again: another server may have taken an answer."""
PAGES: TypeAdapter[Questionnaire] = TypeAdapter(Questionnaire)
LEFT, LATE = "the person left", "the time was over"
StandIn = Callable[[Asked], Awaitable[Given]]


@dataclass
class RoomDesk:
    """The desk of one session; `stand_in` answers for who left, where that was declared."""

    register: Register
    session: str
    hosting: Hosting
    stand_in: StandIn | None = None
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, asked: Asked) -> Given:
        """What came of a request, however long that takes."""
        page = PAGES.dump_json(questionnaire(asked.prompt)).decode()
        occasion = asked.prompt.purpose.occasion
        waiting = await self._kept(asked, page, occasion)
        while not waiting.status:
            await self._look(asked, waiting)
            self._woken.clear()
            again = await asyncio.to_thread(self._read, asked.key)
            waiting = again or waiting
            if waiting.status:
                break
            try:
                await asyncio.wait_for(self._woken.wait(), LOOK)
            except TimeoutError:
                continue
        return Given(waiting.reply, waiting.status, waiting.detail, waiting.by or A_PERSON)  # ty: ignore[invalid-argument-type]

    def wake(self) -> None:
        """Look at once: something was handed in here."""
        self._woken.set()

    async def _kept(self, asked: Asked, page: str, occasion: str) -> WaitingRequest:
        """The request in the register, as soon as that can be written."""
        while True:
            try:
                found = await asyncio.to_thread(
                    put_request,
                    self.register,
                    asked.key,
                    self.session,
                    asked.seat,
                    occasion,
                    page,
                )
            except Unavailable:
                await asyncio.sleep(LOOK)
                continue
            if not found.status:
                await asyncio.to_thread(
                    note, self.register, self.session, "asked", {"seat": asked.seat}
                )
            return found

    def _read(self, key: str) -> WaitingRequest | None:
        try:
            return request_of(self.register, key)
        except Unavailable:
            return None

    async def _look(self, asked: Asked, waiting: WaitingRequest) -> None:
        """End what may wait no longer: a seat that was left, a limit that binds."""
        state, person = await asyncio.to_thread(self._seat, asked.seat)
        if state == STOOD_IN and self.stand_in is not None:
            given = await self.stand_in(asked)
            hand_in(self.register, asked.key, given.text, given.status, given.detail, given.by)
        elif state in (SILENT, STOOD_IN):
            hand_in(self.register, asked.key, "", "absent", LEFT)
        elif person and self._late(asked, waiting):
            hand_in(self.register, asked.key, "", "absent", LATE)
        elif person and self._away(person, waiting):
            follows = STOOD_IN if self.hosting.drop_out == "stand_in" else SILENT
            by = self.hosting.stand_in if follows == STOOD_IN else ""
            set_seat(self.register, self.session, asked.seat, follows, by)

    def _seat(self, name: str) -> tuple[str, str]:
        try:
            (room,) = rooms_of(self.register, self.session)
        except Unavailable:
            return "", ""
        for seat in room.seats:
            if seat.name == name:
                return seat.state, seat.person
        return "", ""

    def _late(self, asked: Asked, waiting: WaitingRequest) -> bool:
        speaks = asked.prompt.purpose.occasion.startswith("turn ")
        limit = self.hosting.turn if speaks else self.hosting.survey
        if limit.minutes is None or not limit.binds:
            return False
        begun = waiting.shown or waiting.asked
        return now() - begun - waiting.paused > 60 * limit.minutes

    def _away(self, person: str, waiting: WaitingRequest) -> bool:
        """Whether a person was not there for too long while she was asked."""
        limit = self.hosting.away
        if limit.minutes is None or not limit.binds:
            return False
        seen = last_seen(self.register, person) or 0.0
        return now() - max(seen, waiting.asked) > 60 * limit.minutes


def standing_in(model: LanguageModel, name: str) -> StandIn:
    """A model that answers for a person who left, marked as such."""

    async def answer(asked: Asked) -> Given:
        found = await model.complete(asked.prompt, asked.seed)
        return Given(found.text, found.status, found.detail, named_stand_in(name))

    return answer
