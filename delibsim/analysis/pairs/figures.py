"""The figures of a comparison: a caterpillar of the scores, and scores by the number of pairs."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from delibsim.analysis.pairs.report import PairsReport
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import ESTIMATE, INK, Mark, number, panels, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WITH_ALL, HALVES = ESTIMATE, Mark(INK, "s", filled=False, line=(0, (4, 1.5)))
SCALES = {
    "log_odds": "log odds",
    "z": "z",
    "unit": "from 0 to 1",
    "win": "share of comparisons that it would win",
}
"""The scales of scores in words."""
ENDS = 20
"""The strongest and the weakest texts of a group that are drawn where it has more than twice as
many: more names cannot be read.
"""
PANELS = 6
"""The groups that are drawn, those with the most texts first chosen."""
PARTS_IN_ALT = 8
"""Groups of texts that the alternative text goes through one by one."""


def drawings(report: PairsReport) -> list[Drawing]:
    """Every figure that the tables give."""
    return [*caterpillars(report), *curves(report)]


def caterpillars(report: PairsReport) -> Iterator[Drawing]:
    """A figure a dimension: every text with its score and interval, a panel a group."""
    for own in report.fits:
        table = report.results["scores"].rows
        parts: dict[str, list[Row]] = {}
        for row in table[table["dimension"] == own.dimension].to_dict("records"):
            parts.setdefault(row["group"] or own.dimension, []).append(_row(row))
        parts, left_out = _readable(parts)
        title = f"Scores of texts, {own.dimension}"
        label = f"score ({SCALES[report.settings.scale]})"
        caption = (
            f"Every text with its score (scale {report.settings.scale}) and its"
            f" {100 * report.settings.level:g}% interval, the strongest first, a panel a group."
            " Neighbours whose intervals overlap widely cannot be told apart, whatever their order."
            f"{left_out}"
        )
        told = [f"{group}: {alternative(rows)}" for group, rows in parts.items()][:PARTS_IN_ALT]
        alt = f"{title}. {'. '.join(told)}."
        yield Drawing(
            f"scores_{own.dimension}", title, caption, alt, partial(_draw, parts, label), 2
        )


def _readable(parts: dict[str, list[Row]]) -> tuple[dict[str, list[Row]], str]:
    """The groups and rows that can be read in one figure, and sentences on the others, or ""."""
    most = sorted(parts, key=lambda group: -len(parts[group]))[:PANELS]
    drawn, cut = {}, False
    for group, rows in parts.items():
        between = len(rows) - 2 * ENDS
        if group in most and between > 0:
            gap = Row(f"({between:,} between)", float("nan"))
            drawn[group], cut = [*rows[:ENDS], gap, *rows[-ENDS:]], True
        elif group in most:
            drawn[group] = rows
    told = ""
    if len(parts) > PANELS:
        told += f" Drawn are the {PANELS} of {len(parts)} groups that have the most texts."
    if cut:
        told += f" Of a group of more than {2 * ENDS} texts the {ENDS} strongest and the {ENDS}"
        told += " weakest are drawn."
    return drawn, f"{told} The table has every text." if told else ""


def _draw(parts: dict[str, list[Row]], label: str, columns: int) -> "Figure":
    """The scores of every group in a panel of its own."""
    most = max(map(height_of, parts.values())) + 0.15
    figure, axes = panels(len(parts), columns, most, most=2)
    for panel, (group, rows) in zip(axes, parts.items(), strict=True):
        draw_rows(panel, rows, ESTIMATE, zero=None, values=False)
        panel.set_title(shortened(group))
        panel.set_xlabel(label)
    return figure


def _row(row: dict[str, Any]) -> Row:
    return Row(str(row["id"]), row["score"], row["low"], row["high"], signed=False)


def curves(report: PairsReport) -> Iterator[Drawing]:
    """How scores from a share of the pairs agree with those of all, a panel a dimension."""
    table = report.results["curve"].rows
    parts = {}
    for own in report.fits:
        rows = table[table["dimension"] == own.dimension].to_dict("records")
        if any(row["r"] == row["r"] for row in rows):
            parts[own.dimension] = rows
    if not parts:
        return
    caption = (
        "Mean correlation of the scores from a part of the pairs with those of all pairs (filled"
        " dots), which share votes, and of two parts of that size without a pair in common (open"
        " squares). Where the squares still rise, more pairs would teach more."
    )
    told = []
    for dimension, rows in parts.items():
        for row in rows:
            halves = f", halves {number(row['half_half_r'], 2)}" if _known(row) else ""
            told.append(f"{dimension}, {row['pairs']} pairs: {number(row['r'], 2)}{halves}")
    title = "Scores by the number of pairs"
    alt = f"{title}. {'; '.join(told)}."
    yield Drawing("curve", title, caption, alt, partial(_draw_curves, parts), 2)


def _known(row: dict[str, Any]) -> bool:
    return row["half_half_r"] == row["half_half_r"]


def _draw_curves(parts: dict[str, list[dict[str, Any]]], columns: int) -> "Figure":
    """Correlations over numbers of pairs."""
    figure, axes = panels(len(parts), columns, 2.2, most=2)
    for panel, (dimension, rows) in zip(axes, parts.items(), strict=True):
        for name, mark, label in (
            ("r", WITH_ALL, "with all pairs"),
            ("half_half_r", HALVES, "two parts"),
        ):
            known = [row for row in rows if row[name] == row[name]]
            points = [row["pairs"] for row in known], [row[name] for row in known]
            panel.plot(*points, color=mark.colour, linewidth=1.0, linestyle=mark.line)
            panel.plot(*points, linestyle="", markersize=4.5, label=label, **mark.of_points())
        panel.set_xlabel("pairs")
        panel.set_ylabel("correlation")
        panel.set_ylim(top=1.03)
        panel.set_title(shortened(dimension))
        panel.legend(loc="lower right")
    return figure
