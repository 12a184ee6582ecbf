"""The names of sessions: the settings that tell a session from others, and their label."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from delibsim.planning.config import OF_A_DEBATE, OF_THE_STUDY

NAMED = ("topic", "replicate")
"""Settings that are parts of a session's name themselves."""
UNLABELLED = (*NAMED, *OF_THE_STUDY, *OF_A_DEBATE)
"""Settings that a label need not give."""
IDENTITY = ("name", "kind", "model", "base_url", "key_env", "timeout", "strict", "price")
"""Settings of a model that identify it, or that only say how it is reached."""
OPTIONS = ("persona", "wording", "procedure", "consensus")
"""Groups whose option stands in the label unless it is the usual one."""


def differences(
    settings: Mapping[str, Any],
    presets: Mapping[str, Any],
    defaults: Mapping[str, Any],
    choices: Mapping[str, str],
    usual: Mapping[str, Collection[str]],
) -> dict[str, Any]:
    """What tells a session from one of its presets with the same topic, treatment and models.

    All settings go by dotted key: those of the session, of its `presets`, and the `defaults`.
    `choices` are the options by group, `usual` the options that its format or its procedure takes
    by default. The result depends on what the session is and not on how it was asked for, so that
    a study can be enlarged by another command.
    """
    found: dict[str, Any] = {}
    for group in OPTIONS:
        name = _option(group, settings, choices)
        default = (defaults.get(f"{group}.name"), defaults.get(f"{group}.id"), "default")
        if name is not None and name not in usual.get(group, default):
            found[group] = name
    for key, value in settings.items():
        if _is_labelled(key) and value != presets.get(key):
            found[key] = value
    return found


def _option(group: str, settings: Mapping[str, Any], choices: Mapping[str, str]) -> Any:
    """The name of the option of a group: its own, or that under which it was chosen."""
    for key in (f"{group}.name", f"{group}.id"):
        if key in settings:
            return settings[key]
    return choices.get(group)


def _is_labelled(key: str) -> bool:
    """Whether a label gives a setting that differs from its preset."""
    group, _, leaf = key.partition(".")
    if group in UNLABELLED or key == "group.models" or leaf in ("name", "id"):
        return False
    return not (group == "model" and leaf in IDENTITY)


def label_of(differing: Mapping[str, Any]) -> str:
    """The part of a session's name that gives the settings in which it differs.

    Settings go by dotted key, of which the label gives the last step.

    >>> label_of({"temperature": 0.7, "procedure.audience.network": "ring"})
    'network-ring_temperature0_7'
    """
    parts = []
    for key, value in differing.items():
        name = key.rpartition(".")[2]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = f"{value:g}".replace(".", "_")
            parts.append(f"{name}{number}")
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            parts.append(f"{name}-{text}")
    return "_".join(sorted(parts))


def label_parts(
    kind: str, parts: Mapping[str, Any], differing: Mapping[str, Any]
) -> dict[str, Any]:
    """The parts of a study by name; the name gives the settings that differ from the preset.

    >>> label_parts("models", {"citizen": 1}, {"model.noise": 0.9, "temperature": 0})
    {'citizen (noise0_9)': 1}
    """
    prefix = kind.removesuffix("s") + "."
    own = {}
    for key, value in differing.items():
        if key.startswith(prefix):
            own[key.removeprefix(prefix)] = value
    suffix = f" ({label_of(own)})" if own else ""
    return {f"{name}{suffix}": part for name, part in parts.items()}
