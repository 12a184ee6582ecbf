"""The index before and after in every condition, with people and the null citizen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import NULL_WORDS, is_null, left_out, remark
from delibsim.analysis.study.figures.people import known_people, why_no_people
from delibsim.analysis.study.figures.points import interval_over
from delibsim.analysis.study.figures.style import (
    GREY,
    INK,
    NULL,
    PEOPLE,
    ROW,
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

MOST = 40
"""Conditions that are drawn."""


@dataclass(frozen=True)
class Condition:
    """A row of the figure: means over topics before and after, each with its interval."""

    label: str
    n: int
    topics: int
    pre: tuple[float, float, float]
    post: tuple[float, float, float]
    mark: Mark

    def sentence(self) -> str:
        """The row in words."""
        before, after = number(self.pre[0]), number(self.post[0])
        change = number(self.post[0] - self.pre[0], signed=True)
        size = counted(self.topics, "topic") if self.mark is PEOPLE else f"n = {self.n:,}"
        return f"{self.label} ({size}): {before} before, {after} after, change {change}"


def before_after(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Means before and after by condition, with people's value on the same topics."""
    known = study.analysed("dri_change")
    if known.empty:
        return None
    every = _conditions(known)
    found = every[:MOST]
    people = known_people(study, "dri")
    if len(people):
        pre, post = interval_over(people["pre"]), interval_over(people["post"])
        found.append(Condition("people", len(people), len(people), pre, post, PEOPLE))

    def draw(columns: int) -> "Figure":
        lines = sum(shortened(row.label).count("\n") for row in found)
        height = 0.75 + (ROW + 0.08) * len(found) + 0.11 * lines
        figure, (axes,) = panels(1, columns, max(height, 1.4))
        _draw(axes, found)
        return figure

    topics = known["topic"].nunique()
    caption = (
        f"Mean over {counted(topics, 'topic')} of the index before (open) and after (filled) in"
        " every condition; thin lines are 95% intervals of the mean over topics (Student's t;"
        " from four topics on). n: "
        f"{counted(len(known), 'session')}."
    )
    if len(people):
        caption += (
            f" People: the real citizen deliberations on {counted(len(people), 'topic')}; vertical"
            " lines: their means before (dotted) and after (dashed)."
        )
    caption += why_no_people(study, "dri") + left_out(study, known, "dri_change")
    if len(every) > MOST:
        caption += f" The first {MOST} of {len(every)} conditions are drawn."
    alt = "Index before and after. " + "; ".join(row.sentence() for row in found) + "."
    title = "Deliberative Reason Index before and after"
    return Drawing("before_after", title, caption + remark(study), alt, draw, 1)


def _conditions(known: pd.DataFrame) -> list[Condition]:
    """The conditions of models, then those of the null citizen where it stands beside models."""
    null = is_null(known)
    beside = bool(null.any() and not null.all())
    found = []
    for own, is_beside in ((known[~null] if beside else known, False), (known[null], True)):
        if is_beside and not beside:
            continue
        looks = marks(treatments_of(known))
        settings = sorted(own["setting"].fillna("").astype(str).unique())
        for treatment in treatments_of(own):
            for setting in settings:
                here = (own["treatment"] == treatment) & (own["setting"].fillna("") == setting)
                if here.any():
                    label = f"{treatment}, {setting}" if setting else treatment
                    label = f"{NULL_WORDS}: {label}" if is_beside else label
                    mark = Mark(NULL.colour, NULL.marker) if is_beside else looks[treatment]
                    found.append(_condition(label, own[here], mark))
    return found


def _condition(label: str, rows: pd.DataFrame, mark: Mark) -> Condition:
    by_topic = rows.groupby("topic")[["dri_pre", "dri_post"]].mean()
    pre, post = interval_over(by_topic["dri_pre"]), interval_over(by_topic["dri_post"])
    return Condition(label, len(rows), len(by_topic), pre, post, mark)


def _draw(axes: "Axes", found: list[Condition]) -> None:
    for place, row in enumerate(found):
        if row.mark is PEOPLE:
            axes.axhspan(place - 0.5, place + 0.5, color="#f3f3f3", zorder=0)
            for value, line in ((row.pre[0], (0, (1, 1.5))), (row.post[0], (0, (5, 2)))):
                axes.axvline(value, color=GREY, linewidth=0.7, linestyle=line, zorder=0.5)
        for (_, low, high), up in ((row.pre, -0.17), (row.post, 0.17)):
            if low == low:
                axes.plot([low, high], [place + up] * 2, color=row.mark.colour, linewidth=0.7)
        before, after = row.pre[0], row.post[0]
        ends = ([before, after], [place - 0.17, place + 0.17])
        axes.plot(*ends, color=row.mark.colour, linewidth=1.4)
        size = 7 if row.mark is PEOPLE else 4.5
        hollow = row.mark.of_points(
            markersize=size, markerfacecolor="white", markeredgecolor=row.mark.colour
        )
        solid = row.mark.of_points(markersize=size, markerfacecolor=row.mark.colour)
        axes.plot([before], [place - 0.17], linestyle="", **hollow)
        axes.plot([after], [place + 0.17], linestyle="", **solid)
        told = number(after - before, signed=True)
        axes.annotate(
            told, (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=6.5
        )
    axes.annotate(
        "change", (1.02, -0.75), xycoords=("axes fraction", "data"), fontsize=6.5, color=GREY
    )
    axes.set_yticks(range(len(found)), [shortened(row.label) for row in found])
    axes.set_ylim(len(found) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    few_ticks(axes)
    axes.set_xlabel("Deliberative Reason Index")
