"""Where the marks of the small drawings of a run stand: answers, pairs, the network, its course."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from delibsim.analysis.forks import SURVEYS_IN_ORDER, MeasureAfter
from delibsim.analysis.run.drawn import Heard, ItemShifts, PairsInPhase, Shift
from delibsim.analysis.table import number
from delibsim.conduct.forks import RunCourse
from delibsim.conduct.reading.branch_links import OF_SUMMARY
from delibsim.domain.reason import in_words
from delibsim.domain.score import heading_of
from delibsim.domain.text import counted

WIDTH, MARGIN, STEP, TOP, BELOW = 300.0, 12.0, 10, 8, 14
PANEL, EDGE = 170.0, 10.0
"""The side of a panel of pairs, and how far from it -1 and 1 stand."""
NETWORK, RADIUS, NODE = 260.0, 105.0, 13.0
MOST_ROWS, MOST_PAIRS, MOST_LINES, MOST_ARROWS = 60, 2_000, 600, 200
"""So many participants, pairs, lines and arrows are drawn at most."""
LONGEST_NAME = 60
THICK = 6.0
"""The width of the line for the pair that names most often, at most."""


@dataclass(frozen=True)
class ParticipantRow:
    """One participant's line on the scale; x is None where an answer is missing."""

    who: str
    y: float
    before: float | None
    after: float | None
    moved: bool


@dataclass(frozen=True)
class Dots:
    """The answers to an item before and after, as dots on its scale."""

    id: str
    text: str
    said: str
    alt: str
    width: float
    height: float
    ticks: Sequence[float]
    labels: Sequence[tuple[float, int]]
    rows: Sequence[ParticipantRow]


def dots_of(items: Sequence[ItemShifts]) -> list[Dots]:
    """Every item, those that moved most first."""
    ordered = sorted(items, key=lambda item: -item.moved)
    return [_dots(item) for item in ordered if item.shifts]


def _dots(item: ItemShifts) -> Dots:
    points = range(item.lowest, item.highest + 1)
    step = (WIDTH - 2 * MARGIN) / (item.highest - item.lowest)
    shown = points if len(points) <= 16 else (item.lowest, item.highest)

    def x(value: int) -> float:
        return round(MARGIN + (value - item.lowest) * step, 1)

    ticks = [x(value) for value in shown]
    rows = []
    for n, shift in enumerate(item.shifts[:MOST_ROWS]):
        before = None if shift.before is None else x(shift.before)
        after = None if shift.after is None else x(shift.after)
        rows.append(
            ParticipantRow(shift.participant, TOP + n * STEP, before, after, bool(shift.change))
        )
    said = f"{item.changed} of {len(item.shifts)} changed"
    if item.missing:
        said += f", {item.missing} with a missing answer"
    if len(item.shifts) > MOST_ROWS:
        said += f"; the first {MOST_ROWS} are drawn"
    return Dots(
        id=item.item.id,
        text=item.item.text,
        said=said,
        alt="; ".join(map(_told, item.shifts[:MOST_ROWS])),
        width=WIDTH,
        height=TOP + len(rows) * STEP + BELOW - 4,
        ticks=ticks,
        labels=list(zip(ticks, shown, strict=True)),
        rows=rows,
    )


def _told(shift: Shift) -> str:
    before, after = ("missing" if one is None else one for one in (shift.before, shift.after))
    return f"{shift.participant[:LONGEST_NAME]}: {before}, then {after}"


@dataclass(frozen=True)
class PairPoint:
    """A pair of participants in a panel, and what it says."""

    x: float
    y: float
    said: str


@dataclass(frozen=True)
class PhasePanel:
    """The pairs of one phase."""

    title: str
    said: str
    alt: str
    points: Sequence[PairPoint]


def panels_of(phases: Sequence[PairsInPhase]) -> list[PhasePanel]:
    """Both panels of the plot of intersubjective consistency."""
    return [_panel(phase) for phase in phases]


def _panel(phase: PairsInPhase) -> PhasePanel:
    title = heading_of(phase.phase).capitalize()
    if phase.index is None:
        return PhasePanel(title, "no index", f"{title}: no index: {in_words(phase.why)}", ())
    half = PANEL / 2 - EDGE
    points = []
    every = -(-len(phase.pairs) // MOST_PAIRS)
    for pair in phase.pairs[:: max(1, every)]:
        x = round(PANEL / 2 + half * pair.considerations, 1)
        y = round(PANEL / 2 - half * pair.preferences, 1)
        values = f"{pair.considerations:.2f} on considerations, {pair.preferences:.2f} on options"
        pair_of = f"{pair.first[:LONGEST_NAME]} and {pair.second[:LONGEST_NAME]}"
        points.append(PairPoint(x, y, f"{pair_of}: {values}"))
    said = f"index {phase.index:.2f}"
    if every > 1:
        title += f" (one of {every} pairs is drawn)"
    told = "; ".join(point.said for point in points)
    alt = f"{title}: {said}. {told}"
    return PhasePanel(title, said, alt, points)


@dataclass(frozen=True)
class Node:
    """A participant in the network."""

    who: str
    seat: int
    x: float
    y: float


@dataclass(frozen=True)
class Arrow:
    """Who names whom, as the path of a curve and its width."""

    path: str
    width: float
    said: str


@dataclass(frozen=True)
class Net:
    """Who hears whom as lines, who names whom as arrows; both in words."""

    size: float
    nodes: Sequence[Node]
    hears: Sequence[tuple[float, float, float, float]]
    names: Sequence[Arrow]
    said: str
    named: Sequence[str]

    @property
    def alt(self) -> str:
        """The drawing in words."""
        return f"{self.said} {'; '.join(self.named)}"


def net_of(heard: Heard) -> Net:
    """The participants on a circle, the first at the top, in the order of seats."""
    nodes: dict[str, Node] = {}
    for n, who in enumerate(heard.people):
        angle = 2 * math.pi * n / len(heard.people) - math.pi / 2
        x, y = NETWORK / 2 + RADIUS * math.cos(angle), NETWORK / 2 + RADIUS * math.sin(angle)
        nodes[who] = Node(who, n + 1, round(x, 1), round(y, 1))
    hears = []
    for a, b in heard.edges if len(heard.edges) <= MOST_LINES else ():
        hears.append((nodes[a].x, nodes[a].y, nodes[b].x, nodes[b].y))
    most = max(heard.naming.values(), default=1)
    order = sorted(heard.naming.items(), key=lambda one: (-one[1], one[0]))[:MOST_ARROWS]
    arrows, named = [], []
    for (speaker, other), n in order:
        who, whom = speaker[:LONGEST_NAME], other[:LONGEST_NAME]
        line = f"{who} names {whom} in {counted(n, 'statement')}"
        named.append(line)
        width = round(1 + (THICK - 1) * n / most, 1)
        arrows.append(Arrow(_curve(nodes[speaker], nodes[other]), width, line))
    return Net(NETWORK, list(nodes.values()), hears, arrows, _in_words(heard), named)


def _curve(start: Node, end: Node) -> str:
    """A curve from one participant to another that ends in a head, bent to its right."""
    dx, dy = end.x - start.x, end.y - start.y
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    bend = 0.16 * length
    cx, cy = (start.x + end.x) / 2 - uy * bend, (start.y + end.y) / 2 + ux * bend
    back = math.hypot(end.x - cx, end.y - cy) or 1.0
    vx, vy = (end.x - cx) / back, (end.y - cy) / back
    tx, ty = end.x - vx * NODE, end.y - vy * NODE
    left = tx - 7 * vx - 4 * vy, ty - 7 * vy + 4 * vx
    right = tx - 7 * vx + 4 * vy, ty - 7 * vy - 4 * vx
    numbers = (start.x, start.y, cx, cy, tx, ty, *left, tx, ty, *right)
    words = [f"{number:.1f}" for number in numbers]
    curve = f"M{words[0]} {words[1]} Q{words[2]} {words[3]} {words[4]} {words[5]}"
    head = f"M{words[6]} {words[7]} L{words[8]} {words[9]} L{words[10]} {words[11]}"
    return f"{curve} {head}"


def _in_words(heard: Heard) -> str:
    if heard.complete:
        said = "Everybody hears everybody."
    else:
        shown = heard.edges[:MOST_LINES]
        pairs = "; ".join(f"{a[:LONGEST_NAME]} and {b[:LONGEST_NAME]}" for a, b in shown)
        said = f"Who hears each other (lines): {pairs}."
    if heard.naming:
        return f"{said} Arrows: who names whom in statements; the thicker, the more often."
    return f"{said} Nobody names another participant."


def seats_of(people: Sequence[str]) -> Mapping[str, int]:
    """The colour of each participant, 1 to 8, by seat."""
    return {who: n % 8 + 1 for n, who in enumerate(people)}


HEIGHT, MARGINS, LEFT = 90.0, 12.0, 42.0


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


def curves_of(course: RunCourse) -> list[Curve]:
    """The measures of the summary that have two values or more."""
    found = []
    for measure in OF_SUMMARY:
        own = [one for one in course.readings if one.measure == measure and not isnan(one.mean)]
        if len(own) > 1:
            found.append(_course(course.labels.get(measure, measure), own))
    return found


def _course(name: str, readings: Sequence[MeasureAfter]) -> Curve:
    own = sorted(readings, key=lambda one: (one.after, SURVEYS_IN_ORDER[one.source]))
    values = [one.mean for one in own]
    low, high = min(values), max(values)
    room = (high - low) or 1.0
    last = max(one.after for one in own) or 1
    points = []
    for one in own:
        x = LEFT + (WIDTH - LEFT - MARGINS) * one.after / last
        y = HEIGHT - MARGINS - 8 - (HEIGHT - 2 * MARGINS - 8) * (one.mean - low) / room
        points.append((round(x, 1), round(y, 1)))
    line = " ".join(f"{x},{y}" for x, y in points)
    told = [f"after turn {one.after} ({one.source}): {number(one.mean)}" for one in own]
    return Curve(name, points, line, number(low), number(high), last, f"{name}: {'; '.join(told)}")
