"""Figures whose rows are names: an estimate with its interval in each, as in a forest plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from delibsim.analysis.study.figures.style import (
    GREY,
    INK,
    ROW,
    Mark,
    few_ticks,
    number,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 60
"""Rows that are still named; of more rows only the dots and intervals are drawn."""


@dataclass(frozen=True)
class Row:
    """An estimate with its interval; NaN where there is none.

    `pooled` rows stand below a line, in bold, with a diamond; `mark` replaces that of the
    panel. `aside` is written beside the dot, where rows of neighbouring panels differ in it;
    `spoken` is the name in words, where the label says too little alone. Values that
    are no differences are not `signed`.
    """

    label: str
    estimate: float
    low: float = float("nan")
    high: float = float("nan")
    pooled: bool = False
    mark: Mark | None = None
    aside: str = ""
    spoken: str = ""
    signed: bool = True

    @property
    def given(self) -> bool:
        """Whether there is an estimate."""
        return self.estimate == self.estimate

    def sentence(self, decimals: int = 3) -> str:
        """The row in words, for the alternative text."""
        name = self.spoken or self.label
        name = f"{name}, {self.aside}" if self.aside else name
        told = self.values(decimals) if self.given else "no value"
        return f"{name}: {told}"

    def values(self, decimals: int = 3) -> str:
        """Estimate and interval as they are printed, such as "+.029 [−.004, +.076]"."""
        told = number(self.estimate, decimals, self.signed)
        if self.low == self.low and self.high == self.high:
            low = number(self.low, decimals, self.signed)
            told += f" [{low}, {number(self.high, decimals, self.signed)}]"
        return told


POOLED = Mark(INK, "D")


def height_of(rows: Sequence[Row], above: float = 0.65) -> float:
    """Inches that a panel of these rows needs, with its title and axis."""
    if len(rows) > MOST_NAMED:
        return min(above + 0.06 * len(rows), 11.0)
    return max(above + ROW * (places(rows)[-1] + 1), 1.2)


def places(rows: Sequence[Row]) -> list[float]:
    """Where rows stand, the first at 0: one apart, more where names take two lines."""
    if len(rows) > MOST_NAMED:
        return [float(place) for place in range(len(rows))]
    extra = [0.55 * shortened(row.label).count("\n") + 0.35 * bool(row.aside) for row in rows]
    found = [0.0]
    for above, here in pairwise(extra):
        found.append(found[-1] + 1 + above / 2 + here / 2)
    return found


def draw_rows(
    axes: "Axes",
    rows: Sequence[Row],
    mark: Mark,
    zero: float | None = 0.0,
    values: bool = True,
    names: bool = True,
    decimals: int = 3,
) -> None:
    """Draw rows from top to bottom, with a line at `zero`; with `values` the numbers beside them.

    `names` is False for a panel that stands beside one with the same rows.
    """
    few = len(rows) <= MOST_NAMED
    if zero is not None:
        axes.axvline(zero, color=GREY, linewidth=0.8, zorder=1)
    heights = places(rows)
    for place, row in zip(heights, rows, strict=True):
        own = row.mark or (POOLED if row.pooled else mark)
        if row.low == row.low and row.high == row.high:
            wide = 2.0 if row.pooled else 1.2
            axes.plot([row.low, row.high], [place, place], color=own.colour, linewidth=wide)
        size = 4.5 if few else 2.5
        size = 5.5 if row.pooled else size
        axes.plot([row.estimate], [place], linestyle="", markersize=size, **own.of_points())
        if row.aside and few:
            _above(axes, place, row, _side(row, rows))
        if values and few:
            told = row.values(decimals) if row.given else "no value"
            _beside(axes, place, told, row.pooled)
    first = [place for place, row in zip(heights, rows, strict=True) if row.pooled]
    if first and first[0] > 0:
        axes.axhline(first[0] - 0.5, color=GREY, linewidth=0.6)
    axes.set_ylim(heights[-1] + 0.6, -0.6)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    few_ticks(axes)
    if names and few:
        axes.set_yticks(heights, [shortened(row.label) for row in rows])
        for row, tick in zip(rows, axes.get_yticklabels(), strict=True):
            tick.set_fontweight("bold" if row.pooled else "normal")
    else:
        axes.set_yticks([])


def _side(row: Row, rows: Sequence[Row]) -> str:
    """On which side words above a row end, so that they stay within the panel."""
    ends = [end for one in rows for end in (one.estimate, one.low, one.high) if end == end]
    low, high = min(ends), max(ends)
    third = (high - low) / 3
    if row.estimate <= low + third:
        return "left"
    return "right" if row.estimate > high - third else "center"


def _above(axes: "Axes", place: float, row: Row, side: str) -> None:
    if row.given:
        spot = (row.estimate, place)
        name = shortened(row.aside, lines=1)
        look: dict[str, Any] = {"ha": side, "va": "bottom", "fontsize": 6, "color": GREY}
        axes.annotate(name, spot, (0, 3), textcoords="offset points", **look)


def _beside(axes: "Axes", place: float, told: str, bold: bool) -> None:
    axes.annotate(
        told,
        xy=(1.02, place),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=6.5,
        fontweight="bold" if bold else "normal",
    )


def alternative(rows: Sequence[Row], most: int = 15, decimals: int = 3) -> str:
    """All rows in words, joined by semicolons; of more than `most` the lowest and highest."""
    told = [row for row in rows if not row.given or row.pooled or len(rows) <= most]
    if len(rows) <= most:
        return "; ".join(row.sentence(decimals) for row in told)
    known = sorted((row for row in rows if row.given), key=lambda row: row.estimate)
    ends = [f"lowest {known[0].sentence(decimals)}", f"highest {known[-1].sentence(decimals)}"]
    pooled = [row.sentence(decimals) for row in rows if row.pooled]
    return "; ".join([f"{len(rows)} rows", *ends, *pooled])
