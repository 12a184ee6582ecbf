"""The measures of two runs beside each other, by phase, with the difference where there is one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan

from delibsim.domain.measure import Measure
from delibsim.domain.score import Score, of_whole_runs

OTHER_SURVEY = "other_survey"
"""Why there is no difference: the measure depends on the survey, and the runs have another."""


@dataclass(frozen=True)
class Value:
    """A value of a measure; None where it is undefined, and the reason code then."""

    value: float | None
    why_not: str = ""


@dataclass(frozen=True)
class MeasurePair:
    """A measure of two runs in one phase ("" for none); None where a run has no such score.

    `difference` is the value of the second run less that of the first; None where there is none,
    and `why_not` says why where both have a value.
    """

    measure: Measure
    phase: str
    coder: str
    a: Value | None
    b: Value | None
    difference: float | None
    why_not: str = ""


def measure_pairs(
    a: Iterable[Score],
    b: Iterable[Score],
    measures: Mapping[str, Measure],
    one_survey: bool,
) -> tuple[MeasurePair, ...]:
    """The scores of whole runs beside each other, in the order of `measures`, which are by id.

    Without `one_survey` measures that depend on the survey have no difference.
    """
    first, second = _values(a), _values(b)
    places = {name: place for place, name in enumerate(measures)}
    keys = [key for key in {**first, **second} if key[0] in places]
    found = []
    for key in sorted(keys, key=lambda key: places[key[0]]):
        name, phase, coder = key
        measure, own, other = measures[name], first.get(key), second.get(key)
        difference, why = None, ""
        if own and other and own.value is not None and other.value is not None:
            if one_survey or measure.comparable:
                difference = other.value - own.value
            else:
                why = OTHER_SURVEY
        found.append(MeasurePair(measure, phase, coder, own, other, difference, why))
    return tuple(found)


def _values(scores: Iterable[Score]) -> dict[tuple[str, str, str], Value]:
    """The values of a run by measure, phase and coder."""
    found = {}
    for score in of_whole_runs(scores):
        value = Value(None, score.note) if isnan(score.value) else Value(score.value)
        found[score.measure, score.phase, score.coder] = value
    return found
