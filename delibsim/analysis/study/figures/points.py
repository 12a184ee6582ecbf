"""Many observations in a small file: points while they are few, shaded squares after that."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.figures.style import Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 1_200
"""Observations of a figure that are drawn one by one, over all of its panels."""
FEWEST = 4
"""Topics from which on a mean over topics has an interval."""
SQUARES = 34
"""Squares across a panel."""


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
        look = mark.of_points(markersize=3.2)
        axes.plot(x, y, linestyle="", alpha=0.55, **look)
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


def interval_over(values: pd.Series) -> tuple[float, float, float]:
    """Mean of one value a topic with its 95% interval of Student's t; NaN below four topics, where
    it would be wider than the scale.
    """
    known = values.dropna()
    mean = float(known.mean()) if len(known) else float("nan")
    if len(known) < FEWEST:
        return mean, float("nan"), float("nan")
    from scipy.stats import t as student

    error = float(known.std(ddof=1)) / np.sqrt(len(known))
    half = float(student.ppf(0.975, len(known) - 1)) * error
    return mean, mean - half, mean + half
