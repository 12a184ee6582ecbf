"""The levels of a dimension, their scale, and which coefficients a table of codes gets."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.agreement.code_table import TableDimension, refuse, said
from delibsim.domain.errors import WrongInput, unknown
from delibsim.measures.reliability.bootstrap import Named
from delibsim.measures.reliability.codes import OWN, WEIGHTINGS, Weighting, weights_of
from delibsim.measures.reliability.coefficients import COEFFICIENTS, METRICS, PERCENT

Declared = Mapping[str, Sequence[str]]
"""Levels by dimension; those under "" are of every dimension that is not named."""
MANY_NAMES = 30
"""More names than this in columns of codes are no levels, unless they are declared."""
MANY_NUMBERS = 1_000
"""More numbers than this are measurements."""


@dataclass(frozen=True)
class Levels:
    """The levels of a dimension in their order: how they are written, and the number of each, which
    for names is their place from 0.
    """

    labels: tuple[str, ...]
    numbers: tuple[float, ...]
    numeric: bool
    declared: bool


def declared_levels(levels: Any) -> dict[str, list[str]]:
    """Declared levels by dimension, from a text, a list, or a mapping of either.

    WrongInput for an empty level, one that is declared twice, and fewer than two.

    >>> declared_levels("justification=0,1,2,3; groups=0,1.0,2")
    {'justification': ['0', '1', '2', '3'], 'groups': ['0', '1', '2']}
    >>> declared_levels([0, 1, 2])
    {'': ['0', '1', '2']}
    """
    if levels is None:
        return {}
    if isinstance(levels, str):
        parts = [part.rpartition("=") for part in levels.split(";")]
        levels = {name.strip(): listed for name, _, listed in parts}
    elif not isinstance(levels, Mapping):
        levels = {"": levels}
    found = {}
    for name, listed in levels.items():
        own = listed.split(",") if isinstance(listed, str) else listed
        labels = [label_of(str(level).strip()) for level in own]
        if "" in labels or len(labels) < 2 or len(set(labels)) < len(labels):
            raise WrongInput(said("levels", levels=", ".join(labels)))
        found[str(name)] = labels
    return found


@lru_cache(maxsize=1_000)  # a table has many codes and few levels
def label_of(level: str) -> str:
    """A level as it is written: numbers in their shortest form, so that 1.0 and 1 are one level.

    >>> label_of("1.0"), label_of("01"), label_of("2.50"), label_of("high")
    ('1', '1', '2.5', 'high')
    """
    number = number_in(level)
    return level if number is None else f"{number:.12g}"


def levels_of(codes: TableDimension, declared: Declared, source: str) -> Levels:
    """The levels of a dimension; WrongInput, with the place, for a code that is not declared."""
    given = [code for code in codes.codes.values() if code.level]
    labels = declared.get(codes.name, declared.get(""))
    if labels is not None:
        faults = []
        for code in given:
            if label_of(code.level) not in labels:
                own = {"place": code.place, "level": code.level, "coder": code.coder}
                faults.append(said("no_level", source=source, levels=", ".join(labels), **own))
        refuse(faults, "codes")
        return _levels(labels, declared=True)
    occurring = {label_of(code.level) for code in given}
    numeric = all(number_in(label) is not None for label in occurring)
    if numeric and len(occurring) > MANY_NUMBERS:
        raise WrongInput(said("measurements", source=source, n=len(occurring)))
    if numeric:
        return _levels(sorted(occurring, key=float), declared=False)
    if len(occurring) > MANY_NAMES:
        own = {"n": len(occurring), "such_as": sorted(occurring)[-1][:30]}
        coders = ", ".join(codes.coders[:5])
        raise WrongInput(said("many_names", source=source, coders=coders, **own))
    return _levels(sorted(occurring), declared=False)


def unknown_dimensions(declared: Declared, names: Iterable[str]) -> None:
    """WrongInput for levels of a dimension that the table does not have."""
    known = list(names)
    for name in declared:
        if name and name not in known:
            raise unknown("dimension", name, known)


def array_of(codes: TableDimension, levels: Levels) -> NDArray[np.float64]:
    """The codes as numbers, one row a text and one column a coder; NaN where one is missing."""
    number = dict(zip(levels.labels, levels.numbers, strict=True))
    row = {text: i for i, text in enumerate(codes.texts)}
    column = {coder: i for i, coder in enumerate(codes.coders)}
    found = np.full((len(row), len(column)), np.nan)
    for (text, coder), code in codes.codes.items():
        if code.level:
            found[row[text], column[coder]] = number[label_of(code.level)]
    return found


def _levels(labels: Sequence[str], declared: bool) -> Levels:
    numbers = [number_in(label) for label in labels]
    numeric = bool(labels) and None not in numbers
    values = [float(i) for i in range(len(labels))]
    if numeric:
        values = [number for number in numbers if number is not None]
    return Levels(tuple(labels), tuple(values), numeric, declared)


def number_in(text: str) -> float | None:
    """A finite number; None for any other text."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


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
        raise WrongInput(said("no_numbers", scale=scale.name, of=of, names=names))
    if weighted and not levels.numeric and not levels.declared and levels.labels:
        raise WrongInput(said("no_order", of=of, listed=names.replace(" ", "")))
    if scale.name == RATIO and min(levels.numbers, default=0) < 0:
        raise WrongInput(said("below_0", of=of, names=names))
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
