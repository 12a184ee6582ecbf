"""The configuration of a job, and from it the settings of the models of a session and the addresses
under which they are reached; a setting that a choice beside it would overwrite is refused.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.secret import looks_like_key
from delibsim.domain.text import counted
from delibsim.models.ask import AUTO, as_format
from delibsim.models.clients.faults import secrets
from delibsim.models.clients.settings import check_address, check_settings
from delibsim.planning import debates
from delibsim.planning.config import Config, validated
from delibsim.planning.debates import sides
from delibsim.planning.overrides import Job
from delibsim.planning.presets import Presets
from delibsim.planning.references import escaped, resolved

ADDRESSES = ("base_url", "model.base_url")
"""Settings that may hold secrets, and are recorded nowhere."""
KEY_LENGTH = 12
"""Characters; a shorter secret of the environment may be a word of an ordinary text."""


@dataclass(frozen=True)
class Chosen:
    """The configuration of some options, the defaults for all other groups."""

    config: Mapping[str, Any]

    @cached_property
    def leaves(self) -> dict[str, Any]:
        """Every setting by dotted key."""
        return leaves(self.config)

    @cached_property
    def keys(self) -> set[str]:
        """The dotted keys of all settings, and of the dictionaries that hold them."""
        return dotted_keys(self.config)


class ChosenPresets:
    """Reads the configuration of every combination of options once."""

    def __init__(self, presets: Presets) -> None:
        self.presets = presets
        self._read: dict[tuple[tuple[str, str], ...], Chosen] = {}
        self._secrets = [
            secret for secret in secrets() if len(secret) >= KEY_LENGTH and secret[0] not in "/~."
        ]

    def of(self, choices: Mapping[str, str]) -> Chosen:
        """The configuration of these options by group."""
        key = tuple(choices.items())
        if key not in self._read:
            chosen = Chosen(self.presets.config(choices))
            _refuse_secrets(chosen.leaves, self._secrets)
            self._read[key] = chosen
        return self._read[key]

    def config(self, job: Job) -> dict[str, Any]:
        """The configuration of a job; WrongInput for an unknown setting."""
        chosen = self.of(job.choices)
        known = chosen.keys
        seated = job.values.get("group.models")
        for name in [*(seated if isinstance(seated, list) else []), *sides(job)]:
            known = known | self.of({**job.choices, "model": str(name)}).keys
        for key in job.values:
            if key not in known and key not in job.added:
                meant = {one for one in known if _may_be_meant(one)}
                listed = {one for one in meant if ("." in one) == ("." in key)}
                raise unknown("setting", key, listed, unlisted=meant)
        merged = merge(chosen.config, job.values)
        own = leaves(merged)
        _refuse_secrets({key: own.get(key) for key in job.values}, self._secrets)
        return merged

    def config_of_model(self, name: str, job: Job) -> dict[str, Any]:
        """The configuration with one of several models.

        Settings of models that this model does not have are left out.
        """
        chosen = self.of({**job.choices, "model": name})
        values = {}
        for key, value in job.values.items():
            if not key.startswith("model.") or key in chosen.keys or key in job.added:
                values[key] = value
        return merge(chosen.config, values)


def _refuse_secrets(settings: Mapping[str, Any], known: Sequence[str]) -> None:
    """WrongInput, which does not repeat it, for a key or one of the `known` secrets among settings:
    it would be written to files, and the name of what it is a part of might hold it.
    """
    for key, value in settings.items():
        if key in ADDRESSES:
            continue
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (looks_like_key(text) or _holds(text, known)):
                raise refused("setting_holds_key", key=key)


def _holds(text: str, secrets: Iterable[str]) -> bool:
    return any(secret in text for secret in secrets)


def _may_be_meant(known: str) -> bool:
    """Whether a known setting may be meant by an unknown one; `runs` is an option now."""
    return "texts" not in known and known != "runs" and not known.startswith("debate.")


def merge(preset: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with values at dotted keys; a value that is a dictionary replaces the old.

    WrongInput for a key below a setting that is no dictionary.
    """
    refers = "${" in json.dumps(list(values.values()), default=str)
    config = json.loads(json.dumps(preset))
    if refers:  # what the preset referred to is filled in already: the rest of ${ are its own words
        config = escaped(config)
    for key, value in values.items():
        *path, leaf = key.split(".")
        place = config
        for step in path:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise WrongInput(f"'{key}': '{step}' holds one value and no settings of its own")
        place[leaf] = value
    return resolved(config) if refers else config


def leaves(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Every setting by dotted key.

    >>> leaves({"topic": "acp", "group": {"size": 5}})
    {'topic': 'acp', 'group.size': 5}
    """
    found: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def dotted_keys(config: Mapping[str, Any], prefix: str = "") -> set[str]:
    """The dotted keys of all settings, and of the dictionaries that hold them.

    >>> sorted(dotted_keys({"group": {"size": 5}}))
    ['group', 'group.size']
    """
    found = set()
    for key, value in config.items():
        found.add(f"{prefix}{key}")
        if isinstance(value, dict):
            found |= dotted_keys(value, f"{prefix}{key}.")
    return found


def model_settings(
    config: Config, job: Job, presets: ChosenPresets
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The settings of the models in the order in which they are seated, and addresses by model.

    Several models are read from their presets one by one. WrongInput for settings that a model does
    not have, or that contradict each other.
    """
    _check_group(config, job)
    found, addresses = [], {}
    for preset in _presets(config, job, presets):
        model, address = _settled(preset, config, job)
        name = str(model["name"])
        if address:
            addresses[name] = address
        found.append(model)
    return found, addresses


def mediator_settings(
    name: str, config: Config, job: Job, presets: ChosenPresets
) -> tuple[dict[str, Any], str]:
    """The settings of a mediator that no participant speaks by, from its preset, and its address.

    WrongInput as of `model_settings`.
    """
    preset = validated(presets.config_of_model(name, job)).model.model_dump()
    settings, address = _settled(preset, config, job)
    # It writes free text alone, of which nobody has to ask whether a schema would be enforced.
    return {k: False if v == AUTO else v for k, v in settings.items()}, address


def _settled(preset: Mapping[str, Any], config: Config, job: Job) -> tuple[dict[str, Any], str]:
    """The settings of a model in a session, from its preset, and its address, "" without one."""
    if "temperature" in preset:
        raise refused("temperature_of_preset", preset=preset["name"])
    model = as_format({**preset, "temperature": config.temperature})
    own_limit = "model.max_tokens" in job.values and "max_tokens" in preset
    if config.is_debate and not own_limit:
        model = debates.bounded(model, config.debate)
    name = str(model["name"])
    check_settings(name, model)
    # An address is no part of what is studied: a server may move, and an address may hold a secret.
    own_address = model.pop("base_url", None)
    address = config.base_url or own_address
    if not address or model["kind"] == "citizen":
        return model, ""
    check_address(name, model, str(address))
    return model, str(address)


def _check_group(config: Config, job: Job) -> None:
    """WrongInput where group.models names more models than seats, or model= contradicts it."""
    models, size = config.group.models, config.group.size
    if models is None:
        return
    if len(models) > size:
        raise refused(
            "more_models_than_seats",
            models=counted(len(models), "model"),
            size=counted(size, "seat"),
        )
    if "model" in job.choices:
        raise refused("group_models_and_model")


def _presets(config: Config, job: Job, presets: ChosenPresets) -> list[Mapping[str, Any]]:
    """The settings of the models that are seated, from their presets and the values of the job."""
    names = debates.model_names(config, job) if config.is_debate else config.group.models
    if names is None:
        return [config.model.model_dump()]
    refuse_one_for_several(job, names)
    configs = [validated(presets.config_of_model(name, job)) for name in names]
    found: list[Mapping[str, Any]] = [one.model.model_dump() for one in configs]
    preset_of: dict[str, str] = {}
    for preset, model in zip(names, found, strict=True):
        first = preset_of.setdefault(str(model["name"]), preset)
        if first != preset:
            raise refused("presets_of_one_name", first=first, preset=preset, named=model["name"])
    return found


ELSEWHERE: Mapping[str, str] = read_data("settings.yaml")["model"]
"""Settings of models that the session has, and what to set."""
IN_TWO_PLACES = (("base_url", "model.base_url"), ("rounds", "treatment.rounds"))
"""Two settings of one thing, the first of which would overwrite the second."""
OF_DEBATES = ("motion", "proposition", "opposition", "audience", "tournament")
"""Settings that a deliberation does not read."""
OF_ONE_MODEL = ("model.name", "model.model", "model.kind")
"""Settings that make a model the one it is."""
DRAWN = ("motion", "proposition", "opposition")
"""Settings that a tournament sets for each of its debates."""


def refuse_overwritten(job: Job) -> None:
    """WrongInput for a setting of a job that would have no effect."""
    for key, advice in ELSEWHERE.items():
        if key in job.values:
            raise WrongInput(f"'{key}' would have no effect: {advice}")
    for stronger, weaker in IN_TWO_PLACES:
        if job.values.get(stronger) is not None and weaker in job.values:
            raise refused("overwritten_by_stronger", weaker=weaker, stronger=stronger)
    if not job.is_debate:
        _refuse_debating(job)
    elif job.values.get("tournament.design") is None:
        _refuse(job, "tournament", "on a single debate: a tournament has a tournament.design")
    else:
        for key in DRAWN:
            advice = "on a tournament, which draws its debates: tournament.debaters and .motions"
            _refuse(job, key, advice)


def refuse_one_for_several(job: Job, names: Sequence[str]) -> None:
    """WrongInput where a setting would make several models of a session into one."""
    if len(set(names)) < 2:
        return
    for key in OF_ONE_MODEL:
        if key in job.values:
            listed = ", ".join(dict.fromkeys(names))
            raise refused("setting_of_each_model", key=key, listed=listed)


def _refuse_debating(job: Job) -> None:
    for key in OF_DEBATES:
        _refuse(job, key, "on a deliberation; for a debate, set format=debate")


def _refuse(job: Job, group: str, advice: str) -> None:
    """WrongInput where a job sets a setting or one of a group to something."""
    for key, value in job.values.items():
        if key.partition(".")[0] == group and _is_set(value):
            raise WrongInput(f"'{key}' has no effect {advice}")


def _is_set(value: Any) -> bool:
    """Whether a value is none of those that ask for nothing."""
    return value not in (None, 0, [])
