"""Every page of a study before anybody is invited: the server's own pages, of sessions in which
placeholders are said and nobody is asked or paid.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import httpx

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import PERSON, Hosting, Withdrawal
from delibsim.domain.run import Session
from delibsim.models.base import Capabilities, Completion, LanguageModel
from delibsim.models.person.browser import Asked, Given
from delibsim.models.pool import ModelPool
from delibsim.people.hall import Hall
from delibsim.people.raters import RaterDesk
from delibsim.prompts.prompt import Prompt
from delibsim.store.people.entry import Invitation, invite, invite_person, log_in
from delibsim.store.people.persons import Identity, consent, set_stage
from delibsim.store.people.register import Register
from delibsim.store.people.rooms import ENDED, rooms_of, set_room, set_seat
from delibsim.store.people.schema import Role, RoomState, SeatState, Stage
from delibsim.store.runs import Runs
from delibsim.web.people.app import application
from delibsim.web.people.gate import COOKIE

WORDS = 40
"""Words of a placeholder."""
LOOK = 0.02
OUTSIDE = {
    "declined": Stage.DECLINED,
    "failed the checks": Stage.FAILED,
    "a quota is full": Stage.OVER_QUOTA,
}
NEEDED = {Stage.FAILED: "checks", Stage.OVER_QUOTA: "quotas"}
"""What must be declared for a person to be at a stage."""
AT_ONCE = 8
"""Sessions that are held at the same time."""
HERE = "http://localhost"


@dataclass(frozen=True)
class Shot:
    """One page of the server as it stood: in a seat of a session ("" twice where it is alike in all
    of them), on an occasion. `prompt` is what it asks; None where it asks nothing of a model's.
    """

    session: str
    seat: str
    occasion: str
    html: str
    prompt: Prompt | None = None


@dataclass
class Camera:
    """Takes the pages of people while their sessions are held."""

    hall: Hall
    app: Any
    seated: dict[tuple[str, str], str]
    """The cookies of people, by session and seat."""
    shots: list[Shot]

    async def get(self, path: str, cookie: str = "") -> str:
        """The page at a path for who has a cookie, as the server answers it."""
        transport = httpx.ASGITransport(self.app)
        cookies = {COOKIE: cookie} if cookie else {}
        async with httpx.AsyncClient(
            transport=transport, base_url=HERE, cookies=cookies, follow_redirects=True
        ) as client:
            return (await client.get(path)).text

    async def take(
        self, session: str, seat: str, occasion: str, prompt: Prompt | None = None
    ) -> None:
        """Keep the page on which somebody stands."""
        html = await self.get("/me", self.seated[session, seat])
        self.shots.append(Shot(session, seat, occasion, html, prompt))

    async def answer(self, asked: Asked) -> Given:
        """Keep the page of a request as soon as it stands, and give a placeholder."""
        cookie = self.seated[asked.session, asked.seat]
        while True:
            html = await self.get("/me", cookie)
            if f'value="{asked.key}"' in html:
                break
            await asyncio.sleep(LOOK)
        occasion = asked.prompt.purpose.occasion
        self.shots.append(Shot(asked.session, asked.seat, occasion, html, asked.prompt))
        await self.waiting(asked.session, occasion, asked.seat)
        return Given(placeholder(asked.prompt), "ok")

    async def waiting(self, session: str, occasion: str, speaker: str) -> None:
        """Keep the pages of those who wait while somebody speaks."""
        if not occasion.startswith("turn "):
            return
        for name, seat in list(self.seated):
            if name == session and seat != speaker:
                await self.take(session, seat, f"waiting in {occasion}")


class Placeholders:
    """In the place of a language model of a session: gives examples of the form of its replies."""

    capabilities = Capabilities()

    def __init__(self, name: str, cameras: list[Camera]) -> None:
        self.name, self._cameras = name, cameras

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """An example, once the pages of those who wait are kept."""
        purpose = prompt.purpose
        for camera in self._cameras:
            for session, people in camera.hall.sessions.items():
                if camera.hall.holds(session) and purpose.participant in people.seats:
                    await camera.waiting(session, purpose.occasion, purpose.participant)
        return Completion(placeholder(prompt), model_requested=self.name)


def placeholder(prompt: Prompt) -> str:
    """What is said in a preview: an example of the form."""
    purpose = prompt.purpose
    label = f"[What {purpose.participant} says in {purpose.occasion}]"
    return prompt.reply.example(label, WORDS)


async def preview(sessions: Sequence[Session], hosting: Hosting) -> list[Shot]:
    """The pages of these sessions, each in every seat for people, and those that all people share.

    WrongInput where a session cannot be held. Nothing is kept.
    """
    hosting = replace(hosting, typing=None)
    some = asyncio.Semaphore(AT_ONCE)

    async def held(session: Session) -> list[Shot]:
        async with some:
            return await _of_session(session, hosting)

    shots = await _of_everybody(sessions[0], hosting)
    for own in await asyncio.gather(*map(held, sessions)):
        shots += own
    return shots


async def _of_session(session: Session, hosting: Hosting) -> list[Shot]:
    """The pages of one session, from the lobby to the end."""
    with tempfile.TemporaryDirectory(prefix="delibsim-preview-") as folder:
        camera = _opened(session, hosting, Path(folder))
        hall, name = camera.hall, session.id
        try:
            for seat in session.seats_of_people:
                camera.seated[name, seat] = _seated(hall, name, seat)
                if rooms_of(hall.register, name)[0].missing:
                    await camera.take(name, seat, "lobby")
            await _held(hall, name)
            await _endings(camera, name)
        finally:
            hall.register.close()
        return camera.shots


async def _held(hall: Hall, name: str) -> None:
    """Hold a session to its end; WrongInput where it stops."""
    holding = asyncio.create_task(hall.run())
    try:
        while True:
            (room,) = rooms_of(hall.register, name)
            if room.state == RoomState.STOPPED:
                raise WrongInput(f"{name} cannot be held: {room.detail}")
            if room.state == RoomState.OVER:
                return
            if holding.done():
                await holding
            await asyncio.sleep(LOOK)
    finally:
        holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)


async def _endings(camera: Camera, name: str) -> None:
    """The end of a session in every seat; and how else it may end, in the first."""
    register = camera.hall.register
    seats = [seat for session, seat in camera.seated if session == name]
    states = {
        "technical problem": (RoomState.STOPPED, ""),
        "cancelled": (RoomState.CANCELLED, "not enough people came"),
        "ended by the researcher": (RoomState.CANCELLED, ENDED),
    }
    for occasion, (state, detail) in states.items():
        set_room(register, name, state, detail)
        await camera.take(name, seats[0], occasion)
    set_room(register, name, RoomState.HELD)
    set_seat(register, name, seats[0], SeatState.SILENT)
    await camera.take(name, seats[0], "left, or away for too long")
    set_seat(register, name, seats[0], SeatState.TAKEN, of=(SeatState.SILENT,))
    set_room(register, name, RoomState.OVER)
    for seat in seats:
        await camera.take(name, seat, "end")


async def _of_everybody(session: Session, hosting: Hosting) -> list[Shot]:
    """The pages that are alike in every session: links, consent, questions, goodbyes."""
    with tempfile.TemporaryDirectory(prefix="delibsim-preview-") as folder:
        camera = _opened(session, hosting, Path(folder))
        hall, register = camera.hall, camera.hall.register
        try:
            token = invite(register, Invitation("", Role.PARTICIPANT), 1.0)
            pages = {"link": await camera.get(f"/i/{token}")}
            if hosting.panel:
                query = f"?{hosting.panel}=1"
                pages = {"link without an id": pages["link"]}
                pages["link"] = await camera.get(f"/i/{token}{query}")
            pages["link that opens nothing"] = await camera.get("/i/none")
            code, cookie = _visitor(hall)
            pages["consent"] = await camera.get("/me", cookie)
            consent(register, code, hosting.consent_version)
            if hosting.information or hosting.checks or hosting.questions:
                pages["information and questions"] = await camera.get("/me", cookie)
            for occasion, stage in OUTSIDE.items():
                if stage == Stage.DECLINED or getattr(hosting, NEEDED[stage]):
                    set_stage(register, code, stage)
                    pages[occasion] = await camera.get("/me", cookie)
            set_stage(register, code, Stage.READY)
            for seat in session.seats_of_people:
                camera.seated[session.id, seat] = _seated(hall, session.id, seat)
            pages["all seats are taken"] = await camera.get("/me", cookie)
            first = camera.seated[session.id, session.seats_of_people[0]]
            pages["leave"] = await camera.get("/me/leave", first)
            for how in get_args(Withdrawal):
                hall.hosting = replace(hosting, withdrawal=how)
                camera.app = application(hall, RaterDesk(hall.runs, register))
                pages[f"withdraw ({how})"] = await camera.get("/me/withdraw", first)
            set_stage(register, code, Stage.WITHDRAWN)
            pages["withdrawn"] = await camera.get("/me", cookie)
        finally:
            register.close()
        return [Shot("", "", occasion, html) for occasion, html in pages.items()]


def _opened(session: Session, hosting: Hosting, folder: Path) -> Camera:
    """A hall over one session in a folder of its own, with its pages."""
    cameras: list[Camera] = []
    voices: dict[str, LanguageModel] = {hosting.stand_in: Placeholders(hosting.stand_in, cameras)}
    for name, settings in session.voices.items():
        if settings.get("kind") != PERSON:
            voices[name] = Placeholders(name, cameras)
    voices["citizen"] = voices.get("citizen", Placeholders("citizen", cameras))
    runs = Runs(folder, "preview")
    pool = ModelPool(models=voices)
    made: dict[str, Any] = {}
    hall = Hall(
        runs,
        Register.of(runs, ""),
        hosting,
        pool,
        [session],
        visitor=lambda model: partial(Camera.answer, made["camera"]),
    )
    app = application(hall, RaterDesk(runs, hall.register))
    made["camera"] = Camera(hall, app, {}, [])
    cameras.append(made["camera"])
    return made["camera"]


def _visitor(hall: Hall, session: str = "", seat: str = "") -> tuple[str, str]:
    """Somebody who has come by a link: her code and her cookie."""
    wanted = Invitation("", Role.PARTICIPANT, session, seat)
    code, _ = invite_person(hall.register, wanted, 1.0, hall.hosting.language, Identity())
    return code, log_in(hall.register, code, Role.PARTICIPANT)


def _seated(hall: Hall, session: str, seat: str) -> str:
    """The cookie of somebody who has agreed and has a seat."""
    code, cookie = _visitor(hall, session, seat)
    consent(hall.register, code, hall.hosting.consent_version)
    set_stage(hall.register, code, Stage.READY)
    hall.join(code, session, seat)
    return cookie
