"""A real OpenAI-compatible server on loopback that answers as the citizen would, except where a script of faults says otherwise.

In a test:      async with FakeProvider([Rule(status=500, times=2)]) as provider: ... provider.base_url, provider.calls
By hand:        .venv/bin/python tests/fake_provider.py --port 8000 [--latency 0.2] [--script faults.json]
                delibsim run model=local base_url=http://127.0.0.1:8000/v1

A script is a list of rules; the first that applies to a request decides the response. docs/faults.md lists what a rule can say.
"""

import argparse
import asyncio
import contextlib
import json
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from delibsim.domain.rules import Rules
from delibsim.domain.survey import Item, Survey
from delibsim.models.ballot import Ballot, Stance
from delibsim.models.blocks import read_items
from delibsim.models.citizen import Citizen
from delibsim.models.prompt import Form, Message, Prompt, Purpose, SurveyAnswers, Words
from delibsim.models.speech import Speech

BLOCK = 64  # characters of a prompt (16 tokens) that are cached together, as vLLM does
SCALE = re.compile(r"whole number from (-?\d+) \(strongly (disagree|agree)\) to (-?\d+) \(strongly (?:dis)?agree\)")
SPEECH = re.compile(r"^Reply with the words of your speech and nothing else: (\d+) to (\d+) words\.$", re.MULTILINE)
FORCED = re.compile(r"exact distribution over the considerations: (.+)\.$", re.MULTILINE)
LOGIN_PAGE = "<!DOCTYPE html><html><body><form>Please log in</form></body></html>"


@dataclass(frozen=True)
class Call:
    """One request that reached the server: `index` counts calls from 1, `came` is the server's clock in seconds."""

    index: int
    came: float
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """Everything the model is shown, each message under its role."""
        return "\n\n".join(f"[{message['role']}]\n{plain(message['content'])}" for message in self.body["messages"])


@dataclass(frozen=True)
class Rule:
    """When it applies (all of the first group), and what then happens (the second); see docs/faults.md."""

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
    text: str | Callable[[Call], str] | None = None  # what the model says
    message: Mapping[str, Any] = field(default_factory=dict)  # laid over choices[0].message
    choice: Mapping[str, Any] = field(default_factory=dict)  # laid over choices[0]
    usage: Mapping[str, Any] = field(default_factory=dict)  # laid over usage
    payload: Mapping[str, Any] = field(default_factory=dict)  # laid over the body; null removes a member
    do: Callable[[Call], None] | None = None  # called when the request has come in: to kill the client, say

    def applies(self, call: Call, used: int) -> bool:
        """Whether this rule decides the response to this call, after it has decided so many."""
        return (
            (self.times is None or used < self.times)
            and (not self.at or call.index in self.at)
            and (not self.model or call.body.get("model") == self.model)
            and (not self.rejects or self.rejects in call.body)
            and (self.context is None or tokens(call.text) > self.context)
            and (not self.match or re.search(self.match, call.text) is not None)
        )


class FakeProvider:
    """Serves chat completions on 127.0.0.1, and remembers: every request, the calls of each model, and what it would bill.

    Billed is every call a model worked on, whether or not the client waited for the answer; errors are free.
    """

    def __init__(
        self, script: Iterable[Rule] = (), models: Iterable[str] = ("local",), latency: float = 0.0, key: str = "", port: int = 0
    ) -> None:
        self.script, self.models, self.latency, self.key = list(script), tuple(models), latency, key
        self.requests: list[Call] = []
        self.by_model: Counter[str] = Counter()
        self.billed = self.billed_tokens = self.cached_tokens = self.prompt_tokens = 0
        self.in_flight = self.most_in_flight = 0
        self.probes = 0
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

    async def __aenter__(self) -> "FakeProvider":
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list)
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
        return [call for call in self.requests if all(call.body.get(key) == value for key, value in wanted.items())]

    async def _list(self, request: web.Request) -> web.Response:
        self.probes += 1
        if not self._admits(request):
            return self._denied(request)
        return web.json_response({"object": "list", "data": [{"id": model, "object": "model"} for model in self.models]})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        call = Call(len(self.requests) + 1, asyncio.get_running_loop().time(), body, dict(request.headers))
        self.requests.append(call)
        self.by_model[str(call.body.get("model"))] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._answer(request, call)
        finally:
            self.in_flight -= 1

    async def _answer(self, request: web.Request, call: Call) -> web.StreamResponse:
        if not self._admits(request):
            return self._denied(request)
        if call.body.get("model") not in self.models:
            return error(404, f"The model `{call.body.get('model')}` does not exist", "model_not_found")
        which = next((i for i, rule in enumerate(self.script) if rule.applies(call, self._used[i])), None)
        rule = Rule() if which is None else self.script[which]
        if which is not None:
            self._used[which] += 1
        if rule.do is not None:
            rule.do(call)
        if self.latency or rule.delay:
            await asyncio.sleep(self.latency + rule.delay)
        return await self._respond(request, call, rule)

    async def _respond(self, request: web.Request, call: Call, rule: Rule) -> web.StreamResponse:
        if rule.rejects and rule.body is None:
            advice = " Use 'max_completion_tokens' instead." if rule.rejects == "max_tokens" else ""
            problem = f"Unsupported parameter: '{rule.rejects}' is not supported with this model.{advice}"
            return error(400, problem, "unsupported_parameter", param=rule.rejects)
        if rule.context is not None:
            problem = (
                f"This model's maximum context length is {rule.context} tokens. However, your messages resulted in {tokens(call.text)}."
            )
            return error(400, problem, "context_length_exceeded", param="messages")
        if rule.status != 200 and rule.body is None:
            return error(rule.status, f"scripted fault {rule.status}", "scripted", headers=rule.headers)
        body = await self._completion(call, rule) if rule.body is None else rule.body
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
        said = rule.text(call) if callable(rule.text) else rule.text
        said = await answer(call) if said is None else said
        prompted, spoken = tokens(call.text), tokens(said)
        cached = min(self._cached(model, call.text) // 4, prompted)
        usage = {
            "prompt_tokens": prompted,
            "completion_tokens": spoken,
            "total_tokens": prompted + spoken,
            "prompt_tokens_details": {"cached_tokens": cached},
            **rule.usage,
        }
        self.billed += 1
        self.prompt_tokens += prompted
        self.cached_tokens += cached
        self.billed_tokens += usage["prompt_tokens"] + usage["completion_tokens"]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said, **rule.message}, **rule.choice}
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
        """Characters, in whole blocks, of the longest prefix that this prompt shares with an earlier one of that model."""
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


async def answer(call: Call) -> str:
    """What the citizen says to these messages: a survey filled in, or a speech."""
    messages = tuple(Message(message["role"], plain(message["content"])) for message in call.body["messages"])
    asked = "\n".join(line for message in messages for line in message.content.splitlines() if not line.startswith(">"))
    prompt = Prompt(messages, form_in(asked), Purpose("", ""))
    completion = await Citizen(population=1).complete(prompt, int(call.body.get("seed") or 0))
    return completion.text or "I have nothing to add."


def form_in(asked: str) -> Form:
    """The form of reply that a prompt asks for: that of a debate or its raters, a survey, or free words."""
    if limits := SPEECH.search(asked):
        return Speech(Rules(int(limits[1]), int(limits[2])))
    for form in (Ballot(), Stance()):
        if form.describe() in asked:
            return form
    return survey_form_in(asked) if "strongly agree" in asked and "NUMBER" in asked else Words()


def survey_form_in(asked: str) -> SurveyAnswers:
    """The survey that a prompt shows, and whether its scale runs the other way."""
    shown, backwards = survey_in(asked), SCALE.search(asked)[2] == "agree"
    forced = shown.forced_distribution
    return SurveyAnswers(replace(shown, forced_distribution=forced[::-1]) if backwards and forced else shown, backwards)


def survey_in(asked: str) -> Survey:
    """The survey that a prompt shows: labels, texts, scale and distribution."""
    low, high = (int(end) for end in SCALE.search(asked).group(1, 3))
    kinds = (("considerations", "consideration"), ("preferences", "preference"))
    items = tuple(Item(label, kind, text) for tag, kind in kinds for label, text in read_items(tag, asked).items())
    forced = FORCED.search(asked)
    counts = tuple(int(n) for n in re.findall(r"(\d+) at -?\d+", forced[1])) if forced else None
    return Survey("shown", items, low, high, counts)


def error(code: int, problem: str, name: str, param: str | None = None, headers: Mapping[str, str] | None = None) -> web.Response:
    """An error as providers word it."""
    content = {"error": {"message": problem, "type": "scripted_error", "param": param, "code": name}}
    return web.json_response(content, status=code, headers=headers)


def plain(content: Any) -> str:
    """The text of a message, whether it is one string or a list of parts."""
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)


def tokens(text: str) -> int:
    """Four characters a token."""
    return len(text) // 4


def http_date(seconds: float) -> str:
    """The moment so many seconds from now, as HTTP headers write it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def script_of(text: str) -> list[Rule]:
    """A script from JSON: a list of objects with the fields of Rule."""
    known = {entry.name for entry in fields(Rule)} - {"do"}
    rules = json.loads(text)
    for rule in rules:
        if strange := set(rule) - known:
            raise SystemExit(f"a rule has no {', '.join(sorted(strange))}; it has {', '.join(sorted(known))}")
    return [Rule(**{**rule, "at": tuple(rule.get("at", ()))}) for rule in rules]


async def serve(provider: FakeProvider) -> None:
    """Serve until the process is ended."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with provider:
        print(f"serving {', '.join(provider.models)} at {provider.base_url}; Ctrl-C ends", flush=True)  # noqa: T201
        await ended.wait()
        print(f"{provider.calls} calls, {provider.billed} billed, {provider.billed_tokens} tokens", flush=True)  # noqa: T201


def main() -> None:
    """Start by hand."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server on loopback that answers as the offline citizen does.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--script", type=Path, help="a JSON file of rules; docs/faults.md lists their fields")
    parser.add_argument("--model", action="append", help="a model to serve (more than once for several); default: local")
    parser.add_argument("--key", default="", help="the key that clients must send")
    given = parser.parse_args()
    script = script_of(given.script.read_text()) if given.script else []
    asyncio.run(serve(FakeProvider(script, given.model or ("local",), given.latency, given.key, given.port)))


if __name__ == "__main__":
    main()
