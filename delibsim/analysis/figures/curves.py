"""The specification curve, and intersubjective consistency of pairs of participants."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Plot, parts_of, plotted
from delibsim.analysis.figures.points import IN_CORNER, apart, cloud, few
from delibsim.analysis.figures.style import (
    GREY,
    INK,
    WIDTHS,
    Mark,
    few_ticks,
    looks,
    number,
    segments,
    shortened,
)
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.measures.dri import pair_index

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
    made = [(rows[column].astype(str) == level) for column, level in levels]
    chosen = np.array(made, dtype=bool).reshape(len(levels), len(rows))  # none where none varies
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


if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENOUGH, SHARES = 30, (0.5, 0.9)
"""Pairs from which on density is drawn, and the shares of pairs that its lines enclose."""
ON_GRID, AT_MOST = 42, 1_000
LIMIT, SPREAD = 1.08, 0.06
"""Where the axes end, and how far apart equal correlations are drawn at most."""
HEADINGS = {"pre": "before", "post": "after"}


def consistency(table: pd.DataFrame, panel: str) -> Plot:
    """A row of two panels, before and after, for each text of the template `panel`.

    Columns: phase, group, considerations, preferences.
    """
    parts = parts_of(table, panel)
    marks = looks(list(parts))
    most = few(2 * len(parts))

    def draw(columns: int) -> "Figure":
        from matplotlib.figure import Figure

        width = min(WIDTHS[columns], 5.2)
        figure = Figure(figsize=(width, width / 2 * 1.04 * len(parts)), layout="constrained")
        grid = figure.subplots(len(parts), 2, squeeze=False, sharex=True, sharey=True)
        for line, (name, own) in zip(grid, parts.items(), strict=True):
            mark = Mark(marks[name].colour, "o", marks[name].filled)
            for place, phase in zip(line, PHASES, strict=True):
                _draw(place, own[own["phase"] == phase], mark, most)
                place.set_title(f"{shortened(name, 18, 1)}, {HEADINGS[phase]}")
        figure.supxlabel("Correlation on considerations", fontsize=7.5)
        figure.supylabel("Correlation on preferences", fontsize=7.5)
        return figure

    told = [f"{name}: {_sentence(own)}" for name, own in parts.items()]
    return plotted(draw, told, 2 * len(parts))


def _index(own: pd.DataFrame) -> float:
    """The mean over groups of their Deliberative Reason Index."""
    rc, rp = own["considerations"].to_numpy(), own["preferences"].to_numpy()
    return float(pd.Series(pair_index(rc, rp)).groupby(own["group"].to_numpy()).mean().mean())


def _sentence(pairs: pd.DataFrame) -> str:
    """Counts and index in words."""
    told = []
    for phase in PHASES:
        own = pairs[pairs["phase"] == phase]
        rc, rp = number(own["considerations"].mean(), 2), number(own["preferences"].mean(), 2)
        told.append(
            f"{HEADINGS[phase]} {counted(len(own), 'pair')}, mean correlation {rc} on"
            f" considerations and {rp} on preferences, index {number(_index(own))}"
        )
    return "; ".join(told)


def _draw(axes: "Axes", own: pd.DataFrame, mark: Mark, most: int) -> None:
    x, y = own["considerations"].to_numpy(dtype=float), own["preferences"].to_numpy(dtype=float)
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.plot([-1, 1], [-1, 1], color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    spread = (apart(x, SPREAD), apart(y[::-1], SPREAD)[::-1])
    cloud(axes, *spread, mark, most, (-LIMIT, LIMIT))
    _density(axes, x, y)
    axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), aspect="equal")
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1])
    told = f"index {number(_index(own), 2)}\n{counted(len(own), 'pair')}"
    axes.text(0.03, 0.97, told, transform=axes.transAxes, **IN_CORNER)


def _density(axes: "Axes", x: "np.ndarray[Any, Any]", y: "np.ndarray[Any, Any]") -> None:
    """Lines that enclose shares of the estimated density; none where it cannot be estimated."""
    if len(x) < ENOUGH:
        return
    from scipy.stats import gaussian_kde

    step = max(1, len(x) // AT_MOST)
    observed = np.vstack([x, y])[:, ::step]
    try:
        density = gaussian_kde(observed)
    except np.linalg.LinAlgError:  # all pairs on a line
        return
    ticks = np.linspace(-LIMIT, LIMIT, ON_GRID)
    values = density(np.vstack([grid.ravel() for grid in np.meshgrid(ticks, ticks)]))
    falling = np.sort(values)[::-1]
    enclosed = np.cumsum(falling) / falling.sum()
    levels = sorted({float(falling[np.searchsorted(enclosed, share)]) for share in SHARES})
    heights = values.reshape(ON_GRID, ON_GRID)
    axes.contour(ticks, ticks, heights, levels=levels, colors=[INK], linewidths=0.7)
