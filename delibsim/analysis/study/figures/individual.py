"""Individual change: how far participants moved on considerations and on preferences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import remark, rows_of
from delibsim.analysis.study.figures.points import thinned
from delibsim.analysis.study.figures.style import (
    INK,
    Mark,
    few_ticks,
    marks,
    number,
    panels,
    shortened,
)
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = {
    "mean_change_c": "Mean change of a rating",
    "mean_change_p": "Mean change of a rank",
    "tau": "Kendall's tau of own ranks",
    "items_changed": "Items changed",
}
"""Columns that are drawn, each a panel, with the label of its axis."""
POINTS = 60
"""Participants of a row that are drawn as points."""
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def individual_change(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """A panel a measure of change, a row a treatment: participants, quartiles and median."""
    rows = rows_of(results, "individual_change")
    if rows.empty:
        return None
    shown = [name for name in SHOWN if name in rows.columns and rows[name].notna().any()]
    if not shown:
        return None
    treatments = treatments_of(rows)
    looks = marks(treatments)

    def draw(columns: int) -> "Figure":
        height = max(0.6 + 0.33 * len(treatments), 1.1)
        figure, axes = panels(len(shown), columns, height, most=2)
        for place, (panel, column) in enumerate(zip(axes, shown, strict=True)):
            for line, name in enumerate(treatments):
                _draw(panel, line, rows[rows["treatment"] == name], column, looks[name])
            names = [shortened(name) for name in treatments]
            is_first = columns == 1 or place % 2 == 0
            panel.set_yticks(range(len(treatments)), names if is_first else [""] * len(names))
            panel.set_ylim(len(treatments) - 0.4, -0.6)
            panel.tick_params(axis="y", length=0, labelcolor=INK)
            panel.grid(False, axis="y")
            panel.spines["left"].set_visible(False)
            panel.set_xlabel(SHOWN[column])
            few_ticks(panel, most=5)
        return figure

    sessions = rows["session"].nunique()
    caption = (
        f"{counted(len(rows), 'participant')} of {counted(sessions, 'session')}. Thick line: the"
        " middle half of participants; thin line: 5% to 95%; mark: the median."
    )
    if any((rows["treatment"] == name).sum() > POINTS for name in treatments):
        caption += f" Points: {POINTS} of them at even steps of the value."
    undefined = int(rows[shown].isna().any(axis=1).sum())
    if undefined:
        caption += f" {undefined:,} lack one of the values and are left out where they do."
    alt = f"Individual change. {'; '.join(_told(rows, shown, treatments))}."
    title = "How far participants moved"
    return Drawing("individual_change", title, caption + remark(study), alt, draw)


def _draw(axes: "Axes", line: int, rows: pd.DataFrame, column: str, mark: Mark) -> None:
    own = rows[[column]].dropna()
    if own.empty:
        return
    points = thinned(own, column, POINTS)[column].to_numpy(dtype=float)
    # Spread over the height of the row by their order, so that equal values do not hide each other.
    up = line + 0.24 + 0.16 * ((np.arange(len(points)) * 0.618) % 1 - 0.5)
    axes.plot(points, up, ".", color=mark.colour, alpha=0.5, markersize=2.2)
    ends = own[column].quantile(list(SHARES)).to_numpy(dtype=float)
    level = line - 0.1
    axes.plot([ends[0], ends[4]], [level, level], color=mark.colour, linewidth=0.9)
    axes.plot([ends[1], ends[3]], [level, level], color=mark.colour, linewidth=3.6)
    axes.plot([ends[2]], [level], linestyle="", **mark.of_points(markersize=6))


def _told(rows: pd.DataFrame, shown: Sequence[str], treatments: Sequence[str]) -> list[str]:
    found = []
    for column in shown:
        for name in treatments:
            own = rows.loc[rows["treatment"] == name, column].dropna()
            if own.empty:
                found.append(f"{SHOWN[column]}, {name}: no value")
                continue
            low, middle, high = (number(own.quantile(share), 2) for share in SHARES[1:4])
            found.append(f"{SHOWN[column]}, {name}: median {middle}, middle half {low} to {high}")
    return found
