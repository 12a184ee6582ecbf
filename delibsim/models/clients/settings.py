"""The settings of hosted models, checked before anything is asked: names, types, ranges, keys; and
prices and context windows, from the preset or from the list that litellm ships.
"""

import functools
import importlib.util
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.models.base import Usage
from delibsim.models.clients.faults import public_url, scrub, secrets

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


Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
KEY_NAMES = tuple("key apikey token secret password authorization credential credentials".split())
NOT_EXTRA: Mapping[str, str] = read_data("settings.yaml")["extra"]
"""What `extra` would overwrite of what is sent, recorded or counted, and what to set instead."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Price(_Strict):
    input: Dollars | None = None
    cached: Dollars | None = None
    output: Dollars | None = None


class _Hosted(_Strict):
    name: str
    kind: str
    model: str
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 300.0
    strict: bool = False
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    structured: Literal[True, False, "auto", "json_schema", "json_object"] = False
    send_seed: bool = True
    extra: dict[str, Any] = {}
    price: _Price | None = None


class _Server(_Hosted):
    key_env: str = ""


class _Ollama(_Server):
    num_ctx: Annotated[int, Field(ge=1)] | None = None


def provider_in(model: str) -> str:
    """The provider that litellm's name of a model begins with.

    >>> provider_in("anthropic/claude")
    'anthropic'
    """
    return model.partition("/")[0]


def provider_at(address: str) -> str:
    """The server at an address, without a key that the address may hold."""
    return public_url(address.rstrip("/"))


KINDS: Mapping[str, type[_Hosted]] = {
    "litellm": _Hosted,
    "openai_compatible": _Server,
    "ollama": _Ollama,
}
"""The settings of the kinds of hosted models, by the name of their plug-in."""


def provider_of(name: str, settings: Mapping[str, Any], address: str = "") -> str:
    """Whose limits the calls to a model count against, without importing its client.

    Where its kind cannot tell, it is the name of the model, as `Capabilities.provider` says.
    """
    kind, found = settings.get("kind"), ""
    if kind == "litellm":
        found = provider_in(str(settings.get("model", "")))
    elif kind in ("openai_compatible", "ollama"):
        found = provider_at(address)
    return found or name


def check_settings(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that hold a key, and of hosted models unknown settings and values outside
    their range; WrongInput. Other kinds check their own.
    """
    _refuse_keys(settings)
    kind = KINDS.get(str(settings.get("kind")))
    if kind is None:
        return
    plain = {key: value for key, value in settings.items() if key != "base_url"} | {"name": name}
    for key in plain:
        if key not in kind.model_fields:
            advice = "What a provider takes beside them goes into model.extra."
            raise unknown(f"setting of model '{name}'", key, kind.model_fields, advice)
    try:
        kind.model_validate(plain)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        found = "" if first["type"] == "missing" else f", found {first['input']!r}"
        fault = f"{first['msg'][0].lower()}{first['msg'][1:]}{found}"
        raise WrongInput(
            f"model.{where} of '{name}': {fault}; it stands in conf/model/ or at the command line"
        ) from None
    for key in settings.get("extra") or ():
        if key in NOT_EXTRA:
            raise WrongInput(f"model.extra.{key} of '{name}' cannot be set: {NOT_EXTRA[key]}")
    if kind is _Hosted and not settings["model"]:
        raise refused("model_names_no_model", named=name)


def check_address(name: str, settings: Mapping[str, Any], url: str) -> None:
    """Refuse what is no address of a server; WrongInput, which does not repeat it: it may hold a
    password.
    """
    if str(settings.get("kind")) not in KINDS:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise refused("base_url_no_address", named=name)


def _refuse_keys(settings: Mapping[str, Any]) -> None:
    """Keys belong into the environment: refuse settings that hold one, at any depth, without
    repeating it.
    """
    hidden = secrets()
    endings = tuple(f"_{word}" for word in KEY_NAMES)
    for path, value in _leaves(settings):
        name = path.rpartition(".")[2].lower().replace("-", "_")
        named = name in KEY_NAMES or name.endswith(endings)
        looks_so = (named and value) or scrub(value, hidden) != value
        if looks_so and path != "base_url":
            raise refused("setting_looks_like_a_key", path=path)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a setting, with its dotted path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _leaves(inner, path)
    elif isinstance(value, str):
        yield path, value
