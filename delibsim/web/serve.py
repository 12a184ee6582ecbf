"""Serving the reader on this machine until it is stopped, and how requests are read."""

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from delibsim.domain.errors import WrongInput
from delibsim.web.app import application
from delibsim.web.guard import OF_ALL, Guard, encoded, is_loopback, new_token
from delibsim.web.site import Site

PORT = 8377
"""The port that is tried first where none is asked for."""
LONGEST = 65_536
"""Bytes of the head of a request: its address and its headers, cookies among them."""
HEAD_SECONDS = 20.0
"""Seconds within which a head that was begun must end."""


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


def serve(
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
    is closed once the head of a request is too long, or takes too long. What it answers by itself
    has the headers of all answers.
    """

    _head = 0
    _in_head = True
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first head is awaited."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        if self._in_head:
            self._head += len(data)
            self._await_head()
        super().data_received(data)
        if self._in_head and self._head > LONGEST:
            self.send_400_response("The address and the headers are too long.")

    def on_headers_complete(self) -> None:
        """The head ends, and what follows is limited by who reads it."""
        self._in_head, self._head = False, 0
        self._head_is_there()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next head begins."""
        super().on_message_complete()
        self._in_head = True

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and close."""
        self._end(400, msg)

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _head_is_there(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _too_late(self) -> None:
        if self._head:
            self._end(408, "The head of the request took too long.")
        else:
            self.transport.close()  # nothing was asked

    def _end(self, status: int, said: str) -> None:
        self._head_is_there()
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
