"""The course of a run over probes as small line drawings, one a measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from delibsim.analysis.table import number
from delibsim.analysis.trajectories import Reading
from delibsim.conduct.probes import Course
from delibsim.conduct.reading.branch_links import OF_SUMMARY

WIDTH, HEIGHT, EDGE, LEFT = 300.0, 90.0, 12.0, 42.0


@dataclass(frozen=True)
class Curve:
    """A measure over turns: its name, the points in the drawing, the line through them, the ends of
    its scale as text, and all values in words.
    """

    name: str
    points: Sequence[tuple[float, float]]
    line: str
    low: str
    high: str
    last: int
    alt: str


def curves_of(course: Course) -> list[Curve]:
    """The measures of the summary that have two values or more."""
    found = []
    for measure in OF_SUMMARY:
        own = [one for one in course.readings if one.measure == measure and not isnan(one.mean)]
        if len(own) > 1:
            found.append(_curve(course.labels.get(measure, measure), own))
    return found


def _curve(name: str, readings: Sequence[Reading]) -> Curve:
    order = {"survey before": 0, "probe": 1, "survey after": 2}
    own = sorted(readings, key=lambda one: (one.after, order[one.source]))
    values = [one.mean for one in own]
    low, high = min(values), max(values)
    room = (high - low) or 1.0
    last = max(one.after for one in own) or 1
    points = []
    for one in own:
        x = LEFT + (WIDTH - LEFT - EDGE) * one.after / last
        y = HEIGHT - EDGE - 8 - (HEIGHT - 2 * EDGE - 8) * (one.mean - low) / room
        points.append((round(x, 1), round(y, 1)))
    line = " ".join(f"{x},{y}" for x, y in points)
    told = [f"after turn {one.after} ({one.source}): {number(one.mean)}" for one in own]
    return Curve(name, points, line, number(low), number(high), last, f"{name}: {'; '.join(told)}")
