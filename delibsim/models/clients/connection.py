"""Reading the body of a response, however odd it is: an answer that was paid for is not lost to a
byte-order mark, to deep nesting or to a number of four hundred digits. What a server tells of its
models, and how many tokens a prompt and its reply may have together.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx

from delibsim.domain.data import read_data
from delibsim.models.clients.chat import simplify
from delibsim.models.clients.faults import public_url

DEEPEST = 50
"""How deep values may be nested; answers of the chat-completions protocol have about six levels."""
MARK = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
"""A text in quotation marks, or a bracket outside of one."""
DIGITS = 18
"""A whole number of more digits counts no tokens and no dollars, and is None."""


def text_of(body: bytes) -> str:
    """The text of a body in UTF-8, UTF-16 or UTF-32, without a byte-order mark."""
    return body.decode(json.detect_encoding(body), errors="replace")


def decoded(text: str) -> Any:
    """The JSON value in a text, or None if it holds none; what is nested deeper than DEEPEST is
    None.

    >>> decoded('{"cost": ' + "9" * 400 + "}")
    {'cost': None}
    >>> decoded('{"a": ' + "[" * 100_000 + "]" * 100_000 + ', "b": "[["}')["b"]
    '[['
    """
    try:
        try:
            return DECODE(text)
        except RecursionError:
            return DECODE(_pruned(text))
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= DIGITS else None


DECODE = json.JSONDecoder(parse_int=_whole).decode


def _pruned(text: str) -> str:
    """A JSON text with null in the place of what is nested too deeply."""
    kept, depth, begun = [], 0, 0
    for mark in MARK.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth == DEEPEST:
                kept.append(text[begun : mark.start()])
        elif mark[0] in "]}":
            depth -= 1
            if depth == DEEPEST - 1:
                kept.append("null")
                begun = mark.end()
    if depth >= DEEPEST:
        return "".join(kept)
    return "".join(kept) + text[begun:]


PATIENCE = 4.0  # seconds, so that a preflight ends within five
LONGEST_HEADER = 2**20
"""Bytes. An answer that was paid for is not lost to a header that is longer than usual."""


async def unreachable(url: str) -> str:
    """Why no connection can be made to the server of an address, or "" if one can; nothing is asked
    of it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(parts.hostname or "", port)
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except (OSError, ValueError) as error:
        return str(error)
    writer.close()
    return ""


PLACES = read_data("servers.yaml")
"""Where servers tell it."""
Get = Callable[[str], Awaitable[str]]
"""Gives the body of an address beside /v1, "" where there is none."""


def listed(text: str) -> dict[str, Mapping[str, Any]]:
    """The entries of a list of models by their names; none if the text is no such list."""
    try:
        return {str(entry["id"]): entry for entry in decoded(text)["data"]}
    except (KeyError, TypeError):
        return {}


async def window_of(model: str, entry: Mapping[str, Any], get: Get) -> int | None:
    """The window of a model by its entry in the list of models, else by what its server tells
    elsewhere; None where it tells nothing.
    """
    told = filter(None, (_number(entry, path) for path in PLACES["listed"]))
    if window := next(told, None):
        return window
    pages = await asyncio.gather(*(get(place["path"]) for place in PLACES["elsewhere"]))
    for place, page in zip(PLACES["elsewhere"], pages, strict=True):
        if window := _in_page(decoded(page), place, model):
            return window
    return None


def _in_page(page: Any, place: Mapping[str, str], model: str) -> int | None:
    if "list" not in place:
        return _number(page, place["window"])
    entries = page.get(place["list"]) if isinstance(page, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get(place["name"]) == model:
            return _number(entry, place["window"])
    return None


def _number(value: Any, path: str) -> int | None:
    """The whole number at a path of members; None where there is none above 0."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that describe a body as it was sent, and not as it is handed on."""


class Guarded(httpx.AsyncBaseTransport):
    """A transport that answers a redirect with an error (HTTP 400) instead of following it, and
    hands on bodies in their plainest form.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the whole response, never a stream."""
        response = await self._transport.handle_async_request(request)
        code = response.status_code
        if 300 <= code < 400:
            where = public_url(response.headers.get("Location", "nowhere"))
            await response.aclose()
            fault = {"message": f"HTTP {code}: the address has moved to {where}"}
            return httpx.Response(400, json={"error": fault})
        body = await response.aread()
        headers = [(k, v) for k, v in response.headers.multi_items() if k not in OF_THE_BODY]
        return httpx.Response(code, headers=headers, content=_plain(body))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


def _plain(body: bytes) -> bytes:
    """A body that any reader of the protocol can read; as it is, if it holds no JSON object."""
    payload = decoded(text_of(body))
    if not isinstance(payload, dict):
        return body
    simplify(payload)
    return json.dumps(payload).encode()


def guard() -> None:
    """Have litellm guard all connections that it makes from now on.

    litellm has no setting for this. All its asynchronous clients, its own and those of the OpenAI
    SDK, take their transport from one function, which is replaced.
    """
    # Slow to import, and only to be imported after its settings (litellm.py).
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    def guarded(
        ssl_context: ssl.SSLContext | None = None,
        ssl_verify: bool | None = None,
        shared_session: aiohttp.ClientSession | None = None,
    ) -> Guarded:
        made = make(ssl_context, ssl_verify, shared_session)
        verify = ssl_context if ssl_context is not None else ssl_verify
        if made is None:
            return Guarded(httpx.AsyncHTTPTransport(verify=True if verify is None else verify))
        if isinstance(made, LiteLLMAiohttpTransport):
            client = made.client
            if not isinstance(client, aiohttp.ClientSession):
                usual = None if verify is True else verify
                made = LiteLLMAiohttpTransport(_with_long_headers(client), ssl_verify=usual)
        return Guarded(made)

    make = AsyncHTTPHandler._create_async_transport
    AsyncHTTPHandler._create_async_transport = staticmethod(guarded)  # ty: ignore[invalid-assignment]


def _with_long_headers(
    make: Callable[[], aiohttp.ClientSession],
) -> Callable[[], aiohttp.ClientSession]:
    """What makes sessions as `make` does, but for the length of headers that they take."""

    def made() -> aiohttp.ClientSession:
        usual = make()
        session = aiohttp.ClientSession(
            connector=usual.connector,
            cookie_jar=usual.cookie_jar,
            trust_env=usual.trust_env,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
        )
        usual.detach()
        return session

    return made
