"""The typed configuration of one session: its fields, their ranges, and what is wrong with one."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.format import DEBATE
from delibsim.domain.participant import Diversity, Seating
from delibsim.domain.secret import refuse_key
from delibsim.planning.presets import GROUPS
from delibsim.store.reading import adapter

Kind = TypeVar("Kind")

OF_THE_STUDY = ("study", "runs", "seed", "limits", "base_url", "people")
"""Settings that all sessions of a study share."""
LARGEST = 10**18 - 1
"""The largest whole number that tables hold: 18 digits."""
OF_A_DEBATE = ("format", "motion", "proposition", "opposition", "tournament")
"""Settings that say which debate is held."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelConfig(BaseModel):
    """A file of conf/model; what else it may hold depends on the kind of the model."""

    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1)
    kind: str


class GroupConfig(_Strict):
    """A file of conf/group."""

    size: int = Field(ge=2, le=1000)
    models: list[str] | None = Field(default=None, min_length=1)
    diversity: Diversity | None = None
    facilitator: str | None = None
    witnesses: list[str] = []


class PersonaConfig(_Strict):
    """A file of conf/persona.

    `topic` is the only topic that the personas are for, `people` the topic whose participants give
    their answers, `built` says where the texts come from.
    """

    name: str
    personas: list[str]
    seating: Seating = "in_turn"
    sizes: list[int] | None = None
    topic: str | None = None
    people: str | None = None
    built: dict[str, Any] | None = None


class Tournament(_Strict):
    """Who debates whom: a design, its debaters, motions, and the meetings of each pair.

    Of the design `against_baseline`, the debaters challenge the baseline.
    """

    design: str | None
    debaters: list[str]
    baseline: str | None
    motions: list[str] | None
    meetings: int | None = Field(strict=True)


class SamplingConfig(_Strict):
    """How models are sampled in a debate unless the command line says otherwise.

    None: the parameter is not sent.
    """

    temperature: float | None = Field(ge=0, le=100, allow_inf_nan=False)
    max_tokens: int | None = Field(ge=1, strict=True)


class Config(_Strict):
    """Every setting of one session, as conf/config.yaml lists them."""

    treatment: dict[str, Any]
    model: ModelConfig
    group: GroupConfig
    persona: PersonaConfig
    wording: dict[str, Any]
    procedure: dict[str, Any]
    consensus: dict[str, Any]
    facilitator: dict[str, Any]
    limits: dict[str, Any]
    study: str | int | None
    topic: str
    survey: str | None
    format: str
    motion: str | None
    proposition: str | None
    opposition: str | None
    audience: int = Field(ge=0, le=1000)
    briefing: str | None
    tournament: Tournament
    rounds: int | None = Field(ge=0, le=1000)
    temperature: float | None = Field(ge=0, le=100, allow_inf_nan=False)
    debate: SamplingConfig
    base_url: str | None
    replicate: int = Field(ge=1, le=LARGEST)
    people: float | None = Field(gt=0, lt=1, allow_inf_nan=False)
    seed: int = Field(ge=0)
    runs: str

    @property
    def is_debate(self) -> bool:
        """Whether the session is a debate."""
        return self.format == DEBATE.name


def validated(plain: Mapping[str, Any]) -> Config:
    """The configuration of a session from plain values; WrongInput with its first fault."""
    _refuse_booleans("", Config, plain)
    for name, kind in (
        ("group", GroupConfig),
        ("tournament", Tournament),
        ("debate", SamplingConfig),
    ):
        _refuse_booleans(name, kind, plain.get(name))
    try:
        return Config.model_validate(plain)
    except ValidationError as error:
        fault = first_fault(error)
        group = error.errors()[0]["loc"][0]
    if group not in GROUPS:
        raise WrongInput(fault)
    settings = plain[group]
    if not isinstance(settings, dict):
        raise refused("group_without_settings", group=group)
    name = settings.get("name")
    place = f"; '{name}' stands in conf/{group}/" if name else ""
    raise WrongInput(f"{fault}{place}")


def built(kind: type[Kind], group: str, values: Mapping[str, Any]) -> Kind:
    """An object of the domain from a group of the configuration.

    WrongInput for an unknown field, or a wrong value.
    """
    known = [field.name for field in fields(kind)]  # ty: ignore[invalid-argument-type]
    for name in values:
        if name not in known:
            raise unknown(f"field of {group}", name, known)
    _refuse_booleans(group, kind, values)
    try:
        return adapter(kind).validate_python(dict(values))
    except ValidationError as error:
        name = values.get("name", values.get("id"))
        what = group if name is None else f"{group} {name!r}"
        place = f"it stands in conf/{group}/ or at the command line"
        raise WrongInput(f"{what}: {first_fault(error)}; {place}") from None


def _refuse_booleans(group: str, kind: type[Any], values: Any) -> None:
    """WrongInput where a number is wanted and true or false is given, which count as 1 and 0."""
    if not isinstance(values, Mapping):
        return
    for name in _numbers_of(kind):
        if isinstance(values.get(name), bool):
            place = f"{group}.{name}" if group else name
            found = str(values[name]).lower()
            raise WrongInput(f"{place}: input should be a number, found {found}")


@cache
def _numbers_of(kind: type[Any]) -> list[str]:
    """The fields of a class that hold numbers, or nothing, and no truth values or texts."""
    found = []
    for name, hint in get_type_hints(kind).items():
        taken = set(re.findall(r"\b(?:int|float|bool|str)\b", str(hint)))
        if taken and taken <= {"int", "float"}:
            found.append(name)
    return found


def first_fault(error: ValidationError) -> str:
    """The first fault that a validation found: the field, what is wrong, and what was found."""
    first = error.errors()[0]
    if first["type"] == "value_error":  # a message of ours about the whole
        return str(first["ctx"]["error"])
    where = ".".join(map(str, first["loc"])) or "configuration"
    found = "" if first["type"] == "missing" else f", found {first['input']!r}"
    said = first["msg"].replace("valid tuple", "valid list")
    return f"{where}: {said[0].lower()}{said[1:]}{found}"


Reader = Callable[[str, Any], Any]
"""From the name of a setting and its value to the value that is used."""


def key_of(override: str) -> str:
    """The key of a setting as it is given.

    >>> key_of("+model.place=0.4")
    'model.place'
    """
    return override.partition("=")[0].lstrip("+")


def read_values(given: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    """The values that are given, each as its reader reads it; WrongInput for the first that cannot
    be.
    """
    return {name: readers[name](name, value) for name, value in given.items()}


def whole(least: int, most: int) -> Reader:
    """A reader of whole numbers between two bounds."""

    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise WrongInput(f"{name}={value}: expected a whole number from {least} to {most:,}")
        return value

    return read


def one_of(names: Sequence[str]) -> Reader:
    """A reader of one of these names."""

    def read(name: str, value: Any) -> str:
        if value not in names:
            raise unknown(f"value of {name}", str(value), names)
        return str(value)

    return read


def temperature(name: str, value: Any) -> float | None:
    """A temperature; None where none is sent."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise WrongInput(f"{name}={value}: expected a number from 0 to 2, or null")
    return float(value)


def yes_or_no(name: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise WrongInput(f"{name}={value}: expected true or false")
    return value


def one_name(name: str, value: Any) -> str:
    """One name, which is no key of a provider."""
    if not isinstance(value, str) or not value:
        raise WrongInput(f"{name}={value}: expected one name")
    refuse_key(name, value)
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """Different names, at least one."""
    listed = value if isinstance(value, list) else [value]
    found = tuple(one_name(name, one) for one in listed)
    if not found or len(set(found)) < len(found):
        raise WrongInput(f"{name}={value}: expected different names, such as {name}=[A,B]")
    return found
