"""Any hosted or local model that litellm reaches, by its litellm name. litellm takes seconds to
import, so it is imported here alone.
"""

import asyncio
import functools
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from delibsim.models.base import Completion, Status
from delibsim.models.clients.chat import ENDINGS, Dialect, Sampling, completion_of, messages_of
from delibsim.models.clients.faults import public_url, retry_after, scrub, secrets, status_of
from delibsim.models.clients.preflight import PreflightIssue, unreachable
from delibsim.prompts.labelled import whole_characters
from delibsim.prompts.prompt import Prompt

# litellm reads these when it is imported: no price list from the network, no debug output, no
# dotenv files.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
os.environ.setdefault("LITELLM_LOG", "ERROR")

import httpx
import litellm
from litellm.exceptions import ContentPolicyViolationError, ContextWindowExceededError, Timeout
from openai import (
    OpenAIError,
)  # the base of litellm's errors; litellm.exceptions.OpenAIError is not

litellm.suppress_debug_info = True
litellm.telemetry = False  # ty: ignore[invalid-assignment]

PREFIX_END = "\n</transcript>"
REFUSED = ("BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError")
UNBILLED = (httpx.HTTPStatusError, httpx.ConnectError, httpx.ConnectTimeout)
"""Causes that mean no model worked: the provider answered with an error, or was never reached."""


class LiteLLM:
    """One model by its litellm name. A call is one attempt: litellm's and the SDK's own retries are
    off.

    `model` is litellm's name, such as "openrouter/moonshotai/kimi-k2-thinking"; keys come from the
    environment variables that litellm documents; `base_url` points to another server. Parameters
    that the model does not take are not sent, and recorded as dropped.
    """

    def __init__(
        self,
        name: str,
        model: str,
        base_url: str = "",
        timeout: float = 300.0,
        strict: bool = False,
        **sampling: Any,
    ) -> None:
        self.name, self.model, self.base_url = name, model, base_url
        self.timeout, self.strict = timeout, strict
        self.sampling = Sampling(**sampling)
        self.max_tokens = self.sampling.max_tokens
        self.provider = model.partition("/")[0]
        self._hidden = secrets([base_url] if base_url else [])
        self._dialect = Dialect()

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """One attempt, and one more for each parameter that turns out to be rejected."""
        requested = self.sampling.parameters(prompt, seed)
        unsupported = tuple(name for name in requested if name in self._untaken)
        wanted = {name: value for name, value in requested.items() if name not in unsupported}
        while True:
            sent, dropped = self._dialect.sent(wanted), unsupported + self._dialect.dropped(wanted)
            completion = await self._attempt(prompt, sent)
            refused = completion.status == "bad_request" and completion.detail.startswith(REFUSED)
            if not refused or not self._dialect.learn(completion.detail, wanted, sent):
                return replace(completion, parameters_sent=sent, parameters_dropped=dropped)

    @functools.cached_property
    def _untaken(self) -> frozenset[str]:
        """The parameters that, as litellm knows, this model does not take."""
        common = frozenset(
            {"temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "response_format"}
        )
        return common - frozenset(litellm.get_supported_openai_params(self.model) or common)

    async def preflight(self) -> list[PreflightIssue]:
        """What can be found out without paying: whether litellm knows the name, and the keys it
        needs are there.
        """
        try:
            _, self.provider, _, _ = litellm.get_llm_provider(
                self.model, api_base=self.base_url or None
            )
        except OpenAIError as error:
            return [
                PreflightIssue(
                    "error",
                    self.name,
                    f"litellm does not know '{self.model}': {self._clean(error)[:200]}",
                )
            ]
        missing = litellm.validate_environment(self.model).get("missing_keys") or []
        if missing and (self.provider == "openai" or not self.base_url):
            advice = "; any text will do where the server wants none" if self.base_url else ""
            return [
                PreflightIssue(
                    "error",
                    self.name,
                    f"set the environment variable {' or '.join(missing)} for {self.model}{advice}",
                )
            ]
        if self.base_url and (fault := await unreachable(self.base_url)):
            return [
                PreflightIssue(
                    "error",
                    self.name,
                    f"no connection to {public_url(self.base_url)}: {self._clean(fault)}",
                )
            ]
        if (
            self.model not in litellm.model_cost
            and self.model.partition("/")[2] not in litellm.model_cost
        ):
            return [
                PreflightIssue(
                    "warning",
                    self.name,
                    f"{self.model} is not in litellm's list: price and context window are unknown",
                )
            ]
        return [PreflightIssue("note", self.name, f"{self.model} is known, its key is there")]

    async def close(self) -> None:
        """Close the connections litellm keeps, for all its models, and let it forget them: it would
        go on using closed ones.
        """
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()

    async def _attempt(self, prompt: Prompt, sent: Mapping[str, Any]) -> Completion:
        failed = Completion("", model_requested=self.model, provider=self.provider)
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
            return replace(
                failed,
                status="timeout",
                detail=f"no whole answer within {self.timeout:g} s",
                possibly_billed=True,
            )
        except (
            OpenAIError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            RecursionError,
        ) as error:
            # litellm lets errors of its own parsing through as they are: a malformed answer, not a
            # malformed call.
            return self._fault(error, failed)
        completion = replace(
            completion_of(_as_answered(response.model_dump(warnings=False)), self.model),
            provider=self.provider,
        )
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        if completion.usage.cost_usd is None and cost and completion.usage.input_tokens is not None:
            completion = replace(completion, usage=replace(completion.usage, cost_usd=float(cost)))
        if (
            self.strict
            and completion.status == "ok"
            and not _same_model(self.model, completion.model_returned)
        ):
            detail = f"asked {self.model}, answered by {completion.model_returned} (strict)"
            return replace(completion, status="bad_request", detail=detail, possibly_billed=True)
        return completion

    def _fault(self, error: Exception, failed: Completion) -> Completion:
        code = getattr(error, "status_code", None)
        headers = (
            getattr(getattr(error, "response", None), "headers", None)
            or getattr(error, "litellm_response_headers", None)
            or {}
        )
        status: Status
        if isinstance(error, ContextWindowExceededError):
            status = "context_overflow"
        elif isinstance(error, ContentPolicyViolationError):
            status = "content_filter"
        else:
            # litellm gives a 500, or none at all, to whatever it could not make sense of.
            status = status_of(code if isinstance(code, int) else 500, str(error))
        detail = f"{type(error).__name__}: {self._clean(error)[:500]}"
        billed = status == "unavailable" and not any(
            isinstance(cause, UNBILLED) for cause in _causes(error)
        )
        return replace(
            failed,
            status=status,
            detail=detail,
            retry_after=retry_after(dict(headers)),
            possibly_billed=billed,
        )

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        """Messages; for Anthropic with cache markers at the end of what later prompts will begin
        with.
        """
        messages = messages_of(prompt)
        if "anthropic" not in self.model and "claude" not in self.model:
            return messages
        return [{**message, "content": _marked(message["content"])} for message in messages]

    def _clean(self, fault: object) -> str:
        return whole_characters(scrub(str(fault), self._hidden))


def _marked(content: str) -> list[dict[str, Any]]:
    shared, end, rest = content.partition(PREFIX_END)
    if not end:
        return [{"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}]
    return [
        {"type": "text", "text": shared, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": end + rest},
    ]


def _as_answered(payload: dict[str, Any]) -> dict[str, Any]:
    """A response as the provider gave it, where litellm has put something else in its place."""
    usage = payload.get("usage") or {}
    if not usage.get("prompt_tokens") and not usage.get("completion_tokens"):
        payload["usage"] = None  # litellm fills in zeros
    for choice in payload.get("choices") or []:
        message = choice.get("message") or {}
        native = str(
            (choice.get("provider_specific_fields") or {}).get("native_finish_reason") or ""
        )
        # litellm calls every reason it does not know, and "error", a "stop".
        if native == "refusal" or (
            choice.get("finish_reason") == "stop" and native.lower() not in ENDINGS
        ):
            choice["finish_reason"] = native
        message["refusal"] = message.get("refusal") or (
            message.get("provider_specific_fields") or {}
        ).get("refusal")
    return payload


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _same_model(requested: str, returned: str) -> bool:
    """Whether the returned name is the requested one, give or take the provider's prefix."""
    return (
        not returned
        or requested == returned
        or requested.endswith(f"/{returned}")
        or returned.endswith(f"/{requested}")
    )
