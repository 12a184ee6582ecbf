"""Any hosted or local model that litellm reaches, by its litellm name.

litellm takes seconds to import, so it is imported here alone.
"""

import asyncio
import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from delibsim.models.base import Capabilities, Completion, PreflightIssue, Status
from delibsim.models.clients.chat import ENDINGS, Hosted, messages_of
from delibsim.models.clients.connection import unreachable
from delibsim.models.clients.faults import public_url, retry_after, secrets, status_of
from delibsim.prompts.prompt import Prompt

# litellm reads these when it is imported: no price list from the network, no debug output, no
# dotenv files.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
os.environ.setdefault("LITELLM_LOG", "ERROR")

import httpx
import litellm
from litellm.exceptions import ContentPolicyViolationError, ContextWindowExceededError, Timeout

# The base of litellm's errors; litellm.exceptions.OpenAIError is not.
from openai import OpenAIError

from delibsim.models.clients.connection import guard
from delibsim.models.clients.settings import provider_in

litellm.suppress_debug_info = True
litellm.telemetry = False  # ty: ignore[invalid-assignment]
guard()

PREFIX_END = "\n</transcript>"
UNBILLED = (httpx.HTTPStatusError, httpx.ConnectError, httpx.ConnectTimeout)
"""Causes that mean no model worked: the provider answered with an error, or was never reached."""
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Errors of litellm's own parsing, which it lets through as they are: the answer was malformed, not
the call.
"""
COMMON = frozenset(
    {"temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "response_format"}
)
"""The parameters that litellm has a list of models for."""
CACHED = {"type": "ephemeral"}
"""What marks, for Anthropic, the end of a text that later prompts will begin with."""


class LiteLLM(Hosted):
    """One model by its litellm name. A call is one attempt: litellm's and the SDK's own retries are
    off.

    `model` is litellm's name, such as "openrouter/moonshotai/kimi-k2-thinking"; keys come from the
    environment variables that litellm documents; `base_url` points to another server. Parameters
    that the model does not take are not sent, and recorded as dropped.
    """

    NOT_FOUND = "NotFoundError"

    def __init__(
        self,
        name: str,
        model: str,
        base_url: str = "",
        timeout: float = 300.0,
        strict: bool = False,
        **sampling: Any,
    ) -> None:
        sampling |= {"lengths": bool(base_url)}  # OpenAI refuses them
        super().__init__(name, model, timeout, strict, sampling)
        self.base_url, self.provider = base_url, provider_in(model)
        self._hidden = secrets([base_url] if base_url else [])

    @property
    def capabilities(self) -> Capabilities:
        """Its provider is the one that litellm sees in its name; it can be checked without paying,
        and its connections can be closed.
        """
        return Capabilities(
            provider=self.provider,
            max_tokens=self.sampling.max_tokens,
            preflight=self.preflight,
            close=self.close,
            enforces=_enforces(self.model),
        )

    def _untaken(self) -> frozenset[str]:
        """The parameters that, as litellm knows, this model does not take."""
        return COMMON - _taken(self.model)

    async def preflight(self) -> list[PreflightIssue]:
        """What can be found out without paying: whether litellm knows the name, and the keys it
        needs are there.
        """
        try:
            named = litellm.get_llm_provider(self.model, api_base=self.base_url or None)
        except OpenAIError as error:
            return self._error(f"litellm does not know '{self.model}': {self._clean(error)[:200]}")
        self.provider = named[1]
        missing = litellm.validate_environment(self.model).get("missing_keys") or []
        if missing and (self.provider == "openai" or not self.base_url):
            variables = " or ".join(missing)
            advice = "; any text will do where the server wants none" if self.base_url else ""
            return self._error(f"set the environment variable {variables} for {self.model}{advice}")
        if self.base_url and (fault := await unreachable(self.base_url)):
            server = public_url(self.base_url)
            return self._error(f"no connection to {server}: {self._clean(fault)}")
        listed = {self.model, self.model.partition("/")[2]} & litellm.model_cost.keys()
        if not listed:
            unknown = "is not in litellm's list: price and context window are unknown"
            return [PreflightIssue("warning", self.name, f"{self.model} {unknown}")]
        return [PreflightIssue("note", self.name, f"{self.model} is known, its key is there")]

    async def close(self) -> None:
        """Close the connections that litellm keeps for all its models."""
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()  # or it would go on using closed ones

    async def _attempt(self, prompt: Prompt, sent: Mapping[str, Any]) -> Completion:
        try:
            async with asyncio.timeout(self.timeout):
                response = await litellm.acompletion(
                    model=self.model,
                    messages=self._messages(prompt),
                    api_base=self.base_url or None,
                    timeout=self.timeout,
                    num_retries=0,
                    max_retries=0,
                    **sent,
                )
        except (TimeoutError, Timeout):
            return self._late()
        except (OpenAIError, *MALFORMED) as error:
            return self._fault(error)
        completion = self._answered(_as_answered(response.model_dump(warnings=False)))
        usage = completion.usage
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        if usage.cost_usd is None and cost and usage.input_tokens is not None:
            return replace(completion, usage=replace(usage, cost_usd=float(cost)))
        return completion

    def _is_same(self, returned: str) -> bool:
        """Whether the returned name is the requested one, give or take the provider's prefix."""
        same = super()._is_same(returned) or self.model.endswith(f"/{returned}")
        return same or returned.endswith(f"/{self.model}")

    def _fault(self, error: Exception) -> Completion:
        """What an error of litellm stands for; a call that a model may have worked on counts as
        possibly billed.
        """
        code = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        headers = getattr(response, "headers", None)
        headers = headers or getattr(error, "litellm_response_headers", None) or {}
        status: Status
        if isinstance(error, ContextWindowExceededError):
            status = "context_overflow"
        elif isinstance(error, ContentPolicyViolationError):
            status = "content_filter"
        else:
            # litellm gives a 500, or none at all, to whatever it could not make sense of.
            status = status_of(code if isinstance(code, int) else 500, str(error))
        unbilled = any(isinstance(cause, UNBILLED) for cause in _causes(error))
        detail = f"{type(error).__name__}: {self._clean(error)[:500]}"
        failed = self._failed(status, detail, status == "unavailable" and not unbilled)
        return replace(failed, retry_after=retry_after(dict(headers)))

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        """The messages, for Anthropic with marks where what later prompts begin with ends."""
        messages = messages_of(prompt)
        if "anthropic" not in self.model and "claude" not in self.model:
            return messages
        return [{**message, "content": _marked(message["content"])} for message in messages]


@functools.cache
def _taken(model: str) -> frozenset[str]:
    """The parameters that litellm says a model takes; all where it does not know."""
    return frozenset(litellm.get_supported_openai_params(model) or COMMON)


@functools.cache
def _enforces(model: str) -> bool:
    """Whether, as litellm knows, a model's provider enforces a schema."""
    return litellm.supports_response_schema(model) and "response_format" in _taken(model)


def _marked(content: str) -> list[dict[str, Any]]:
    """A text as content parts, the first of which is marked to be cached."""
    shared, end, rest = content.partition(PREFIX_END)
    parts: list[dict[str, Any]] = [{"type": "text", "text": shared, "cache_control": CACHED}]
    if end:
        parts.append({"type": "text", "text": end + rest})
    return parts


def _as_answered(payload: dict[str, Any]) -> dict[str, Any]:
    """A response as the provider gave it, where litellm has put something else in its place."""
    usage = payload.get("usage") or {}
    if not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        payload["usage"] = None  # litellm fills in zeros
    for choice in payload.get("choices") or []:
        message = choice.get("message") or {}
        native = str(_specific(choice).get("native_finish_reason") or "")
        # litellm calls every reason it does not know, and "error", a "stop".
        stopped = choice.get("finish_reason") == "stop"
        if native == "refusal" or (stopped and native.lower() not in ENDINGS):
            choice["finish_reason"] = native
        message["refusal"] = message.get("refusal") or _specific(message).get("refusal")
    return payload


def _specific(part: dict[str, Any]) -> dict[str, Any]:
    """The fields of a part of a response that litellm keeps as the provider gave them."""
    return part.get("provider_specific_fields") or {}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
