"""The settings of judging summaries: its own ones, and those of models and limits."""

from collections.abc import Sequence
from dataclasses import dataclass

from delibsim.asking.settings import (
    Called,
    CodersAsked,
    Settings,
    coders_asked,
    setting,
    settings_in,
    task_name,
)
from delibsim.domain.judgment import ASKED, ROLES, Asked, Role
from delibsim.planning.config import one_name, one_of, temperature, whole, yes_or_no

JUDGES = Called(
    coder="judge",
    people="language models and citizens are asked here, people by: delibsim judge handout",
    more="name several: 'group.models=[A,B]'",
)
DEFAULT_RING = 6


@dataclass(frozen=True)
class JudgingSettings(Settings):
    """What is set for judging beside models and limits.

    `summaries` names the task of summaries, "" the only one. `people`: what people have judged is
    judged too, beside the opinions that they wrote. `per_summary` 0: all opinions that a
    summary was written from. `temperature` None: none is sent.
    """

    name: str = setting("main", task_name)
    summaries: str = setting("", task_name)
    asked: Asked = setting("rating", one_of(ASKED))
    role: Role = setting("reader", one_of(ROLES))
    per_summary: int = setting(0, whole(0, 1_000_000))
    k: int = setting(DEFAULT_RING, whole(1, 100_000))
    both_ways: bool = setting(False, yes_or_no)
    controls: bool = setting(False, yes_or_no)
    people: bool = setting(False, yes_or_no)
    temperature: float | None = setting(0.0, temperature)
    max_tokens: int = setting(200, whole(1, 1_000_000))
    wording: str = setting("verdict", one_name)


def judging_asked(overrides: Sequence[str]) -> tuple[JudgingSettings, CodersAsked]:
    """What settings ask for, and the judges; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(JudgingSettings, overrides, "setting of judging")
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, JUDGES)
