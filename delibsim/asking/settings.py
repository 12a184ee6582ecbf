"""From the settings of a command about finished texts to what is asked (the fields of a dataclass,
each with its reader) and to the language models that are asked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from delibsim.asking.nouns import Kind, Plan
from delibsim.domain.conversation import KINDS_OF_PEOPLE
from delibsim.domain.data import read_data
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.transcript import SPEAKING
from delibsim.planning.compose import StudyPlan, plan
from delibsim.planning.config import Reader, key_of, names, one_name, read_values
from delibsim.planning.overrides import values_by_key
from delibsim.store.runs import Runs

LIMIT = "max_tokens"
MODELS, SIZE = "group.models", "group.size"
OF_MODELS = ("model", "group", "base_url", "limits", "procedure", "seed")
"""The first words of the settings of models that have an effect: what is set for sessions has none.
"""


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
S = TypeVar("S", bound="KindSettings")


@dataclass(frozen=True)
class KindSettings:
    """The settings of a kind beside models and limits; `keys` are those that were given."""

    keys: frozenset[str] = frozenset()


def setting(default: Any, read: Reader, key: str = "") -> Any:
    """A field of settings: its default, or what makes one, how a value is read, and the key where
    it is not the name of the field.
    """
    about = {"read": read, "key": key}
    if isinstance(default, type):
        return field(default_factory=default, metadata=about)
    return field(default=default, metadata=about)


def roles(name: str, value: Any) -> tuple[str, ...]:
    """Roles whose words are put before coders, citizens where none is named."""
    found = names(name, value)
    for one in found:
        if one not in SPEAKING:
            raise unknown(f"role in {name}", one, SPEAKING)
    return tuple(one for one in SPEAKING if one in found)


def readers_of(settings: type[Any]) -> dict[str, Reader]:
    """The reader of every key of some settings."""
    found = {}
    for one in fields(settings):
        if "read" in one.metadata:
            found[one.metadata["key"] or one.name] = one.metadata["read"]
    return found


def settings_in(
    kind: type[S],
    overrides: Sequence[str],
    noun: str,
    before: Mapping[str, Any] | None = None,
    strict: bool = True,
) -> tuple[S, list[str]]:
    """The settings of a kind that are given, over defaults and those that hold `before` them, and
    the overrides that are of models (where it is not `strict`, all others); WrongInput for a key
    or value that cannot be. The field `keys` names those that were given.
    """
    readers = readers_of(kind)
    own = [override for override in overrides if key_of(override) in readers]
    others = [override for override in overrides if key_of(override) not in readers]
    given = {**(before or {}), **read_values(values_by_key(own), readers)}
    for key in sorted(set(map(key_of, others))) if strict else ():
        if key.partition(".")[0] not in OF_MODELS:
            raise unknown(noun, key, [*readers, *OF_MODELS])
    names = {one.metadata.get("key") or one.name: one.name for one in fields(kind)}
    values = {names[key]: value for key, value in given.items()}
    return kind(**values, keys=frozenset(given)), others


def task_name(name: str, value: Any) -> str:
    """The name of a task, which can name a folder."""
    found = one_name(name, value)
    if not NAME.fullmatch(found):
        raise WrongInput(f"{name}={found}: use letters, digits, '.', '_' and '-', a letter first")
    return found


@dataclass(frozen=True)
class Called:
    """How a command speaks of those it asks: what each is, how people take part, and which setting
    asks one of them more than once.
    """

    coder: str
    people: str
    more: str


def called(kind: str) -> Called:
    """How data/asked.yaml speaks of those whom a kind asks."""
    return Called(**read_data("asked.yaml")[kind]["called"])


@dataclass(frozen=True)
class CodersAsked:
    """The plan of the models of a command.

    `models` are the settings of the coders by name: each language model is one coder, and a citizen
    that sits in several seats is as many, numbered. `ignored` says what had no effect.
    """

    plan: StudyPlan
    models: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...]

    def planned(self, kind: Kind, runs: Runs, answers: Any, settings: Any, **more: Any) -> Plan:
        """The plan in which these models are asked; `more` are the other parts of it."""
        more = {"limits": self.plan.limits, "addresses": self.plan.addresses} | more
        return Plan(kind, runs, answers, settings, models=self.models, **more)


def coders_asked(
    overrides: Sequence[str], temperature: float | None, most: int, called: Called
) -> CodersAsked:
    """The coders that settings name, at this temperature, with at most so many tokens a reply;
    WrongInput for a setting that cannot be.
    """
    keys = set(map(key_of, overrides))
    fixed = [f"temperature={'null' if temperature is None else temperature}"]
    if MODELS in keys and SIZE not in keys:
        listed = next(override for override in overrides if key_of(override) == MODELS)
        seated = values_by_key([listed])[MODELS]
        if isinstance(seated, list):
            fixed.append(f"{SIZE}={max(2, len(seated))}")
    planned = plan([*overrides, *fixed])
    session, coders, ignored = planned.session, {}, []
    for name, settings in session.models.items():
        seats = 1
        if SIZE in keys:
            seats = sum(person.model == name for person in session.participants)
        own = dict(settings)
        if LIMIT in own:
            own[LIMIT] = most
        if own["kind"] in KINDS_OF_PEOPLE:
            raise WrongInput(f"{name} is a person; {called.people}")
        if own["kind"] != "citizen" or seats == 1:
            coders[name] = own
            if seats > 1:
                ignored.append(
                    f"{name} is one {called.coder}, whatever group.size is; {called.more}"
                )
            continue
        for number in range(1, seats + 1):
            coders[f"{name}_{number}"] = {**own, "name": f"{name}_{number}"}
    return CodersAsked(planned, coders, tuple(ignored))
