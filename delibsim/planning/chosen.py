"""The configuration of a job: its options, each read once, and its values on top of them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.secret import looks_like_key
from delibsim.models.clients.faults import secrets
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

    def of(self, choices: Mapping[str, str]) -> Chosen:
        """The configuration of these options by group."""
        key = tuple(choices.items())
        if key not in self._read:
            chosen = Chosen(self.presets.config(choices))
            _refuse_secrets(chosen.leaves)
            self._read[key] = chosen
        return self._read[key]

    def config(self, job: Job) -> dict[str, Any]:
        """The configuration of a job; WrongInput for an unknown setting."""
        chosen = self.of(job.choices)
        known = set(chosen.keys)
        seated = job.values.get("group.models")
        for name in [*(seated if isinstance(seated, list) else []), *sides(job)]:
            known |= self.of({**job.choices, "model": str(name)}).keys
        for key in job.values:
            if key not in known and key not in job.added:
                meant = {one for one in known if _may_be_meant(one)}
                listed = {one for one in meant if ("." in one) == ("." in key)}
                raise unknown("setting", key, listed, unlisted=meant)
        merged = merge(chosen.config, job.values)
        _refuse_secrets({key: leaves(merged).get(key) for key in job.values})
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


def _refuse_secrets(settings: Mapping[str, Any]) -> None:
    """WrongInput, which does not repeat it, for a key among settings: it would be written to files,
    and the name of what it is a part of might hold it.
    """
    known = [secret for secret in secrets() if len(secret) >= KEY_LENGTH and secret[0] not in "/~."]
    for key, value in settings.items():
        if key in ADDRESSES:
            continue
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (looks_like_key(text) or _holds(text, known)):
                raise WrongInput(
                    f"'{key}' holds what looks like a key, or is a secret of the environment."
                    " Settings are written to files and name them; keys are read from the variable"
                    " that model.key_env names. Give another value"
                )


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
