"""From configuration (Hydra groups and overrides) to a planned session; OmegaConf goes no lower than here."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from delibsim.cli.seats import GroupConfig, PersonaConfig, Place, seated, spelled_out
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.run import Session
from delibsim.domain.study import cross
from delibsim.domain.treatment import Procedure, Treatment, Wording
from delibsim.models.faults import scrub, secrets
from delibsim.models.limits import Limits
from delibsim.store.library import Library, package_data

Kind = TypeVar("Kind")
GROUPS = ("treatment", "model", "group", "persona", "wording", "procedure", "limits")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str = Field(min_length=1)
    kind: str


class _Config(_Strict):
    treatment: dict[str, Any]
    model: _Model
    group: GroupConfig
    persona: PersonaConfig
    wording: dict[str, Any]
    procedure: dict[str, Any]
    limits: dict[str, Any]
    study: str | int | None
    topic: str
    survey: str | None
    format: str
    rounds: int | None = Field(ge=0, le=1000)
    temperature: float = Field(ge=0, allow_inf_nan=False)
    base_url: str | None
    replicate: int = Field(ge=1)
    seed: int = Field(ge=0)
    runs: str


@dataclass(frozen=True)
class Plan:
    """A session to hold: its study and folder, and what the study is to keep fixed (see Runs.settle).

    `limits` and `addresses` (the base_url of models by name) are for this process and recorded nowhere.
    """

    session: Session
    study: str
    root: Path
    settings: Mapping[str, Any]
    parts: Mapping[str, Mapping[str, Any]]
    limits: Limits
    addresses: Mapping[str, str]


def compose(*overrides: str, home: Path | None = None) -> Session:
    """The session that `delibsim run` with the same overrides would hold, such as "topic=acp", "group.size=7".

    Raises WrongInput, with the closest names, for anything that does not exist or cannot be.
    """
    return plan(overrides, home).session


def plan(overrides: Sequence[str], home: Path | None = None) -> Plan:
    """The session and its study, from overrides and the files beside the user and in the package."""
    home, overrides = home or Path.cwd(), spelled_out(overrides)
    _check(overrides, home)
    config = _validated(_composed(overrides, home))
    library = Library(home)
    topic = library.topic(config.topic)
    survey = library.survey(config.survey or topic.survey or topic.id)
    treatment = dict(config.treatment) | ({} if config.rounds is None else {"rounds": config.rounds})
    models, addresses = _models(config, overrides, home)
    seats = seated(config.group, config.persona, models, Place(topic, survey, config.replicate, config.seed, home))
    try:
        sessions = cross(
            topics=[(topic, survey)],
            treatments=[_built(Treatment, "treatment", treatment)],
            groups=[seats.group],
            wording=_built(Wording, "wording", config.wording),
            replicates=[config.replicate],
            seed=config.seed,
            procedure=_built(Procedure, "procedure", config.procedure),
            format=config.format,
        )
        limits = _built(Limits, "limits", config.limits)
    except WrongInput:
        raise
    except ValueError as error:
        raise WrongInput(str(error)) from None
    session = sessions[0]
    settings = {
        "seed": config.seed, "rounds": config.rounds, "temperature": config.temperature, **seats.settings,
        "wording": config.wording, "procedure": config.procedure, "format": config.format,
    }  # fmt: skip
    parts = {"topics": {topic.id: _digest(topic)}, "surveys": {survey.id: _digest(survey)},
             "treatments": {session.treatment.name: treatment}, "models": session.models}  # fmt: skip
    parts |= {"groups": {session.id: seats.drawn}} if seats.drawn else {}
    study = str(config.study) if config.study is not None else f"{session.id.removesuffix('.r1')}_{_digest([settings, parts])[:8]}"
    return Plan(session, study, home / config.runs, settings, parts, limits, addresses)


def choices(group: str, home: Path) -> list[str]:
    """The names that exist in a group of the configuration: in `conf/` beside the user and in the package."""
    return sorted({path.stem for folder in {package_data("conf"), home / "conf"} for path in (folder / group).glob("*.yaml")})


def _check(overrides: Sequence[str], home: Path) -> None:
    """Refuse overrides that name nothing, before Hydra does so less helpfully."""
    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    except HydraException as error:
        problem = _hidden(str(error).splitlines()[0], overrides)
        advice = "overrides look like topic=acp, and values with special characters need quotes of their own: study=\"'name'\""
        raise WrongInput(f"cannot read the override: {problem}; {advice}") from None
    chosen = []
    for override in parsed:
        if override.is_sweep_override():
            line = _hidden(str(override.input_line), overrides)
            raise WrongInput(f"'{line}' names several values; one session has one value for each setting")
        if override.key_or_group in GROUPS:
            name, known = override.value(), choices(override.key_or_group, home)
            if override.is_add() or override.is_delete() or not isinstance(name, str) or name not in known:
                raise unknown(override.key_or_group, str(name), known)
            chosen.append(str(override.input_line))
    keys = set(_keys(OmegaConf.to_container(_composed(chosen, home))))
    for model in _seated(parsed):
        if model in choices("model", home):
            keys |= set(_keys(OmegaConf.to_container(_composed([*chosen, f"model={model}"], home))))
    for override in parsed:
        key = override.key_or_group
        if key not in keys and key not in GROUPS and not (override.is_add() and key.startswith("model.")):
            like = [k for k in keys if ("." in k) == ("." in key) and "texts" not in k]
            raise unknown("setting", key, like)


def _hidden(text: str, overrides: Iterable[str]) -> str:
    """A text without what the addresses among the overrides may hold of keys."""
    addresses = (override.partition("=")[2] for override in overrides if "base_url" in override)
    return scrub(text, secrets(part.strip("'\"") for address in addresses for part in address.split(",")))


def _seated(overrides: Sequence[Override]) -> list[str]:
    """The models named in group.models."""
    values = [override.value() for override in overrides if override.key_or_group == "group.models"]
    return [str(name) for value in values if isinstance(value, list) for name in value]


def _composed(overrides: Iterable[str], home: Path) -> Any:
    """The configuration; files in `conf/` beside the user take precedence over those of the package."""
    ours, theirs = package_data("conf").resolve(), (home / "conf").resolve()
    beside = theirs.is_dir() and theirs != ours
    try:
        with initialize_config_dir(version_base="1.3", config_dir=str(ours)):
            if not beside:
                return hydra_compose("config", overrides=list(overrides))
            # Hydra appends what hydra.searchpath names, and would let the package win; the override makes it look again.
            GlobalHydra.instance().config_loader().get_search_path().prepend("user", f"file://{theirs}")
            return hydra_compose("config", overrides=[*overrides, f"hydra.searchpath=[file://{theirs}]"])
    except (HydraException, OmegaConfBaseException) as error:
        raise WrongInput(str(error).splitlines()[0]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.name}, line {mark.line + 1}: " if mark else ""
        raise WrongInput(f"{place}{error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise WrongInput(f"a file in {theirs if beside else ours}: {str(error).splitlines()[0]}") from None


def _built(kind: type[Kind], group: str, values: Mapping[str, Any]) -> Kind:
    """One of the domain's types from a group of the configuration; WrongInput for a field it has not, or a wrong value."""
    fields = [field.name for field in dataclasses.fields(kind)]  # ty: ignore[invalid-argument-type]
    for name in values:
        if name not in fields:
            raise unknown(f"field of {group}", name, fields)
    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        raise WrongInput(f"{group} '{values.get('name', values.get('id', '?'))}': {_first(error)}; it stands in conf/{group}/") from None


def _validated(config: Any) -> _Config:
    try:
        plain: Any = OmegaConf.to_container(config, resolve=True)
        return _Config.model_validate(plain)
    except OmegaConfBaseException as error:
        raise WrongInput(str(error).splitlines()[0]) from None
    except ValidationError as error:
        group = error.errors()[0]["loc"][0]
        named = plain[group].get("name") if group in GROUPS else None
        raise WrongInput(_first(error) + (f"; '{named}' stands in conf/{group}/" if named else "")) from None


def _models(config: _Config, overrides: Sequence[str], home: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The settings of the models seated in turn, and their real addresses; several are read from their presets one by one."""
    presets = [config.model.model_dump()]
    if config.group.models is not None:
        if len(config.group.models) > config.group.size:
            raise WrongInput(f"group.models names {len(config.group.models)} models for {config.group.size} seats")
        others = [override for override in overrides if not override.startswith("model=")]
        if len(others) < len(overrides):
            raise WrongInput("group.models seats the models, so model= would have no effect; leave one of the two out")
        for name in config.group.models:
            if name not in choices("model", home):
                raise unknown("model", name, choices("model", home))
        presets = [_validated(_composed([*others, f"model={name}"], home)).model.model_dump() for name in config.group.models]
    settings, addresses = [], {}
    for preset in presets:
        model = {**preset, "temperature": config.temperature}
        _refuse_keys(model)
        # Where a model is reached is no part of what is studied: a server may move, and an address may hold a secret.
        address = config.base_url or model.pop("base_url", None)
        model.pop("base_url", None)
        if address and model["kind"] != "citizen":
            addresses[model["name"]] = str(address)
        settings.append(model)
    return settings, addresses


def _refuse_keys(settings: Mapping[str, Any]) -> None:
    """Keys belong into the environment: refuse settings that hold one, without repeating it."""
    for name, value in settings.items():
        named = name.lower().replace("-", "_") in ("key", "api_key", "apikey", "token", "secret", "password", "authorization")
        if (named and value) or (isinstance(value, str) and name != "base_url" and scrub(value, []) != value):
            raise WrongInput(
                f"model.{name} looks like a key. Keys are read from the environment and written nowhere: put it into a variable and name "
                "the variable in model.key_env"
            )


def _keys(config: Any, at: str = "") -> list[str]:
    """Every setting that can be overridden, dotted."""
    found = []
    for key, value in config.items():
        found.append(f"{at}{key}")
        if isinstance(value, dict):
            found += _keys(value, f"{at}{key}.")
    return found


def _digest(value: Any) -> str:
    plain = TypeAdapter(Any).dump_python(value, mode="json")
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"]) or "configuration"
    if first["type"] == "value_error":  # our own words, said of the whole
        return str(first["ctx"]["error"])
    found = "" if first["type"] == "missing" else f", found {first['input']!r}"
    return f"{where}: {first['msg'][0].lower()}{first['msg'][1:]}{found}"
