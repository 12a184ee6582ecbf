"""The desk of a room: requests wait there for people; models wait, or stand in for who left."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import get_args

from pydantic import TypeAdapter

from delibsim.domain.hosting import A_PERSON, PERSON, Hosting, named_stand_in
from delibsim.domain.run import Session
from delibsim.domain.survey import Phase
from delibsim.domain.transcript import FACILITATOR, PREPARATION, Statement, Turn
from delibsim.models.base import Capabilities, Completion, LanguageModel, capabilities_of
from delibsim.models.person.browser import BrowserPerson, Given, WaitingPrompt
from delibsim.models.person.questionnaire import Questionnaire, questionnaire
from delibsim.models.pool import ModelPool
from delibsim.people.presence import NOBODY, RoomWatch, woken
from delibsim.prompts.prompt import Prompt
from delibsim.store.people import requests
from delibsim.store.people import rooms as acts
from delibsim.store.people.register import Register, Unavailable, now
from delibsim.store.people.rooms import Room, Seat, give_up, last_seen, messages, standing_of
from delibsim.store.people.schema import RoomState, SeatState
from delibsim.store.session_files import WITHDRAWN

SHOWING = (*get_args(Phase)[1:], "position")
"""The occasions beside turns whose prompts show the talk."""
EVERYWHERE = "everywhere"
"""The value of `procedure.instructions` with which surveys are told them too."""


WAITS = {
    RoomState.LOBBY: "lobby",
    RoomState.OVER: "over",
    RoomState.CANCELLED: "cancelled",
    RoomState.STOPPED: "stopped",
}


@dataclass(frozen=True)
class View:
    """What the page of a seat shows: who is in the room, what was said, what waits for her.

    `waits` says how the seat stands: "lobby", "wait", "asked", "over", "cancelled", "ended",
    "stopped", "left". `said` is the talk as a model in this seat is shown it. `instructions` are
    those that she is told now, and `read` says that they stood in full on a page of hers before.
    """

    room: Room
    seat: str
    waits: str
    here: tuple[str, ...]
    said: tuple[Statement, ...]
    speaker: str
    request: requests.WaitingRequest | None
    messages: tuple[str, ...]
    question: str
    instructions: str = ""
    read: bool = False
    silent: tuple[Turn, ...] = ()
    """The turns that were taken without a word, as far as the talk is shown."""

    @property
    def talk(self) -> list[tuple[Turn, str]]:
        """Every turn that is shown, in order, and what was said in it; "" where nothing was."""
        said = [(one.turn, one.text) for one in self.said]
        return sorted([*said, *((turn, "") for turn in self.silent)], key=lambda one: one[0].index)


def view_of(
    register: Register,
    room: Room,
    own: Seat,
    session: Session | None,
    heard: Callable[[str, str], Sequence[Statement]],
    silent: Callable[[str, str], Sequence[Turn]],
    speaker: str,
) -> View:
    """The view of a seat; `heard` gives what it has heard, by session and seat, and `silent` the
    turns in which it could have heard something and did not.
    """
    name, seat = room.session, own.name
    asks = own.state == SeatState.TAKEN and room.state not in (RoomState.OVER, RoomState.CANCELLED)
    request = requests.open_request(register, name, seat) if asks else None
    state = WAITS.get(room.state, "asked" if request else "wait")
    if own.state in SeatState.LEFT:
        state, request = "left", None
    elif room.state == RoomState.CANCELLED and room.detail == acts.ENDED:
        state = "ended"
    said: tuple[Statement, ...] = ()
    passed: tuple[Turn, ...] = ()
    instructions, read = "", False
    if session is not None and room.detail != WITHDRAWN:
        all_heard = heard(name, seat)
        said = _talk(register, session, seat, all_heard, request)
        if len(said) == len(all_heard) and session.procedure.show_transcript:
            passed = tuple(silent(name, seat))
        if request is not None:
            instructions = instructions_on(session, seat, request.occasion)
    if instructions and session is not None and request is not None:
        before = requests.occasions_answered(register, name, seat)
        read = were_read(session, seat, request.occasion, before)
    return View(
        room=room,
        seat=seat,
        waits=state,
        here=tuple(one.id for one in session.participants) if session else (),
        said=said,
        speaker=speaker,
        request=request,
        messages=tuple(messages(register, name, own.person)),
        question=session.topic.question if session else "",
        instructions=instructions,
        read=read,
        silent=passed,
    )


def _talk(
    register: Register,
    session: Session,
    seat: str,
    heard: Sequence[Statement],
    request: requests.WaitingRequest | None,
) -> tuple[Statement, ...]:
    """The talk on the page of a seat."""
    if not heard:
        return ()
    last = request or requests.last_given(register, session.id, seat)
    occasion = last.occasion if last else ""
    return talk_on_page(session, seat, heard, occasion, waits=request is None)


def talk_on_page(
    session: Session, seat: str, heard: Sequence[Statement], occasion: str, waits: bool
) -> tuple[Statement, ...]:
    """The part of what a seat has heard that its page shows.

    `occasion` is what the seat is asked for, or was asked for last ("" before that). While it is
    asked, the page shows the talk that the prompt shows. While it `waits`, new statements appear as
    they are made; where the procedure keeps some of them from prompts, they appear with the next
    prompt. The seat's own notes are shown while it waits, and stand in the prompt otherwise.
    """
    plan = session.in_force(seat, occasion or "pre")
    procedure = plan.procedure
    speaks = occasion.startswith("turn ")
    whole = procedure.show_transcript and not procedure.transcript_window
    if waits and whole and (speaks or occasion in ("", "pre")):
        return tuple(heard)
    if not speaks and (occasion not in SHOWING or not procedure.show_transcript):
        return ()
    number = int(occasion.removeprefix("turn ")) if speaks else None
    aloud = [one for one in heard if one.turn.task != PREPARATION]
    told = [one for one in aloud if number is None or one.turn.index < number]
    shown = told[-(procedure.transcript_window or len(told)) :] if told else []
    own = [one for one in heard if waits and one.turn.index == number]
    return (*shown, *own)


def instructions_on(session: Session, seat: str, occasion: str) -> str:
    """The instructions that a seat is told on an occasion: those of the treatment, or those of a
    facilitator and a witness; "" where it is told none.
    """
    plan = session.in_force(seat, occasion)
    for one in plan.invited:
        if one.id == seat and one.role == FACILITATOR and plan.facilitator is not None:
            return plan.facilitator.instructions.strip()
        if one.id == seat:
            return one.persona.strip()
    surveyed = occasion in get_args(Phase) and plan.procedure.instructions == EVERYWHERE
    told = surveyed or occasion.startswith("turn ")
    return plan.treatment.instructions.strip() if told else ""


def were_read(session: Session, seat: str, occasion: str, before: Collection[str]) -> bool:
    """Whether the instructions of an occasion stood in full on a page of the seat before: `before`
    holds the occasions on which the person was shown a page and answered it.
    """
    now = instructions_on(session, seat, occasion)
    earlier = [one for one in before if one != occasion]
    return any(instructions_on(session, seat, one) == now for one in earlier)


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
StandIn = Callable[[WaitingPrompt], Awaitable[Given]]


@dataclass
class RoomDesk:
    """The desk of one session; `stand_in` answers for who left, where that was declared."""

    register: Register
    session: str
    hosting: Hosting
    watch: RoomWatch
    stand_in: StandIn | None = None
    visitor: StandIn | None = None
    """Who answers in the seats of people in a dry run."""
    _opened: float = field(default_factory=now)

    async def ask(self, asked: WaitingPrompt) -> Given:
        """What came of a request, however long that takes."""
        if self.visitor is None:
            return await self._given(asked)
        visit = asyncio.create_task(self._visit(asked, self.visitor))
        try:
            return await self._given(asked)
        finally:
            visit.cancel()
            await asyncio.gather(visit, return_exceptions=True)

    async def _visit(self, asked: WaitingPrompt, visitor: StandIn) -> None:
        """Let a visitor answer, as a person does on her page."""
        await self._keep(asked.key, await visitor(asked))
        self.watch.tell(self.session, NOBODY)

    async def _given(self, asked: WaitingPrompt) -> Given:
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

    async def _kept(self, asked: WaitingPrompt) -> requests.WaitingRequest:
        """The request in the register, as soon as that can be written."""
        while True:
            try:
                return await asyncio.to_thread(self._put, asked)
            except Unavailable:
                await asyncio.sleep(LOOK)

    def _put(self, asked: WaitingPrompt) -> requests.WaitingRequest:
        """Keep a request, and tell that it waits."""
        page = PAGES.dump_json(questionnaire(asked.prompt)).decode()
        purpose = asked.prompt.purpose
        what = self.session, asked.seat, purpose.occasion, page
        found = requests.put_request(self.register, asked.key, *what, again=purpose.attempt > 0)
        self.watch.tell(self.session, asked.seat)
        return found

    async def _looked(
        self, asked: WaitingPrompt, waiting: requests.WaitingRequest
    ) -> requests.WaitingRequest:
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

    def _standing(self, asked: WaitingPrompt) -> tuple[str, str, requests.WaitingRequest]:
        """The state of the seat, whose it is, and the request as it stands."""
        with self.register.reading():
            found = requests.request_of(self.register, asked.key)
            state, person = standing_of(self.register, self.session, asked.seat)
        if found is None:  # a database that ended at once has lost what it had not yet written
            found = self._put(asked)
        return state, person, found

    async def _keep(self, key: str, given: Given) -> None:
        """Hand in for a person, as soon as that can be written: a model is not asked twice."""
        what = key, given.text, given.status, given.detail, given.by
        while True:
            try:
                await asyncio.to_thread(requests.hand_in, self.register, *what)
                return
            except Unavailable:
                await asyncio.sleep(LOOK)

    def _ends(self, asked: WaitingPrompt, waiting: requests.WaitingRequest, person: str) -> bool:
        """End what a limit ends, or the seat of who has been away for too long; whether one was."""
        if not person or self.register.failed_within(TIME_TO_SEND_AGAIN):
            return False
        if self._late(asked, waiting):
            requests.hand_in(self.register, asked.key, "", "absent", LATE)
            return True
        if self._away(person, waiting):
            give_up(self.register, self.hosting, (self.session, asked.seat))
            self.watch.tell(self.session, asked.seat)
            return True
        return False

    def _late(self, asked: WaitingPrompt, waiting: requests.WaitingRequest) -> bool:
        limit = self.hosting.limit(asked.prompt.purpose.occasion)
        if limit.minutes is None or not limit.binds:
            return False
        begun = waiting.shown or waiting.asked
        return now() - begun - waiting.paused > 60 * limit.minutes

    def _away(self, person: str, waiting: requests.WaitingRequest) -> bool:
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

    async def answer(asked: WaitingPrompt) -> Given:
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
