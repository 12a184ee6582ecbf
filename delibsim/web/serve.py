"""Serving the reader on this machine until it is stopped."""

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from delibsim.domain.errors import WrongInput
from delibsim.web.app import application
from delibsim.web.guard import Guard, is_loopback, new_token
from delibsim.web.site import Site

PORT = 8377
"""The port that is tried first where none is asked for."""


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
    settings = uvicorn.Config(
        guarded,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = AnnouncingServer(settings, lambda: _announce(address, told, browse))
    try:
        server.run(sockets=[made])
    finally:
        made.close()
        site.close()


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
