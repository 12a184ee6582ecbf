"""Figures of a tournament: dots with intervals, residuals of models."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.points import POINTS, cloud
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import BLUE, GREY, Mark, few_ticks, number, panels
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = Mark(BLUE, "o")
INTERVALS = "Lines are 95% intervals."


def figures(found: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The figures by name, each an SVG document, as far as there is something to draw."""
    return {drawing.name: drawing.svg() for drawing in drawings(found)}


def drawings(found: Mapping[str, pd.DataFrame]) -> list[Drawing]:
    """Win rates, performance, strengths, and the residuals of every mixed model."""
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
        made.append(dots("strengths", title, rows, INTERVALS, at=0.0))
    for model, own in found["residuals"].groupby("model"):
        name = f"residuals_{str(model).replace(' ', '_')}"
        points = list(own[["fitted", "residual"]].itertuples(index=False, name=None))
        made.append(scatter(name, f"Residuals of the mixed model: {model}", points))
    return made


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
        cloud(axes, fitted, [y for _, y in points], MARK, POINTS)
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
        draw_rows(axes, rows, MARK, zero=at, decimals=2)
        axes.set_xlabel(title)
        return figure

    alt = f"{title}. {alternative(rows, decimals=2)}."
    return Drawing(name, title, caption, alt, draw, 1)
