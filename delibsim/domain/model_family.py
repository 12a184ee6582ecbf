"""Families of language models: their names in speech, their makers, and which model is of which.

The list is data (delibsim/data/model_families.json). Blinding takes these names out of debates,
raters are warned of debaters of their own family, and the rules of a debate know the makers.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "data" / "model_families.json"


@dataclass(frozen=True)
class ModelFamily:
    """One family of language models.

    `models` are the beginnings of words in the names of its models. `masked` are regular
    expressions of its names in speech, in any case; `masked_as_names` are names that are also
    words; `exact` are those with no version behind them. `makers` are the houses that make it.
    """

    family: str
    models: tuple[str, ...]
    masked: tuple[str, ...]
    masked_as_names: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()


@cache
def model_families() -> tuple[ModelFamily, ...]:
    """All known families, in the order of the file."""
    plain = json.loads(FILE.read_text(encoding="utf-8"))["families"]
    families = []
    for entry in plain:
        fields = {name: tuple(given) for name, given in entry.items() if name != "family"}
        families.append(ModelFamily(entry["family"], **fields))
    return tuple(families)


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
