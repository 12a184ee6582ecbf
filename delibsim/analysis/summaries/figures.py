"""Figures of the report on summaries; each shows what a table of the report holds."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delibsim.analysis.pages.cells import cell
from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.rows import Row, alternative, draw_rows, height_of
from delibsim.analysis.study.figures.style import (
    ESTIMATE,
    GREY,
    INK,
    OTHERS,
    WIDTHS,
    Mark,
    few_ticks,
    number,
    panels,
    shortened,
)
from delibsim.analysis.summaries.judged import OVERALL
from delibsim.domain.judgment import LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {OVERALL: "Overall", **{name: label.capitalize() for name, label in LABELS.items()}}
MARKS = (ESTIMATE, *OTHERS)


def drawings(results: Mapping[str, Result], scores: pd.DataFrame) -> list[Drawing]:
    """The figures that the tables give; `scores` (opinion, score, group) are those of opinions."""
    made = []
    for make in (_dimensions, _sizes, _topics, _gaps):
        made += list(make(results))
    return [*made, *_opinions(scores)]


def _table(results: Mapping[str, Result], name: str) -> pd.DataFrame:
    result = results.get(name)
    return result.rows if result is not None and result.given else pd.DataFrame()


def _forest(
    name: str, title: str, caption: str, groups: Mapping[str, list[Row]], zero: float | None
) -> Drawing:
    """A panel of rows for each group."""

    def draw(columns: int) -> "Figure":
        tallest = max(groups.values(), key=len)
        figure, axes = panels(len(groups), columns, height_of(tallest, 0.8), most=2)
        for panel, (heading, rows) in zip(axes, groups.items(), strict=True):
            draw_rows(panel, rows, ESTIMATE, zero=zero)
            panel.set_title(shortened(heading))
        return figure

    told = [f"{heading}: {alternative(rows)}" for heading, rows in groups.items()]
    return Drawing(name, title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _dimensions(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """The score of every summariser on every dimension."""
    table = _table(results, "overall")
    known = table[table["score"].notna()] if len(table) else table
    if not len(known):
        return
    groups: dict[str, list[Row]] = {}
    for row in known.to_dict("records"):
        own = Row(row["model"], row["score"], row["low"], row["high"], signed=False)
        groups.setdefault(TITLES[row["dimension"]], []).append(own)
    caption = (
        "Scores from 0 to 1 by dimension, with 95% intervals where there are several topics; a"
        " rating of 3 is 0.5."
    )
    yield _forest("dimensions", "Scores of summarisers", caption, groups, None)


def _gaps(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """The gap of every group, a panel a summariser."""
    table = _table(results, "gaps")
    known = table[table["estimate"].notna()] if len(table) else table
    if not len(known):
        return
    groups: dict[str, list[Row]] = {}
    for row in known.to_dict("records"):
        heading = "all summarisers" if row["model"] == "all" else row["model"]
        p = cell(row["p_control_holm"], "p_control_holm")
        name = f"{row['group']} ({row['n']}, p {p})"
        own = Row(name, row["estimate"], row["low"], row["high"])
        groups.setdefault(heading, []).append(own)
    caption = (
        "Mean representativeness of all other opinions less that of the group, with Welch's 95%"
        " interval; right of 0 the group is represented less. In parentheses: its opinions, and p"
        " against random groups of its size, after Holm; only where this is below .05 is there a"
        " gap."
    )
    yield _forest("gaps", "Who is represented less", caption, groups, 0.0)


def _sizes(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """The overall score by the number of opinions summarised, a line a summariser."""
    table = _table(results, "sizes")
    known = table[table[OVERALL].notna()] if len(table) else table
    if not len(known) or known["size"].nunique() < 2:
        return
    models = [name for name in dict.fromkeys(known["model"]) if name != "all"]
    lines = {name: known[known["model"] == name].sort_values("size") for name in models}

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 2.6)
        for i, (name, own) in enumerate(lines.items()):
            mark = MARKS[i % len(MARKS)]
            look = mark.of_points(label=shortened(name, lines=1))
            axes.plot(own["size"], own[OVERALL], linestyle=mark.line, **look)
        axes.set_xscale("log")
        sizes = sorted(known["size"].unique())
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel("opinions summarised")
        axes.set_ylabel("overall score")
        few_ticks(axes, across=False)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return figure

    told = []
    for name, own in lines.items():
        points = [f"{size} {number(score)}" for size, score in zip(own["size"], own[OVERALL])]  # noqa: B905
        told.append(f"{name}: {', '.join(points)}")
    title = "Scores by the number of opinions summarised"
    caption = "Overall score from 0 to 1; the number of opinions on a log scale."
    yield Drawing("sizes", title, caption, f"{title}. {'; '.join(told)}.", draw, 2)


def _topics(results: Mapping[str, Result]) -> Iterator[Drawing]:
    """How each summariser does on each topic, relative to its mean."""
    table = _table(results, "topics")
    known = table[table["relative"].notna()] if len(table) else table
    if not len(known) or known["topic"].nunique() < 2:
        return
    wide = known.pivot_table(index="model", columns="topic", values="relative", sort=False)
    most = float(np.nanmax(np.abs(wide.to_numpy()))) or 1.0

    def draw(columns: int) -> "Figure":
        from matplotlib.figure import Figure as Canvas

        height = 1.2 + 0.2 * len(wide)
        figure = Canvas(figsize=(WIDTHS[columns], height), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(wide.to_numpy(), cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
        axes.set_yticks(range(len(wide)), [shortened(name, lines=1) for name in wide.index])
        labels = [shortened(name, 18) for name in wide.columns]
        axes.set_xticks(range(wide.shape[1]), labels, rotation=45, ha="right")
        axes.grid(False)
        figure.colorbar(image, ax=axes, shrink=0.8)
        return figure

    ordered = known.sort_values("relative")
    ends = [ordered.iloc[-1], ordered.iloc[0]]
    told = [f"{row['model']} on {row['topic']} {number(row['relative'])}" for row in ends]
    title = "Scores by topic"
    caption = "Overall score on a topic less the mean of the summariser over topics."
    alt = f"{title}. {len(wide)} summarisers, {wide.shape[1]} topics; highest {told[0]}, lowest"
    yield Drawing("topics", title, caption, f"{alt} {told[1]}.", draw, 2)


def _opinions(scores: pd.DataFrame) -> Iterator[Drawing]:
    """How far every opinion is represented, the least first; those of minorities are marked."""
    known = scores[scores["score"].notna()] if len(scores) else scores
    if not len(known):
        return
    ordered = known.sort_values("score", ignore_index=True, kind="stable")
    marked = ordered["minority"].to_numpy(dtype=bool)

    def draw(columns: int) -> "Figure":
        figure, (axes,) = panels(1, columns, 2.4)
        places = np.arange(1, len(ordered) + 1)
        values = ordered["score"].to_numpy(dtype=float)
        for chosen, mark, name in (
            (~marked, Mark(GREY, "o", filled=False), "others"),
            (marked, Mark(INK, "D"), "minority by own word"),
        ):
            if chosen.any():
                look = mark.of_points(markersize=3, label=name)
                axes.plot(places[chosen], values[chosen], linestyle="", **look)
        axes.set_xlabel("opinions, the least represented first")
        axes.set_ylabel("representativeness")
        few_ticks(axes)
        few_ticks(axes, across=False)
        axes.legend(loc="lower right")
        return figure

    low, middle, high = np.percentile(ordered["score"], [0, 50, 100])
    title = "How far each opinion is represented"
    told = f"lowest {number(low)}, median {number(middle)}, highest {number(high)}"
    if marked.any():
        own = float(ordered["score"][marked].median())
        told += f"; median of the {int(marked.sum())} minority opinions {number(own)}"
    caption = "Mean representativeness of every opinion in the summaries of the largest size."
    alt = f"{title}. {len(ordered)} opinions: {told}."
    yield Drawing("opinions", title, caption, alt, draw, 2)
