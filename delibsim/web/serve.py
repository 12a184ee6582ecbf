"""Serving the reader on this machine until it is stopped, and how requests are read."""

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import safe
from delibsim.store.notes import Notes
from delibsim.web.guard import OF_ALL, Guard, encoded, is_loopback, new_token
from delibsim.web.pages import (
    error_page,
    models_csv,
    models_page,
    runs_page,
    studies_page,
    study_page,
)
from delibsim.web.render import ASSETS, KINDS, TURNS, asset, page_name_of
from delibsim.web.site import NotFound, Site

LARGEST = 200_000
"""Bytes of a form."""
OF_REPORT = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What the report of an analysis, a page of its own, may do."""
ASSETS_STAY = {"cache-control": "private, max-age=3600"}


def application(site: Site) -> Starlette:
    """The application; `web.guard.Guard` stands before it."""

    def html(make: Callable[[Request], str]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return HTMLResponse(await run_in_threadpool(make, request))

        return answer

    def of(request: Request, name: str) -> Any:
        return request.path_params[name]

    def turns(request: Request) -> str:
        number = request.path_params["first"] - 1
        if number % TURNS:
            raise NotFound("the conversation has no such page")
        return _conversation(site, request, number // TURNS)

    def calls(request: Request) -> str:
        from delibsim.web.conversation import calls_page  # numpy and networkx are slow to import

        return calls_page(site, of(request, "folder"), of(request, "session"))

    def call(request: Request) -> str:
        from delibsim.web.conversation import call_pages

        pages = call_pages(site, of(request, "folder"), of(request, "session"), of(request, "n"))
        return next(iter(pages))[1]

    def both(request: Request) -> str:
        from delibsim.web.comparison import comparison_page

        other = request.query_params.get("with", "")
        return comparison_page(site, of(request, "folder"), of(request, "session"), other)

    studies = html(lambda request: studies_page(site, request.query_params))
    study = html(lambda request: study_page(site, of(request, "folder")))
    run = html(lambda request: _conversation(site, request, 0))
    runs = html(lambda request: runs_page(site, of(request, "folder"), request.query_params))
    routes = [
        Route("/", studies),
        Route("/index.html", studies),
        Route("/models.html", html(lambda request: models_page(site))),
        Route("/models.csv", _models),
        Route("/~assets/{name}", _asset),
        Route("/{folder}/", study),
        Route("/{folder}/index.html", study),
        Route("/{folder}/runs.html", runs),
        Route("/{folder}/~analysis/{name}.html", _analysis),
        Route("/{folder}/~figures/{name}.svg", _figure),
        Route("/{folder}/{session}/", run),
        Route("/{folder}/{session}/index.html", run),
        Route("/{folder}/{session}/turns-{first:int}.html", html(turns)),
        Route("/{folder}/{session}/beside.html", html(both)),
        Route("/{folder}/{session}/calls/index.html", html(calls)),
        Route("/{folder}/{session}/calls/{n:int}.html", html(call)),
        Route("/{folder}/{session}/~notes", _note, methods=["POST"]),
        Route("/{folder}/{session}/~notes/remove", _remove, methods=["POST"]),
    ]
    handlers: Any = {
        NotFound: _not_found,
        WrongInput: _wrong,
        HTTPException: _http,
        Exception: _failed,
    }
    made = Starlette(routes=routes, exception_handlers=handlers)
    made.router.redirect_slashes = False
    made.state.site = site
    return made


def _conversation(site: Site, request: Request, number: int) -> str:
    from delibsim.web.conversation import conversation_page

    names = request.path_params
    return conversation_page(site, names["folder"], names["session"], number)[0]


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise NotFound("there is no such file")
    kind = KINDS[name[name.rindex(".") :]]
    return Response(asset(name), media_type=kind, headers=ASSETS_STAY)


async def _models(request: Request) -> Response:
    content = await run_in_threadpool(models_csv, request.app.state.site)
    if content is None:
        raise NotFound("the studies are being read; ask again in a moment")
    return Response(content, media_type="text/csv; charset=utf-8")


async def _figure(request: Request) -> Response:
    site: Site = request.app.state.site
    names = request.path_params
    content = await run_in_threadpool(site.figure, names["folder"], names["name"])
    if content is None:
        raise NotFound("there is no such figure")
    policy = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return Response(content, media_type=KINDS[".svg"], headers=policy)


async def _analysis(request: Request) -> Response:
    site: Site = request.app.state.site
    names = request.path_params
    content = await run_in_threadpool(site.analysis_page, names["folder"], names["name"])
    if content is None:
        raise NotFound("the study has no such page of its analysis that is shown")
    return HTMLResponse(content, headers={"content-security-policy": OF_REPORT})


async def _note(request: Request) -> Response:
    """Keep a note, and show the page again where it stands."""
    fields, notes, session = await _form(request)
    turn = fields.get("turn", "")
    if turn and not (turn.isdecimal() and len(turn) < 9):
        raise WrongInput("a note is on a turn by its number, or on the run")
    number = int(turn) if turn else None
    notes.add(session, number, fields.get("text", ""), fields.get("tags", ""))
    where = f"{page_name_of(number)}#turn-{number}" if number else "index.html#notes"
    return RedirectResponse(where, status_code=303)


async def _remove(request: Request) -> Response:
    fields, notes, session = await _form(request)
    if any(note.id == fields.get("id") and note.session == session for note in notes.all()):
        notes.remove(fields["id"])
    return RedirectResponse("../index.html#notes", status_code=303)


async def _form(request: Request) -> tuple[dict[str, str], Notes, str]:
    """The fields of a form, the notes of the study, and the session that it is about."""
    site: Site = request.app.state.site
    if site.read_only:
        raise HTTPException(403, "The reader was started with --read-only: no notes are kept.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A note comes from the form of the page.")
    names = request.path_params
    index = await run_in_threadpool(site.session, names["folder"], names["session"])
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST:
            raise HTTPException(413, "The note is too long.")
    try:
        given = parse_qs(content.decode("utf-8"), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None
    return {name: texts[-1] for name, texts in given.items()}, Notes(index.runs), names["session"]


def _told(request: Request, status: int, title: str, said: str) -> Response:
    site: Site = request.app.state.site
    depth = request.scope["path"].count("/") - 1
    return HTMLResponse(error_page(site, "../" * depth, title, said), status_code=status)


async def _not_found(request: Request, error: Exception) -> Response:
    return _told(request, 404, "No such page", f"Here is nothing: {error}.")


async def _wrong(request: Request, error: Exception) -> Response:
    return _told(request, 400, "That cannot be done", _without_paths(request, error))


async def _http(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    title = "No such page" if status == 404 else "That cannot be done"
    return _told(request, status, title, str(getattr(error, "detail", "")))


async def _failed(request: Request, error: Exception) -> Response:
    """A page for what went wrong here; the terminal is told in one line."""
    said = safe(f"{type(error).__name__}: {error}".splitlines()[0])
    sys.stderr.write(f"delibsim view: {safe(request.scope['path'])}: {said}\n")
    return _told(request, 500, "This page cannot be shown", "The terminal says what is wrong.")


def _without_paths(request: Request, error: Exception) -> str:
    """What an error says; where files lie is nobody's business but the terminal's."""
    site: Site = request.app.state.site
    said = str(error)
    for path in {site.root.resolve(), *(one.resolve() for one in site.folders().values())}:
        said = said.replace(f"{path}/", "")
    return said


PORT = 8377
"""The port that is tried first where none is asked for."""
LONGEST = 65_536
"""Bytes of the head of a request: its address and its headers, cookies among them."""
HEAD_SECONDS = 20.0
"""Seconds within which a head that was begun must end."""
BODY_SECONDS = 60.0
"""Seconds within which a body must end after its head."""


def bound(host: str, port: int | None) -> socket.socket:
    """A socket on this address; where no port is asked for, another one if the first is taken.

    WrongInput where it cannot be had.
    """
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = [port] if port is not None else [PORT, 0]
    fault = ""
    for number in tries:
        made = socket.socket(kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Pages go out at once: otherwise the second part of each waits 40 ms for the browser.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            made.bind((host, number))
        except (OSError, OverflowError) as error:
            made.close()
            fault = getattr(error, "strerror", None) or str(error)
            continue
        return made
    place = f"{host}, port {port}" if port is not None else host
    raise WrongInput(f"the reader cannot be served on {place}: {fault}; name another: --port N")


def serve_pages(
    site: Site,
    host: str,
    port: int | None,
    page: str,
    told: Callable[[str], None],
    browse: bool = True,
) -> None:
    """Serve until the process is interrupted; `told` gets the address of the `page` that is read
    first, once it can be opened.
    """
    made = bound(host, port)
    number = made.getsockname()[1]
    wide = not is_loopback(host)
    token = new_token() if wide else ""
    guarded = Guard(application(site), number, [host], token, wide)
    name = f"[{host}]" if ":" in host else host
    address = (
        f"http://{name}:{number}/{token}/{page}" if token else f"http://{name}:{number}/{page}"
    )
    server = AnnouncingServer(configured(guarded), lambda: _announce(address, told, browse))
    try:
        server.run(sockets=[made])
    finally:
        made.close()
        site.close()


def configured(app: Any, **more: Any) -> uvicorn.Config:
    """How an application is served: quietly, and nothing but HTTP."""
    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        **more,
    )


class Protocol(HttpToolsProtocol):
    """A connection, read by httptools, which is quicker than h11 and sets no limit of its own: it
    is closed once the head of a request is too long, or takes too long, or its body does. What it
    answers by itself has the headers of all answers.
    """

    _head = 0
    _in_head = True
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first head is awaited."""
        super().connection_made(transport)
        self._await(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        if self._in_head:
            self._head += len(data)
            self._await(HEAD_SECONDS)
        super().data_received(data)
        if self._in_head and self._head > LONGEST:
            self.send_400_response("The address and the headers are too long.")

    def on_headers_complete(self) -> None:
        """The head ends, and the body, whose length is limited by who reads it, is awaited."""
        self._in_head, self._head = False, 0
        self._is_there()
        self._await(BODY_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head begins."""
        self._is_there()
        super().on_message_complete()
        self._in_head = True

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and close."""
        self._end(400, msg)

    def _await(self, seconds: float) -> None:
        if self._late is None:
            self._late = self.loop.call_later(seconds, self._too_late)

    def _is_there(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        if self._head or not self._in_head:
            self._end(408, "The request took too long.")
        else:
            self.transport.close()  # nothing was asked

    def _end(self, status: int, said: str) -> None:
        self._is_there()
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:  # else it would stand in an answer
            kind = {"content-type": "text/plain; charset=utf-8", "connection": "close"}
            headers = encoded({**kind, "content-length": str(len(said)), **OF_ALL})
            lines = [b"%s: %s\r\n" % pair for pair in headers]
            self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", said.encode()]))
        self.transport.close()


class AnnouncingServer(uvicorn.Server):
    """A server that says when it can be asked."""

    def __init__(self, settings: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(settings)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def _announce(address: str, told: Callable[[str], None], browse: bool) -> None:
    told(address)
    if browse and has_screen():
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()


def has_screen() -> bool:
    """Whether a browser could open a window."""
    if sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
