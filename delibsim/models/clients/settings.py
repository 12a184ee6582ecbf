"""The settings of hosted models, checked before anything is asked: names, types, ranges, keys."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.models.clients.faults import public_url, scrub, secrets

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
        raise WrongInput(
            f"model '{name}' names no model of the provider's: set model.model=PROVIDER/NAME,"
            " litellm's name for it"
        )


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
        raise WrongInput(
            f"the base_url of model '{name}' is no address: it begins with http:// or https:// and"
            " names a server"
        )


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
            raise WrongInput(
                f"model.{path} looks like a key. Keys are read from the environment and written"
                " nowhere: put it into a variable and name the variable in model.key_env"
            )


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
