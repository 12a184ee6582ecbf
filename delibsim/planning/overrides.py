"""From overrides, as Hydra reads them, to one set of choices and values for every session of a
sweep.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override
from hydra.errors import HydraException

from delibsim.domain.errors import WrongInput, unknown
from delibsim.models.clients.faults import scrub, secrets
from delibsim.planning.presets import FOR_DEBATES, GROUPS, Presets

PEOPLE = "human:"
"""What persona=human:TOPIC begins with: the participants of that topic."""
NEEDED = ("model", "base_url")
"""What a preset of a model must hold, where it has the field at all, to speak as it stands."""
FIXED = ("study", "runs", "seed", "limits", "base_url")
"""What all sessions of a study share."""


@dataclass(frozen=True)
class Job:
    """What one session is made of: the options chosen by group, and values by dotted key, some of
    them added (+model.x=1).
    """

    choices: Mapping[str, str]
    values: Mapping[str, Any]
    added: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Sweep:
    """The sessions asked for, in order, and who is to hold them (a Hydra launcher and its
    settings).
    """

    jobs: tuple[Job, ...]
    experiment: str = ""
    launcher: str = "delibsim"
    launcher_overrides: tuple[str, ...] = field(default=())


def read(
    overrides: Sequence[str], presets: Presets, topics: Callable[[], Sequence[str]], sweep: bool
) -> Sweep:
    """What overrides ask for; WrongInput for what cannot be read or names nothing.

    In a sweep a value may be Hydra's choice sweep, range or glob, `all` stands for every topic or
    option of a group, and `+experiment=NAME` brings the overrides of a preset, which those at the
    command line replace.
    """
    parsed = {_key(override): override for override in _parsed(overrides)}
    experiment = ""
    if "experiment" in parsed:
        experiment = str(parsed.pop("experiment").value())
        if not sweep:
            raise WrongInput(
                f"the experiment '{experiment}' holds many sessions: delibsim run -m"
                f" +experiment={experiment}"
            )
        seats = (
            "model",
            "group",
            "group.models",
        )  # whoever seats the models replaces how the experiment did
        reseated = any(key in parsed for key in seats)
        brought = {
            key: text
            for key, text in presets.experiment(experiment).items()
            if not (reseated and key in seats)
        }
        parsed = {
            key: one for key, text in brought.items() for one in _parsed([f"{key}={text}"])
        } | parsed
    launcher = {
        key: parsed.pop(key)
        for key in list(parsed)
        if sweep and key.startswith(("hydra/launcher", "hydra.launcher."))
    }
    named = launcher.pop("hydra/launcher", None)
    axes: list[list[tuple[str, Any]]] = []
    for key, override in parsed.items():
        values = _values(override, key, presets, topics, overrides)
        if len(values) > 1 and not sweep:
            line = hidden(str(override.input_line), overrides)
            raise WrongInput(
                f"'{line}' names several values; one session has one value for each setting, and a"
                " sweep is delibsim run -m"
            )
        if len(values) > 1 and key.split(".")[0] in FIXED:
            raise WrongInput(
                f"'{key}' is shared by all sessions of a study and can have one value only"
            )
        axes.append([(key, value) for value in values])
    added = frozenset(key for key, override in parsed.items() if override.is_add())
    jobs = [_job(dict(cell), added, presets) for cell in itertools.product(*axes)]
    return Sweep(
        tuple(jobs),
        experiment,
        str(named.value()) if named else "delibsim",
        tuple(str(override.input_line) for override in launcher.values()),
    )


def hidden(text: str, overrides: Iterable[str]) -> str:
    """A text without what the addresses among the overrides may hold of keys."""
    addresses = (override.partition("=")[2] for override in overrides if "base_url" in override)
    return scrub(
        text, secrets(part.strip("'\"") for address in addresses for part in address.split(","))
    )


def _parsed(overrides: Sequence[str]) -> list[Override]:
    try:
        return OverridesParser.create().parse_overrides(list(overrides))
    except HydraException as error:
        problem = hidden(str(error).splitlines()[0], overrides)
        advice = (
            "overrides look like topic=acp, and values with special characters need quotes of their"
            " own: study=\"'name'\""
        )
        raise WrongInput(f"cannot read the override: {problem}; {advice}") from None


def _key(override: Override) -> str:
    """The group or dotted key an override sets; WrongInput for a deletion, or an addition that adds
    nothing we know.
    """
    key = override.key_or_group
    if override.is_delete():
        raise WrongInput(
            f"'{override.input_line}' deletes a setting; every setting has a value, if only null"
        )
    if override.package is not None:
        raise unknown("setting", override.get_key_element(), ())
    if (
        override.is_add()
        and key != "experiment"
        and not key.startswith(("model.", "hydra.launcher."))
    ):
        raise WrongInput(
            f"'{override.input_line}' adds '{key}', which cannot be added; to change it, leave the"
            " + out"
        )
    return key


def _values(
    override: Override,
    key: str,
    presets: Presets,
    topics: Callable[[], Sequence[str]],
    overrides: Sequence[str],
) -> list[Any]:
    """The values an override names: one, or those of a sweep."""
    value = override.value()
    if (isinstance(value, Glob) or value == "all") and (key == "topic" or key in GROUPS):
        names = list(topics() if key == "topic" else presets.names(key))
        if "format=debate" not in overrides:
            names = [name for name in names if name not in FOR_DEBATES.get(key, ())]
        if isinstance(value, Glob):
            return [str(name) for name in value.filter(names)] or [
                hidden(str(override.input_line), overrides)
            ]
        # Presets that name no model of their own, no address or no topic's people wait for one; a
        # person is asked only by name.
        names = [name for name in names if name != "human" or key not in ("model", "persona")]
        return [
            name
            for name in names
            if key != "model"
            or all(presets.config({key: name})[key].get(part, name) for part in NEEDED)
        ]
    if not override.is_sweep_override():
        return [value]
    line = hidden(str(override.input_line), overrides)
    if isinstance(value, Glob):
        raise WrongInput(
            f"'{line}': a glob stands for topics or for the options of a group, and '{key}' is"
            " neither"
        )
    if not override.is_discrete_sweep():
        raise WrongInput(f"'{line}' names no list of values")
    values = [
        one.value()
        for text in override.sweep_string_iterator()
        for one in _parsed([f"{key}={text}"])
    ]
    if not values:
        raise WrongInput(f"'{line}' names no value at all")
    return values


def _job(cell: Mapping[str, Any], added: frozenset[str], presets: Presets) -> Job:
    choices = {key: value for key, value in cell.items() if key in GROUPS}
    if isinstance(people := choices.get("persona"), str) and people.startswith(PEOPLE):
        choices["persona"] = "human"
        cell = {**cell, "persona.people": people.removeprefix(PEOPLE)}
    for group, name in choices.items():
        if not isinstance(name, str) or name not in presets.names(group):
            raise unknown(group, str(name), presets.names(group), presets.advice())
    return Job(choices, {key: value for key, value in cell.items() if key not in GROUPS}, added)
