"""Any hosted or local model that litellm reaches, by its litellm name. litellm takes seconds to import, so it is imported here alone."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from delibsim.models.base import Completion, Status
from delibsim.models.chat import Sampling, completion_of, messages_of
from delibsim.models.faults import retry_after, scrub, secrets, status_of
from delibsim.models.preflight import Finding
from delibsim.models.prompt import Prompt

# litellm reads these when it is imported: no price list from the network, no debug output, no dotenv files.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
os.environ.setdefault("LITELLM_LOG", "ERROR")

import litellm
from litellm.exceptions import (
    APIConnectionError,
    ContentPolicyViolationError,
    ContextWindowExceededError,
    OpenAIError,
    Timeout,
)

litellm.suppress_debug_info = True
litellm.telemetry = False  # ty: ignore[invalid-assignment]

PREFIX_END = "\n</transcript>"


class LiteLLM:
    """One model by its litellm name. A call is one attempt: litellm's and the SDK's own retries are off.

    `model` is litellm's name, such as "openrouter/moonshotai/kimi-k2-thinking"; keys come from the environment variables
    that litellm documents; `base_url` points to another server. Parameters that the model does not take are not sent, and
    recorded as dropped.
    """

    def __init__(self, name: str, model: str, base_url: str = "", timeout: float = 300.0, strict: bool = False, **sampling: Any) -> None:
        self.name, self.model, self.base_url = name, model, base_url
        self.timeout, self.strict = timeout, strict
        self.sampling = Sampling(**sampling)
        self.max_tokens = self.sampling.max_tokens
        self.provider = model.partition("/")[0]
        self._hidden = secrets([base_url] if base_url else [])
        self._rejected: set[str] = set()

    async def complete(self, prompt: Prompt, seed: int) -> Completion:
        """One attempt, and one more for each parameter that turns out to be rejected."""
        requested = self.sampling.parameters(prompt, seed)
        supported = litellm.get_supported_openai_params(self.model) or list(requested)
        known = {"temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "response_format"}
        while True:
            sent = {k: v for k, v in requested.items() if k not in self._rejected and (k in supported or k not in known)}
            completion = await self._attempt(prompt, sent)
            completion = replace(completion, parameters_sent=sent, parameters_dropped=tuple(k for k in requested if k not in sent))
            rejected = {k for k in sent if k in known and k in completion.detail} if completion.status == "bad_request" else set()
            if not rejected:
                return completion
            self._rejected |= rejected

    async def preflight(self) -> list[Finding]:
        """What can be found out without paying: whether litellm knows the name, and the keys it needs are there."""
        try:
            _, self.provider, _, _ = litellm.get_llm_provider(self.model, api_base=self.base_url or None)
        except OpenAIError as error:
            return [Finding("error", self.name, f"litellm does not know '{self.model}': {self._clean(error)[:200]}")]
        missing = litellm.validate_environment(self.model).get("missing_keys") or []
        if missing and not self.base_url:
            return [Finding("error", self.name, f"set the environment variable {' or '.join(missing)} for {self.model}")]
        if self.model not in litellm.model_cost and self.model.partition("/")[2] not in litellm.model_cost:
            return [Finding("warning", self.name, f"{self.model} is not in litellm's list: price and context window are unknown")]
        return [Finding("note", self.name, f"{self.model} is known, its key is there")]

    async def close(self) -> None:
        """Close the connections litellm keeps."""
        await litellm.close_litellm_async_clients()

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
            return replace(failed, status="timeout", detail=f"no whole answer within {self.timeout:g} s", possibly_billed=True)
        except (OpenAIError, ValueError, KeyError, TypeError) as error:
            # litellm lets errors of its own parsing through as they are: a malformed answer, not a malformed call.
            return self._fault(error, failed)
        completion = replace(completion_of(response.model_dump(), self.model), provider=self.provider)
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        if completion.usage.cost_usd is None and cost and completion.usage.input_tokens is not None:
            completion = replace(completion, usage=replace(completion.usage, cost_usd=float(cost)))
        if self.strict and completion.status == "ok" and not _same_model(self.model, completion.model_returned):
            return replace(completion, status="bad_request", detail=f"asked {self.model}, answered by {completion.model_returned} (strict)")
        return completion

    def _fault(self, error: Exception, failed: Completion) -> Completion:
        code = getattr(error, "status_code", None)
        headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "litellm_response_headers", None) or {}
        status: Status
        if isinstance(error, ContextWindowExceededError):
            status = "context_overflow"
        elif isinstance(error, ContentPolicyViolationError):
            status = "content_filter"
        elif isinstance(error, APIConnectionError) or not isinstance(code, int):
            status = "unavailable"
        else:
            status = status_of(code, str(error))
        detail = f"{type(error).__name__}: {self._clean(error)[:500]}"
        return replace(failed, status=status, detail=detail, retry_after=retry_after(dict(headers)))

    def _messages(self, prompt: Prompt) -> list[dict[str, Any]]:
        """Messages; for Anthropic with cache markers at the end of what later prompts will begin with."""
        messages = messages_of(prompt)
        if "anthropic" not in self.model and "claude" not in self.model:
            return messages
        return [{**message, "content": _marked(message["content"])} for message in messages]

    def _clean(self, fault: object) -> str:
        return scrub(str(fault), self._hidden)


def _marked(content: str) -> list[dict[str, Any]]:
    shared, end, rest = content.partition(PREFIX_END)
    if not end:
        return [{"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}]
    return [{"type": "text", "text": shared, "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": end + rest}]


def _same_model(requested: str, returned: str) -> bool:
    """Whether the returned name is the requested one, give or take the provider's prefix."""
    return not returned or requested == returned or requested.endswith(f"/{returned}") or returned.endswith(f"/{requested}")
