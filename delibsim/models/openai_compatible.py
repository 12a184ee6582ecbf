"""A lean client for servers that speak the chat-completions protocol: vLLM, Ollama, llama.cpp, OpenRouter and their like."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp

from delibsim.models.base import Completion
from delibsim.models.chat import Sampling, completion_of, messages_of
from delibsim.models.faults import public_url, retry_after, scrub, secrets, status_of
from delibsim.models.preflight import Finding
from delibsim.models.prompt import Prompt

REJECTION = re.compile(
    r"unsupported|not supported|does not support|unrecognized|unknown|unexpected|not permitted|invalid|only the default", re.I
)


class OpenAICompatible:
    """One model of one server. A call is one attempt; retries, limits and budget stand outside (models/retry.py).

    `base_url` ends where "/chat/completions" is to follow; `key_env` names the environment variable that holds the key;
    `timeout` is the total time of an attempt in seconds, however slowly the answer trickles. A parameter the server rejects
    is left out of one more attempt and of every later call, and recorded as dropped.
    """

    def __init__(
        self, name: str, model: str, base_url: str, key_env: str = "", timeout: float = 300.0, strict: bool = False, **sampling: Any
    ) -> None:
        self.name, self.model = name, model
        self.base_url = base_url.rstrip("/")
        self.key_env, self.timeout, self.strict = key_env, timeout, strict
        self.sampling = Sampling(**sampling)
        self.max_tokens = self.sampling.max_tokens
        self.provider = public_url(self.base_url)
        self._hidden = secrets([base_url])
        self._rejected: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """One attempt, and one more for each parameter that the server rejects."""
        requested = self.sampling.parameters(prompt, seed)
        while True:
            sent = {self._renamed.get(k, k): v for k, v in requested.items() if k not in self._rejected}
            completion = await self._attempt({"model": self.model, "messages": messages_of(prompt), **sent})
            completion = replace(completion, parameters_sent=sent, parameters_dropped=tuple(k for k in requested if k in self._rejected))
            if completion.status != "bad_request" or not self._learn(completion.detail, sent):
                return completion

    async def preflight(self) -> list[Finding]:
        """What can be found out without paying: whether the key is there, the server answers, and it knows the model."""
        if self.key_env and not os.environ.get(self.key_env):
            return [Finding("error", self.name, f"set the environment variable {self.key_env} to the key of {self.provider}")]
        try:
            async with self._open().get(self._url("models"), headers=self._headers(), timeout=aiohttp.ClientTimeout(total=4)) as response:
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            return [Finding("error", self.name, f"no connection to {self.provider}: {self._clean(error)}")]
        if response.status in (401, 403):
            return [
                Finding(
                    "error", self.name, f"{self.provider} does not accept the key ({response.status}) in {self.key_env or 'no variable'}"
                )
            ]
        known = _model_ids(text) if response.status == 200 else []
        if known and self.model not in known:
            return [Finding("error", self.name, f"{self.provider} does not know the model '{self.model}'; it has: {', '.join(known[:10])}")]
        note = f"{self.provider} answers" + ("" if known else ", but lists no models, so the name could not be checked")
        return [Finding("note", self.name, note)]

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _attempt(self, body: Mapping[str, Any]) -> Completion:
        failed = Completion("", model_requested=self.model, provider=self.provider)
        try:
            async with self._open().post(
                self._url("chat/completions"),
                data=json.dumps(body, ensure_ascii=False).encode(),
                headers=self._headers(),
                timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(30.0, self.timeout)),
            ) as response:
                text = (await response.read()).decode("utf-8", errors="replace")
        except TimeoutError:
            return replace(failed, status="timeout", detail=f"no whole answer within {self.timeout:g} s", possibly_billed=True)
        except aiohttp.ClientConnectorError as error:
            return replace(failed, status="unavailable", detail=f"no connection: {self._clean(error)}")
        except (aiohttp.ClientError, OSError) as error:
            return replace(failed, status="unavailable", detail=f"the answer broke off: {self._clean(error)}", possibly_billed=True)
        return self._judge(response.status, text, response.headers, failed)

    def _judge(self, code: int, text: str, headers: Mapping[str, str], failed: Completion) -> Completion:
        try:
            payload = json.loads(text)
        except ValueError:
            payload = None
        error = payload.get("error") if isinstance(payload, dict) else None
        if code != 200 or error:
            stated = error.get("code") if isinstance(error, dict) else None
            number = stated if code == 200 and isinstance(stated, int) else code if code != 200 else 500
            detail = f"HTTP {code}: {self._clean(error or text)[:500]}"
            return replace(failed, status=status_of(number, text), detail=detail, retry_after=retry_after(headers))
        if payload is None:
            kind = "nothing" if not text.strip() else "an HTML page" if text.lstrip()[:1] == "<" else "broken JSON"
            return replace(
                failed, status="unavailable", detail=f"HTTP 200 with {kind} instead of an answer", possibly_billed=bool(text.strip())
            )
        completion = replace(completion_of(payload, self.model), provider=self.provider)
        returned = completion.model_returned
        if self.strict and completion.status == "ok" and returned and returned != self.model:
            return replace(completion, status="bad_request", detail=f"asked {self.model}, answered by {returned} (strict)")
        return completion

    def _learn(self, detail: str, sent: Mapping[str, Any]) -> bool:
        """Note a parameter that the server rejects; True if another attempt without it makes sense."""
        if "max_completion_tokens" in detail and "max_tokens" in sent:
            self._renamed["max_tokens"] = "max_completion_tokens"
            return True
        rejected = [key for key in sent if re.search(rf"\b{re.escape(key)}\b", detail)] if REJECTION.search(detail) else []
        originals = {self._renamed.get(k, k): k for k in self.sampling.__dataclass_fields__} | {
            "seed": "seed",
            "response_format": "response_format",
        }
        self._rejected |= {originals.get(key, key) for key in rejected}
        return bool(rejected)

    def _headers(self) -> dict[str, str]:
        key = os.environ.get(self.key_env, "") if self.key_env else ""
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def _url(self, path: str) -> str:
        base, mark, query = self.base_url.partition("?")
        return f"{base.rstrip('/')}/{path}{mark}{query}"

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # Our own gate limits concurrency; the connector must not queue behind it.
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300))
        return self._session

    def _clean(self, fault: object) -> str:
        text = json.dumps(fault, ensure_ascii=False) if isinstance(fault, (dict, list)) else str(fault) or type(fault).__name__
        return scrub(text, self._hidden)


def _model_ids(text: str) -> list[str]:
    try:
        listed = json.loads(text)["data"]
        return [str(entry["id"]) for entry in listed]
    except (ValueError, KeyError, TypeError):
        return []
