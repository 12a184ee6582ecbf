"""The chat-completions protocol that hosted and local servers share: from a prompt to a request, from a response to a completion."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from delibsim.models.base import Completion, Status, Usage
from delibsim.models.prompt import Prompt

ENDINGS = frozenset({"", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"})
"""Reasons to finish that mean the model had said all it wanted to say."""
THINKING = re.compile(r"\s*<(think|thinking|reasoning)>(.*?)</\1>\s*", re.DOTALL | re.IGNORECASE)
UNCLOSED = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True)
class Sampling:
    """Parameters to be requested; None is not sent. `extra` is sent as it is (provider's own fields)."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    structured: bool = False
    send_seed: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self, prompt: Prompt, seed: int) -> dict[str, Any]:
        """What is requested for this prompt. Seeds are cut to 31 bits, the most that all providers take."""
        wanted = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "reasoning_effort")}
        if self.send_seed:
            wanted["seed"] = seed % 2**31
        if self.structured and (schema := getattr(prompt.reply, "schema", None)) is not None:
            wanted["response_format"] = {"type": "json_schema", "json_schema": {"name": "survey", "strict": True, "schema": schema()}}
        return {name: value for name, value in wanted.items() if value is not None} | dict(self.extra)


def messages_of(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages of a prompt in the protocol's form."""
    return [{"role": message.role, "content": message.content} for message in prompt.messages]


def completion_of(payload: Any, requested: str) -> Completion:
    """The completion in a decoded response body; a body that holds none is a status that says so."""
    if not isinstance(payload, dict):
        return Completion("", "unavailable", "the response is not a JSON object", model_requested=requested)
    choices = payload.get("choices")
    usage = _usage(payload.get("usage"))
    empty = Completion(
        text="",
        status="unavailable",
        detail="the response holds no choices",
        usage=usage,
        model_requested=requested,
        model_returned=str(payload.get("model") or ""),
        response_id=str(payload.get("id") or ""),
        fingerprint=str(payload.get("system_fingerprint") or ""),
        possibly_billed=True,
    )
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return empty
    message = choices[0].get("message") or {}
    finish = str(choices[0].get("finish_reason") or "")
    text, reasoning = _thinking_apart(_plain(message.get("content")))
    reasoning = _plain(message.get("reasoning_content") or message.get("reasoning")) or reasoning
    status, detail = _verdict(text, finish, message, usage)
    return replace(empty, text=text, status=status, detail=detail, reasoning=reasoning, finish_reason=finish, possibly_billed=False)


def _verdict(text: str, finish: str, message: Mapping[str, Any], usage: Usage) -> tuple[Status, str]:
    if refusal := message.get("refusal"):
        return "refusal", str(refusal)
    if finish in ("content_filter", "safety", "refusal"):
        return ("refusal" if finish == "refusal" else "content_filter"), f"finish_reason {finish}"
    if finish in ("length", "max_tokens"):
        spent = f", {usage.reasoning_tokens} tokens of them reasoning" if usage.reasoning_tokens else ""
        return "length", f"the reply was cut at {usage.output_tokens if usage.output_tokens is not None else 'the limit of'} tokens{spent}"
    if finish not in ENDINGS:
        return "unreadable", f"finish_reason '{finish}' is unknown, so the reply may not be whole"
    if UNCLOSED.match(text):
        return "unreadable", "the reply is thinking that never ends in an answer"
    if not text.strip():
        spent = f"; {usage.reasoning_tokens} reasoning tokens were spent" if usage.reasoning_tokens else ""
        return "unreadable", f"the reply is empty{spent}"
    return "ok", ""


def _thinking_apart(content: str) -> tuple[str, str]:
    """The reply, and the thinking that stood before it in tags."""
    match = THINKING.match(content)
    return (content[match.end() :], match[2].strip()) if match else (content, "")


def _plain(content: Any) -> str:
    """Text from a string or from a list of content parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    details_in, details_out = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    cost = usage.get("cost")
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(details_in.get("cached_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(details_out.get("reasoning_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) else None,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
