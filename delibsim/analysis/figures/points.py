"""Observations of a panel: points while they are few, shaded squares after that, with lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Plot, parts_of
from delibsim.analysis.figures.style import (
    ESTIMATE,
    GREY,
    INK,
    PEOPLE,
    Mark,
    few_ticks,
    looks,
    name_axes,
    name_rows,
    number,
    panels,
    segments,
    shortened,
)
from delibsim.analysis.figures.words import (
    filled_in,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 1_200
"""Observations of a figure that are drawn one by one, over all of its panels."""
SQUARES = 34
"""Squares across a panel."""
ROOM = 0.15
"""Share of the height that is added above the points, for the words in the corner."""
SERIES_MARKS = (Mark(GREY, "o", filled=False), Mark(INK, "D"))
IN_CORNER: Mapping[str, Any] = {
    "fontsize": 6.5,
    "va": "top",
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8},
}


@dataclass(frozen=True)
class Points:
    """A point for each row, a panel for each text of the template `panel`.

    `look` is the column that says whose points they are, `series` one whose two values get two
    marks. `line` is `zero`, `equal` or `none`, or `fit` for the line of the column `slope` through
    both means. `corner` and `tell` are what stands in the panel and is told of it, by its first
    row.
    """

    x: str
    y: str
    across: str
    up: str
    panel: str = ""
    look: str = ""
    series: str = ""
    low: str = ""
    high: str = ""
    line: str = "zero"
    tell: str = ""
    corner: str = ""
    limits: Sequence[float] = ()
    height: float = 2.0
    share: bool = False


def points(table: pd.DataFrame, how: Points) -> Plot:
    """A figure of points."""
    parts = parts_of(table, how.panel)
    marks = looks(table[how.look].unique().tolist()) if how.look else {}
    most = few(len(parts))

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(parts), columns, how.height, how.share, how.share)
        for place, (name, own) in zip(axes, parts.items(), strict=True):
            mark = marks[own[how.look].iloc[0]] if how.look else ESTIMATE
            _line(place, own[how.x], own[how.y], how.line, own, how.limits)
            if how.low:
                ends = own[how.low], own[how.high]
                segments(place, (own[how.x], own[how.x]), ends, mark.colour, 1.2)
                place.plot(own[how.x], own[how.y], linestyle="", **mark.of_points())
            else:
                _groups(place, own, (how.x, how.y), how.series, mark, most)
            if how.panel:
                place.set_title(shortened(name, 34, 1))
            if how.corner:
                told = filled_in(how.corner, own.iloc[0].to_dict())
                spot = {"transform": place.transAxes, "ha": "right"}
                place.text(0.98, 0.97, told, **IN_CORNER, **spot)
            if how.limits:
                place.set(xlim=how.limits, ylim=how.limits)
            few_ticks(place, most=6)
            few_ticks(place, across=False, most=6)
        if how.corner:
            bottom, top = axes[0].get_ylim()
            axes[0].set_ylim(bottom, top + ROOM * (top - bottom))
        name_axes(figure, axes, how.across, how.up)
        return figure

    told = []
    for name, own in parts.items() if how.tell else ():
        rows = own if how.low else own.head(1)
        told += [f"{name}: {filled_in(how.tell, row)}" for row in rows.to_dict("records")]
    return Plot(draw, "; ".join(told), len(parts))


def _line(
    axes: "Axes",
    x: pd.Series,
    y: pd.Series,
    line: str,
    own: pd.DataFrame,
    limits: Sequence[float],
) -> None:
    ends = np.array(limits or [x.min(), x.max()], dtype=float)
    if line == "equal":
        axes.plot(ends, ends, color=GREY, linewidth=0.8)
    elif line != "none":
        axes.axhline(0, color=GREY, linewidth=0.8)
    if line == "fit" and own["slope"].notna().any():
        # The line of least squares runs through the point of both means.
        fitted = y.mean() + own["slope"].iloc[0] * (ends - x.mean())
        axes.plot(ends, fitted, color=INK, linewidth=1.6, zorder=3)


def _groups(
    axes: "Axes", own: pd.DataFrame, ends: tuple[str, str], series: str, mark: Mark, most: int
) -> None:
    x, y = ends
    if not series:
        cloud(axes, own[x], own[y], mark, most)
        return
    for (name, part), one in zip(own.groupby(series, sort=False), SERIES_MARKS, strict=False):
        axes.plot(part[x], part[y], linestyle="", label=name, **one.of_points(markersize=3))
    axes.legend(loc="lower right")


def few(panels: int) -> int:
    """Observations that a panel may have to be drawn one by one, in a figure of so many panels."""
    return max(POINTS // max(panels, 1), 60)


def apart(values: Any, width: float) -> "np.ndarray[Any, Any]":
    """Values moved by at most half of `width`, evenly and the same each time.

    It keeps equal values from hiding each other, and steps of a scale from making bands.
    """
    values = np.asarray(values, dtype=float)
    return values + width * ((np.arange(len(values)) * 0.6180339887) % 1 - 0.5)


def cloud(
    axes: "Axes",
    x: Any,
    y: Any,
    mark: Mark,
    most: int,
    ends: tuple[float, float] | None = None,
) -> None:
    """Draw observations as points; where there are more than `most`, count them in squares.

    Squares are darker for more observations and take a few kilobytes. `ends` are
    the lowest and highest value of both axes, where they are not those of the observations.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) <= most:
        is_people = mark is PEOPLE
        look = mark.of_points(markersize=6 if is_people else 3.2)
        axes.plot(x, y, linestyle="", alpha=None if is_people else 0.55, **look)
        return
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("own", _shades(mark.colour), bad=(1, 1, 1, 0))
    counts, across, up = np.histogram2d(x, y, bins=SQUARES, range=ends and [ends, ends])
    shown = np.sqrt(np.where(counts > 0, counts, np.nan)).T
    extent = (float(across[0]), float(across[-1]), float(up[0]), float(up[-1]))
    options: dict[str, Any] = {"interpolation": "none", "origin": "lower", "aspect": "auto"}
    axes.imshow(shown, cmap=shades, extent=extent, zorder=1.5, **options)
    axes.autoscale(True)


def _shades(colour: str) -> list[Any]:
    """From light grey over a colour to a darker one."""
    from matplotlib.colors import to_rgb

    return ["#e4e4e4", colour, tuple(0.45 * part for part in to_rgb(colour))]


def thinned(rows: pd.DataFrame, by: str, most: int) -> pd.DataFrame:
    """At most so many rows, at even steps of the order of a column; the ends always among them."""
    if len(rows) <= most:
        return rows
    ordered = rows.sort_values(by, kind="stable")
    places = np.linspace(0, len(rows) - 1, most).round().astype(int)
    return ordered.iloc[places]


SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def spread(table: pd.DataFrame, label: str, measures: Mapping[str, str], most: int = 60) -> Plot:
    """A panel for each of several columns, with the label of its axis; a row for each `label`.

    The thick line is the middle half, the thin one reaches from 5% to 95%, the mark is the median;
    points are at most so many observations.
    """
    shown = {column: axis for column, axis in measures.items() if column in table.columns}
    shown = {column: axis for column, axis in shown.items() if table[column].notna().any()}
    parts = parts_of(table, f"{{{label}}}")
    marks = looks(list(parts))

    def draw(columns: int) -> "Figure":
        height = max(0.6 + 0.33 * len(parts), 1.1)
        figure, axes = panels(len(shown), columns, height, most=2)
        for place, (column, axis) in enumerate(shown.items()):
            panel = axes[place]
            for line, (name, own) in enumerate(parts.items()):
                _spread(panel, line, own[[column]].dropna(), marks[name], most)
            first = columns == 1 or place % 2 == 0
            name_rows(panel, [name if first else "" for name in parts])
            panel.grid(False, axis="y")
            panel.set_xlabel(axis)
            few_ticks(panel)
        return figure

    told = []
    for column, axis in shown.items():
        for name, own in parts.items():
            low, middle, high = (number(own[column].quantile(at), 2) for at in SHARES[1:4])
            said = f"median {middle}, middle half {low} to {high}"
            told.append(f"{axis}, {name}: {said if own[column].notna().any() else 'no value'}")
    return Plot(draw, "; ".join(told), len(shown))


def _spread(axes: "Axes", line: int, own: pd.DataFrame, mark: Mark, most: int) -> None:
    if own.empty:
        return
    column = own.columns[0]
    values = thinned(own, column, most)[column].to_numpy(dtype=float)
    # Spread over the height of the row by their order, so that equal values do not hide each other.
    up = line + 0.24 + apart(np.zeros(len(values)), 0.16)
    axes.plot(values, up, ".", color=mark.colour, alpha=0.5, markersize=2.2)
    ends = own[column].quantile(list(SHARES)).to_numpy(dtype=float)
    level = line - 0.1
    for low, high, width in ((ends[0], ends[4], 0.9), (ends[1], ends[3], 3.6)):
        axes.plot([low, high], [level, level], color=mark.colour, linewidth=width)
    axes.plot([ends[2]], [level], linestyle="", **mark.of_points(markersize=6))


def ways(table: pd.DataFrame, panel: str, axis: str, most: int) -> Plot:
    """A line for each session from `pre` to `post`, the mean in bold, a panel for each text of the
    template `panel`.

    The columns people_pre and people_post are people's means, NaN where there are none.
    """
    parts = parts_of(table, panel)
    marks = looks(list(parts))
    people = table[["people_pre", "people_post"]].iloc[0].to_numpy(dtype=float)
    known = bool(np.isfinite(people).all())

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(parts), columns, 2.1, sharey=True)
        for place, (name, own) in zip(axes, parts.items(), strict=True):
            mark = marks[name]
            lines = thinned(own, "change", most)[["pre", "post"]].to_numpy(dtype=float)
            place.plot([0, 1], lines.T, color=mark.colour, linewidth=0.5, alpha=0.45)
            if known:
                dashed: dict[str, Any] = {"linestyle": (0, (2, 2)), "marker": "*", "markersize": 7}
                place.plot([0, 1], people, color=INK, **dashed)
                place.text(1.06, people[1], "people", va="center")
            mean = own[["pre", "post"]].mean()
            place.plot([0, 1], mean, linewidth=2.4, zorder=4, **mark.of_points(markersize=6))
            place.set_title(shortened(name, 22, 1))
            place.set_xticks([0, 1], ["before", "after"])
            place.set_xlim(-0.12, 1.32 if known else 1.12)
            place.grid(False, axis="x")
        few_ticks(axes[0], across=False)
        axes[0].set_ylabel(axis)
        return figure

    told = []
    for name, own in parts.items():
        pre, post = number(own["pre"].mean()), number(own["post"].mean())
        rise = f"{(own['change'] > 0).mean():.0%} of sessions rise"
        told.append(f"{name} (n = {len(own):,}): from {pre} to {post}, {rise}")
    return Plot(draw, "; ".join(told), len(parts))
