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

from delibsim.models.base import Completion
from delibsim.models.clients.chat import Dialect, Sampling, completion_of, messages_of
from delibsim.models.clients.faults import public_url, retry_after, scrub, secrets, status_of
from delibsim.models.clients.preflight import PATIENCE, PreflightIssue
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Prompt

HTTP_ERRORS = frozenset(str(code) for code in range(400, 600))


class OpenAICompatible:
    """One model of one server. A call is one attempt; retries, limits and budget stand outside
    (models/retry.py).

    `base_url` ends where "/chat/completions" is to follow; `key_env` names the environment variable
    that holds the key (or the address holds user and password; ValueError for both); `answering`
    says that a preflight found the model without needing a key; `timeout` is the total time of an
    attempt in seconds, however slowly the answer trickles. A parameter the server rejects is left
    out of one more attempt and of every later call, and recorded as dropped.
    """

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
        self.name, self.model = name, model
        self.base_url = base_url.rstrip("/")
        self.key_env, self.timeout, self.strict = key_env, timeout, strict
        self.sampling = Sampling(**sampling)
        self.max_tokens = self.sampling.max_tokens
        self.provider = public_url(self.base_url)
        self.answering = False
        self._key = os.environ.get(key_env, "") if key_env else ""
        if self._key and urlsplit(base_url).username:
            raise ValueError(
                "its address holds a user and its key_env a key; a server takes one of the two"
            )
        self._hidden = [*([self._key] if len(self._key) >= 8 else []), *secrets([base_url])]
        self._dialect = Dialect()
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """One attempt, and one more for each parameter that the server rejects."""
        requested = self.sampling.parameters(prompt, seed)
        while True:
            sent, dropped = self._dialect.sent(requested), self._dialect.dropped(requested)
            completion = await self._attempt(
                {"model": self.model, "messages": messages_of(prompt), **sent}
            )
            refused = completion.status == "bad_request" and completion.detail.startswith(
                ("HTTP 400", "HTTP 422")
            )
            if not refused or not self._dialect.learn(completion.detail, requested, sent):
                return replace(
                    completion,
                    provider=self.provider,
                    parameters_sent=sent,
                    parameters_dropped=dropped,
                )

    async def preflight(self) -> list[PreflightIssue]:
        """What can be found out without paying: whether the key is there, the server answers, and
        it knows the model.
        """
        if self.key_env and not self._key:
            return [
                PreflightIssue(
                    "error",
                    self.name,
                    f"set the environment variable {self.key_env} to the key of {self.provider}",
                )
            ]
        patience = aiohttp.ClientTimeout(total=PATIENCE)
        try:
            async with self._open().get(
                self._url("models"), headers=self._headers(), timeout=patience
            ) as response:
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            return [
                PreflightIssue(
                    "error", self.name, f"no connection to {self.provider}: {self._clean(error)}"
                )
            ]
        if response.status in (401, 403):
            given = (
                f"does not accept the key in {self.key_env}"
                if self.key_env
                else "wants a key; set model.key_env=NAME of its variable"
            )
            return [
                PreflightIssue(
                    "error", self.name, f"{self.provider} {given} (HTTP {response.status})"
                )
            ]
        known = _model_ids(text) if response.status == 200 else []
        if known and self.model not in known:
            there = ", ".join(known[:10])
            return [
                PreflightIssue(
                    "error",
                    self.name,
                    f"{self.provider} does not know the model '{self.model}'; it has: {there}",
                )
            ]
        self.answering = self.model in known and not self._key
        unlisted = (
            f", but lists no models (HTTP {response.status}), so the name could not be checked;"
            " base_url usually ends in /v1"
        )
        note = f"{self.provider} answers" + ("" if known else unlisted)
        return [PreflightIssue("note", self.name, note)]

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _attempt(self, body: Mapping[str, Any]) -> Completion:
        failed = Completion("", model_requested=self.model)
        try:
            async with self._open().post(
                self._url("chat/completions"),
                data=to_json(body),
                headers=self._headers(),
                timeout=aiohttp.ClientTimeout(
                    total=self.timeout, sock_connect=min(30.0, self.timeout / 2)
                ),
                allow_redirects=False,
            ) as response:
                text = (await response.read()).decode("utf-8", errors="replace")
        except aiohttp.ConnectionTimeoutError:
            return replace(
                failed, status="unavailable", detail="no connection within the time allowed"
            )
        except TimeoutError:
            return replace(
                failed,
                status="timeout",
                detail=f"no whole answer within {self.timeout:g} s",
                possibly_billed=True,
            )
        except aiohttp.ClientConnectorError as error:
            return replace(
                failed, status="unavailable", detail=f"no connection: {self._clean(error)}"
            )
        except (aiohttp.ClientError, OSError) as error:
            return replace(
                failed,
                status="unavailable",
                detail=f"the answer broke off: {self._clean(error)}",
                possibly_billed=True,
            )
        return self._judge(response.status, text, response.headers, failed)

    def _judge(
        self, code: int, text: str, headers: Mapping[str, str], failed: Completion
    ) -> Completion:
        try:
            payload = json.loads(text)
        except (ValueError, RecursionError):
            payload = None
        error = payload.get("error") if isinstance(payload, dict) else None
        if 300 <= code < 400:
            where = public_url(self._clean(headers.get("Location", "nowhere")))
            return replace(
                failed,
                status="bad_request",
                detail=f"HTTP {code}: the address has moved to {where}",
            )
        if code != 200 or error:
            stated = str(error.get("code")) if isinstance(error, dict) else ""
            number = code if code != 200 else int(stated) if stated in HTTP_ERRORS else 500
            detail = f"HTTP {code}: {self._clean(error or text)[:500]}"
            return replace(
                failed,
                status=status_of(number, text),
                detail=detail,
                retry_after=retry_after(headers),
            )
        if payload is None:
            kind = (
                "nothing"
                if not text.strip()
                else "an HTML page"
                if text.lstrip()[:1] == "<"
                else "broken JSON"
            )
            return replace(
                failed,
                status="unavailable",
                detail=f"HTTP 200 with {kind} instead of an answer",
                possibly_billed=True,
            )
        completion = completion_of(payload, self.model)
        returned = completion.model_returned
        if self.strict and completion.status == "ok" and returned and returned != self.model:
            detail = f"asked {self.model}, answered by {returned} (strict)"
            return replace(completion, status="bad_request", detail=detail, possibly_billed=True)
        return completion

    def _headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json"} | (
            {"Authorization": f"Bearer {self._key}"} if self._key else {}
        )

    def _url(self, path: str) -> str:
        base, mark, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{mark}{query}"

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # Our own gate limits concurrency; the connector must not queue behind it.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300)
            )
        return self._session

    def _clean(self, fault: object) -> str:
        text = (
            json.dumps(fault, ensure_ascii=False)
            if isinstance(fault, (dict, list))
            else str(fault) or type(fault).__name__
        )
        return whole_characters(scrub(text, self._hidden))


def _model_ids(text: str) -> list[str]:
    try:
        listed = json.loads(text)["data"]
        return [str(entry["id"]) for entry in listed]
    except (ValueError, KeyError, TypeError):
        return []
