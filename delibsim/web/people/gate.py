"""The gate before pages for people: hosts, headers, rates, sizes; and who a request is from."""

import hmac
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from delibsim.store.people.persons import Login
from delibsim.web.guard import Screen, place_of

COOKIE = "delibsim_people"
LARGEST = 1_000_000
"""Bytes of a form: 10,000 words of any script are kept, so that they can be shown again."""
FIELDS = 500


class PeopleScreen(Screen):
    """Stands before pages for people. `proxies` are the addresses whose words on who asks, and
    whether by TLS, are believed.
    """

    def __init__(
        self, app: Any, hosts: Collection[str] = (), proxies: Collection[str] = ()
    ) -> None:
        super().__init__(app, hosts)
        self.proxies = frozenset(proxies)

    def received(self, scope: Any) -> Any:
        """The request as its first sender made it, where a declared proxy passed it on."""
        peer = (scope.get("client") or ("",))[0]
        if peer not in self.proxies:
            return {**scope, "scheme": "http"}
        headers = _headers_of(scope)
        sender = headers.get("x-forwarded-for", "").rsplit(",", 1)[-1].strip() or peer
        scheme = "https" if headers.get("x-forwarded-proto") == "https" else "http"
        return {**scope, "client": (sender, 0), "scheme": scheme, "proxied": True}

    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered."""
        headers = _headers_of(scope)
        host = headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or ""
        if name not in self.hosts:
            return 421, "This address is not that of the study; use the link that you were given."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "This cannot be done here."
        if scope["method"] == "POST" and _is_foreign(headers, host):
            return 403, "The form comes from another page."
        return None


def _headers_of(scope: Any) -> dict[str, str]:
    return {
        name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]
    }


def _is_foreign(headers: dict[str, str], host: str) -> bool:
    """Whether a form comes from a page of somebody else. Programs that are no browsers say
    nothing of where it comes from; what keeps others out is the secret that forms carry.
    """
    origin = headers.get("origin")
    elsewhere = origin is not None and place_of(origin)[1] != host.lower()
    return elsewhere or headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


async def fields_in(request: Request) -> dict[str, list[str]]:
    """The fields of a form; HTTPException 413 where it is too long, 400 for what is none."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST:
            raise HTTPException(413)
    return parsed(content)


def refuse_foreign(given: Mapping[str, list[str]], login: Login) -> None:
    """Refuse a form that lacks the secret of who sent it, with 403."""
    secret = (given.get("csrf") or [""])[-1]
    if not hmac.compare_digest(secret.encode(), login.csrf.encode()):
        raise HTTPException(403)


def parsed(content: bytes) -> dict[str, list[str]]:
    """The fields of a form as it was sent, without the character of number 0, which PostgreSQL
    cannot keep; HTTPException 400 for what is none.
    """
    try:
        text = content.decode("utf-8")
        found = parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise HTTPException(400) from None
    plain = {}
    for name, values in found.items():
        plain[name] = [value.replace("\0", "") for value in values]
    return plain


def with_cookie(response: Any, token: str, request: Request) -> Any:
    """An answer that sets the cookie of who was let in."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=60 * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.scope.get("scheme") == "https",
        path="/",
    )
    return response


OFTEN = (240, 10.0)
"""Requests that one cookie may make within so many seconds."""
OF_ADDRESS = (3_000, 10.0)
"""Requests without a good cookie that one address may make: hundreds may come from one building."""
TRIES = (30, 60.0)
"""Links and cookies that are none which one address may try; good ones never count."""
PASSWORDS = (6, 60.0)
"""Passwords that one address may try."""
PASSWORDS_OF_ALL = (60, 60.0)
"""Passwords that all addresses together may try."""
NEWCOMERS = (400, 600.0)
"""New people whom an open link lets in from one address: hundreds may sit in one building."""
KEPT = 20_000
"""How many askers are remembered; who has not asked for longest is forgotten first."""

PING = 15
"""Seconds between two signs of life of a stream of events."""


class Rates:
    """Who has asked how often of late, by any name that tells one asker from another."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()

    def is_over(self, who: str, rate: tuple[int, float]) -> bool:
        """Whether somebody has asked more often than the rate allows; this time counts."""
        most, within = rate
        asked = self._asked.setdefault(who, deque(maxlen=most + 1))
        self._asked.move_to_end(who)
        moment = time.monotonic()
        asked.append(moment)
        while moment - asked[0] > within:
            asked.popleft()
        if len(self._asked) > KEPT:
            self._asked.popitem(last=False)
        return len(asked) > most


class Streams:
    """Streams of events that are open, at most `most` of anybody: a place is taken before a stream
    is opened, so that many requests at once open no more.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def answer(self, who: str, lines: AsyncIterable[dict[str, str]]) -> Response:
        """The answer that sends these lines to somebody; 429 where no place is free."""
        if self._open[who] >= self.most:
            return Response(status_code=429, headers={"retry-after": "10"})
        self._open[who] += 1
        return _Stream(self, who, lines)

    def close(self, who: str) -> None:
        """Give a place back."""
        self._open[who] -= 1
        if not self._open[who]:
            del self._open[who]


class _Stream(EventSourceResponse):
    """A stream that gives its place back however it ends, also before its first line."""

    def __init__(self, streams: Streams, who: str, lines: AsyncIterable[dict[str, str]]) -> None:
        super().__init__(lines, ping=PING, headers={"x-accel-buffering": "no"})
        self._streams, self._who = streams, who

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.close(self._who)
