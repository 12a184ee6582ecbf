"""Which coefficients a table of codes gets: by the scale of its levels and the weighting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from delibsim.analysis.agreement.levels import Levels
from delibsim.domain.errors import WrongInput, unknown
from delibsim.measures.reliability.bootstrap import Named
from delibsim.measures.reliability.codes import OWN, WEIGHTINGS, Weighting, weights_of
from delibsim.measures.reliability.coefficients import COEFFICIENTS, METRICS, PERCENT

NOMINAL, ORDINAL, INTERVAL, RATIO = METRICS
IDENTITY = "identity"
WEIGHTING_OF = {NOMINAL: IDENTITY, ORDINAL: "linear", INTERVAL: "quadratic", RATIO: "quadratic"}
SCALE_OF = {IDENTITY: NOMINAL, "linear": ORDINAL, "ordinal": ORDINAL, "quadratic": INTERVAL}
"""The scale that a weighting suits; alpha is computed for it."""


@dataclass(frozen=True)
class Scale:
    """The scale of levels, the weighting of pairs of them, and whether the user chose neither."""

    name: str
    weighting: Weighting
    unsaid: bool


def scale_of(scale: str | None, weights: Any) -> Scale:
    """The scale and the weighting, each from the other where only one is given.

    Without either, codes are names and weights identity. WrongInput for an unknown name.
    """
    if scale is not None and scale not in METRICS:
        raise unknown("scale", scale, METRICS)
    if isinstance(weights, str) and weights not in WEIGHTINGS:
        raise unknown("weighting", weights, WEIGHTINGS)
    if weights is None:
        return Scale(scale or NOMINAL, WEIGHTING_OF[scale or NOMINAL], scale is None)
    if isinstance(weights, str):
        return Scale(scale or SCALE_OF[weights], weights, scale is None and weights == IDENTITY)
    return Scale(scale or NOMINAL, weights, unsaid=False)


def check_scale(scale: Scale, levels: Levels, dimension: str) -> None:
    """WrongInput where the levels of a dimension cannot have this scale or weighting."""
    of = f" of {dimension}" if dimension else ""
    numbers = scale.name in (INTERVAL, RATIO)
    weighted = scale.name == ORDINAL or _name(scale.weighting) not in (IDENTITY, OWN)
    names = ", ".join(levels.labels[:5])
    if numbers and not levels.numeric and levels.labels:
        raise WrongInput(f"a scale of kind {scale.name} has numbers as levels{of}, not {names}")
    if weighted and not levels.numeric and not levels.declared and levels.labels:
        raise WrongInput(
            f"the levels{of} are names, whose order must be said: --levels {names.replace(' ', '')}"
            " from the lowest to the highest"
        )
    if scale.name == RATIO and min(levels.numbers, default=0) < 0:
        raise WrongInput(f"a ratio scale has no level below 0; the levels{of} are {names}")
    if not isinstance(scale.weighting, str):
        try:
            weights_of(scale.weighting, len(levels.labels))
        except ValueError as error:
            raise WrongInput(f"{error} (levels{of}: {', '.join(levels.labels)})") from None


def coefficients_for(scale: Scale) -> list[Named]:
    """The coefficients in the order of the table: plain percent agreement first."""
    found: list[Named] = [(PERCENT, IDENTITY)]
    if _name(scale.weighting) != IDENTITY:
        found.append((PERCENT, scale.weighting))
    for name, one in COEFFICIENTS.items():
        if name != PERCENT:
            found.append((name, scale.weighting if one.chance else scale.name))
    return found


def label_of_coefficient(coefficient: str, weighting: str, coders: int) -> str:
    """A coefficient as tables name it.

    >>> label_of_coefficient("ac", "identity", 2), label_of_coefficient("kappa", "linear", 3)
    ("Gwet's AC1", "Conger's kappa, linear")
    """
    name = COEFFICIENTS[coefficient].title(weighting != IDENTITY, coders)
    return name if weighting == IDENTITY else f"{name}, {weighting}"


def _name(weighting: Weighting) -> str:
    return weighting if isinstance(weighting, str) else OWN


def words(names: Sequence[str]) -> str:
    """Names in a sentence, the last behind "and".

    >>> words(["a"]), words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
