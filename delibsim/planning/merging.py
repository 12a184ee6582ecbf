"""Nested settings: values merged in at dotted keys, and listed by dotted key."""

import json
from collections.abc import Mapping
from typing import Any

from delibsim.domain.errors import WrongInput
from delibsim.planning.references import escaped, resolved


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
