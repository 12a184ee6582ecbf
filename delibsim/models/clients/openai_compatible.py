"""A lean client for servers that speak the chat-completions protocol: vLLM, Ollama, llama.cpp,
OpenRouter and their like.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from pydantic_core import to_json

from delibsim.models.base import Capabilities, Completion, PreflightIssue
from delibsim.models.clients.chat import Hosted, messages_of
from delibsim.models.clients.connection import (
    LONGEST_HEADER,
    PATIENCE,
    decoded,
    listed,
    text_of,
    window_of,
)
from delibsim.models.clients.faults import public_url, retry_after, secrets, status_of
from delibsim.models.clients.settings import provider_at
from delibsim.prompts.prompt import Prompt

LONGEST_NAME = 200
"""Characters of the name of a model that are repeated."""
HTTP_ERRORS = frozenset(str(code) for code in range(400, 600))


class OpenAICompatible(Hosted):
    """One model of one server. A call is one attempt; retries, limits and budget stand outside
    (models/retry.py).

    `base_url` ends where "/chat/completions" is to follow; `key_env` names the environment variable
    that holds the key (or the address holds user and password; ValueError for both); `timeout` is
    the total time of an attempt in seconds, however slowly the answer trickles. A parameter the
    server rejects is left out of one more attempt and of every later call, and recorded as dropped.
    """

    NOT_FOUND = "HTTP 404"

    def __init__(
        self,
        name: str,
        model: str,
        base_url: str,
        key_env: str = "",
        timeout: float = 300.0,
        strict: bool = False,
        **sampling: Any,
    ) -> None:
        super().__init__(name, model, timeout, strict, sampling)
        self.base_url, self.key_env = base_url.rstrip("/"), key_env
        self.provider = provider_at(self.base_url)
        self._answering = False
        self._window: int | None = None
        self._key = os.environ.get(key_env, "") if key_env else ""
        if self._key and urlsplit(base_url).username:
            raise ValueError(
                "its address holds a user and its key_env a key; a server takes one of the two"
            )
        self._hidden = [*([self._key] if len(self._key) >= 8 else []), *secrets([base_url])]
        connecting = min(30.0, timeout / 2)
        self._patience = aiohttp.ClientTimeout(total=timeout, sock_connect=connecting)
        self._session: aiohttp.ClientSession | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Its server is its provider; it can be checked without paying, and its connections can be
        closed.
        """
        return Capabilities(
            provider=self.provider,
            max_tokens=self.sampling.max_tokens,
            preflight=self.preflight,
            answering=self._answering,
            window=self._window,
            close=self.close,
        )

    async def preflight(self) -> list[PreflightIssue]:
        """What can be found out without paying: whether the key is there, the server answers, and
        it knows the model.
        """
        if self.key_env and not self._key:
            return self._error(
                f"set the environment variable {self.key_env} to the key of {self.provider}"
            )
        try:
            response, text = await self._fetch("GET", self._url("models"))
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            return self._error(f"no connection to {self.provider}: {self._clean(_words(error))}")
        if 300 <= response.status < 400:
            return self._error(f"{self.provider}: {self._moved(response)}")
        if response.status in (401, 403):
            complaint = "wants a key; set model.key_env=NAME of its variable"
            if self.key_env:
                complaint = f"does not accept the key in {self.key_env}"
            return self._error(f"{self.provider} {complaint} (HTTP {response.status})")
        known = listed(text) if response.status == 200 else {}
        if known and self.model not in known:
            names = ", ".join(name[:LONGEST_NAME] for name in list(known)[:10])
            return self._error(
                f"{self.provider} does not know the model '{self.model}'; it has: {names}"
            )
        self._window = await self._find_window(known.get(self.model, {}))
        self._answering = self.model in known and not self._key
        note = f"{self.provider} answers"
        if self._window:
            note += f"; its window has {self._window:,} tokens"
        if not known:
            note += (
                f", but lists no models (HTTP {response.status}), so the name could not be"
                " checked; base_url usually ends in /v1"
            )
        return [PreflightIssue("note", self.name, note)]

    async def _fetch(
        self, method: str, url: str, body: bytes | None = None
    ) -> tuple[aiohttp.ClientResponse, str]:
        """The response of an address that costs nothing, and its body."""
        async with self._open().request(
            method,
            url,
            data=body,
            headers=self._headers(),
            timeout=aiohttp.ClientTimeout(total=PATIENCE),
            allow_redirects=False,
        ) as response:
            return response, text_of(await response.read())

    async def _find_window(self, entry: Mapping[str, Any]) -> int | None:
        """The window of the model, by its entry in the list of models or by what its server tells
        elsewhere.
        """
        return await window_of(self.model, entry, self._beside)

    async def _beside(self, path: str) -> str:
        """The body at an address beside /v1, "" where there is none."""
        base, mark, query = self.base_url.partition("?")
        root = base.rstrip("/").removesuffix("/v1")
        try:
            response, text = await self._fetch("GET", f"{root}/{path}{mark}{query}")
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return ""
        return text if response.status == 200 else ""

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _attempt(self, prompt: Prompt, sent: Mapping[str, Any]) -> Completion:
        """The completion of one request; a fault on the way is a status."""
        url, body = self._request(prompt, sent)
        try:
            async with self._open().post(
                url,
                data=to_json(body),
                headers=self._headers(),
                timeout=self._patience,
                allow_redirects=False,
            ) as response:
                text = text_of(await response.read())
        except aiohttp.ConnectionTimeoutError:
            return self._failed("unavailable", "no connection within the time allowed")
        except TimeoutError:
            return self._late()
        except aiohttp.ClientConnectorError as error:
            return self._failed("unavailable", f"no connection: {self._clean(_words(error))}")
        except (aiohttp.ClientError, OSError) as error:
            broken = f"the answer broke off: {self._clean(_words(error))}"
            return self._failed("unavailable", broken, possibly_billed=True)
        if 300 <= response.status < 400:
            return self._failed("bad_request", self._moved(response))
        return self._judge(response.status, text, response.headers)

    def _request(self, prompt: Prompt, sent: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Address and body of a call."""
        body = {"model": self.model, "messages": messages_of(prompt), **sent}
        return self._url("chat/completions"), body

    def _moved(self, response: aiohttp.ClientResponse) -> str:
        """What is said of a redirect, which is never followed."""
        where = public_url(self._clean(response.headers.get("Location", "nowhere")))
        return f"HTTP {response.status}: the address has moved to {where}"

    def _judge(self, code: int, text: str, headers: Mapping[str, str]) -> Completion:
        """The completion in a whole response."""
        payload = decoded(text)
        error = payload.get("error") if isinstance(payload, dict) else None
        if code != 200 or error:
            status = status_of(_code_of(error) if code == 200 else code, text)
            failed = self._failed(status, f"HTTP {code}{self._said(error, text)}")
            return replace(failed, retry_after=retry_after(headers))
        if payload is None:
            fault = f"HTTP 200 with {_kind_of(text)} instead of an answer"
            return self._failed("unavailable", fault, possibly_billed=True)
        return self._answered(payload)

    def _said(self, error: Any, text: str) -> str:
        """What a failed response says, as it follows its code."""
        if isinstance(error, (bool, int, float)):
            error = {"error": error}
        if error or text.strip():
            return f": {self._clean(_words(error or text))[:500]}"
        return " with an empty body"

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers

    def _url(self, path: str) -> str:
        base, mark, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{mark}{query}"

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # The gate of the pool limits concurrency; the connector must not queue behind it.
            connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
            self._session = aiohttp.ClientSession(
                connector=connector, max_line_size=LONGEST_HEADER, max_field_size=LONGEST_HEADER
            )
        return self._session


def _words(fault: object) -> str:
    """A fault as text: of an error without words its name."""
    if isinstance(fault, (dict, list)):
        return json.dumps(fault, ensure_ascii=False)
    return str(fault) or type(fault).__name__


def _code_of(error: Any) -> int:
    """The HTTP code that an error in the body of a response states, else 500."""
    stated = str(error.get("code")) if isinstance(error, dict) else ""
    return int(stated) if stated in HTTP_ERRORS else 500


def _kind_of(text: str) -> str:
    """What the body of a response holds that is no JSON."""
    if not text.strip():
        return "nothing"
    if text.strip() == "null":
        return "null"
    return "an HTML page" if text.lstrip()[:1] == "<" else "broken JSON"
