"""A chat-completions server on this machine, which answers as the built-in citizen would.

It speaks the protocol of the OpenAI API over real HTTP on 127.0.0.1, and fails where a script of
rules says so, for tests of language models and of what uses them.

    async with FakeProvider([Rule(status=500, times=2)]) as provider:
        ...  # ask provider.base_url, then look at provider.calls and provider.billed

By hand:

    python -m delibsim.testing.provider --port 8000 [--latency 0.2] [--script faults.json]
    delibsim run model=local base_url=http://127.0.0.1:8000/v1

A script is a list of rules; the first that applies to a request decides the response. The fields
of a rule are listed in docs/faults.md.
"""

import argparse
import asyncio
import contextlib
import json
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from delibsim.models.ask import PROBE
from delibsim.testing.answers import answer, plain, tokens
from delibsim.testing.random_replies import random_reply

BLOCK = 64
"""Characters of a prompt (16 tokens) that are cached together, as vLLM does."""
LOGIN_PAGE = "<!DOCTYPE html><html><body><form>Please log in</form></body></html>"


@dataclass(frozen=True)
class Call:
    """One request for a completion that reached the server.

    `index` counts requests from 1; `came` is when it came, in seconds of the server's event loop.
    """

    index: int
    came: float
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """Everything the model is shown, each message under its role."""
        parts = []
        for message in self.body["messages"]:
            parts.append(f"[{message['role']}]\n{plain(message['content'])}")
        return "\n\n".join(parts)


@dataclass(frozen=True)
class Rule:
    """To which requests the provider responds otherwise than it should, and how.

    A rule applies where all of `model` to `context` hold; the other fields say what then happens.
    The tables in docs/faults.md explain every field.
    """

    model: str = ""  # the model asked for
    match: str = ""  # a regular expression found in the prompt
    at: tuple[int, ...] = ()  # numbers of calls, from 1
    times: int | None = None  # how often at most
    rejects: str = ""  # requests that hold this parameter
    context: int | None = None  # prompts of more tokens than this

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None  # the whole body: a text as it is, anything else as JSON
    delay: float = 0.0  # seconds before the first byte
    trickle: float = 0.0  # seconds between any two bytes of the body
    cut: float | None = None  # the share of the body after which the connection is reset
    text: str | Callable[[Call], str | None] | None = None  # what it says; None: as the citizen
    message: Mapping[str, Any] = field(default_factory=dict)  # members of choices[0].message
    choice: Mapping[str, Any] = field(default_factory=dict)  # members of choices[0]
    usage: Mapping[str, Any] | Callable[[Call], Mapping[str, Any]] = field(default_factory=dict)
    payload: Mapping[str, Any] = field(default_factory=dict)  # of the body; null removes one
    do: Callable[[Call], None] | None = None  # called when the request has come in

    def applies(self, call: Call, used: int) -> bool:
        """Whether this rule decides the response to this call; `used` counts earlier ones."""
        return (
            (self.times is None or used < self.times)
            and (not self.at or call.index in self.at)
            and (not self.model or call.body.get("model") == self.model)
            and (not self.rejects or self.rejects in call.body)
            and (self.context is None or tokens(call.text) > self.context)
            and (not self.match or re.search(self.match, call.text) is not None)
        )


class FakeProvider:
    """Serves chat completions on 127.0.0.1, as an asynchronous context manager.

    `models` names what is served; `latency` is in seconds; with a `key` other than "" requests
    without it are refused; `port` 0 takes a free one; `pages` are served at other addresses, and
    `listed` are further members of every entry of the list of models. With `enforces` (json_schema
    or json_object) it answers as a model of random weights behind a server that enforces schemas in
    that format would, else no schema has an effect. Preflights that ask for it are counted apart
    (`schema_probes`), and no rule applies to them. It keeps every request (`requests`, their
    number `calls`, `by_model`), the most that were in flight at once (`most_in_flight`), and what
    it would bill (`billed` calls, `billed_tokens`, `prompt_tokens`, `cached_tokens`). Every call
    that a model worked on is billed, whether or not the client waited for the answer; errors are
    free.
    """

    def __init__(
        self,
        script: Iterable[Rule] = (),
        models: Iterable[str] = ("local",),
        latency: float = 0.0,
        key: str = "",
        port: int = 0,
        enforces: str = "",
        pages: Mapping[str, Any] | None = None,
        listed: Mapping[str, Any] | None = None,
    ) -> None:
        self.script, self.models = list(script), tuple(models)
        self.latency, self.key, self.enforces = latency, key, enforces
        self.pages, self.listed = dict(pages or {}), dict(listed or {})
        self.requests: list[Call] = []
        self.by_model: Counter[str] = Counter()
        self.billed = self.billed_tokens = self.cached_tokens = self.prompt_tokens = 0
        self.in_flight = self.most_in_flight = 0
        self.probes = self.schema_probes = 0
        self._used: Counter[int] = Counter()
        self._seen: dict[str, set[int]] = {}
        self._port = port

    @property
    def calls(self) -> int:
        """How many requests for a chat completion have come in."""
        return len(self.requests)

    @property
    def base_url(self) -> str:
        """The address that a client is given."""
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list)
        for path in self.pages:
            app.router.add_get(path, self._page)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def where(self, **wanted: Any) -> list[Call]:
        """The calls in which every one of these members of the body has this value."""
        found = []
        for call in self.requests:
            if all(call.body.get(key) == value for key, value in wanted.items()):
                found.append(call)
        return found

    async def _list(self, request: web.Request) -> web.Response:
        self.probes += 1
        if not self._admits(request):
            return self._denied(request)
        served = [{"id": model, "object": "model", **self.listed} for model in self.models]
        return web.json_response({"object": "list", "data": served})

    async def _page(self, request: web.Request) -> web.Response:
        return web.json_response(self.pages[request.path])

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        came = asyncio.get_running_loop().time()
        call = Call(len(self.requests) + 1, came, body, dict(request.headers))
        if plain(body["messages"][-1]["content"]) == PROBE.messages[-1].content:
            return self._probed(call)
        self.requests.append(call)
        self.by_model[str(call.body.get("model"))] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request, call)
        finally:
            self.in_flight -= 1

    def _probed(self, call: Call) -> web.Response:
        """The answer to a preflight that asks whether schemas are enforced."""
        self.schema_probes += 1
        said = random_reply(call.body, self.enforces) if self.enforces else "Blue."
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return web.json_response({"model": call.body["model"], "choices": [choice]})

    async def _answer(self, request: web.Request, call: Call) -> web.StreamResponse:
        if not self._admits(request):
            return self._denied(request)
        model = call.body.get("model")
        if model not in self.models:
            return error(404, f"The model `{model}` does not exist", "model_not_found")
        rule = self._rule_for(call)
        if rule.do is not None:
            rule.do(call)
        if self.latency or rule.delay:
            await asyncio.sleep(self.latency + rule.delay)
        return await self._respond(request, call, rule)

    def _rule_for(self, call: Call) -> Rule:
        """The first rule that applies to this call, counted as used; without one, no fault."""
        for i, rule in enumerate(self.script):
            if rule.applies(call, self._used[i]):
                self._used[i] += 1
                return rule
        return Rule()

    async def _respond(self, request: web.Request, call: Call, rule: Rule) -> web.StreamResponse:
        refused = _refusal(call, rule)
        if refused is not None:
            return refused
        body = rule.body
        if body is None:
            body = await self._completion(call, rule)
        whole = (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = "text/html" if whole.lstrip()[:1] == b"<" else "application/json"
        headers = {"Content-Type": kind, **rule.headers, "Content-Length": str(len(whole))}
        response = web.StreamResponse(status=rule.status, headers=headers)
        # A client that has gone away is what some of these rules are for.
        with contextlib.suppress(ConnectionResetError):
            await response.prepare(request)
            if rule.trickle:
                for byte in whole:
                    await response.write(bytes([byte]))
                    await asyncio.sleep(rule.trickle)
            elif rule.cut is None:
                await response.write(whole)
            else:
                await response.write(whole[: int(len(whole) * rule.cut)])
                await asyncio.sleep(0.01)
                assert request.transport is not None
                request.transport.abort()
                return response
            await response.write_eof()
        return response

    async def _completion(self, call: Call, rule: Rule) -> dict[str, Any]:
        """The body of a completion, its cost counted."""
        model = str(call.body["model"])
        said = None
        if isinstance(rule.text, str):
            said = rule.text
        elif rule.text is not None:
            said = rule.text(call)
        if said is None and self.enforces:
            said = random_reply(call.body, self.enforces)
        if said is None:
            said = await answer(call.body["messages"], int(call.body.get("seed") or 0))
        prompted, spoken = tokens(call.text), tokens(said)
        cached = min(self._cached(model, call.text) // 4, prompted)
        usage = {
            "prompt_tokens": prompted,
            "completion_tokens": spoken,
            "total_tokens": prompted + spoken,
            "prompt_tokens_details": {"cached_tokens": cached},
            **_usage_of(rule, call),
        }
        self.billed += 1
        self.prompt_tokens += prompted
        self.cached_tokens += cached
        self.billed_tokens += _billed(usage["prompt_tokens"], prompted)
        self.billed_tokens += _billed(usage["completion_tokens"], spoken)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": said, **rule.message},
            **rule.choice,
        }
        whole = {
            "id": f"chatcmpl-{call.index}",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "system_fingerprint": "fp_fake",
            "choices": [choice],
            "usage": usage,
            **rule.payload,
        }
        return {name: value for name, value in whole.items() if value is not None}

    def _cached(self, model: str, text: str) -> int:
        """Characters of the longest prefix shared with an earlier prompt of that model.

        Only whole blocks count.
        """
        seen, prefix, shared = self._seen.setdefault(model, set()), 0, 0
        for start in range(0, len(text) - BLOCK + 1, BLOCK):
            prefix = hash((prefix, text[start : start + BLOCK]))
            if prefix in seen:
                shared = start + BLOCK
            seen.add(prefix)
        return shared

    def _admits(self, request: web.Request) -> bool:
        return not self.key or request.headers.get("Authorization") == f"Bearer {self.key}"

    def _denied(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return error(401, f"Incorrect API key provided: {given}", "invalid_api_key")


def _usage_of(rule: Rule, call: Call) -> Mapping[str, Any]:
    return rule.usage if isinstance(rule.usage, Mapping) else rule.usage(call)


def _billed(stated: Any, counted: int) -> int:
    """The tokens that are billed: those that a rule states, if it states a number of them."""
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else counted


def _refusal(call: Call, rule: Rule) -> web.Response | None:
    """The error that a rule without a body makes of a call; None where it makes none."""
    if rule.rejects and rule.body is None:
        problem = f"Unsupported parameter: '{rule.rejects}' is not supported with this model."
        if rule.rejects == "max_tokens":
            problem += " Use 'max_completion_tokens' instead."
        return error(400, problem, "unsupported_parameter", param=rule.rejects)
    if rule.context is not None:
        most = f"This model's maximum context length is {rule.context} tokens."
        problem = f"{most} However, your messages resulted in {tokens(call.text)}."
        return error(400, problem, "context_length_exceeded", param="messages")
    if rule.status != 200 and rule.body is None:
        problem = f"scripted fault {rule.status}"
        return error(rule.status, problem, "scripted", headers=rule.headers)
    return None


def error(
    code: int,
    problem: str,
    name: str,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An error as providers word it, with this status code."""
    fault = {"message": problem, "type": "scripted_error", "param": param, "code": name}
    return web.json_response({"error": fault}, status=code, headers=headers)


def http_date(seconds: float) -> str:
    """The time `seconds` from now, as HTTP headers write it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def script_of(text: str) -> list[Rule]:
    """A script from JSON: a list of objects with the fields of Rule.

    Raises SystemExit, naming it, for a field that rules do not have.
    """
    known = {entry.name for entry in fields(Rule)} - {"do"}
    script = []
    for given in json.loads(text):
        strange = ", ".join(sorted(set(given) - known))
        if strange:
            raise SystemExit(f"a rule has no {strange}; it has {', '.join(sorted(known))}")
        rule: dict[str, Any] = {**given, "at": tuple(given.get("at", ()))}
        script.append(Rule(**rule))
    return script


async def serve(provider: FakeProvider) -> None:
    """Serve until the process is ended."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with provider:
        served = ", ".join(provider.models)
        _say(f"serving {served} at {provider.base_url}; Ctrl-C ends")
        await ended.wait()
        counted = f"{provider.calls} calls, {provider.billed} billed"
        _say(f"{counted}, {provider.billed_tokens} tokens")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main() -> None:
    """Start by hand."""
    about = "A chat-completions server on this machine that answers as the built-in citizen does."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--script", type=Path, help="a JSON file of rules (see docs/faults.md)")
    served = "a model to serve (more than once for several); default: local"
    parser.add_argument("--model", action="append", help=served)
    enforced = "json_schema or json_object: replies are random, and as the schema of a call allows"
    parser.add_argument("--enforces", default="", help=enforced)
    parser.add_argument("--key", default="", help="the key that clients must send")
    given = parser.parse_args()
    script = script_of(given.script.read_text(encoding="utf-8")) if given.script else []
    models = given.model or ("local",)
    asyncio.run(
        serve(FakeProvider(script, models, given.latency, given.key, given.port, given.enforces))
    )


if __name__ == "__main__":
    main()
