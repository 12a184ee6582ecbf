"""Every page of a study before anybody is invited: the server's own pages, of sessions in which
placeholders are said and nobody is asked or paid.
"""

import asyncio
import base64
import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, get_args

import httpx
from markupsafe import Markup, escape

from delibsim.domain.errors import WrongInput
from delibsim.domain.hosting import PERSON, Hosting, Withdrawal
from delibsim.domain.run import Session
from delibsim.domain.score import heading_of
from delibsim.domain.survey import Phase
from delibsim.models.base import Capabilities, Completion, LanguageModel
from delibsim.models.person.browser import Given, WaitingPrompt
from delibsim.models.pool import ModelPool
from delibsim.people.hall import Hall
from delibsim.people.raters import RaterDesk
from delibsim.prompts.prompt import Prompt
from delibsim.store.files import json_text, staged
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.store.people import persons
from delibsim.store.people.register import Register
from delibsim.store.people.rooms import ENDED, rooms_of, set_room, set_seat
from delibsim.store.people.schema import Role, RoomState, SeatState, Stage
from delibsim.store.runs import Runs
from delibsim.web.people.app import application
from delibsim.web.people.render import asset, language, render
from delibsim.web.people.visits import COOKIE

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

    async def answer(self, asked: WaitingPrompt) -> Given:
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
            token = persons.invite(register, persons.Invitation("", Role.PARTICIPANT), 1.0)
            pages = {"link": await camera.get(f"/i/{token}")}
            if hosting.panel:
                query = f"?{hosting.panel}=1"
                pages = {"link without an id": pages["link"]}
                pages["link"] = await camera.get(f"/i/{token}{query}")
            pages["link that opens nothing"] = await camera.get("/i/none")
            code, cookie = _visitor(hall)
            pages["consent"] = await camera.get("/me", cookie)
            persons.consent(register, code, hosting.consent_version)
            if hosting.information or hosting.checks or hosting.questions:
                pages["information and questions"] = await camera.get("/me", cookie)
            for occasion, stage in OUTSIDE.items():
                if stage == Stage.DECLINED or getattr(hosting, NEEDED[stage]):
                    persons.set_stage(register, code, stage)
                    pages[occasion] = await camera.get("/me", cookie)
            persons.set_stage(register, code, Stage.READY)
            for seat in session.seats_of_people:
                camera.seated[session.id, seat] = _seated(hall, session.id, seat)
            pages["all seats are taken"] = await camera.get("/me", cookie)
            first = camera.seated[session.id, session.seats_of_people[0]]
            pages["leave"] = await camera.get("/me/leave", first)
            for how in get_args(Withdrawal):
                hall.hosting = replace(hosting, withdrawal=how)
                camera.app = application(hall, RaterDesk(hall.runs, register))
                pages[f"withdraw ({how})"] = await camera.get("/me/withdraw", first)
            persons.set_stage(register, code, Stage.WITHDRAWN)
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
    wanted = persons.Invitation("", Role.PARTICIPANT, session, seat)
    code, _ = persons.invite_person(
        hall.register, wanted, 1.0, hall.hosting.language, persons.Identity()
    )
    return code, persons.log_in(hall.register, code, Role.PARTICIPANT)


def _seated(hall: Hall, session: str, seat: str) -> str:
    """The cookie of somebody who has agreed and has a seat."""
    code, cookie = _visitor(hall, session, seat)
    persons.consent(hall.register, code, hall.hosting.consent_version)
    persons.set_stage(hall.register, code, Stage.READY)
    hall.join(code, session, seat)
    return cookie


WRITER, OPTION, INDEX = "preview", "-o", "index.html"
NEW = ".preview { position: sticky; top: 0; z-index: 3; margin: 0; padding: .4rem 1.25rem;"
STYLE = NEW + " background: var(--tint); font-size: .9rem; }"
SHEET = '<link rel="stylesheet" href="/~assets/people.css">'
FORMS = '<script src="/~assets/forms.js" defer></script>'
LIVE = re.compile(r'\n?<script src="/~assets/live.js" defer></script>|<noscript>.*?</noscript>')
SECRET = re.compile(r'(<input type="hidden" name="(?:csrf|key|tried)" value=")[^"]*"')
SKIP = re.compile(r'<a class="skip".*?</a>')
LINK = re.compile(r'href="/[^"]*"')
KNOWN = {"/me/leave": "leave", "/me/withdraw": "withdraw (delete)"}


@dataclass(frozen=True)
class PreviewPage:
    """One file: its name in the folder, its title in the index, and the page that it shows."""

    name: str
    title: str
    shot: Shot


def write_preview(
    study: str, sessions: Sequence[Session], shots: Sequence[Shot], folder: Path
) -> int:
    """Write the pages of a preview into a folder, which takes its place as a whole; how many.

    A folder of this name is replaced if it holds nothing but a preview; else WrongInput.
    """
    refuse_others(folder, WRITER, OPTION)
    pages = list(_pages(shots))
    with staged(folder) as stage:
        for number, page in enumerate(pages):
            before, after = pages[number - 1 : number] or [None], pages[number + 1 : number + 2]
            near = {"before": before[0], "after": after[0] if after else None}
            (stage / page.name).write_text(_file(page, pages, near), encoding="utf-8")
        (stage / INDEX).write_text(_index(study, sessions, pages), encoding="utf-8")
        names = [*(page.name for page in pages), INDEX]
        manifest = {"written_by": "delibsim", "files": names}
        (stage / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")
    return len(pages)


def _pages(shots: Sequence[Shot]) -> Iterator[PreviewPage]:
    """The pages that are written, by session and seat in the order in which they stood; of those
    that follow each other while a person waits the first.
    """
    order = {place: n for n, place in enumerate(dict.fromkeys(map(_place, shots)))}
    seats: dict[str, list[str]] = {}
    for session, seat in order:
        seats.setdefault(session, []).append(seat)
    numbers = {session: n for n, session in enumerate(seats)}
    for (session, seat), own in groupby(
        sorted(shots, key=lambda shot: order[_place(shot)]), _place
    ):
        waits = False
        for number, shot in enumerate(own):
            again = waits and shot.occasion.startswith("waiting")
            waits = shot.occasion.startswith("waiting")
            if again:
                continue
            place = f"{numbers[session]}-{seats[session].index(seat) + 1}-" if session else ""
            count = f"{number:02}-" if session else ""
            slug = re.sub(r"[^a-z0-9]+", "-", shot.occasion.lower()).strip("-")
            yield PreviewPage(f"{place}{count}{slug}.html", _title(shot), shot)


def _place(shot: Shot) -> tuple[str, str]:
    return shot.session, shot.seat


def _title(shot: Shot) -> str:
    title = shot.occasion
    if title in get_args(Phase):
        title = f"survey {heading_of(title)}"
    return f"{title[:1].upper()}{title[1:]}"


def _file(
    page: PreviewPage, pages: Sequence[PreviewPage], near: Mapping[str, PreviewPage | None]
) -> str:
    """One page as a file: its style and its script stand in it, and its links lead to files."""
    style = f"{asset('people.css').decode()}\n{STYLE}"
    script = asset("forms.js").decode()
    text = LIVE.sub("", page.shot.html)
    text = text.replace(SHEET, f"<style>{style}</style>")
    text = SECRET.sub(r'\1"', text).replace(' data-draft="/me/draft"', "")
    for path, occasion in KNOWN.items():
        text = text.replace(f'href="{path}"', f'href="{_named(occasion, pages)}"')
    text = LINK.sub('href="#"', text)
    policy = _policy(style, script if FORMS in text else "")
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    text = text.replace('<meta name="viewport"', f'{head}<meta name="viewport"', 1)
    if FORMS in text:  # at the end, where the form is there
        text = text.replace(FORMS, "").replace("</body>", f"<script>{script}</script>\n</body>")
    skip, bar = SKIP.search(text), _bar(page, near)
    place = skip.end() if skip else text.index("<main")
    return text[:place] + bar + text[place:]


def _policy(style: str, script: str = "") -> str:
    """A content security policy that lets a page load nothing and send nothing."""
    allowed = f"script-src {_hash(script)}; " if script else ""
    return (
        f"default-src 'none'; {allowed}style-src {_hash(style)}; img-src data:; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _named(occasion: str, pages: Sequence[PreviewPage]) -> str:
    """The file of a page that all sessions share; "#" where there is none."""
    found = [one.name for one in pages if not one.shot.session and one.shot.occasion == occasion]
    return found[0] if found else "#"


def _bar(page: PreviewPage, near: Mapping[str, PreviewPage | None]) -> str:
    """The line above a page that says what it is."""
    shot = page.shot
    place = f"{shot.session}, {shot.seat}: " if shot.session else ""
    links = [Markup('<a href="{}">Preview</a>').format(INDEX)]
    for name, other in near.items():
        if other is not None:
            links.append(Markup('<a href="{}">{}</a>').format(other.name, name))
    said = escape(f"{place}{page.title}")
    line = f"{' · '.join(links)} · {said}"
    return f'\n<nav class="preview" aria-label="Preview" lang="en" dir="ltr">{line}</nav>'


def _index(study: str, sessions: Sequence[Session], pages: Sequence[PreviewPage]) -> str:
    """The page that lists all others, by session and participant."""
    style = f"{asset('people.css').decode()}\n{STYLE}"
    found = []
    for session in sessions:
        seats = []
        for seat in session.seats_of_people:
            own = [page for page in pages if _place(page.shot) == (session.id, seat)]
            seats.append((seat, own))
        known = {"treatment": session.treatment.name, "question": session.topic.question}
        found.append({"name": session.id, "seats": seats} | known)
    shared = [page for page in pages if not page.shot.session]
    values = {"study": study, "policy": _policy(style), "style": Markup(style)}
    return render("preview.html", language("en"), sessions=found, shared=shared, **values)
