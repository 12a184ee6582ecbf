"""The marks of figures besides rows: points, curves, bars, shaded tables, profiles, slopes.

Each takes a table, the names of its columns and words, and gives a plot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Plot, parts_of, plotted
from delibsim.analysis.figures.style import (
    ESTIMATE,
    GREY,
    INK,
    LIGHT,
    PEOPLE,
    ROW,
    SERIES,
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
from delibsim.analysis.figures.words import filled_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREYS = ("#f2f2f2", "#d0d0d0", "#a8a8a8", "#7d7d7d", "#555555", "#333333")
"""Shades of levels from the lowest to the highest."""
BEFORE, AFTER = (0, (1, 1.5)), (0, (5, 2))
"""Lines of people's mean before and after."""


@dataclass(frozen=True)
class Curves:
    """A line for each text of the template `series`, a panel for each of `panel`.

    Of more series than there are colours each has a panel of its own, the others behind it in
    grey. `tell` is what is told of a series, by its first row; by default its points.
    """

    x: str
    y: str
    series: str
    across: str
    up: str
    panel: str = ""
    tell: str = ""
    dots: bool = True
    log: bool = False
    at: float | None = None
    ylim: Sequence[float | None] = (None, None)
    height: float = 2.2
    decimals: int = 3


def curves(table: pd.DataFrame, how: Curves) -> Plot:
    """A figure of lines."""
    parts = parts_of(table, how.panel)
    lines = {name: parts_of(part, how.series) for name, part in parts.items()}
    names = list(dict.fromkeys(name for own in lines.values() for name in own))
    marks = dict(zip(names, SERIES, strict=False))
    alone = len(names) > len(SERIES)
    shown = [(name, "") for name in lines]
    if alone:
        shown = [(name, one) for name, own in lines.items() for one in own]

    def draw(columns: int) -> "Figure":
        tall = 1.15 if alone else how.height
        figure, axes = panels(len(shown), columns, tall, alone, alone, 4 if alone else 2)
        for place, (name, one) in zip(axes, shown, strict=True):
            for other, line in lines[name].items():
                mark = Mark(LIGHT, "", line="-") if alone else marks[other]
                mark = ESTIMATE if other == one else mark
                front = 3 if other == one else 2
                look: dict[str, Any] = mark.of_points() if how.dots and mark.marker else {}
                look |= {"color": mark.colour, "linestyle": mark.line, "zorder": front}
                place.plot(line[how.x], line[how.y], label=shortened(other, lines=1), **look)
            heading = ", ".join(filter(None, (name, one)))
            place.set_title(shortened(heading, 20 if alone else 34, 1))
            _scales(place, table[how.x], how.log, how.at, how.ylim)
            if not alone:
                place.legend()
        name_axes(figure, axes, how.across, how.up)
        return figure

    told = []
    for name, own in lines.items():
        for one, line in own.items():
            pairs = zip(line[how.x], line[how.y], strict=True)
            points = [f"{a:g} {number(b, how.decimals)}" for a, b in pairs]
            said = filled_in(how.tell, line.iloc[0].to_dict()) if how.tell else ", ".join(points)
            told.append(f"{', '.join(filter(None, (name, one)))}: {said}")
    return Plot(draw, "; ".join(told), len(shown))


def _scales(
    axes: "Axes", x: pd.Series, log: bool, at: float | None, ylim: Sequence[float | None]
) -> None:
    if at is not None:
        axes.axhline(at, color=GREY, linewidth=0.8)
    axes.set_ylim(*ylim)
    few_ticks(axes, across=False)
    if not log:
        few_ticks(axes)
        return
    known = sorted(x.unique())
    axes.set_xscale("log")
    axes.set_xticks(known, [f"{value:g}" for value in known])
    axes.minorticks_off()


def bars(table: pd.DataFrame, label: str, part: str, share: str, panel: str) -> Plot:
    """A bar for each `label`, parted by the levels in the column `part`, the lowest first."""
    parts = parts_of(table, panel)
    most = max(own[label].nunique() for own in parts.values())

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(parts), columns, 0.9 + 0.22 * most, most=2)
        for place, (name, own) in zip(axes, parts.items(), strict=True):
            _bars(place, own.assign(level=own[part].astype(str)), label, share)
            place.set_title(shortened(name))
        return figure

    told = []
    for name, own in parts.items():
        for row in own.to_dict("records"):
            told.append(f"{name}, {row[label]}, level {row[part]}: {number(row[share], 2)}")
    return Plot(draw, "; ".join(told), len(parts))


def _bars(axes: "Axes", table: pd.DataFrame, label: str, share: str) -> None:
    wide = table.pivot_table(index=label, columns="level", values=share, sort=False, dropna=False)
    wide = wide.fillna(0.0)
    heights = np.arange(len(wide))
    left = np.zeros(len(wide))
    for i, level in enumerate(wide.columns):
        shares = wide[level].to_numpy(dtype=float)
        shade, ink = GREYS[i % len(GREYS)], "white" if i % len(GREYS) > 2 else "black"
        axes.barh(heights, shares, left=left, color=shade, edgecolor="white", height=0.7)
        for place in np.flatnonzero(shares > 0.08):
            middle = left[place] + shares[place] / 2
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
            axes.text(middle, place, level, color=ink, **look)
        left += shares
    axes.set_yticks(heights, [shortened(name, lines=1) for name in wide.index])
    axes.set_ylim(len(wide) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.grid(False, axis="y")
    few_ticks(axes)


def heat(
    table: pd.DataFrame,
    row: str,
    column: str,
    value: str,
    panel: str = "",
    limit: float | None = None,
    numbers: bool = False,
    height: float = 0.2,
) -> Plot:
    """A shaded table: red below 0, blue above, white at 0 and where there is no value; `limit` has
    the darkest shades. What are both rows and columns stand in one order.
    """
    parts = parts_of(table, panel)
    wide = {}
    for name, own in parts.items():
        cells = own.pivot_table(index=row, columns=column, values=value, sort=False)
        same = set(cells.index) == set(cells.columns)
        wide[name] = cells[cells.index] if same else cells
    most = limit or float(table[value].abs().max()) or 1.0
    tall = 1.2 + height * table[row].nunique()

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(parts), columns, tall * (1.2 if columns == 1 else 1.0))
        for place, (name, own) in zip(axes, wide.items(), strict=True):
            shades: dict[str, Any] = {"cmap": "RdBu", "vmin": -most, "vmax": most}
            image = place.imshow(own.to_numpy(), aspect="equal" if numbers else "auto", **shades)
            place.set_yticks(range(len(own)), [shortened(one, lines=1) for one in own.index])
            turned: dict[str, Any] = {"rotation": 45, "ha": "right"}
            names = [shortened(one, 18, 1) for one in own.columns]
            place.set_xticks(range(own.shape[1]), names, **turned)
            place.grid(False)
            place.set_title(name)
            if numbers:
                _numbers(place, own.to_numpy(), most)
        if not numbers:
            figure.colorbar(image, ax=axes, shrink=0.8)
        return figure

    told = []
    for name, own in parts.items():
        apart = own[own[row] != own[column]].sort_values(value, kind="stable")
        ends = [apart.iloc[-1], apart.iloc[0]] if len(apart) else []
        said = [f"{end[row]}, {end[column]} {number(end[value], 2)}" for end in ends]
        words = ", lowest ".join(said)
        told.append(f"{name}: highest {words}" if name else f"highest {words}")
    return plotted(draw, told, len(parts))


def _numbers(axes: "Axes", values: "np.ndarray[Any, Any]", most: float) -> None:
    for line, place in np.ndindex(*values.shape):
        value = float(values[line, place])
        if np.isnan(value):
            continue
        ink = "white" if abs(value) > 0.6 * most else INK
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 4}
        axes.text(place, line, number(value, 2), color=ink, **look)


def profile(table: pd.DataFrame, label: str, series: str, axis: str) -> Plot:
    """Rows with a mark for each of several series: columns mean, low and high."""
    lines = parts_of(table, f"{{{series}}}")
    marks = looks(list(lines))
    names = list(dict.fromkeys(table[label]))
    heights = np.arange(len(names))

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 0.8 + 0.21 * len(names))
        for i, (name, own) in enumerate(lines.items()):
            up = heights + (i - (len(lines) - 1) / 2) * 0.56 / len(lines)
            row, mark = own.set_index(label).reindex(names), marks[name]
            segments(axes, (row["low"], row["high"]), (up, up), mark.colour, 0.8)
            axes.plot(row["mean"], up, linestyle="", label=name, **mark.of_points(markersize=4))
        name_rows(axes, names)
        few_ticks(axes)
        axes.set_xlabel(axis)
        axes.axvline(0, color=GREY, linewidth=0.7)
        figure.legend(loc="outside upper left", ncols=min(len(lines), 3))
        return figure

    told = []
    for name, own in lines.items():
        pairs = zip(own[label], own["mean"], strict=True)
        means = [f"{one} {number(mean, 2)}" for one, mean in pairs]
        told.append(f"{name}: {', '.join(means)}")
    return plotted(draw, told)


def slopes(table: pd.DataFrame, axis: str) -> Plot:
    """A row for each condition, from before (open) to after (filled).

    Columns: label, look, size (in words), pre, post, and the ends of both intervals.
    """
    marks = looks(table["look"].tolist())
    found = table.to_dict("records")
    names = table["label"].tolist()

    def draw(columns: int) -> "Figure":
        lines = sum(shortened(name).count("\n") for name in names)
        height = max(0.75 + (ROW + 0.08) * len(names) + 0.11 * lines, 1.4)
        figure, (axes,) = panels(1, columns, height)
        for place, row in enumerate(found):
            _slope(axes, place, row, marks[row["look"]])
        right: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "fontsize": 6.5}
        axes.text(1.02, -0.75, "change", color=GREY, **right)
        name_rows(axes, names)
        axes.grid(False, axis="y")
        few_ticks(axes)
        axes.set_xlabel(axis)
        return figure

    told = []
    for row in found:
        change = number(row["post"] - row["pre"], signed=True)
        ends = f"{number(row['pre'])} before, {number(row['post'])} after"
        told.append(f"{row['label']} ({row['size']}): {ends}, change {change}")
    return Plot(draw, "; ".join(told))


def _slope(axes: "Axes", place: int, row: Any, mark: Mark) -> None:
    is_people = mark is PEOPLE
    if is_people:
        axes.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", zorder=0)
        axes.axvline(row["pre"], color=GREY, linewidth=0.7, linestyle=BEFORE, zorder=0.5)
        axes.axvline(row["post"], color=GREY, linewidth=0.7, linestyle=AFTER, zorder=0.5)
    up = np.array([place - 0.17, place + 0.17])
    lows, highs = [row["pre_low"], row["post_low"]], [row["pre_high"], row["post_high"]]
    segments(axes, (lows, highs), (up, up), mark.colour, 0.7)
    axes.plot([row["pre"], row["post"]], up, color=mark.colour, linewidth=1.4)
    size = 7 if is_people else 4.5
    for value, level, face in ((row["pre"], up[0], "white"), (row["post"], up[1], mark.colour)):
        look = {"markersize": size, "markerfacecolor": face}
        if face == "white":
            look["markeredgecolor"] = mark.colour
        axes.plot([value], [level], linestyle="", **mark.of_points(**look))
    told = number(row["post"] - row["pre"], signed=True)
    right: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(1.02, place, told, fontsize=6.5, **right)
