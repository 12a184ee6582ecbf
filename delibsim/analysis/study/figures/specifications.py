"""The specification curve: every estimate of a contrast in order, and the choices behind each.

As Simonsohn, Simmons and Nelson 2020 (doi:10.1038/s41562-020-0912-z) draw it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import contrast_name, contrasts_in, remark, rows_of
from delibsim.analysis.study.figures.style import (
    GREY,
    INK,
    WIDTHS,
    few_ticks,
    number,
    shortened,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHOICES = {
    "index": "index",
    "scale": "scale",
    "wording": "wording",
    "runs": "runs",
    "pairing": "pairs",
    "weights": "weights",
    "model": "model",
    "left_out": "left out",
}
"""Columns that say how an estimate was made, with the words for them."""
MOST = 3
"""Contrasts that are drawn."""

Level = tuple[str, str]


def specifications(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Estimates in order, filled where the interval excludes 0, above the choices made."""
    rows = rows_of(results, "specifications")
    rows = rows[rows["estimate"].notna()] if len(rows) else rows
    if rows.empty:
        return None
    # "topic trams" and "model a" are one line each: all that are left out in turn.
    rows = rows.assign(left_out="one " + rows["left_out"].str.partition(" ")[0])
    rows["left_out"] = rows["left_out"].replace("one nothing", "nothing")
    every = contrasts_in(rows)
    found = {pair: _sorted(rows, pair) for pair in every[:MOST]}
    levels = _levels(rows)

    def draw(columns: int) -> "Figure":
        from matplotlib.figure import Figure

        below = 0.3 + 0.155 * len(levels)
        across = len(found) if columns == 2 else 1
        down = len(found) // across
        size = (WIDTHS[columns], (1.9 + below) * down)
        figure = Figure(figsize=size, layout="constrained")
        ratios = [1.6, below] * down
        grid = figure.subplots(2 * down, across, squeeze=False, sharey="row", height_ratios=ratios)
        for place, (pair, own) in enumerate(found.items()):
            line, column = divmod(place, across)
            above, under = grid[2 * line, column], grid[2 * line + 1, column]
            _estimates(above, own, pair, first=column == 0)
            _choices(under, own, levels, first=column == 0)
        return figure

    caption = (
        "Every estimate of a contrast, in order, with its 95% interval by t over topics; dark and"
        " filled where the interval excludes 0. Below: the choices that gave it. Absolute, relative"
        " changes are on different scales."
    )
    if len(every) > MOST:
        names = ", ".join(contrast_name(*pair) for pair in every[MOST:])
        caption += f" Not drawn, but in the table: {names}."
    told = [_told(pair, own) for pair, own in found.items()]
    alt = f"Specification curves. {'; '.join(told)}."
    title = "Specification curve of the effects"
    return Drawing("specifications", title, caption + remark(study), alt, draw)


def _sorted(rows: pd.DataFrame, pair: tuple[str, str]) -> pd.DataFrame:
    own = rows[(rows["a"] == pair[0]) & (rows["b"] == pair[1])]
    return own.sort_values("estimate", kind="stable").reset_index(drop=True)


def _levels(rows: pd.DataFrame) -> list[Level]:
    """The choices of which there are several, each as (column, level)."""
    found: list[Level] = []
    for column in CHOICES:
        values = rows[column].astype(str).unique().tolist() if column in rows.columns else []
        if len(values) > 1:
            found += [(column, value) for value in values]
    return found


def _excludes(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    return ((rows["low"] > 0) | (rows["high"] < 0)).to_numpy(dtype=bool)


def _estimates(axes: "Axes", rows: pd.DataFrame, pair: tuple[str, str], first: bool) -> None:
    places, sure = np.arange(len(rows)), _excludes(rows)
    size = 4 if len(rows) <= 40 else 2
    axes.axhline(0, color=GREY, linewidth=0.8)
    for which, colour, fill in ((~sure, GREY, "white"), (sure, INK, INK)):
        own = rows[which]
        axes.vlines(places[which], own["low"], own["high"], color=colour, linewidth=0.7)
        look: dict[str, Any] = {"markerfacecolor": fill, "markeredgecolor": colour}
        axes.plot(places[which], own["estimate"], "o", markersize=size, **look)
    axes.set_title(contrast_name(*pair))
    axes.set_xticks([])
    axes.set_xlim(-1, len(rows))
    axes.spines["bottom"].set_visible(False)
    few_ticks(axes, across=False)
    if first:
        axes.set_ylabel("Estimate")


def _choices(axes: "Axes", rows: pd.DataFrame, levels: Sequence[Level], first: bool) -> None:
    sure = _excludes(rows)
    for line, (column, level) in enumerate(levels):
        chosen = (rows[column].astype(str) == level).to_numpy(dtype=bool)
        for which, colour in ((chosen & ~sure, GREY), (chosen & sure, INK)):
            places = np.flatnonzero(which)
            axes.plot(places, np.full(len(places), line), "|", color=colour, markersize=5)
    names = [f"{CHOICES[column]}: {shortened(level, 20, 1)}" for column, level in levels]
    if first:
        axes.set_yticks(range(len(levels)), names)
    for line in range(1, len(levels)):
        if levels[line][0] != levels[line - 1][0]:
            axes.axhline(line - 0.5, color="#dddddd", linewidth=0.6)
    axes.set_ylim(len(levels) - 0.4, -0.6)
    axes.set_xlim(-1, len(rows))
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=6.5)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _told(pair: tuple[str, str], rows: pd.DataFrame) -> str:
    sure = int(_excludes(rows).sum())
    middle = number(rows["estimate"].median(), signed=True)
    low, high = (number(rows["estimate"].agg(end), signed=True) for end in ("min", "max"))
    return (
        f"{contrast_name(*pair)}: {counted(len(rows), 'specification')}, estimates {low} to {high},"
        f" median {middle}; the interval excludes 0 in {sure}"
    )
