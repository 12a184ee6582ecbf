"""From settings, as Hydra reads them, to one set of choices and values for every session."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from delibsim.domain.errors import WrongInput, refused, unknown
from delibsim.domain.format import DEBATE
from delibsim.models.clients.faults import scrub, secrets
from delibsim.planning.config import OF_THE_STUDY
from delibsim.planning.presets import FOR_CODERS, FOR_DEBATES, GROUPS, Presets

if TYPE_CHECKING:  # Hydra is slow to import
    from hydra.core.override_parser.types import Override, RangeSweep

PEOPLE = "human:"
"""What persona=human:TOPIC begins with: the participants of that topic."""
NEEDED = ("model", "base_url")
"""What a preset of a model must hold, where it has the field at all, to be used as it stands."""
SEATS = ("model", "group", "group.models")
"""What says which models sit in a group."""
MOST_SESSIONS = 200_000
"""A study has no more sessions."""
SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
"""Replicates from one number to another: replicate=1-5."""
LAUNCHER = ("hydra/launcher", "hydra.launcher.")
"""What the keys of a launcher begin with."""


@dataclass(frozen=True)
class Job:
    """What one session is made of: options by group, values by dotted key.

    `added` are the keys that were added to the settings (+model.x=1).
    """

    choices: Mapping[str, str]
    values: Mapping[str, Any]
    added: frozenset[str] = frozenset()

    @property
    def is_debate(self) -> bool:
        """Whether it asks for a debate."""
        return self.values.get("format") == DEBATE.name


@dataclass(frozen=True)
class Sweep:
    """The sessions asked for, in order, and who holds them (a Hydra launcher and its settings)."""

    jobs: tuple[Job, ...]
    experiment: str = ""
    launcher: str = "delibsim"
    launcher_overrides: tuple[str, ...] = ()


def read(
    overrides: Sequence[str], presets: Presets, topics: Callable[[], Sequence[str]], sweep: bool
) -> Sweep:
    """What overrides ask for; WrongInput for what cannot be read or names nothing.

    In a sweep a value may be Hydra's choice sweep, range or glob, `all` stands for every topic or
    option of a group, and `experiment=NAME` brings the overrides of a preset, which those at the
    command line replace.
    """
    parsed = _by_key(_parsed(overrides), overrides)
    experiment = ""
    if "experiment" in parsed:
        experiment = str(parsed.pop("experiment").value())
        if not sweep:
            raise refused("experiment_needs_sweep", experiment=experiment)
        parsed = _of_experiment(presets.experiment(experiment), parsed) | parsed
    launcher = {}
    if sweep:
        launcher = {key: one for key, one in parsed.items() if key.startswith(LAUNCHER)}
    settings = {key: one for key, one in parsed.items() if key not in launcher}
    named = launcher.pop("hydra/launcher", None)
    axes = []
    for key, override in settings.items():
        values = _values(override, key, presets, topics, overrides)
        if len(values) > 1:
            _refuse_several(key, override, overrides, sweep)
        axes.append((key, values))
    sessions = math.prod(len(values) for _, values in axes)
    if sessions > MOST_SESSIONS:
        raise refused("too_many_sessions", sessions=sessions, most_sessions=MOST_SESSIONS)
    added = frozenset(key for key, override in settings.items() if override.is_add())
    keys = [key for key, _ in axes]
    cells = itertools.product(*(values for _, values in axes))
    return Sweep(
        jobs=tuple(_job(dict(zip(keys, cell, strict=True)), added, presets) for cell in cells),
        experiment=experiment,
        launcher=str(named.value()) if named else "delibsim",
        launcher_overrides=tuple(str(override.input_line) for override in launcher.values()),
    )


def values_by_key(overrides: Sequence[str]) -> dict[str, Any]:
    """Settings as plain values by key, of which each is given once and names one value.

    WrongInput for what cannot be read, and for several values.

    >>> values_by_key(["samples=3", "wordings=[a,b]"])
    {'samples': 3, 'wordings': ['a', 'b']}
    """
    parsed = _by_key(_parsed(overrides), overrides)
    for key, override in parsed.items():
        if override.is_sweep_override():
            raise refused(
                "list_without_brackets",
                input_line=hidden(str(override.input_line), overrides),
                key=key,
            )
    return {key: override.value() for key, override in parsed.items()}


def hidden(text: str, overrides: Iterable[str]) -> str:
    """A text without the keys that addresses among the overrides may hold."""
    parts = []
    for override in overrides:
        if "base_url" in override:
            addresses = override.partition("=")[2].split(",")
            parts += [address.strip("'\"") for address in addresses]
    return scrub(text, secrets(parts))


def _of_experiment(
    brought: Mapping[str, str], given: Mapping[str, "Override"]
) -> dict[str, "Override"]:
    """The overrides of an experiment; without its models where those given seat other models."""
    reseated = any(key in given for key in SEATS)
    found = {}
    for key, text in brought.items():
        if not (reseated and key in SEATS):
            for override in _parsed([f"{key}={text}"]):
                found[key] = override
    return found


def _refuse_several(key: str, override: "Override", overrides: Sequence[str], sweep: bool) -> None:
    """WrongInput for several values where a setting can have one only."""
    if not sweep:
        line = hidden(str(override.input_line), overrides)
        raise refused("several_values_in_one_session", line=line)
    if key.split(".")[0] in OF_THE_STUDY:
        raise refused("one_value_for_a_study", key=key)


def _parsed(overrides: Sequence[str]) -> list["Override"]:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        return OverridesParser.create().parse_overrides(list(overrides))
    except RecursionError:
        raise WrongInput("the values of a setting are nested too deep") from None
    except ValueError:  # of Python, which reads no number of more than 4,300 digits
        raise WrongInput("a setting holds a number with too many digits to be read") from None
    except HydraException as error:
        problem = hidden(str(error).splitlines()[0], overrides).replace("override", "setting")
        problem = problem.removeprefix("LexerNoViableAltException: ")
        raise refused("setting_unreadable", problem=problem) from None


def _by_key(parsed: Iterable["Override"], overrides: Sequence[str]) -> dict[str, "Override"]:
    """Overrides by what they set; WrongInput for a setting that is given more than once."""
    found: dict[str, Override] = {}
    for override in parsed:
        key = _key(override)
        if key in found:
            first = hidden(str(found[key].input_line), overrides)
            second = hidden(str(override.input_line), overrides)
            raise refused("setting_given_twice", key=key, first=first, second=second)
        found[key] = override
    return found


def _key(override: "Override") -> str:
    """The group or dotted key an override sets.

    WrongInput for a deletion, or an addition where nothing can be added.
    """
    key, line = override.key_or_group, override.input_line
    if override.is_delete():
        raise WrongInput(f"'{line}' deletes a setting; every setting has a value, if only null")
    if override.package is not None:
        raise unknown("setting", override.get_key_element(), ())
    addable = key == "experiment" or key.startswith(("model.", "hydra.launcher."))
    if override.is_add() and not addable:
        raise refused("setting_cannot_be_added", line=line, key=key)
    return key


def _values(
    override: "Override",
    key: str,
    presets: Presets,
    topics: Callable[[], Sequence[str]],
    overrides: Sequence[str],
) -> list[Any]:
    """The values an override names: one, or those of a sweep."""
    from hydra.core.override_parser.types import Glob, RangeSweep

    value = override.value()
    if (isinstance(value, Glob) or value == "all") and (key == "topic" or key in GROUPS):
        names = list(topics() if key == "topic" else presets.names(key))
        names = [name for name in names if name not in FOR_CODERS.get(key, ())]
        if "format=debate" not in overrides:
            names = [name for name in names if name not in FOR_DEBATES.get(key, ())]
        if isinstance(value, Glob):
            found = [str(name) for name in value.filter(names)]
            return found or [hidden(str(override.input_line), overrides)]
        return [name for name in names if _usable(key, name, presets)]
    line = hidden(str(override.input_line), overrides)
    if not override.is_sweep_override():
        return _span(key, value, line)
    if isinstance(value, Glob):
        raise refused("glob_of_no_group", line=line, key=key)
    if not override.is_discrete_sweep():
        raise WrongInput(f"'{line}' names no list of values")
    if isinstance(value, RangeSweep) and _too_many(value):
        raise WrongInput(f"'{line}' names more than {MOST_SESSIONS:,} values")
    if isinstance(value, RangeSweep):
        return list(override.sweep_iterator()) or _no_value(line)
    values = []
    for text in override.sweep_string_iterator():
        for one in _parsed([f"{key}={text}"]):
            values += _span(key, one.value(), line)
    return values or _no_value(line)


def _span(key: str, value: Any, line: str) -> list[Any]:
    """A value alone; of replicates those from one number to another."""
    span = SPAN.fullmatch(value) if key == "replicate" and isinstance(value, str) else None
    if span is None:
        return [value]
    first, last = int(span[1]), int(span[2])
    if last - first >= MOST_SESSIONS:
        raise WrongInput(f"'{line}' names more than {MOST_SESSIONS:,} values")
    return list(range(first, last + 1)) or _no_value(line)


def _no_value(line: str) -> NoReturn:
    raise WrongInput(f"'{line}' names no value at all")


def _too_many(span: "RangeSweep") -> bool:
    """Whether a range holds more values than a study has sessions, or has no end."""
    start, stop, step = span.start or 0, span.stop or 0, span.step
    return step == 0 or (stop - start) / step > MOST_SESSIONS


def _usable(key: str, name: str, presets: Presets) -> bool:
    """Whether `all` includes an option.

    People take part only by name. A preset of a model that lacks the provider's name of the model,
    or an address, cannot be used as it stands.
    """
    if key not in ("model", "persona"):
        return True
    if name == "human":
        return False
    if key == "persona":
        return True
    settings = presets.config({key: name})[key]
    return all(settings.get(field, name) for field in NEEDED)


def _job(cell: Mapping[str, Any], added: frozenset[str], presets: Presets) -> Job:
    """One combination of values as a job; WrongInput for an unknown option."""
    choices = {key: value for key, value in cell.items() if key in GROUPS}
    values = {key: value for key, value in cell.items() if key not in GROUPS}
    persona = choices.get("persona")
    if isinstance(persona, str) and persona.startswith(PEOPLE):
        if "persona.people" in values:
            raise refused("persona_people_overwritten", persona=persona)
        choices["persona"] = "human"
        values["persona.people"] = persona.removeprefix(PEOPLE)
    for group, name in choices.items():
        if isinstance(name, list):
            listed = ",".join(map(str, name))
            told = f"several in one group: group.models=[{listed}]; " if group == "model" else ""
            raise WrongInput(f"'{group}' takes one name; {told}in a sweep (-m): {group}={listed}")
        if not isinstance(name, str) or name not in presets.names(group):
            raise unknown(group, str(name), presets.names(group))
    return Job(choices, values, added)
