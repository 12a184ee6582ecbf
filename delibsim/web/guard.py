"""Who may read the pages: requests that name this machine, know the token, and come from here."""

import ipaddress
import re
import secrets
import socket
from collections.abc import Collection
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


class Guard:
    """Lets requests through to an application that may have them; answers others itself.

    `hosts` are the names by which the machine may be called; on the loopback interface these alone
    count, so that no foreign page can call it by a name of its own (DNS rebinding). Elsewhere every
    address in numbers counts too. With a `token`, every path begins with it.
    """

    def __init__(
        self, app: Any, port: int, hosts: Collection[str] = (), token: str = "", wide: bool = False
    ) -> None:
        self.app, self.port, self.token, self.wide = app, port, token, wide
        self.hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        if wide:
            self.hosts |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = list(message["headers"])
                given = {name.lower() for name, _ in headers}
                own = {"content-security-policy": POLICY, "cache-control": "no-store"} | HEADERS
                for name, text in own.items():
                    if name.encode() not in given:
                        headers.append((name.encode(), text.encode()))
                message = {**message, "headers": headers}
            await send(message)

        await self.app(self._within(scope), receive, send_guarded)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered: a status and a sentence; None where it is."""
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

    def _within(self, scope: Any) -> Any:
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
    parts = urlsplit(origin)
    return parts.scheme == "http" and parts.netloc.lower() == host.lower() and not parts.path


async def _refuse(send: Any, status: int, said: str) -> None:
    headers = {"content-type": "text/plain; charset=utf-8", "content-security-policy": POLICY}
    headers |= HEADERS | {"cache-control": "no-store"}
    named = [(name.encode(), text.encode()) for name, text in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": named})
    await send({"type": "http.response.body", "body": f"{said}\n".encode()})
