"""The settings of the models of a session, and the addresses under which they are reached."""

from collections.abc import Mapping
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.domain.text import counted
from delibsim.models.clients.settings import check_address, check_settings
from delibsim.planning import debates
from delibsim.planning.chosen import ChosenPresets
from delibsim.planning.config import Config, validated
from delibsim.planning.overrides import Job
from delibsim.planning.overwritten import refuse_one_for_several


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
    return _settled(preset, config, job)


def _settled(preset: Mapping[str, Any], config: Config, job: Job) -> tuple[dict[str, Any], str]:
    """The settings of a model in a session, from its preset, and its address, "" without one."""
    if "temperature" in preset:
        raise WrongInput(
            f"the file of model '{preset['name']}' in conf/model/ sets a temperature, which"
            " that of the session would overwrite; leave it out there, and set temperature=X"
        )
    model = {**preset, "temperature": config.temperature}
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
        raise WrongInput(
            f"group.models names {counted(len(models), 'model')} for {counted(size, 'seat')}"
        )
    if "model" in job.choices:
        raise WrongInput(
            "group.models seats the models, so model= would have no effect; leave one of the two"
            " out"
        )


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
            raise WrongInput(
                f"the presets '{first}' and '{preset}' are two models with one name: both files in"
                f" conf/model/ say name: {model['name']}, and they would be taken for one; write"
                f" name: {preset} in the file of '{preset}'"
            )
    return found
