"""The settings of judging summaries: its own ones, and those of models and limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from delibsim.domain.judgment import ASKED, ROLES, Asked, Role
from delibsim.planning.coders import Called, CodersAsked, coders_asked, refuse_others
from delibsim.planning.comparing import task_name
from delibsim.planning.overrides import values_by_key
from delibsim.planning.readers import (
    Reader,
    key_of,
    one_name,
    one_of,
    read_values,
    temperature,
    whole,
    yes_or_no,
)

JUDGES = Called(
    coder="judge",
    people="language models and citizens are asked here, people by: delibsim judge export",
    more="name several: 'group.models=[A,B]'",
)
DEFAULT_RING = 6


@dataclass(frozen=True)
class JudgingSettings:
    """What is set for judging beside models and limits.

    `summaries` names the task of summaries, "" the only one. `people`: what people have judged is
    judged too, beside the opinions that they wrote. `per_summary` 0: all opinions that a
    summary was written from. `temperature` None: none is sent. `keys` are those that were given.
    """

    name: str = "main"
    summaries: str = ""
    asked: Asked = "rating"
    role: Role = "reader"
    per_summary: int = 0
    k: int = DEFAULT_RING
    both_ways: bool = False
    controls: bool = False
    people: bool = False
    temperature: float | None = 0.0
    max_tokens: int = 200
    wording: str = "verdict"
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True)
class JudgingAsked:
    """What a command asks for: the settings, and the judges."""

    settings: JudgingSettings
    judges: CodersAsked


def judging_asked(overrides: Sequence[str]) -> JudgingAsked:
    """What settings ask for; WrongInput for a key or value that cannot be."""
    own = [override for override in overrides if key_of(override) in _READ]
    others = [override for override in overrides if key_of(override) not in _READ]
    given: dict[str, Any] = read_values(values_by_key(own), _READ)
    settings = replace(JudgingSettings(), **given, keys=frozenset(given))
    refuse_others(others, list(_READ), "setting of judging")
    judges = coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)
    return JudgingAsked(settings, judges)


_READ: Mapping[str, Reader] = {
    "name": task_name,
    "summaries": task_name,
    "asked": one_of(ASKED),
    "role": one_of(ROLES),
    "per_summary": whole(0, 1_000_000),
    "k": whole(1, 100_000),
    "both_ways": yes_or_no,
    "controls": yes_or_no,
    "people": yes_or_no,
    "temperature": temperature,
    "max_tokens": whole(1, 1_000_000),
    "wording": one_name,
}
