"""The codebook of the study table: the columns of its design, its measures and its counts."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from delibsim.domain.measure import MEASURES, Measure
from delibsim.plugins import declared, names
from delibsim.store.reading import read_yaml
from delibsim.store.tables.codebook import Column

WHEN = {"pre": "before the deliberation", "post": "after it", "change": "after less before"}
RELATIVE = {"dri": "dri_relative", "dri_adjusted": "dri_adjusted_relative"}
"""The measures whose relative change the table has, and the name of its columns."""
ADJUSTED_RELATIVE = RELATIVE["dri_adjusted"]
DEFINED = "The change of the adjusted index as a share of the room there was for it."


@cache
def fixed_columns() -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """The columns of the design, and those of counts."""
    plain = read_yaml(Path(__file__).parents[3] / "data" / "study_table.yaml")
    design = tuple(Column(**one) for one in plain["design"])
    counts = tuple(Column(**one) for one in plain["counts"])
    return design, counts


@cache
def known_measures() -> Mapping[str, Measure]:
    """The measures that built-in and installed scorers declare, by id."""
    found = dict(MEASURES)
    for name in names("delibsim.scorers"):
        for measure in declared(name)[1]:
            found.setdefault(measure.id, measure)
    return found


def column_of(measure: str, phase: str) -> str:
    """The name of the column of a measure in a phase.

    >>> column_of("dri", "pre"), column_of("flags.markup", "")
    ('dri_pre', 'flags.markup')
    """
    return f"{measure}_{phase}" if phase else measure


def measure_columns(
    kinds: Iterable[tuple[str, str]], known: Mapping[str, Measure]
) -> Iterator[Column]:
    """The columns of measures in these phases, each measure followed by its column of notes."""
    phases: dict[str, list[str]] = {}
    for measure, phase in kinds:
        phases.setdefault(measure, []).append(phase)
    for measure, own in phases.items():
        facts = known.get(measure) or MEASURES.get(measure)
        for phase in sorted(own, key=["", *WHEN].index):
            yield _of_measure(measure, phase, facts)
        meaning = f"why a value of {measure} is missing: reason codes joined by ;, empty otherwise"
        yield Column(f"{measure}_note", "text", meaning)


def _of_measure(measure: str, phase: str, facts: Measure | None) -> Column:
    if measure == ADJUSTED_RELATIVE:
        return Column(column_of(measure, phase), "number", DEFINED)
    name = column_of(measure, phase)
    if facts is None:
        meaning = f"{measure}, which no scorer that is installed declares"
        return Column(name, "number", f"{meaning}; {WHEN.get(phase, '')}".rstrip("; "))
    meaning = f"{facts.label}: {facts.definition}"
    if phase and facts.phases != ("change",):
        meaning = f"{facts.label}, {WHEN[phase]}: {facts.definition}"
    return Column(name, "number", meaning, facts.unit, _ends(facts, phase))


def _ends(facts: Measure, phase: str) -> str:
    """The lowest and the highest value in words, "" where neither is known."""
    low, high = facts.range
    if phase == "change" and facts.phases != ("change",):
        low, high = low - high, high - low
    if math.isfinite(low) and math.isfinite(high):
        return f"{low:g} to {high:g}"
    return f"{low:g} or more" if math.isfinite(low) else ""
