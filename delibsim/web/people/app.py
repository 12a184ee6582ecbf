"""The pages of people as one application: links, what is next for each person, and the raters."""

import sys
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from delibsim.conduct.people.hall import Hall
from delibsim.conduct.people.rater_desk import RaterDesk
from delibsim.domain.text import safe
from delibsim.store.people.assignments import note_ended, task_of
from delibsim.store.people.register import Unavailable
from delibsim.store.people.states import Role, Stage
from delibsim.web.people.enter import Entry
from delibsim.web.people.next import End, Next
from delibsim.web.people.office import Office
from delibsim.web.people.office_entry import OFFICE, OfficeEntry
from delibsim.web.people.questions import Questions
from delibsim.web.people.raters import Rater, RaterPages
from delibsim.web.people.render import ASSETS, asset
from delibsim.web.people.room import Room
from delibsim.web.people.visits import HOME, Visits, page
from delibsim.web.render import KINDS

WORDS = {400: "bad", 403: "refused", 404: "nothing", 405: "nothing", 413: "large", 429: "often"}
"""By status, the key of what a page says; of any other status that it did not work."""
WAIT = "10"
"""Seconds after which who asks too often may ask again."""


def application(
    hall: Hall, desk: RaterDesk, open_here: bool = False, demo: bool = False
) -> Starlette:
    """The application over the rooms of a hall and a desk of raters; `web.people.gate.Gate` stands
    before it. `open_here` says that it is reached from this machine alone, on which the researcher
    needs no password until one is set. In a `demo` whoever has no seat watches.
    """
    visits = Visits(hall)
    shown: list[BaseRoute] = []
    if demo:
        from delibsim.web.people.demo import (
            Demo,
            reception,
        )  # pandas and the reader, for this alone

        (session,) = hall.sessions.values()
        visits.told_in_demo = partial(reception, session)
        shown = Demo(visits, session).routes()
    room, questions, end = Room(visits), Questions(visits), End(visits)

    def rater(request: Request) -> Rater | None:
        visit = visits.of(request)
        if (
            visit is None
            or visit.login.role != Role.RATER
            or visit.person.stage not in (Stage.READY, Stage.DONE)
        ):
            return None
        task = task_of(hall.register, visit.person.id)
        return Rater(visit.person.id, task, visit.words, visit.login.csrf)

    ended = partial(note_ended, hall.register)
    raters = RaterPages(desk, rater, hall.hosting.contact, ended, visits.again)

    office = Office(hall, desk, OfficeEntry(hall, open_here))

    async def told(request: Request, error: Exception) -> Response:
        return await _told(visits, request, error)

    routes = [
        *shown,
        *Entry(visits).routes(),
        *Next(visits, questions, room, end).routes(),
        *questions.routes(),
        *room.routes(),
        *end.routes(),
        *raters.routes(),
        *office.routes(),
        Route("/~assets/{name}", _asset, methods=["GET"]),
    ]
    handlers: Any = {HTTPException: told, Unavailable: told, Exception: told}
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False
    return made


async def _told(visits: Visits, request: Request, error: Exception) -> Response:
    """A page that says what went wrong, in the language of who asks, and nothing of the inside."""
    status = getattr(error, "status_code", 500)
    what = WORDS.get(status, "text")
    if isinstance(error, Unavailable):
        status, what = 503, "down"
    if not isinstance(error, HTTPException | ClientDisconnect):
        line = str(error).splitlines()[0] if str(error) else ""
        sys.stderr.write(f"delibsim serve: {type(error).__name__}: {safe(line)}\n")
    words = visits.words(request)
    if what not in ("down", "often"):
        words = await run_in_threadpool(_words_of, visits, request)
    start = OFFICE if request.url.path.startswith(OFFICE) else HOME
    answer = page("error.html", words, status, what=what, start=start)
    if status in (429, 503):
        answer.headers["retry-after"] = WAIT
    return answer


def _words_of(visits: Visits, request: Request) -> Any:
    """The language of who asks, as far as that can be known now."""
    try:
        visit = visits.of(request)
    except (HTTPException, Unavailable):
        visit = None
    return visit.words if visit else visits.words(request)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    kind = KINDS[name[name.rindex(".") :]]
    headers = {"cache-control": "public, max-age=3600"}
    return Response(asset(name), media_type=kind, headers=headers)
