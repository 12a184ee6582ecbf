"""The course of a run: its measures and everybody's answers from the survey before, over probes
after some turns, to the survey after.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any, Literal

from delibsim.analysis.forks import ITEM, mean_and_sd, plain_of
from delibsim.analysis.table import DisplayTable, number, numbers, texts
from delibsim.domain.run import Run
from delibsim.domain.survey import Phase

Source = Literal["survey before", "probe", "survey after"]


@dataclass(frozen=True)
class MeasureAfter:
    """One measure after one turn: the mean and the standard deviation of `n` values, of which
    probes that are asked several times have several; `note` is the reason code of what is
    undefined.
    """

    measure: str
    after: int
    source: Source
    mean: float
    sd: float
    n: int
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        return plain_of(self)


@dataclass(frozen=True)
class AnswerAfter:
    """One person's answer to one item after one turn, or the reason why there is none."""

    after: int
    source: Source
    replicate: int
    participant: str
    item: str
    value: int | None
    missing: str = ""

    def plain(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True)
class SurveyPoint:
    """A survey of the course: after which turn, of which source, in which run and phase."""

    after: int
    source: Source
    run: Run
    phase: Phase
    replicate: int = 1


def readings(
    points: Sequence[SurveyPoint],
    values: Mapping[tuple[str, Phase], Mapping[str, tuple[float, str]]],
) -> list[MeasureAfter]:
    """Every measure at every point of the course; `values` gives value and note by measure for
    every run and phase.
    """
    groups: dict[tuple[str, int, Source], list[tuple[float, str]]] = {}
    for point in points:
        for measure, value in values.get((point.run.session.id, point.phase), {}).items():
            groups.setdefault((measure, point.after, point.source), []).append(value)
    found = []
    for (measure, after, source), own in groups.items():
        known = [value for value, _ in own if not isnan(value)]
        note = "; ".join(dict.fromkeys(note for _, note in own if note))
        found.append(MeasureAfter(measure, after, source, *mean_and_sd(known), len(known), note))
    return found


def answers(points: Iterable[SurveyPoint]) -> Iterator[AnswerAfter]:
    """Everybody's answer to every item at every point, missing ones with the reason."""
    for point in points:
        for response in point.run.responses:
            if response.phase != point.phase:
                continue
            for item in point.run.session.survey.items:
                value, why = response.answers.get(item.id), ""
                if value is None:
                    why = str(response.missing.get(item.id, "no reason was recorded"))
                place = point.after, point.source, point.replicate
                yield AnswerAfter(*place, response.participant, item.id, value, why)


def course_table(found: Sequence[MeasureAfter], labels: Mapping[str, str]) -> DisplayTable:
    """A row for every survey of the course, a column for every measure; mean answers to single
    items only where nothing else is measured, as in a debate.
    """
    known = list(dict.fromkeys(reading.measure for reading in found))
    measures = [measure for measure in known if not measure.startswith(ITEM)] or known
    rows: dict[tuple[int, Source], dict[str, float]] = {}
    for reading in found:
        rows.setdefault((reading.after, reading.source), {})[reading.measure] = reading.mean
    cells = []
    for (after, source), own in sorted(rows.items(), key=_in_course):
        shown = [number(own.get(measure, nan)) for measure in measures]
        cells.append([str(after), source, *shown])
    heads = [labels.get(measure, measure) for measure in measures]
    return DisplayTable([*texts("after turn", "asked in"), *numbers(heads)], cells)


def answer_tables(found: Sequence[AnswerAfter]) -> Iterator[DisplayTable]:
    """For every participant a row an item and a column a survey of the course; of probes that were
    asked several times the first.
    """
    first = [one for one in found if one.replicate == 1]
    places = {(one.after, one.source): None for one in first}
    points = [place for place, _ in sorted(places.items(), key=_in_course)]
    for name in dict.fromkeys(one.participant for one in first):
        cells: dict[str, dict[tuple[int, Source], str]] = {}
        for one in first:
            if one.participant == name:
                shown = "-" if one.value is None else str(one.value)
                cells.setdefault(one.item, {})[one.after, one.source] = shown
        rows = []
        for item, own in cells.items():
            rows.append([item, *(own.get(point, "-") for point in points)])
        heads = [_BRIEF.get(source, str(after)) for after, source in points]
        yield DisplayTable([*texts("item"), *numbers(heads)], rows, name)


_BRIEF = {"survey before": "before", "survey after": "after"}
_ORDER = {"survey before": 0, "probe": 1, "survey after": 2}


def _in_course(entry: tuple[tuple[int, Source], Any]) -> tuple[int, int]:
    """Where a survey stands in the course: by turn, the surveys of the run first and last."""
    (after, source), _ = entry
    return after, _ORDER[source]
