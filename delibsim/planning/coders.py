"""The language models that a command asks about finished texts: from its settings to their names.

Codings and comparisons are planned with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.planning.compose import Plan, plan
from delibsim.planning.overrides import values_by_key
from delibsim.planning.readers import key_of

LIMIT = "max_tokens"
MODELS, SIZE = "group.models", "group.size"
OF_MODELS = ("model", "group", "base_url", "limits", "procedure", "seed")
"""The first words of the settings of models that have an effect: what is set for sessions has none.
"""


@dataclass(frozen=True)
class Called:
    """How a command speaks of those it asks: what each is, how people take part, and which setting
    asks one of them more than once.
    """

    coder: str
    people: str
    more: str


@dataclass(frozen=True)
class CodersAsked:
    """The plan of the models of a command.

    `models` are the settings of the coders by name: each language model is one coder, and a citizen
    that sits in several seats is as many, numbered. `ignored` says what had no effect.
    """

    plan: Plan
    models: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...]


def refuse_others(overrides: Sequence[str], own: Sequence[str], what: str) -> None:
    """WrongInput for the first setting that is not of models; `own` are those of the command, which
    `what` names.
    """
    for key in sorted(set(map(key_of, overrides))):
        if key.partition(".")[0] not in OF_MODELS:
            raise unknown(what, key, [*own, *OF_MODELS])


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
        if own["kind"] == "human":
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
