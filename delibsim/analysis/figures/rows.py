"""Rows of names with an estimate and its interval in each, as in a forest plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd

from delibsim.analysis.figures.drawing import Plot, parts_of, plotted
from delibsim.analysis.figures.style import (
    ESTIMATE,
    GREY,
    INK,
    OPEN,
    ROW,
    Mark,
    beside,
    few_ticks,
    looks,
    name_axes,
    number,
    panels,
    segments,
    shortened,
)
from delibsim.analysis.figures.words import filled_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMED = 60
"""Rows that are still named; of more rows only the dots and intervals are drawn."""
TOLD_ONE_BY_ONE = 15
"""Rows of a panel that the alternative text goes through; of more it tells the ends."""
PARTS_TOLD = 8
"""Panels that the alternative text goes through."""
POOLED, ALONE = Mark(INK, "D"), Mark(INK, "|")
NONE = float("nan")
BAND = "#eef3f0"


@dataclass(frozen=True)
class EstimateRow:
    """An estimate with its interval; NaN where there is none.

    `pooled` rows stand below a line, in bold with a diamond unless their look is another. `aside`
    is written beside the dot, where rows of neighbouring panels differ in it; `spoken` is the name
    in words, where the label says too little alone; `verdict` is told after the values.
    """

    label: str
    estimate: float = NONE
    low: float = NONE
    high: float = NONE
    pooled: bool = False
    mark: Mark = ESTIMATE
    aside: str = ""
    spoken: str = ""
    verdict: str = ""

    @property
    def given(self) -> bool:
        """Whether there is an estimate."""
        return self.estimate == self.estimate

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval are known."""
        return self.low == self.low and self.high == self.high


@dataclass(frozen=True)
class Look:
    """How numbers are printed, and where a line stands (None for none)."""

    decimals: int = 3
    signed: bool = True
    zero: float | None = 0.0

    def values(self, row: EstimateRow) -> str:
        """Estimate and interval as they are printed, such as "+.029 [−.004, +.076]"."""
        if not row.given:
            return "no value"
        told = number(row.estimate, self.decimals, self.signed)
        if row.has_interval:
            ends = [number(end, self.decimals, self.signed) for end in (row.low, row.high)]
            told += f" [{', '.join(ends)}]"
        return told

    def sentence(self, row: EstimateRow) -> str:
        """The row in words, for the alternative text."""
        name = row.spoken or row.label
        name = f"{name}, {row.aside}" if row.aside else name
        verdict = f", {row.verdict}" if row.verdict else ""
        return f"{name}: {self.values(row)}{verdict}"

    def alternative(self, rows: Sequence[EstimateRow]) -> str:
        """All rows in words; of many the lowest, the highest and the pooled ones."""
        if len(rows) <= TOLD_ONE_BY_ONE:
            return "; ".join(map(self.sentence, rows))
        known = sorted((row for row in rows if row.given), key=lambda row: row.estimate)
        told = [f"lowest {self.sentence(known[0])}", f"highest {self.sentence(known[-1])}"]
        pooled = [self.sentence(row) for row in rows if row.pooled]
        return "; ".join([f"{len(rows)} rows", *told, *pooled])


@dataclass(frozen=True)
class Rows:
    """A panel for each text of the template `panel`, a row for each of `label`.

    `pooled` and `filled` are conditions on the columns. `verdict` has two words for filled and open
    ones. `look` is the column that says whose row it is, `band` the column of a margin around 0.
    With `same` all panels have the same rows, which are named once. Of more than twice `ends` rows
    of a panel only that many from both ends are drawn.
    """

    label: str
    panel: str = ""
    estimate: str = "estimate"
    low: str = "low"
    high: str = "high"
    pooled: str = ""
    filled: str = ""
    verdict: str = ""
    look: str = ""
    axis: str = ""
    band: str = ""
    most: int = 2
    ends: int = 0
    same: bool = False
    sharex: bool = False
    values: bool = True
    decimals: int = 3
    signed: bool = True
    zero: float | None = 0.0


def rows(table: pd.DataFrame, how: Rows) -> Plot:
    """A figure of rows."""
    made = table.assign(
        label=[filled_in(how.label, row) for row in table.to_dict("records")],
        is_pooled=table.eval(how.pooled) if how.pooled else False,
        is_filled=table.eval(how.filled) if how.filled else True,
    )
    own = {"estimate": how.estimate, "low": how.low, "high": how.high}
    found = {}
    bands = {}
    for name, part in parts_of(made, how.panel).items():
        found[name] = _rows(part, own, how.look, how.verdict)
        if how.band:
            bands[name] = float(part[how.band].iloc[0])
    if how.same:
        found = _aligned(found)
    if how.ends:
        found = {name: _cut(part, how.ends) for name, part in found.items()}
    shown = Look(how.decimals, how.signed, how.zero)

    def draw(columns: int) -> "Figure":
        across = beside(len(found), columns, how.most)
        tallest = max(map(height_of, found.values())) + 0.15 * bool(how.panel)
        figure, axes = panels(len(found), columns, tallest, sharex=how.sharex, most=how.most)
        for place, (name, part) in enumerate(found.items()):
            if name in bands:
                _band(axes[place], bands[name])
            first = not how.same or place % across == 0
            draw_rows(axes[place], part, shown, how.values and across <= 2, first)
            if how.panel:
                axes[place].set_title(shortened(name, 34, 2))
        name_axes(figure, axes, how.axis)
        return figure

    told = []
    for name, part in list(found.items())[:PARTS_TOLD]:
        told.append(f"{name}: {shown.alternative(part)}" if how.panel else shown.alternative(part))
    return plotted(draw, told, len(found))


def _rows(
    table: pd.DataFrame, columns: Mapping[str, str], look: str, verdict: str
) -> list[EstimateRow]:
    marks = looks(table[look].astype(str).unique().tolist()) if look else {}
    words = verdict.split("; ") if verdict else []
    found = []
    for row in table.to_dict("records"):
        mark = ESTIMATE if row["is_filled"] else OPEN
        mark = marks[str(row[look])] if look else mark
        mark = ALONE if row.get("aside") else mark
        mark = POOLED if row["is_pooled"] and not look else mark
        told = filled_in(words[not row["is_filled"]], row) if words else ""
        found.append(
            EstimateRow(
                row["label"],
                **{name: row.get(column, NONE) for name, column in columns.items()},
                pooled=bool(row["is_pooled"]),
                mark=mark,
                aside=row.get("aside") or "",
                spoken=row.get("spoken") or "",
                verdict=told,
            )
        )
    return found


def _aligned(parts: Mapping[str, Sequence[EstimateRow]]) -> dict[str, list[EstimateRow]]:
    """Every panel with the rows of all panels, in one order; those that it has not are empty."""
    names = list(dict.fromkeys(row.label for part in parts.values() for row in part))
    found = {}
    for name, part in parts.items():
        own = {row.label: row for row in part}
        found[name] = [own.get(label, EstimateRow(label)) for label in names]
    return found


def _cut(part: list[EstimateRow], ends: int) -> list[EstimateRow]:
    between = len(part) - 2 * ends
    if between <= 0:
        return part
    return [*part[:ends], EstimateRow(f"({between:,} between)"), *part[-ends:]]


def _band(axes: "Axes", margin: float) -> None:
    axes.axvspan(-margin, margin, color=BAND, zorder=0)
    for end in (-margin, margin):
        axes.axvline(end, color=GREY, linewidth=0.8, linestyle=(0, (3, 2)))


def height_of(part: Sequence[EstimateRow], above: float = 0.65) -> float:
    """Inches that a panel of these rows needs, with its title and axis."""
    if len(part) > MOST_NAMED:
        return min(above + 0.06 * len(part), 11.0)
    return max(above + ROW * (places(part)[-1] + 1), 1.2)


def places(part: Sequence[EstimateRow]) -> list[float]:
    """Where rows stand, the first at 0: one apart, more where names take two lines."""
    if len(part) > MOST_NAMED:
        return [float(place) for place in range(len(part))]
    extra = [0.55 * shortened(row.label).count("\n") + 0.35 * bool(row.aside) for row in part]
    found = [0.0]
    for above, here in pairwise(extra):
        found.append(found[-1] + 1 + above / 2 + here / 2)
    return found


def draw_rows(
    axes: "Axes", part: Sequence[EstimateRow], shown: Look, values: bool = True, names: bool = True
) -> None:
    """Draw rows from top to bottom; with `values` the numbers beside them."""
    few = len(part) <= MOST_NAMED
    heights = places(part)
    if shown.zero is not None:
        axes.axvline(shown.zero, color=GREY, linewidth=0.8, zorder=1)
    _intervals(axes, part, heights)
    _dots(axes, part, heights, 4.5 if few else 2.5)
    if few:
        _written(axes, part, heights, shown if values else None)
    first = [place for place, row in zip(heights, part, strict=True) if row.pooled]
    if first and first[0] > 0:
        axes.axhline(first[0] - 0.5, color=GREY, linewidth=0.6)
    axes.set_ylim(heights[-1] + 0.6, -0.6)
    _named(axes, part, heights, names and few)
    few_ticks(axes)


def _intervals(axes: "Axes", part: Sequence[EstimateRow], heights: Sequence[float]) -> None:
    known = [(row, place) for row, place in zip(part, heights, strict=True) if row.has_interval]
    for colour, width in dict.fromkeys((row.mark.colour, _width(row)) for row, _ in known):
        own = [pair for pair in known if (pair[0].mark.colour, _width(pair[0])) == (colour, width)]
        up = [place for _, place in own]
        across = [row.low for row, _ in own], [row.high for row, _ in own]
        segments(axes, across, (up, up), colour, width)


def _width(row: EstimateRow) -> float:
    return 2.0 if row.mark is POOLED else 1.2


def _dots(axes: "Axes", part: Sequence[EstimateRow], heights: Sequence[float], size: float) -> None:
    for mark in dict.fromkeys(row.mark for row in part):
        own = [(row, place) for row, place in zip(part, heights, strict=True) if row.mark is mark]
        across = [row.estimate for row, _ in own]
        up = [place for _, place in own]
        wide = size + 1 if mark is POOLED else size
        axes.plot(across, up, linestyle="", **mark.of_points(markersize=wide))


def _written(
    axes: "Axes", part: Sequence[EstimateRow], heights: Sequence[float], shown: Look | None
) -> None:
    """Values at the right of rows, and what stands above their dots."""
    beside_rows = axes.get_yaxis_transform()
    for place, row in zip(heights, part, strict=True):
        if row.aside and row.given:
            look: dict[str, Any] = {"va": "bottom", "fontsize": 6, "color": GREY}
            name = shortened(row.aside, lines=1)
            axes.text(row.estimate, place - 0.2, name, ha=_side(row, part), **look)
        if shown is not None:
            bold = "bold" if row.mark is POOLED else "normal"
            look = {"va": "center", "fontsize": 6.5, "fontweight": bold}
            axes.text(1.02, place, shown.values(row), transform=beside_rows, **look)


def _side(row: EstimateRow, part: Sequence[EstimateRow]) -> str:
    """On which side words above a row end, so that they stay within the panel."""
    ends = [end for one in part for end in (one.estimate, one.low, one.high) if end == end]
    low, high = min(ends), max(ends)
    third = (high - low) / 3
    if row.estimate <= low + third:
        return "left"
    return "right" if row.estimate > high - third else "center"


def _named(
    axes: "Axes", part: Sequence[EstimateRow], heights: Sequence[float], names: bool
) -> None:
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", left=False)
    axes.spines["left"].set_visible(False)
    if not names:
        axes.set_yticks([])
        return
    axes.set_yticks(heights, [shortened(row.label) for row in part])
    for row, tick in zip(part, axes.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if row.mark is POOLED else "normal")
