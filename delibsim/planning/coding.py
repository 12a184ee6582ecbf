"""The settings of a coding: its own ones (scheme, samples ...), and those of models and limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from delibsim.planning.coders import Called, coders_asked, refuse_others
from delibsim.planning.compose import Plan
from delibsim.planning.overrides import values_by_key
from delibsim.planning.readers import (
    Reader,
    key_of,
    names,
    one_name,
    one_of,
    read_values,
    temperature,
    whole,
)

RULES = ("lower", "mean", "mode", "pooled")
"""How samples become one level; all are computed, and one of them is the score."""
UNITS = ("statement", "speaker")
SAME = ("each", "once")
"""Whether texts that are word for word alike are asked each, or once for all."""
MOST_SAMPLES = 1000
CODERS = Called(
    coder="coder",
    people="people code packs: delibsim code export STUDY",
    more="samples=N asks it N times",
)


@dataclass(frozen=True)
class CodingSettings:
    """What is set for a coding beside models and limits.

    `temperature` None: none is sent. `max_tokens` bounds every reply. `dimensions` () stands for
    all of the scheme. `rules` "" stands for the lower median, and the mode where levels are names.
    """

    scheme: str = ""
    samples: int = 5
    temperature: float | None = 0.7
    max_tokens: int = 400
    rules: str = ""
    by: str = "statement"
    context: int = 0
    same: str = "each"
    dimensions: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ("coding",)


KEYS = tuple(field.name for field in fields(CodingSettings))
"""The keys of the settings that a coding has of its own."""


@dataclass(frozen=True)
class CodingAsked:
    """What a command asks for: the settings of the coding, and the plan of its models.

    `models` are the settings of the coders by name: each language model is one coder, and a citizen
    that sits in several seats is as many, numbered. `ignored` says what had no effect.
    """

    settings: CodingSettings
    plan: Plan
    models: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...] = ()


def coding_asked(overrides: Sequence[str]) -> CodingAsked:
    """What settings ask for; WrongInput for a key or value that cannot be."""
    own = [override for override in overrides if key_of(override) in KEYS]
    others = [override for override in overrides if key_of(override) not in KEYS]
    settings = replace(CodingSettings(), **read_values(values_by_key(own), _READ))
    refuse_others(others, KEYS, "setting of a coding")
    asked = coders_asked(others, settings.temperature, settings.max_tokens, CODERS)
    return CodingAsked(settings, asked.plan, asked.models, asked.ignored)


_READ: Mapping[str, Reader] = {
    "scheme": one_name,
    "samples": whole(1, MOST_SAMPLES),
    "temperature": temperature,
    "max_tokens": whole(1, 1_000_000),
    "rules": one_of(RULES),
    "by": one_of(UNITS),
    "context": whole(0, 1_000),
    "same": one_of(SAME),
    "dimensions": names,
    "wordings": names,
}
