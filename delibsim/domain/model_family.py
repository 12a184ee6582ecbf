"""Families of language models: their names in speech, their makers, and which model is of which.

The list is data (delibsim/data/model_families.json). Blinding takes these names out of debates,
raters are warned of debaters of their own family, and the rules of a debate know the makers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from delibsim.domain.data import read_data


@dataclass(frozen=True)
class ModelFamily:
    """One family of language models.

    `models` are the beginnings of words in the names of its models. `masked` are regular
    expressions of its names in speech, in any case; `masked_as_names` are names that are also
    words; `exact` are those with no version behind them. `makers` are the houses that make it.
    `silent` are the beginnings of names of models that reason only where a setting asks for it.
    """

    family: str
    models: tuple[str, ...]
    masked: tuple[str, ...]
    masked_as_names: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


@cache
def model_families() -> tuple[ModelFamily, ...]:
    """All known families, in the order of the file."""
    families = read_data("model_families.json")["families"]
    return tuple(ModelFamily(**entry) for entry in families)


def makers() -> tuple[str, ...]:
    """The makers of all families."""
    return tuple(maker for family in model_families() for maker in family.makers)


def family_of(name: str, settings: Mapping[str, Any]) -> str:
    """The family of a model, by its name and settings; that of an unknown model is its own.

    >>> family_of("judge", {"kind": "litellm", "model": "anthropic/claude-opus-4-5"})
    'claude'
    """
    known = f"{settings.get('model', '')} {name}".lower()
    for family in model_families():
        for beginning in family.models:
            if re.search(rf"(?<![a-z]){re.escape(beginning)}", known):
                return family.family
    kind = str(settings["kind"])
    return kind if kind == "citizen" else known.strip()


def reasons(settings: Mapping[str, Any]) -> bool | None:
    """Whether a model reasons before it answers, by its settings; None where they do not tell.

    What is asked for decides: `reasoning_effort`, or `thinking` and `reasoning` in `extra`. Without
    it the name at the provider tells of models that always reason, and of those that never do
    unasked. The citizen and people are neither.

    >>> reasons({"kind": "litellm", "model": "openai/gpt-5.1", "reasoning_effort": "none"})
    False
    >>> reasons({"kind": "litellm", "model": "openrouter/moonshotai/kimi-k2-thinking"})
    True
    >>> reasons({"kind": "citizen"}) is None
    True
    """
    if "model" not in settings:
        return None
    extra = settings.get("extra") or {}
    for name in ("thinking", "reasoning"):
        asked = _asked(extra.get(name))
        if asked is not None:
            return asked
    effort = settings.get("reasoning_effort")
    if effort is not None:
        return effort != "none"
    known = str(settings["model"]).lower()
    if re.search(r"thinking|reasoner|reasoning", known):
        return True
    for family in model_families():
        for beginning in family.silent:
            if re.search(rf"(?<![a-z]){re.escape(beginning)}", known):
                return False
    return None


def _asked(setting: Any) -> bool | None:
    """Whether a setting of a provider asks for reasoning; None where it does not say."""
    if not isinstance(setting, Mapping):
        return None
    if "enabled" in setting:
        return bool(setting["enabled"])
    if "type" in setting:
        return setting["type"] != "disabled"
    effort = setting.get("effort")
    return None if effort is None else effort != "none"
