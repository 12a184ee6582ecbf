"""Figures of a tournament: dots with intervals, residuals, densities, correlations."""

import re
from collections.abc import Mapping, Sequence
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import analysed, by_debater
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.points import POINTS, cloud
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import (
    ESTIMATE,
    GREY,
    INK,
    OTHERS,
    few_ticks,
    number,
    panels,
)
from delibsim.domain.participant import SIDES
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INTERVALS = "Lines are 95% intervals by t over motions or, with fewer than five, over debates."
CLUSTERED = "Lines are 95% intervals by t, errors clustered by debate."
GRID = 201
"""Points at which a density is drawn."""


def figures(found: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document, as far as there is something to draw."""
    return {drawing.name: drawing.svg() for drawing in drawings(found)}


def drawings(found: Mapping[str, pd.DataFrame]) -> list[Drawing]:
    """Win rates, performance, strengths, densities, correlations; residuals of every mixed model,
    against fitted values and against the normal distribution.
    """
    made = []
    placed = found["standings"]
    if not placed.empty:
        rows = _rows(placed[["debater", "win_rate", "win_low", "win_high"]])
        made.append(dots("win_rates", "Win rate", rows, INTERVALS, at=0.5))
        rows = _rows(placed[["debater", "performance", "performance_low", "performance_high"]])
        made.append(dots("performance", "Mean performance", rows, INTERVALS))
    strengths = found["strengths"].dropna(subset=["coefficient"])
    if not strengths.empty:
        labelled = strengths.assign(label=strengths["kind"] + " " + strengths["term"])
        rows = _rows(labelled[["label", "coefficient", "low", "high"]], signed=True)
        title = "Strength (Bradley-Terry), log odds"
        made.append(dots("strengths", title, rows, CLUSTERED, at=0.0))
    made += _densities(analysed(found["ratings"]))
    correlated = found["dimension_correlations"].dropna()
    if not correlated.empty:
        made.append(heat_map(correlated))
    for model, own in found["residuals"].groupby("model"):
        end = re.sub(r"\W+", "_", str(model)).strip("_")
        points = list(own[["fitted", "residual"]].itertuples(index=False, name=None))
        made.append(scatter(f"residuals_{end}", f"Residuals of the mixed model: {model}", points))
        made.append(quantiles(f"qq_{end}", str(model), own["residual"].to_numpy(dtype=float)))
    return made


def _densities(ratings: pd.DataFrame) -> list[Drawing]:
    """Densities of performance by kind of debater, of the change of stance, and of stances."""
    view = by_debater(ratings)
    performance = {str(kind): own["own.performance"] for kind, own in view.groupby("kind")}
    change = ratings["after"].astype(float) - ratings["before"].astype(float)
    winners = {f"{side} won": change[ratings["winner"] == side] for side in SIDES}
    stances = {name: ratings[name].astype(float) for name in ("before", "after")}
    drawn = [
        density("density_performance", "Performance by kind of debater (0 to 100)", performance),
        density("density_stance_change", "Change of stance by winner (points)", winners),
        density("density_stance", "Stance before and after (0 to 100)", stances),
    ]
    return [drawing for drawing in drawn if drawing is not None]


def density(name: str, title: str, groups: Mapping[str, pd.Series]) -> Drawing | None:
    """A density for each group, by normal kernels with Scott's bandwidth; None without any.

    A group that does not vary has none.
    """
    from scipy.stats import gaussian_kde

    given = {group: values.dropna().to_numpy(dtype=float) for group, values in groups.items()}
    given = {group: own for group, own in given.items() if len(own) > 1 and np.ptp(own) > 0}
    if not given:
        return None
    together = np.concatenate(list(given.values()))
    at = np.linspace(together.min(), together.max(), GRID)
    curves = {group: gaussian_kde(own)(at) for group, own in given.items()}

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 2.4)
        for mark, (group, curve) in zip(cycle((ESTIMATE, *OTHERS)), curves.items(), strict=False):
            axes.plot(at, curve, color=mark.colour, linestyle=mark.line, label=group)
        axes.set_xlabel(title)
        axes.set_ylabel("Density")
        axes.legend()
        few_ticks(axes, most=6)
        few_ticks(axes, across=False, most=5)
        return figure

    told = []
    for group, own in given.items():
        mean, sd = number(own.mean(), 1), number(own.std(ddof=1), 1)
        told.append(f"{group}: mean {mean}, standard deviation {sd}, {counted(len(own), 'value')}")
    caption = "Normal kernels, bandwidth by Scott's rule."
    return Drawing(name, title, caption, f"{title}. {'; '.join(told)}.", draw, 1)


def heat_map(correlated: pd.DataFrame) -> Drawing:
    """The correlations of the dimensions, a panel for all debaters and for each kind."""
    parts = {str(name): own for name, own in correlated.groupby("debaters", sort=False)}
    title = "Correlations of the dimensions"

    def draw(columns: int) -> "Figure":
        figure, grids = panels(len(parts), columns, 3.4 if columns == 1 else 2.8)
        for axes, (name, own) in zip(grids, parts.items(), strict=True):
            matrix = own[list(own["dimension"])].to_numpy(dtype=float)
            axes.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1)
            places = range(len(matrix))
            axes.set_xticks(places, own["dimension"], rotation=90)
            axes.set_yticks(places, own["dimension"])
            axes.grid(visible=False)
            axes.set_title(f"{name} (n = {own['n'].iloc[0]:,})")
            for i, j in product(places, places):
                dark = abs(matrix[i, j]) > 0.6
                look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 4}
                colour = "white" if dark else INK
                axes.text(j, i, number(matrix[i, j], 2), color=colour, **look)
        return figure

    told = []
    for name, own in parts.items():
        matrix = own[list(own["dimension"])].to_numpy(dtype=float)
        above = matrix[np.triu_indices(len(matrix), 1)]
        told.append(f"{name}: from {number(above.min(), 2)} to {number(above.max(), 2)}")
    return Drawing(
        "dimension_correlations", title, "Pearson's r.", f"{title}. {'; '.join(told)}.", draw
    )


def quantiles(name: str, model: str, residuals: "np.ndarray[Any, Any]") -> Drawing:
    """Standardised residuals against the quantiles of the normal distribution (Blom 1958)."""
    from scipy.special import ndtri

    n = len(residuals)
    spread = residuals.std() or 1.0
    found = np.sort((residuals - residuals.mean()) / spread)
    expected = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    title = f"Normal quantiles of the residuals: {model}"

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 2.4)
        ends = [float(expected[0]), float(expected[-1])]
        axes.plot(ends, ends, color=GREY, linewidth=0.8)
        cloud(axes, expected, found, ESTIMATE, POINTS)
        axes.set_xlabel("Normal quantile")
        axes.set_ylabel("Standardised residual")
        few_ticks(axes, most=6)
        few_ticks(axes, across=False, most=6)
        return figure

    apart = float(np.abs(found - expected).max())
    alt = f"{title}. {n:,} residuals; the largest distance from the line is {number(apart, 2)} SD."
    return Drawing(name, title, f"{counted(n, 'residual')}.", alt, draw, 1)


def _rows(table: pd.DataFrame, signed: bool = False) -> list[Row]:
    cells = table.itertuples(index=False, name=None)
    return [Row(str(name), *values, signed=signed) for name, *values in cells]


def scatter(name: str, title: str, points: Sequence[tuple[float, float]]) -> Drawing:
    """A point for each fitted value and residual, with a line at a residual of 0."""
    fitted = [x for x, _ in points]
    largest = max(abs(y) for _, y in points)

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 2.4)
        axes.axhline(0, color=GREY, linewidth=0.8)
        cloud(axes, fitted, [y for _, y in points], ESTIMATE, POINTS)
        axes.set_xlabel("Fitted value")
        axes.set_ylabel("Residual")
        few_ticks(axes, most=6)
        few_ticks(axes, across=False, most=6)
        return figure

    alt = (
        f"{title}. {len(points):,} points; fitted values from {number(min(fitted), 1)} to"
        f" {number(max(fitted), 1)}; the largest residual is {number(largest, 1)}."
    )
    return Drawing(name, title, f"{counted(len(points), 'rating')}.", alt, draw, 1)


def dots(
    name: str,
    title: str,
    rows: Sequence[Row],
    caption: str,
    at: float | None = None,
) -> Drawing:
    """A dot and an interval for each row; `at` is the value at which a line is drawn, if any.

    An interval that is NaN is not drawn.
    """

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, height_of(rows))
        draw_rows(axes, rows, ESTIMATE, zero=at, decimals=2)
        axes.set_xlabel(title)
        return figure

    alt = f"{title}. {alternative(rows, decimals=2)}."
    return Drawing(name, title, caption, alt, draw, 1)
