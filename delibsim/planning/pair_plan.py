"""What `delibsim compare plan` is asked: what is simulated, in which designs, and what to reach."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from delibsim.domain.errors import WrongInput, unknown
from delibsim.measures.bradley_terry.fit import Model
from delibsim.measures.bradley_terry.penalty import Dummy, Normal, Penalty
from delibsim.measures.bradley_terry.reaching import DESIGNS, Name, Question
from delibsim.planning.coders import OF_MODELS
from delibsim.planning.comparing import FIELDS, ComparingAsked, comparing_asked
from delibsim.planning.overrides import values_by_key
from delibsim.planning.readers import Reader, key_of, one_of, read_values

MOST_TEXTS = 1_000
BOUNDS = {
    "texts": (3, MOST_TEXTS, "texts in a group"),
    "groups": (1, 100_000, "groups of texts"),
    "repeats": (3, 1_000, "how often texts and votes are drawn"),
    "words": (1, 100_000, "words in a text"),
}
"""Whole numbers: the least, the most, and what they are."""
SHARES = {"spread": (0.05, 20.0), "ties": (0.0, 0.9), "place": (-5.0, 5.0)}
NAMED = ("name", "dimension")
OWN = (*BOUNDS, *SHARES, "reach", "designs", "penalty", "seed", *NAMED)
"""The settings of the simulation, beside those of a judge whose price is asked for."""


@dataclass(frozen=True)
class PairPlanAsked:
    """What is to be simulated.

    `texts`, `spread`, `ties` and `place` are those that were given, without those that a pilot is
    to give. `judge` is what is asked of a judge whose price is wanted, None without one. `penalty`
    is as it was given.
    """

    question: Question
    designs: tuple[Name, ...] = DESIGNS
    groups: int | None = None
    words: int = 100
    penalty: str = "dummy:0.1"
    name: str = ""
    dimension: str = ""
    judge: ComparingAsked | None = None
    texts: int | None = None
    given: Mapping[str, float] = field(default_factory=dict)


def pair_plan_asked(overrides: Sequence[str]) -> PairPlanAsked:
    """What settings ask for; WrongInput for a key or value that cannot be."""
    own = [override for override in overrides if key_of(override) in OWN]
    others = [override for override in overrides if key_of(override) not in OWN]
    for key in sorted(set(map(key_of, others))):
        if key.partition(".")[0] not in OF_MODELS and key not in FIELDS:
            raise unknown("setting of a plan", key, [*OWN, *OF_MODELS])
    found = read_values(values_by_key(own), _READ)
    measure, target = found.get("reach", ("r", 0.95))
    penalty = found.get("penalty", ("dummy:0.1", Dummy(0.1)))
    question = Question(
        measure=measure,
        target=target,
        repeats=found.get("repeats", 20),
        model=Model(order=True, penalty=penalty[1]),
        seed=found.get("seed", 1),
    )
    return PairPlanAsked(
        question=question,
        designs=found.get("designs", DESIGNS),
        groups=found.get("groups"),
        words=found.get("words", 100),
        penalty=penalty[0],
        name=found.get("name", ""),
        dimension=found.get("dimension", ""),
        judge=_judge(others, found),
        texts=found.get("texts"),
        given={name: found[name] for name in SHARES if name in found},
    )


def _judge(others: Sequence[str], found: Mapping[str, Any]) -> ComparingAsked | None:
    """What is asked of the judge that settings name; None where they name none."""
    keys = {key_of(override).partition(".")[0] for override in others}
    if not keys & {"model", "group"}:
        if others:
            raise WrongInput(f"'{others[0]}' has no effect without a judge: model=NAME")
        return None
    dimension = found.get("dimension") or "logical"
    ties = "false" if found.get("ties") == 0 else "true"
    asked = comparing_asked([*others, f"dimension={dimension}", f"ties={ties}"])
    if len(asked.judges.models) > 1:
        listed = ", ".join(asked.judges.models)
        raise WrongInput(f"a plan is for one judge, not for {listed}; name one: model=NAME")
    return asked


def _number(name: str, value: Any) -> float:
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return math.nan


def _whole(name: str, value: Any) -> int:
    least, most, what = BOUNDS[name]
    number = _number(name, value)
    if not least <= number <= most or number != int(number):
        raise WrongInput(
            f"--{name} is {value}; it is a whole number from {least} to {most:,}: {what}"
        )
    return int(number)


def _within(name: str, value: Any) -> float:
    least, most = SHARES[name]
    number = _number(name, value)
    if not least <= number <= most:
        raise WrongInput(f"--{name} is {value}; it is a number from {least:g} to {most:g}")
    return number


def _reach(name: str, value: Any) -> tuple[str, float]:
    measure, _, text = str(value).replace(":", "=").partition("=")
    if measure not in ("r", "rho"):
        raise unknown(f"value of --{name}", measure, ["r=0.95", "rho=0.9"])
    number = _number(name, text)
    if not 0 < number <= 0.999:
        raise WrongInput(f"--{name} is {value}; a correlation above 0, at most 0.999: r=0.95")
    return measure, number


def _designs(name: str, value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else str(value).strip("[]").split(",")
    found = tuple(one_of(DESIGNS)(name, str(one).strip()) for one in listed)
    if not found or len(set(found)) < len(found):
        raise WrongInput(f"--{name} is {value}; name different designs, such as random,adaptive")
    return found


def _penalty(name: str, value: Any) -> tuple[str, Penalty]:
    kind, _, text = str(value).partition(":")
    number = _number(name, text)
    if kind not in ("dummy", "normal"):
        raise unknown(f"value of --{name}", str(value), ["dummy:0.1", "normal:2"])
    if not 0 < number < math.inf:
        raise WrongInput(f"--{name} is {value}; a number above 0 stands after {kind}:")
    return str(value), Dummy(number) if kind == "dummy" else Normal(number)


def _seed(name: str, value: Any) -> int:
    number = _number(name, value)
    if not 0 <= number < 2**53 or number != int(number):
        raise WrongInput(f"{name} is {value}; it is a whole number of 0 or more")
    return int(number)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise WrongInput(f"{name}={value}: expected one name")
    return value


_READ: Mapping[str, Reader] = {
    **dict.fromkeys(BOUNDS, _whole),
    **dict.fromkeys(SHARES, _within),
    **dict.fromkeys(NAMED, _text),
    "reach": _reach,
    "designs": _designs,
    "penalty": _penalty,
    "seed": _seed,
}
