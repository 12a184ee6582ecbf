"""Nested settings: values merged in at dotted keys, listed by dotted key, references filled in."""

import json
import re
from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from delibsim.domain.errors import WrongInput

REFERENCE = re.compile(r"\$\{\s*(\w+)")
"""The first step of a ${...}: a key of the configuration, or the name of a resolver."""


def merge(preset: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with values at dotted keys; a value that is a dictionary replaces the old.

    WrongInput for a key below a setting that is no dictionary.
    """
    config = json.loads(json.dumps(preset))
    for key, value in values.items():
        *path, leaf = key.split(".")
        place = config
        for step in path:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise WrongInput(f"'{key}': '{step}' holds one value and no settings of its own")
        place[leaf] = value
    return resolved(config)


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


def resolved(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration with every ${...} in it filled in; WrongInput where that cannot be done."""
    if "${" not in json.dumps(config, default=str):
        return config
    concerned = _concerned(config)
    part = OmegaConf.create({key: config[key] for key in concerned})
    try:
        plain: Any = OmegaConf.to_container(part, resolve=True)
    except OmegaConfBaseException as error:
        raise WrongInput(f"{error.full_key}: {str(error).splitlines()[0]}") from None
    return {**config, **plain}


def _concerned(config: Mapping[str, Any]) -> list[str]:
    """The keys of a configuration that hold a ${...}, and those named in one, even indirectly.

    OmegaConf takes ten times as long for a whole configuration, and a sweep fills in one for every
    session.
    """
    texts = {key: json.dumps(value, default=str) for key, value in config.items()}
    concerned = [key for key, text in texts.items() if "${" in text]
    for key in concerned:  # the list grows while the loop runs
        for name in REFERENCE.findall(texts[key]):
            if name in texts and name not in concerned:
                concerned.append(name)
    return concerned
