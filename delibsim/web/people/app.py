"""The pages of people as one application, and serving it beside the rooms until it is stopped."""

import asyncio
import resource
import sys
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from delibsim.domain.text import safe
from delibsim.people.erase import keep_promises
from delibsim.people.hall import Hall
from delibsim.people.raters import AnswerWriter, RaterDesk, keep_bringing
from delibsim.store.people.register import Unavailable
from delibsim.web.guard import is_loopback
from delibsim.web.people.office import OFFICE, Office, OfficeEntry
from delibsim.web.people.raters import RaterPages
from delibsim.web.people.render import ASSETS, asset
from delibsim.web.people.room import SeatPages
from delibsim.web.people.stages import End, Questions, StagePages
from delibsim.web.people.visits import HOME, InvitationPages, PeopleScreen, Visits, page
from delibsim.web.render import KINDS
from delibsim.web.serve import AnnouncingServer, bound, configured

WORDS = {400: "bad", 403: "refused", 404: "nothing", 405: "nothing", 413: "large", 429: "often"}
"""By status, the key of what a page says; of any other status that it did not work."""
WAIT = "10"
"""Seconds after which who asks too often may ask again."""


def application(
    hall: Hall, desk: RaterDesk, open_here: bool = False, demo: bool = False
) -> Starlette:
    """The application over the rooms of a hall and a desk of raters; `PeopleScreen` stands
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
    room, questions, end = SeatPages(visits), Questions(visits), End(visits)

    raters = RaterPages(visits, desk)
    office = Office(hall, desk, OfficeEntry(hall, open_here))

    async def told(request: Request, error: Exception) -> Response:
        return await _told(visits, request, error)

    routes = [
        *shown,
        *InvitationPages(visits).routes(),
        *StagePages(visits, questions, room, end).routes(),
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


MOST_OPEN = 65_536
KEPT_OPEN = 120
"""Seconds that an idle connection is kept: longer than browsers and proxies keep theirs. They would
else send a form into one that is just being closed.
"""


def serve_people(
    open_hall: Callable[[], Awaitable[Hall]],
    host: str,
    port: int | None,
    hosts: Collection[str],
    proxies: Collection[str],
    told: Callable[[str], None],
    until: Callable[[Hall], Awaitable[None]] | None = None,
    demo: bool = False,
) -> None:
    """Serve until the process is interrupted, or `until` is over; `told` gets the address once it
    can be opened.

    `open_hall` is called within the event loop, to which connections to models belong.
    """
    _open_many()
    made = bound(host, port)
    number = made.getsockname()[1]
    named = f"[{host}]" if ":" in host else host

    async def all_of_it() -> None:
        hall = await open_hall()
        desk = RaterDesk(hall.runs, hall.register)
        alone = is_loopback(host) and not hosts and not proxies
        gate = PeopleScreen(application(hall, desk, alone, demo), [host, *hosts], proxies)
        settings = configured(gate, timeout_keep_alive=KEPT_OPEN)
        server = _Server(settings, lambda: told(f"http://{named}:{number}"))
        parts = [
            hall.run(),
            keep_bringing(AnswerWriter(desk, hall.runs.lock), told=hall.told),
            keep_promises(hall, desk),
            *([until(hall)] if until else []),
            server.serve(sockets=[made]),
        ]
        tasks = [asyncio.ensure_future(part) for part in parts]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            server.should_exit = True
            for task in tasks[:-1]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            hall.register.close()

    try:
        asyncio.run(all_of_it())
    finally:
        made.close()


def _open_many() -> None:
    """Let this process open as many files and connections as the system lets it, up to MOST_OPEN:
    every page that is open holds a connection, and the usual limit is 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_OPEN if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # it stays as it is
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(AnnouncingServer):
    """A server that leaves signals to who called it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield
