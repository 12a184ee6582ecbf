"""The chat-completions protocol: from a prompt to a request, from a response to a completion."""

import functools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.domain.data import patterns
from delibsim.models.base import Completion, PreflightIssue, Status, Usage
from delibsim.models.clients.faults import LONGEST_FAULT, REJECTION, scrub, without_echoes
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import FormWithSchema, Prompt

ENDINGS = frozenset(
    {"", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"}
)
"""Reasons to finish that mean the model had said all it wanted to say."""
TEXTS = (None, "text", "output_text", "refusal")
"""Types of content parts that hold a text or a refusal."""
BROKEN = frozenset({"error", "network_error"})
"""Reasons to finish that mean the provider failed while the model spoke."""
NOTHING: tuple[Status, str] = ("unavailable", "the response holds no choices")
THINKING = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
ORDINARY = ("temperature", "top_p", "max_tokens", "reasoning_effort")
"""Parameters that are requested under their own names."""
FORMAT = "response_format"
LENGTHS = ("minLength", "maxLength")
OTHERWISE: Mapping[str, str] = patterns("parameters")
"""What else complaints call a parameter."""
NAMED = re.compile(r'"param": *"(\w+)"')
REASONING = frozenset({"reasoning_effort", "reasoning", "thinking"})


@dataclass(frozen=True)
class Sampling:
    """Parameters to be requested; None is not sent, and `extra` is sent as it is.

    `lengths`: whether a schema states how long texts may be, which not every provider takes.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    send_seed: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    lengths: bool = True

    def parameters(self, prompt: Prompt, seed: int) -> dict[str, Any]:
        """What is requested for this prompt, with the seed cut to the 31 bits that all take."""
        wanted = {name: getattr(self, name) for name in ORDINARY}
        if self.send_seed:
            wanted["seed"] = seed % 2**31
        if prompt.enforced:
            form: Any = prompt.reply
            wanted[FORMAT] = _format_of(form, prompt.enforced, self.lengths)
        stated = {name: value for name, value in wanted.items() if value is not None}
        return stated | dict(self.extra)


@functools.lru_cache(maxsize=64)  # the same few forms are asked for again and again
def _format_of(form: FormWithSchema, kind: str, lengths: bool) -> Mapping[str, Any]:
    """The schema of a form in a format, as it is sent."""
    schema = form.schema()
    return response_format(kind, schema if lengths else _without_lengths(schema))


def response_format(kind: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in one of the two formats that servers know."""
    if kind == "json_object":
        return {"type": kind, "schema": schema}
    return {"type": kind, kind: {"name": "reply", "strict": True, "schema": schema}}


def _without_lengths(value: Any) -> Any:
    """A schema that does not state how long texts may be."""
    if isinstance(value, list):
        return [_without_lengths(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {name: _without_lengths(own) for name, own in value.items() if name not in LENGTHS}


class Dialect:
    """The parameters that one model's server turned out not to take: from then on they are sent
    under another name or left out, and a schema first in its other format.

    `max_tokens` may be renamed and is never left out, because the budget counts on it.
    """

    def __init__(self) -> None:
        self._rejected: set[str] = set()
        self._renamed: dict[str, str] = {}
        self._as_object = False

    def sent(self, requested: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as this server takes them."""
        if self._as_object and (schema := requested.get(FORMAT, {}).get("json_schema")):
            requested = {**requested, FORMAT: response_format("json_object", schema["schema"])}
        return {
            self._renamed.get(name, name): value
            for name, value in requested.items()
            if name not in self._rejected
        }

    def dropped(self, requested: Mapping[str, Any]) -> tuple[str, ...]:
        """The requested parameters that this server does not take under any name."""
        return tuple(name for name in requested if name in self._rejected)

    def learn(self, complaint: str, requested: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
        """Note what a server complained about that refused a request; True if another attempt makes
        sense.

        It makes sense too where the complaint about another request, in flight at the same time,
        has changed since how this one is sent.
        """
        return self._learn(complaint, requested) or self.sent(requested) != sent

    def _learn(self, complaint: str, requested: Mapping[str, Any]) -> bool:
        can_rename = "max_tokens" in requested and "max_tokens" not in self._renamed
        if can_rename and "max_completion_tokens" in complaint:
            self._renamed["max_tokens"] = "max_completion_tokens"
            return True
        if not REJECTION.search(complaint):
            return False
        droppable = requested.keys() - self._rejected - {"max_tokens"}
        if named := NAMED.search(complaint):
            rejected = droppable & {named[1]}
        else:
            rejected = {name for name in droppable if _mentions(complaint, name)}
            # "`temperature` may only be set to 1 when thinking is enabled" complains about
            # temperature, not about thinking.
            rejected = rejected - REASONING or rejected
        if FORMAT in rejected and not self._as_object and "json_schema" in requested[FORMAT]:
            self._as_object = True
            return True
        self._rejected |= rejected
        return bool(rejected)


def _is_object(text: str) -> bool:
    """Whether a reply begins as a JSON object, which any does whose schema was enforced."""
    return text.lstrip()[:1] == "{"


def _mentions(complaint: str, name: str) -> bool:
    called = f"|{OTHERWISE[name]}" if name in OTHERWISE else ""
    return re.search(rf"\b{re.escape(name)}\b{called}", complaint, re.IGNORECASE) is not None


class Hosted(ABC):
    """A model at a provider, of which one request is one attempt; what its clients have alike.

    `strict`: an answer by a model of another name is refused. `_hidden` are the secrets that no
    fault may repeat.
    """

    NOT_FOUND: str
    """How the detail of a request begins that asked for what the server does not have: such a
    complaint is about no parameter.
    """
    provider: str
    _hidden: Sequence[str]

    def __init__(
        self, name: str, model: str, timeout: float, strict: bool, sampling: Mapping[str, Any]
    ) -> None:
        self.name, self.model, self.timeout, self.strict = name, model, timeout, strict
        self.sampling = Sampling(**sampling)
        self._dialect = Dialect()

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """One attempt, and one more for each parameter that turns out to be rejected."""
        requested = self.sampling.parameters(prompt, seed)
        known = self._untaken()
        untaken = tuple(name for name in requested if name in known)
        wanted = {name: value for name, value in requested.items() if name not in untaken}
        while True:
            sent, dropped = self._dialect.sent(wanted), untaken + self._dialect.dropped(wanted)
            completion = await self._attempt(prompt, sent)
            refused = completion.status == "bad_request" and not completion.possibly_billed
            lacking = completion.detail.startswith(self.NOT_FOUND)
            if not refused or lacking or not self._dialect.learn(completion.detail, wanted, sent):
                if FORMAT in sent and completion.status == "ok" and not _is_object(completion.text):
                    dropped += (FORMAT,)  # it was taken, and had no effect
                return replace(
                    completion,
                    provider=self.provider,
                    parameters_sent=sent,
                    parameters_dropped=dropped,
                )

    def _untaken(self) -> Collection[str]:
        """The parameters that are known not to be taken."""
        return ()

    @abstractmethod
    async def _attempt(self, prompt: Prompt, sent: Mapping[str, Any]) -> Completion:
        """The completion of one request with these parameters; a fault on the way is a status."""

    def _failed(self, status: Status, detail: str, possibly_billed: bool = False) -> Completion:
        if status == "unreadable":
            detail = f"the server could not read the reply in its form ({detail})"
        return Completion(
            "", status, detail, model_requested=self.model, possibly_billed=possibly_billed
        )

    def _late(self) -> Completion:
        """What is known of a request without a whole answer in time."""
        return self._failed("timeout", f"no whole answer within {self.timeout:g} s", True)

    def _answered(self, payload: Any) -> Completion:
        """The completion in a decoded response body, without secrets; a status where another model
        answered than the one that was asked.
        """
        completion = without_echoes(completion_of(payload, self.model), self._hidden)
        returned = completion.model_returned
        if not self.strict or completion.status != "ok" or self._is_same(returned):
            return completion
        detail = f"asked {self.model}, answered by {returned} (strict)"
        return replace(completion, status="bad_request", detail=detail, possibly_billed=True)

    def _is_same(self, returned: str) -> bool:
        """Whether a returned name is that of the model that was asked."""
        return returned in ("", self.model)

    def _error(self, text: str) -> list[PreflightIssue]:
        return [PreflightIssue("error", self.name, self._clean(text))]

    def _clean(self, fault: object) -> str:
        """A fault as text, without secrets."""
        return whole_characters(scrub(str(fault)[:LONGEST_FAULT], self._hidden))


def messages_of(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages of a prompt in the protocol's form."""
    return [{"role": message.role, "content": message.content} for message in prompt.messages]


def completion_of(payload: Any, requested: str) -> Completion:
    """The completion in a decoded response body; a body that holds none is a status that says
    so.
    """
    if not isinstance(payload, dict):
        fault = "the response is not a JSON object"
        return Completion("", "unavailable", fault, model_requested=requested, possibly_billed=True)
    choices = payload.get("choices")
    there = isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict)
    choice = choices[0] if there else {}
    message, usage = _mapping(choice.get("message")), _usage(payload.get("usage"))
    finish = _words(choice.get("finish_reason"))
    text, reasoning = _thinking_apart(_plain(message.get("content")))
    refusal = _refusal(message)
    status, detail = _verdict(text, finish.lower(), refusal, usage) if there else NOTHING
    return Completion(
        text=text,
        status=status,
        detail=detail,
        usage=usage,
        model_requested=requested,
        model_returned=_words(payload.get("model")),
        reasoning=_plain(message.get("reasoning_content") or message.get("reasoning")) or reasoning,
        finish_reason=finish,
        response_id=_words(payload.get("id")),
        fingerprint=_words(payload.get("system_fingerprint")),
        possibly_billed=status == "unavailable",
    )


def simplify(payload: dict[str, Any]) -> None:
    """Bring a decoded response body into the plainest form of the protocol: contents of texts and
    refusals become one text and a field `refusal`, an error is an object, and a cost that is no
    number is left out.
    """
    if isinstance(payload.get("error"), str):
        payload["error"] = {"message": payload["error"]}
    choices = payload.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        message = choice.get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict) and _is_listed(message.get("content")):
            message["refusal"] = _refusal(message) or None
            message["content"] = _plain(message["content"])
    usage = payload.get("usage")
    if isinstance(usage, dict) and _dollars(usage.get("cost")) is None:
        usage.pop("cost", None)


def _is_listed(content: Any) -> bool:
    """Whether a content is a part, or a list of parts, that hold texts and refusals alone."""
    listed = isinstance(content, (list, dict))
    return listed and all(part.get("type") in TEXTS for part in _parts(content))


def _verdict(text: str, finish: str, refusal: str, usage: Usage) -> tuple[Status, str]:
    """Status and detail of a reply: why it ended, and whether it is one."""
    if refusal:
        return "refusal", refusal
    if finish == "refusal":
        return "refusal", f"finish_reason {finish}"
    if finish in ("content_filter", "safety"):
        return "content_filter", f"finish_reason {finish}"
    if finish in ("length", "max_tokens"):
        at = "the limit of" if usage.output_tokens is None else usage.output_tokens
        thought = usage.reasoning_tokens
        spent = f", {thought} tokens of them reasoning" if thought else ""
        return "length", f"the reply was cut at {at} tokens{spent}"
    if finish in BROKEN:
        return "unavailable", f"finish_reason {finish}: the provider failed while the model spoke"
    if finish not in ENDINGS:
        return "unreadable", f"finish_reason '{finish}' is unknown, so the reply may not be whole"
    if any(not tag[1] for tag in THINKING.finditer(text)):
        return "unreadable", "the reply is thinking that never ends in an answer"
    if not text.strip():
        thought = usage.reasoning_tokens
        spent = f"; {thought} reasoning tokens were spent" if thought else ""
        return "unreadable", f"the reply is empty{spent}"
    return "ok", ""


def _thinking_apart(content: str) -> tuple[str, str]:
    """The reply, and the thinking in it: between tags, or before a closing tag that none opened."""
    said: list[str] = []
    thoughts: list[str] = []
    inside, begun, end = "", 0, 0
    for tag in THINKING.finditer(content):
        closing, name = bool(tag[1]), tag[2].lower()
        if inside and closing and name == inside:
            thoughts.append(content[end : tag.start()])
            inside, end = "", tag.end()
        elif not inside and not closing:
            said.append(content[end : tag.start()])
            inside, begun, end = name, tag.start(), tag.end()
        elif not inside and not thoughts:
            # Some servers put the opening tag into the prompt, so that the reply begins in
            # mid-thought.
            thoughts.append(content[: tag.start()])
            end = tag.end()
    said.append(content[begun if inside else end :])
    if not thoughts:
        return content, ""
    return _joined(" ", said), _joined("\n\n", thoughts)


def _joined(between: str, parts: Iterable[str]) -> str:
    """The parts that are not empty."""
    stripped = (part.strip() for part in parts)
    return between.join(part for part in stripped if part)


def _refusal(message: Mapping[str, Any]) -> str:
    """What a message says in refusal: in a field of its own, or in content parts of that type."""
    parts = (part.get("refusal") for part in _parts(message.get("content")))
    return _words(message.get("refusal")) or "".join(map(_words, parts))


def _plain(content: Any) -> str:
    """Text from a string, from a content part, or from a list of strings and content parts."""
    if isinstance(content, str):
        return _words(content)
    return "".join(_words(part.get("text")) for part in _parts(content))


def _parts(content: Any) -> list[Mapping[str, Any]]:
    """The parts of a content that is a part or a list of parts; a text among them is a part too."""
    listed = content if isinstance(content, list) else [content]
    texts = ({"text": part} if isinstance(part, str) else part for part in listed)
    return [part for part in texts if isinstance(part, dict)]


def _words(value: Any) -> str:
    return whole_characters(value) if isinstance(value, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details_in = _mapping(usage.get("prompt_tokens_details"))
    details_out = _mapping(usage.get("completion_tokens_details"))
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(details_in.get("cached_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(details_out.get("reasoning_tokens")),
        cost_usd=_dollars(usage.get("cost")),
    )


def _dollars(cost: Any) -> float | None:
    """A cost as US dollars, or None if it is no number of 0 or more."""
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
