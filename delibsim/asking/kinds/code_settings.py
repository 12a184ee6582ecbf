"""The settings of a coding: its own ones (scheme, samples ...), and those of models and limits."""

from collections.abc import Sequence
from dataclasses import dataclass

from delibsim.asking.settings import (
    Called,
    CodersAsked,
    Settings,
    coders_asked,
    setting,
    settings_in,
)
from delibsim.planning.config import names, one_name, one_of, temperature, whole

RULES = ("lower", "mean", "mode", "pooled")
"""How samples become one level; all are computed, and one of them is the score."""
UNITS = ("statement", "speaker")
SAME = ("each", "once")
"""Whether texts that are word for word alike are asked each, or once for all."""
MOST_SAMPLES = 1000
CODERS = Called(
    coder="coder",
    people="people code packs: delibsim code handout STUDY",
    more="samples=N asks it N times",
)


@dataclass(frozen=True)
class CodingSettings(Settings):
    """What is set for a coding beside models and limits.

    `temperature` None: none is sent. `max_tokens` bounds every reply. `dimensions` () stands for
    all of the scheme. `rules` "" stands for the lower median, and the mode where levels are names.
    """

    scheme: str = setting("", one_name)
    samples: int = setting(5, whole(1, MOST_SAMPLES))
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(400, whole(1, 1_000_000))
    rules: str = setting("", one_of(RULES))
    by: str = setting("statement", one_of(UNITS))
    context: int = setting(0, whole(0, 1_000))
    same: str = setting("each", one_of(SAME))
    dimensions: tuple[str, ...] = setting((), names)
    wordings: tuple[str, ...] = setting(("coding",), names)


def coding_asked(overrides: Sequence[str]) -> tuple[CodingSettings, CodersAsked]:
    """What settings ask for, and the coders; WrongInput for a key or value that cannot be."""
    settings, others = settings_in(CodingSettings, overrides, "setting of a coding")
    return settings, coders_asked(others, settings.temperature, settings.max_tokens, CODERS)
