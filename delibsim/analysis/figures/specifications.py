"""The specification curve: every estimate of a contrast in order, and the choices behind each.

As Simonsohn, Simmons and Nelson 2020 (doi:10.1038/s41562-020-0912-z) draw it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.plot import Plot, parts_of
from delibsim.analysis.figures.style import (
    GREY,
    INK,
    WIDTHS,
    few_ticks,
    number,
    segments,
    shortened,
)
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Level = tuple[str, str]


def specifications(table: pd.DataFrame, panel: str, choices: Mapping[str, str]) -> Plot:
    """Estimates in order, filled where the interval excludes 0, above the choices made.

    `choices` are the columns that say how an estimate was made, with the words for them.
    """
    parts = {
        name: own.sort_values("estimate", kind="stable").reset_index(drop=True)
        for name, own in parts_of(table, panel).items()
    }
    levels = _levels(table, choices)
    names = [f"{choices[column]}: {shortened(level, 20, 1)}" for column, level in levels]

    def draw(columns: int) -> "Figure":
        from matplotlib.figure import Figure

        below = 0.3 + 0.155 * len(levels)
        across = len(parts) if columns == 2 else 1
        down = len(parts) // across
        size = (WIDTHS[columns], (1.9 + below) * down)
        figure = Figure(figsize=size, layout="constrained")
        ratios = [1.6, below] * down
        grid = figure.subplots(2 * down, across, squeeze=False, sharey="row", height_ratios=ratios)
        for place, (name, own) in enumerate(parts.items()):
            line, column = divmod(place, across)
            above, under = grid[2 * line, column], grid[2 * line + 1, column]
            above.set_title(name)
            _estimates(above, own, first=column == 0)
            _choices(under, own, levels, names if column == 0 else ())
        return figure

    told = [f"{name}: {_told(own)}" for name, own in parts.items()]
    return Plot(draw, "; ".join(told), len(parts))


def _levels(rows: pd.DataFrame, choices: Mapping[str, str]) -> list[Level]:
    """The choices of which there are several, each as (column, level)."""
    found: list[Level] = []
    for column in choices:
        values = rows[column].astype(str).unique().tolist() if column in rows.columns else []
        if len(values) > 1:
            found += [(column, value) for value in values]
    return found


def _excludes(rows: pd.DataFrame) -> "np.ndarray[Any, Any]":
    return ((rows["low"] > 0) | (rows["high"] < 0)).to_numpy(dtype=bool)


def _estimates(axes: "Axes", rows: pd.DataFrame, first: bool) -> None:
    places, sure = np.arange(len(rows)), _excludes(rows)
    size = 4 if len(rows) <= 40 else 2
    axes.axhline(0, color=GREY, linewidth=0.8)
    for which, colour, fill in ((~sure, GREY, "white"), (sure, INK, INK)):
        own = rows[which]
        where = places[which]
        segments(axes, (where, where), (own["low"], own["high"]), colour, 0.7)
        look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": colour}
        axes.plot(where, own["estimate"], "o", markersize=size, **look)
    axes.set_xticks([])
    axes.set_xlim(-1, len(rows))
    axes.spines["bottom"].set_visible(False)
    few_ticks(axes, across=False)
    if first:
        axes.set_ylabel("Estimate")


def _choices(
    axes: "Axes", rows: pd.DataFrame, levels: Sequence[Level], names: Sequence[str]
) -> None:
    chosen = np.array([(rows[column].astype(str) == level) for column, level in levels])
    sure = _excludes(rows)
    for which, colour in ((~sure, GREY), (sure, INK)):
        lines, places = np.nonzero(chosen & which)
        segments(axes, (places, places), (lines - 0.3, lines + 0.3), colour, 0.8)
    if names:
        axes.set_yticks(range(len(levels)), names)
    for line in range(1, len(levels)):
        if levels[line][0] != levels[line - 1][0]:
            axes.axhline(line - 0.5, color="#dddddd", linewidth=0.6)
    axes.set_ylim(len(levels) - 0.4, -0.6)
    axes.set_xlim(-1, len(rows))
    axes.set_xticks([])
    axes.tick_params(axis="y", left=False, labelsize=6.5)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _told(rows: pd.DataFrame) -> str:
    sure = int(_excludes(rows).sum())
    middle = number(rows["estimate"].median(), signed=True)
    low, high = (number(rows["estimate"].agg(end), signed=True) for end in ("min", "max"))
    return (
        f"{counted(len(rows), 'specification')}, estimates {low} to {high},"
        f" median {middle}; the interval excludes 0 in {sure}"
    )
