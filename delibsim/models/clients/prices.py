"""Prices and context windows of models, from the preset or from the list that litellm ships."""

import functools
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from delibsim.models.base import Usage

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars a token for input, cached input and output; None where unknown.

    `source` names the list and its version.

    `written` is the price of input that the provider puts into its cache, where that costs more
    (Anthropic).
    """

    input: float | None = None
    cached: float | None = None
    output: float | None = None
    source: str = "unknown"
    written: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """Dollars for what was used; None if the price or the usage is unknown."""
        sent, received = usage.input_tokens, usage.output_tokens
        if self.input is None or self.output is None or sent is None or received is None:
            return None
        cached = min(usage.cached_tokens or 0, sent)
        price_of_cached = self.input if self.cached is None else self.cached
        return (sent - cached) * self.input + cached * price_of_cached + received * self.output

    def worst(self, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars for so many tokens when nothing comes from a cache and all goes into it; None if
        the price is unknown.
        """
        cost = self.cost(Usage(input_tokens=input_tokens, output_tokens=output_tokens))
        if cost is None or self.input is None or self.written is None:
            return cost
        return cost + input_tokens * max(0.0, self.written - self.input)

    @property
    def free(self) -> bool:
        """Whether calls are known to cost nothing."""
        return self.input == self.output == 0


FREE = Price(0.0, 0.0, 0.0, "free")


def price_of(model: str, stated: Mapping[str, float] | None = None) -> Price:
    """The price of a model by its litellm name, or as stated in US dollars per million tokens
    (input, cached, output).
    """
    if stated is not None:
        given = [name for name in ("input", "cached", "output") if name in stated]
        dollars = {name: stated[name] / MILLION for name in given}
        return Price(**dollars, source="preset")
    entry = listed(model)
    if entry is None or "input_cost_per_token" not in entry:
        return Price()
    return Price(
        entry["input_cost_per_token"],
        entry.get("cache_read_input_token_cost"),
        entry.get("output_cost_per_token"),
        f"litellm {version('litellm')}",
        entry.get("cache_creation_input_token_cost"),
    )


def price_in(settings: Mapping[str, Any]) -> Price:
    """The price of a model by its settings: what they state, else what is listed; free if they name
    no model of a provider.
    """
    if settings.get("price") is None and "model" not in settings:
        return FREE
    return price_of(str(settings.get("model")), settings.get("price"))


def context_window(model: str) -> int | None:
    """The most input tokens a model takes, or None if unknown."""
    entry = listed(model) or {}
    limit = entry.get("max_input_tokens") or entry.get("max_tokens")
    return limit if isinstance(limit, int) else None


def withdrawn(model: str) -> date | None:
    """The day from which, by the list, a model is no longer offered; None if there is none."""
    try:
        return date.fromisoformat(str((listed(model) or {}).get("deprecation_date")))
    except ValueError:
        return None


def listed(model: str) -> Mapping[str, Any] | None:
    """The entry of a model in the list, under its full name or without its provider's."""
    prices = _list()
    return prices.get(model) or prices.get(model.partition("/")[2])


@functools.cache
def _list() -> dict[str, Any]:
    # Found without importing litellm, which takes seconds.
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    path = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    return json.loads(path.read_bytes())
