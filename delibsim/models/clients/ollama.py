"""A client for Ollama's own address of chats: every call says its window, and a prompt that does
not fit into it is refused instead of being cut.
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
from pydantic_core import to_json

from delibsim.models.base import Completion
from delibsim.models.clients.chat import messages_of
from delibsim.models.clients.connection import decoded
from delibsim.models.clients.openai_compatible import OpenAICompatible
from delibsim.models.clients.settings import provider_at
from delibsim.prompts.prompt import Prompt

OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_tokens": "num_predict",
    "num_ctx": "num_ctx",
}
"""Parameters that are options there, with their names."""


class Ollama(OpenAICompatible):
    """One model of an Ollama server. `num_ctx` is the window of every call in tokens (None: that
    of the server), `base_url` the address of the server, with or without /v1.
    """

    def __init__(
        self, name: str, model: str, base_url: str, num_ctx: int | None = None, **options: Any
    ) -> None:
        root = base_url.rstrip("/").removesuffix("/v1")
        own = {} if num_ctx is None else {"num_ctx": num_ctx}
        extra = own | dict(options.pop("extra", {}))
        super().__init__(name, model, f"{root}/v1", extra=extra, **options)
        self.provider = provider_at(base_url)
        self._root, self._num_ctx = root, num_ctx

    async def _find_window(self, entry: Mapping[str, Any]) -> int | None:
        """The window of a call: what was set, as far as the model can have it; if nothing was, that
        with which the model is loaded.
        """
        if self._num_ctx is None:
            return await super()._find_window(entry)
        body = to_json({"model": self.model})
        try:
            _, text = await self._fetch("POST", f"{self._root}/api/show", body)
        except (aiohttp.ClientError, TimeoutError):
            return self._num_ctx
        shown = decoded(text)
        facts = shown.get("model_info") if isinstance(shown, dict) else None
        most = [n for key, n in (facts or {}).items() if key.endswith(".context_length")]
        return min([self._num_ctx, *(n for n in most if isinstance(n, int) and n > 0)])

    def _request(self, prompt: Prompt, sent: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Address and body of a call."""
        given = dict(sent)
        options = {OPTIONS[key]: given.pop(key) for key in list(given) if key in OPTIONS}
        options |= given.pop("options", {})
        if form := given.pop("response_format", None):
            given["format"] = form.get("json_schema", form)["schema"]
        if effort := given.pop("reasoning_effort", None):
            given["think"] = False if effort == "none" else effort
        body = {"model": self.model, "messages": messages_of(prompt), "options": options}
        whole = {"stream": False, "truncate": False, "shift": False}
        return f"{self._root}/api/chat", body | whole | given

    def _answered(self, payload: Any) -> Completion:
        """The completion in a decoded response body."""
        if not isinstance(payload, dict) or not isinstance(payload.get("message"), dict):
            return super()._answered(payload)
        message = payload["message"]
        said = {"content": message.get("content"), "reasoning": message.get("thinking")}
        usage = {
            "prompt_tokens": payload.get("prompt_eval_count"),
            "completion_tokens": payload.get("eval_count"),
        }
        choice = {"message": said, "finish_reason": payload.get("done_reason")}
        plain = {"model": payload.get("model"), "choices": [choice], "usage": usage}
        return super()._answered(plain)
