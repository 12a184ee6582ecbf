"""The desk of a room: requests wait there for people; models wait, or stand in for who left."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from delibsim.domain.hosting import A_PERSON, PERSON, Hosting, named_stand_in
from delibsim.domain.run import Session
from delibsim.models.base import Capabilities, Completion, LanguageModel, capabilities_of
from delibsim.models.person.browser import Asked, BrowserPerson, Given
from delibsim.models.person.questionnaire import Questionnaire, questionnaire
from delibsim.models.pool import ModelPool
from delibsim.people.presence import NOBODY, Watch, woken
from delibsim.prompts.prompt import Prompt
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.requests import WaitingRequest, hand_in, put_request, request_of
from delibsim.store.people.rooms import give_up, last_seen, standing_of
from delibsim.store.people.schema import SeatState

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
        limits = (self.hosting.limit(occasion), self.hosting.away)
        return LOOK if any(one.binds for one in limits) else SELDOM

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
        limit = self.hosting.limit(asked.prompt.purpose.occasion)
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


def voices_of(pool: ModelPool, session: Session, desk: RoomDesk) -> dict[str, LanguageModel]:
    """The models of one room: people at its desk, all others from the pool of the hall."""
    found: dict[str, LanguageModel] = {}
    population = session.seed_for("population")
    for name, settings in session.voices.items():
        if settings.get("kind") == PERSON:
            found[name] = BrowserPerson(name, settings.get("temperature"), session.id, desk)
        else:
            found[name] = pool.model(name, settings, population)
    return found


def standing_in(model: LanguageModel, name: str) -> StandIn:
    """A model that answers for a person who left, marked as such."""

    async def answer(asked: Asked) -> Given:
        found = await model.complete(asked.prompt, asked.seed)
        return Given(found.text, found.status, found.detail, named_stand_in(name))

    return answer


class Paced:
    """A voice whose words are passed on at so many a minute; None: as soon as they are there.

    Only words of models are delayed, and only those that were asked for now: what is taken from the
    record, and what people or the survey say, is passed on at once. `asked` counts the calls.
    """

    def __init__(
        self, model: LanguageModel, asked: Callable[[], int], words_a_minute: float | None
    ) -> None:
        self.name = model.name
        self._model, self._asked, self._pace = model, asked, words_a_minute

    @property
    def capabilities(self) -> Capabilities:
        """Those of the voice."""
        return capabilities_of(self._model)

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """The answer, after the time that it takes to type it."""
        before = self._asked()
        found = await self._model.complete(prompt, seed)
        new = self._asked() > before
        typed = found.model_returned != A_PERSON and prompt.purpose.occasion.startswith("turn ")
        if self._pace and new and typed:
            await asyncio.sleep(60 * len(found.text.split()) / self._pace)
        return found
