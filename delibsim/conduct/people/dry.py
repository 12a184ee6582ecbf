"""A dry run: citizens sit in the seats of people, at a speed of one's choice, before people come.

They answer as people do in all that follows: through requests, the register, limits and pages. The
study of a dry run lies in a folder of its own, so that its sessions are never taken for people's.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from delibsim.conduct.people.hall import Hall
from delibsim.domain.hosting import A_PERSON, Hosting, Limit
from delibsim.models.base import LanguageModel
from delibsim.models.person.browser import Asked, Given
from delibsim.store.people.persons import add_person, consent, set_stage
from delibsim.store.people.rooms import rooms_of
from delibsim.store.people.states import Role, RoomState, Stage

TYPED, A_LINE = 40.0, 6.0
"""Words that a person types in a minute; seconds that she takes for a line of a survey."""
LOOK = 0.1
ENDS = (RoomState.OVER, RoomState.CANCELLED, RoomState.STOPPED)


@dataclass(frozen=True)
class Visitor:
    """A citizen in the seat of a person, `speed` times as fast as people are taken to be."""

    model: LanguageModel
    speed: float

    async def __call__(self, asked: Asked) -> Given:
        """Answer after the time that a person takes."""
        found = await self.model.complete(asked.prompt, asked.seed)
        await asyncio.sleep(seconds_of(asked.prompt.purpose.occasion, found.text) / self.speed)
        return Given(found.text, found.status, found.detail, A_PERSON)


def hurried(hosting: Hosting, speed: float) -> Hosting:
    """What is declared, with times that are as much shorter; visitors are never away."""
    found: dict[str, Limit] = {"away": Limit()}
    for name in ("lobby", "survey", "turn"):
        limit: Limit = getattr(hosting, name)
        if limit.minutes is not None:
            found[name] = Limit(limit.minutes / speed, limit.binds)
    typing = None if hosting.typing is None else hosting.typing * speed
    return replace(hosting, typing=typing, **found)


def seconds_of(occasion: str, reply: str) -> float:
    """The seconds that a person is taken to need for a reply.

    >>> seconds_of("turn 1", "I am for it."), seconds_of("survey pre", "Q1: 3")
    (6.0, 6.0)
    """
    if occasion.startswith("turn "):
        return 60 * len(reply.split()) / TYPED
    return A_LINE * len(reply.splitlines())


def seat_everybody(hall: Hall) -> None:
    """Give every seat for people to a visitor who has agreed to what is declared."""
    for name, session in hall.sessions.items():
        for seat in session.seats_of_people:
            code = add_person(hall.register, Role.PARTICIPANT, hall.hosting.language)
            consent(hall.register, code, hall.hosting.consent_version)
            set_stage(hall.register, code, Stage.READY)
            hall.join(code, name, seat)


async def until_all_are_over(hall: Hall, speed: float, told: Callable[[str], None]) -> None:
    """Wait until no room goes on; of each it is told how it ended, and how long it would take."""
    begun: dict[str, float] = {}
    ended: set[str] = set()
    while len(ended) < len(hall.sessions):
        for room in await asyncio.to_thread(rooms_of, hall.register):
            if room.state == RoomState.HELD:
                begun.setdefault(room.session, time.monotonic())
            if room.state in ENDS and room.session not in ended:
                ended.add(room.session)
                took = time.monotonic() - begun.get(room.session, time.monotonic())
                how = room.detail or hall.runs.status(room.session) or room.state
                told(f"{room.session}: {how}; about {speed * took / 60:.0f} minutes with people")
        await asyncio.sleep(LOOK)
