"""Who may read the pages: requests that name this machine, know the token, and come from here."""

import ipaddress
import re
import secrets
import socket
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of every page: no script and no style but its own files."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
OF_ALL: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    **HEADERS,
}
"""The headers of every answer, unless it has others of these names."""
BY_TLS = {"strict-transport-security": "max-age=31536000"}
"""The header of answers to who asked by TLS, beside those of all."""
MALFORMED = 400, "The headers of the request cannot be read."
FAILED = 500, "This cannot be shown; the terminal says what is wrong."
LOOPBACK = ("localhost", "127.0.0.1", "::1")
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::([0-9]{1,5}))?")


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine for itself.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


class Screen(ABC):
    """Stands before an application: lets requests through that may pass, answers others itself, and
    gives every answer its headers. `hosts` are the names by which the server may be called.
    """

    def __init__(self, app: Any, hosts: Collection[str]) -> None:
        self.app, self.hosts = app, {*LOOPBACK, *(host.lower() for host in hosts)}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request; one whose headers cannot be read with 400."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = self.received(scope)
        more = BY_TLS if scope["scheme"] == "https" else {}
        try:
            refusal = self.refusal(scope)
        except ValueError:
            refusal = MALFORMED
        if refusal is not None:
            await refuse(send, *refusal, more)
        else:
            await answer(self.app, self.within(scope), receive, send, more)

    @abstractmethod
    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered: a status and a sentence; None where it is. ValueError for
        a header that cannot be read.
        """

    def received(self, scope: Any) -> Any:
        """The request as its first sender made it."""
        return scope

    def within(self, scope: Any) -> Any:
        """The request as the application gets it."""
        return scope


class Guard(Screen):
    """Stands before the reader.

    On the loopback interface its `hosts` alone count, so that no foreign page can call it by a name
    of its own (DNS rebinding). Elsewhere every address in numbers counts too. With a `token`, every
    path begins with it.
    """

    def __init__(
        self, app: Any, port: int, hosts: Collection[str] = (), token: str = "", wide: bool = False
    ) -> None:
        super().__init__(app, hosts)
        self.port, self.token, self.wide = port, token, wide
        if wide:
            self.hosts |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered."""
        headers: dict[str, str] = {}
        for name, text in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in headers and key in ("host", "origin"):
                return 400, "A request names one host."
            headers[key] = text.decode("latin-1")
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "This address is not that of the reader; use the one that it printed."
        method = scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            return 405, "The reader is only read."
        origin = headers.get("origin")
        if (origin is not None or method == "POST") and not _is_of(origin, host):
            return 403, "The request comes from another page."
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if elsewhere and (method == "POST" or headers.get("sec-fetch-mode") != "navigate"):
            return 403, "The request comes from another page."
        if self.token and not self._knows_token(scope["path"]):
            return 404, "There is nothing here; use the whole address that was printed."
        return None

    def _is_ours(self, host: str) -> bool:
        place_of(f"//{host}")
        match = HOST.fullmatch(host)
        if match is None or int(match[2] or 80) != self.port:
            return False
        name = match[1].strip("[]").lower()
        if name in self.hosts:
            return True
        if not self.wide:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _knows_token(self, path: str) -> bool:
        given = path.split("/")[1] if path.count("/") > 1 else ""
        return secrets.compare_digest(given.encode(), self.token.encode())

    def within(self, scope: Any) -> Any:
        """The request as the application gets it, without the token."""
        if not self.token:
            return scope
        own = f"/{self.token}"
        raw = scope.get("raw_path") or scope["path"].encode()
        return {
            **scope,
            "path": scope["path"].removeprefix(own),
            "raw_path": raw.removeprefix(own.encode()),
        }


def _is_of(origin: str | None, host: str) -> bool:
    """Whether an origin is the page of this host; a request that must say so and does not, is
    not.
    """
    if origin is None:
        return False
    scheme, place, path = place_of(origin)
    return scheme == "http" and place == host.lower() and not path


def place_of(address: str) -> tuple[str, str, str]:
    """The scheme of an address, host with port in small letters, and path; ValueError where it
    cannot be read.

    >>> place_of("http://Example.org:80/x")
    ('http', 'example.org:80', '/x')
    """
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower(), parts.path


async def answer(
    app: Any, scope: Any, receive: Any, send: Any, more: Mapping[str, str] | None = None
) -> None:
    """Let an application answer a request; its answer gets the headers of all, and those of `more`.

    Where it fails before it begins to answer, the answer is 500 with the same headers.
    """
    headers = {**OF_ALL, **(more or {})}
    begun = False

    async def send_headed(message: Any) -> None:
        nonlocal begun
        if message["type"] == "http.response.start":
            begun = True
            given = {name.lower() for name, _ in message["headers"]}
            own = [pair for pair in encoded(headers) if pair[0] not in given]
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    try:
        await app(scope, receive, send_headed)
    except Exception:
        if not begun:
            await refuse(send, *FAILED, more)
        raise


async def refuse(send: Any, status: int, said: str, more: Mapping[str, str] | None = None) -> None:
    """Answer a request with a status and a sentence, under the headers of all answers."""
    headers = {"content-type": "text/plain; charset=utf-8", **OF_ALL, **(more or {})}
    await send({"type": "http.response.start", "status": status, "headers": encoded(headers)})
    await send({"type": "http.response.body", "body": f"{said}\n".encode()})


def encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as they are sent."""
    return [(name.encode(), text.encode()) for name, text in headers.items()]
