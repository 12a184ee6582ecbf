"""Intersubjective consistency: agreement on considerations against agreement on preferences.

A point a pair of participants, as the R package deliberr draws it: pairs on the diagonal agree on
preferences as much as on considerations (Niemeyer et al. 2024, doi:10.1017/S0003055423000023).
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.figures.plot import Plot, parts_of, plotted
from delibsim.analysis.figures.points import IN_CORNER, apart, cloud, few
from delibsim.analysis.figures.style import (
    GREY,
    INK,
    WIDTHS,
    Mark,
    looks,
    number,
    shortened,
)
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.measures.dri import pair_index

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
