"""The settings of summaries: their own ones (sizes, runs ...), and those of models and limits."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delibsim.asking.settings import (
    MODELS,
    SIZE,
    Called,
    CodersAsked,
    Settings,
    coders_asked,
    readers_of,
    setting,
    settings_in,
    task_name,
)
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.summary import FLOORS, GROUPINGS, Grouping
from delibsim.planning.config import key_of, one_name, one_of, read_values, temperature, whole
from delibsim.planning.overrides import values_by_key
from delibsim.planning.presets import Presets

PLANS = ("whole", "chunks")
"""Whether a summary is given in one step, or in two: of parts, and then of their summaries."""
GROUP = "summary"
"""The folder of conf/ that holds presets of these settings."""
ALL = 0
"""The size that stands for the whole set."""
SUMMARISERS = Called(
    coder="summariser",
    people="language models, citizens and the extractive summarisers are asked here",
    more="--dir N asks it N times",
)


def sizes_read(name: str, value: Any) -> tuple[int, ...]:
    """Sizes from the least to the greatest, `all` as `ALL` at the end.

    >>> sizes_read("sizes", "30,all,10")
    (10, 30, 0)
    """
    listed = value if isinstance(value, list) else str(value).split(",")
    found = set()
    for one in listed:
        said = str(one).strip()
        if said == "all":
            found.add(ALL)
        elif said.isascii() and said.isdigit() and 2 <= int(said) <= 1_000_000:
            found.add(int(said))
        else:
            raise WrongInput(
                f"{name}={value}: give whole numbers of 2 or more, or all, such as sizes="
                "10,30,100,all"
            )
    return (*sorted(found - {ALL}), *([ALL] if ALL in found else []))


@dataclass(frozen=True)
class SummarisingSettings(Settings):
    """What is set for summaries beside models and limits; `ALL` among the `sizes` is the whole set.

    With `plan` "chunks", models summarise parts of at most `part` opinions, and then these
    summaries.
    `embedding` says how opinions become points, for themes. `temperature` None: none is sent.
    `max_tokens` bounds every reply.
    """

    name: str = setting("main", task_name)
    sizes: tuple[int, ...] = setting((ALL,), sizes_read)
    draws: int = setting(1, whole(1, 1_000))
    runs: int = setting(3, whole(1, 1_000))
    groups: Grouping = setting("none", one_of(GROUPINGS))
    plan: str = setting("whole", one_of(PLANS))
    part: int = setting(100, whole(2, 1_000_000))
    embedding: str = setting("tfidf", one_name)
    temperature: float | None = setting(0.7, temperature)
    max_tokens: int = setting(2000, whole(1, 1_000_000))
    wording: str = setting("summary", one_name)


@dataclass(frozen=True)
class SummarisingAsked:
    """What a command asks for: the settings, the language models (None without one), and those of
    the extractive summarisers that are asked beside them.
    """

    settings: SummarisingSettings
    models: CodersAsked
    floors: tuple[str, ...]


def summarising_asked(overrides: Sequence[str]) -> SummarisingAsked:
    """What settings ask for; WrongInput for a key or value that cannot be.

    The extractive summarisers are asked in any case; without a model, they alone.
    """
    own = [override for override in overrides if key_of(override) == GROUP]
    others = [override for override in overrides if key_of(override) != GROUP]
    preset = _of_preset(values_by_key(own).get(GROUP))
    settings, others = settings_in(SummarisingSettings, others, "setting of summaries", preset)
    others, named = _without_floors(others)
    coders = coders_asked(others, settings.temperature, settings.max_tokens, SUMMARISERS)
    if not named:
        coders = replace(coders, models={})
    if settings.plan == "chunks" and not named:
        raise WrongInput("plan=chunks is for language models; name one: model=NAME")
    if "part" in settings.keys and settings.plan != "chunks":
        raise WrongInput("part is of plan=chunks; give both, or leave part out")
    return SummarisingAsked(settings, coders, FLOORS)


def _of_preset(name: Any) -> dict[str, Any]:
    """What conf/summary/NAME.yaml sets, beside the user first; nothing without a name."""
    if name is None:
        return {}
    found = Presets(Path()).values(GROUP, str(name))
    where = f"conf/{GROUP}/{name}.yaml"
    readers = readers_of(SummarisingSettings)
    for key in found:
        if key not in readers or key == "name":
            raise unknown(f"setting of {where}", str(key), sorted(readers.keys() - {"name"}))
    try:
        return read_values(found, readers)
    except WrongInput as fault:
        raise WrongInput(f"{where}: {fault}") from None


def _without_floors(overrides: Sequence[str]) -> tuple[list[str], bool]:
    """The settings without the extractive summarisers, and whether a model is left."""
    found, left = [], False
    for override in overrides:
        key = key_of(override)
        if key in ("model", MODELS):
            listed = values_by_key([override])[key]
            names = listed if isinstance(listed, list) else [listed]
            models = [name for name in names if name not in FLOORS]
            left = left or bool(models)
            if not models:
                continue
            if len(models) == 1:
                override = f"model={models[0]}"
            else:
                override = f"{MODELS}=[{','.join(map(str, models))}]"
        left = left or key == SIZE
        found.append(override)
    return found, left
