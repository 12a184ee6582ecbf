"""Figures of the report on codes; each shows what a table of the report holds."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import (
    ESTIMATE,
    GREY,
    OPEN,
    OTHERS,
    few_ticks,
    number,
    panels,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREYS = ("#f2f2f2", "#d0d0d0", "#a8a8a8", "#7d7d7d", "#555555", "#333333")
"""Shades of levels from the lowest to the highest."""


def drawings(results: Mapping[str, Result]) -> list[Drawing]:
    """The figures that the tables give."""
    made = []
    for make in (_levels, _pairs, _equivalence, _curve, _robustness, _calibration, _corrected):
        made += list(make(results))
    return made


def _table(results: Mapping[str, Result], name: str) -> pd.DataFrame:
    """The rows of a table; none where it is not given."""
    result = results.get(name)
    return result.rows if result is not None and result.given else pd.DataFrame()


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as values by column."""
    return table.to_dict("records")


def _levels(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """A bar a coder, parted by levels: a panel a dimension."""
    table = _table(results, "levels")
    if table.empty:
        return
    dimensions = list(dict.fromkeys(table["dimension"]))
    parts = {name: table[table["dimension"] == name] for name in dimensions}
    most = max(own["coder"].nunique() for own in parts.values())

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(dimensions), columns, 0.9 + 0.22 * most, most=2)
        for panel, name in zip(axes, dimensions, strict=True):
            _bars(panel, parts[name])
            panel.set_title(shortened(name))
        return figure

    told = []
    for row in _rows(table):
        told.append(
            f"{row['dimension']}, {row['coder']}, level {row['level']}: {number(row['share'], 2)}"
        )
    caption = "Shares of levels by coder, the lowest level first; the number stands in the bar."
    title = "Levels by coder"
    yield Drawing("levels", title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _bars(axes: "Axes", table: pd.DataFrame) -> None:
    coders = list(dict.fromkeys(table["coder"]))
    left = dict.fromkeys(coders, 0.0)
    names = list(dict.fromkeys(table["level"].astype(str)))
    for i, level in enumerate(names):
        shade = GREYS[i % len(GREYS)]
        ink = "white" if i % len(GREYS) > 2 else "black"
        for row in _rows(table[table["level"].astype(str) == level]):
            share = float(row["share"]) if row["share"] == row["share"] else 0.0
            place = coders.index(row["coder"])
            axes.barh(
                place, share, left=left[row["coder"]], color=shade, edgecolor="white", height=0.7
            )
            if share > 0.08:
                middle = left[row["coder"]] + share / 2
                axes.text(middle, place, level, ha="center", va="center", fontsize=6.5, color=ink)
            left[row["coder"]] += share
    axes.set_yticks(range(len(coders)), [shortened(coder, lines=1) for coder in coders])
    axes.set_ylim(len(coders) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.grid(False, axis="y")
    few_ticks(axes)


def _forest(
    name: str, title: str, caption: str, groups: Mapping[str, list[Row]], zero: float | None
) -> Drawing:
    """A panel of rows for each group."""

    def draw(columns: int) -> "Figure":
        tallest = max(groups.values(), key=len)
        figure, axes = panels(len(groups), columns, height_of(tallest, 0.8), most=2)
        for panel, (heading, rows) in zip(axes, groups.items(), strict=True):
            draw_rows(panel, rows, ESTIMATE, zero=zero, decimals=2)
            panel.set_title(shortened(heading))
        return figure

    told = [f"{heading}: {alternative(rows, decimals=2)}" for heading, rows in groups.items()]
    return Drawing(name, title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _pairs(results: Mapping[str, Result]) -> Iterator[Drawing]:
    table = _table(results, "pairs")
    table = table[table["estimate"].notna()] if len(table) else table
    if table.empty:
        return
    groups = {}
    for dimension, own in table.groupby("dimension", sort=False):
        groups[str(dimension)] = [
            Row(f"{row['a']}, {row['b']}", row["estimate"], row["low"], row["high"], signed=False)
            for row in _rows(own)
        ]
    caption = "Gwet's coefficient for every pair of coders, with 95% intervals."
    yield _forest("pairs", "Agreement of every pair of coders", caption, groups, 0.0)


def _equivalence(results: Mapping[str, Result]) -> Iterator[Drawing]:
    table = _table(results, "equivalence")
    table = table[table["estimate"].notna()] if len(table) else table
    if table.empty:
        return
    bound = float(table["bound"].iloc[0])
    groups = {}
    for dimension, own in table.groupby("dimension", sort=False):
        groups[str(dimension)] = list(map(_delta, own.to_dict("records")))

    def draw(columns: int) -> "Figure":
        tallest = max(groups.values(), key=len)
        figure, axes = panels(len(groups), columns, height_of(tallest, 0.8), most=2)
        for panel, (heading, rows) in zip(axes, groups.items(), strict=True):
            panel.axvspan(-bound, bound, color="#eef3f0", zorder=0)
            draw_rows(panel, rows, OPEN, decimals=2)
            panel.set_title(shortened(heading))
        return figure

    caption = (
        f"Delta with 95% intervals; the band is the bound of {bound:.2f}. Filled: the whole"
        " interval lies inside; open: not shown to be equivalent."
    )
    told = [f"{name}: {alternative(rows, decimals=2)}" for name, rows in groups.items()]
    title = "The ensemble beside a second person"
    yield Drawing("equivalence", title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _delta(row: Mapping[str, Any]) -> Row:
    inside = -row["bound"] < row["low"] and row["high"] < row["bound"]
    label = f"{row['anchor']}, beside {row['other']}"
    return Row(label, row["estimate"], row["low"], row["high"], mark=ESTIMATE if inside else OPEN)


def _curve(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """P of the two one-sided tests over bounds: a line an anchor, a panel a dimension."""
    table = _table(results, "equivalence_curve")
    if table.empty:
        return
    dimensions = list(dict.fromkeys(table["dimension"]))

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(dimensions), columns, 2.0, most=2)
        for panel, dimension in zip(axes, dimensions, strict=True):
            own = table[table["dimension"] == dimension]
            panel.axhline(0.05, color=GREY, linewidth=0.8)
            lines = own.groupby(["anchor", "other"], sort=False)
            for i, (names, line) in enumerate(lines):
                mark = OTHERS[i % len(OTHERS)]
                label = shortened(", ".join(names), lines=1)
                across, up = line["bound"].to_numpy(), line["p"].to_numpy()
                panel.plot(across, up, color=mark.colour, linestyle=mark.line, label=label)
            panel.set_title(shortened(dimension))
            panel.set_xlabel("Bound")
            panel.set_ylabel("p")
            panel.set_ylim(0, 1)
            panel.legend(loc="upper right")
            few_ticks(panel)
        return figure

    told = []
    columns = ["dimension", "anchor", "other"]
    for _, line in table.groupby(columns, sort=False):
        enough = line[line["p"] < 0.05]["bound"]
        since = f"from {enough.min():.2f} on" if len(enough) else "at none of these bounds"
        names = ", ".join(line.iloc[0][columns].astype(str))
        told.append(f"{names}: p below .05 {since}")
    title = "Equivalence at other bounds"
    caption = "p of the two one-sided tests at each bound; the line is at .05."
    yield Drawing("equivalence_curve", title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _robustness(results: Mapping[str, Result]) -> Iterator[Drawing]:
    table = _table(results, "robustness")
    table = table[table["estimate"].notna()] if len(table) else table
    if table.empty:
        return
    groups: dict[str, list[Row]] = {}
    for row in _rows(table):
        heading = f"{row['dimension']}: {row['anchor']}, beside {row['other']}"
        mark = ESTIMATE if row["inside"] else OPEN
        made = Row(str(row["variant"]), row["estimate"], row["low"], row["high"], mark=mark)
        groups.setdefault(heading, []).append(made)
    caption = "Delta with 95% intervals; filled: the whole interval lies inside the bound."
    title = "Delta without each model, by other rules and wordings"
    yield _forest("robustness", title, caption, groups, 0.0)


def _calibration(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """Agreement with a person over stability: a panel a dimension and person."""
    table = _table(results, "calibration")
    table = table[(table["by"] == "stability") & (table["texts"] > 0)] if len(table) else table
    if table.empty:
        return
    kinds = list(dict.fromkeys(zip(table["dimension"], table["person"], strict=True)))

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(kinds), columns, 2.0, most=3)
        for panel, (dimension, person) in zip(axes, kinds, strict=True):
            own = table[(table["dimension"] == dimension) & (table["person"] == person)]
            panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
            for row in _rows(own):
                panel.plot(
                    [row["confidence"]] * 2, [row["low"], row["high"]], color=ESTIMATE.colour
                )
            panel.plot(own["confidence"], own["agrees"], linestyle="", **ESTIMATE.of_points())
            panel.set_title(shortened(f"{dimension}, {person}"))
            panel.set_xlabel("Stability")
            panel.set_ylabel("Agrees")
            panel.set_xlim(0, 1.03)
            panel.set_ylim(0, 1.03)
            few_ticks(panel)
            few_ticks(panel, across=False)
        return figure

    told = []
    for row in _rows(table):
        place = f"{row['dimension']}, {row['person']}, stability {number(row['confidence'], 2)}"
        told.append(f"{place}: {number(row['agrees'], 2)} of {row['texts']} texts")
    title = "Stability of the ensemble and agreement with a person"
    caption = "Bins of texts with Wilson intervals; on the line the one would equal the other."
    yield Drawing("calibration", title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _corrected(results: Mapping[str, Result]) -> Iterator[Drawing]:
    table = _table(results, "corrected_means")
    table = table[table["estimate"].notna()] if len(table) else table
    table = table[table["of"] == "level"] if len(table) else table
    if table.empty:
        return
    groups: dict[str, list[Row]] = {}
    for row in _rows(table):
        label = f"{row['by']} {row['part']}".strip() or "all texts"
        label = f"{label}, {row['draw']}" if row["draw"] else label
        made = Row(label, row["estimate"], row["low"], row["high"], signed=False)
        groups.setdefault(str(row["dimension"]), []).append(made)
    caption = "Mean levels of the ensemble corrected by people, with 95% intervals."
    yield _forest("corrected_means", "Corrected means", caption, groups, None)
