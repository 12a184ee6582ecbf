"""Change against the value before, with fitted lines: the ceiling, and dynamics of diversity."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import (
    NULL_WORDS,
    label_of,
    left_out,
    of_models,
    of_null,
    population,
    remark,
    rows_of,
)
from delibsim.analysis.study.figures.people import of_benchmark, why_no_people
from delibsim.analysis.study.figures.points import cloud, few
from delibsim.analysis.study.figures.style import (
    GREY,
    INK,
    NULL,
    PEOPLE,
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

MOST = 9
"""Panels of a figure."""
ROOM = 0.15
"""Share of the height that is added above the points, for the words in the corner."""
ENDS_OF_CORRECTED = ("corrected", "corrected_low", "corrected_high")


@dataclass(frozen=True)
class Group:
    """The observations of a panel and what the result holds of their fitted line."""

    label: str
    before: pd.Series
    change: pd.Series
    mark: Mark
    fit: Mapping[str, float]

    def told(self) -> str:
        """Slope with interval and R squared, in words."""
        if not self.fit:
            return "no fitted line"
        slope, low, high = (number(self.fit[end], 2) for end in ("slope", "low", "high"))
        said = f"slope {slope} [{low}, {high}], R² {number(self.fit['r2'], 2)}"
        return f"{said}, {self.corrected()}"

    def corrected(self) -> str:
        """The slope on the true value before, in words."""
        slope, low, high = (self.fit[name] for name in ENDS_OF_CORRECTED)
        if np.isnan(slope):
            return "not corrected"
        ends = f" [{number(low, 2)}, {number(high, 2)}]" if low == low else ""
        return f"corrected {number(slope, 2)}{ends}"


def ceiling(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """The change of the index against the index before, by treatment, null citizen and people."""
    caption = (
        "Error of measurement alone makes the line fall; only a negative corrected slope says that"
        " groups that start high gain less."
    )
    title = "Change of the index against the index before"
    return _figure("ceiling", title, "dri", caption, study, results)


def diversity(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """The change of perspective diversity against diversity before, by treatment."""
    caption = "Below the horizontal line participants came closer to each other."
    title = "Change of perspective diversity against diversity before"
    return _figure("diversity", title, "diversity", caption, study, results)


RESULTS = {"dri": "ceiling", "diversity": "convergence"}
"""Which result holds the fitted lines of which measure."""


def _figure(
    name: str,
    title: str,
    measure: str,
    meaning: str,
    study: StudyTable,
    results: Mapping[str, Result],
) -> Drawing | None:
    known = of_models(study, f"{measure}_change")
    if known.empty:
        return None
    every = _groups(study, measure, known, rows_of(results, RESULTS[measure]))
    groups = every[:MOST]

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(groups), columns, 2.0, sharex=True, sharey=True)
        for panel, group in zip(axes, groups, strict=True):
            _draw(panel, group, few(len(groups)))
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(low, high + ROOM * (high - low))
        label = label_of(measure)
        figure.supxlabel(f"{label[:1].upper()}{label[1:]} before", fontsize=7.5)
        figure.supylabel("Change", fontsize=7.5)
        return figure

    caption = (
        f"{counted(len(known), 'session')} ({population(study)}); lines by least squares, with"
        f" 95% intervals of the slope in the table, by t over topics. {meaning}"
    )
    most = few(len(groups))
    if any(len(group.before) > most for group in groups):
        caption += f" More than {most} sessions: squares, darker for more of them."
    if any(group.mark is PEOPLE for group in groups):
        caption += " People: a point for each topic of the benchmark, plain errors."
    caption += why_no_people(study, measure) + left_out(study, known, f"{measure}_change")
    if len(every) > MOST:
        others = [group.label for group in every[MOST:]]
        caption += f" Not drawn: {', '.join(others)}."
    told = [f"{group.label} (n = {len(group.before):,}): {group.told()}" for group in groups]
    alt = f"{title}. {'; '.join(told)}."
    return Drawing(name, title, caption + remark(study), alt, draw)


def _groups(
    study: StudyTable, measure: str, known: pd.DataFrame, fits: pd.DataFrame
) -> list[Group]:
    before, change = f"{measure}_pre", f"{measure}_change"
    looks = marks(treatments_of(known))
    found = []
    for name in treatments_of(known):
        own = known[known["treatment"] == name]
        found.append(Group(name, own[before], own[change], looks[name], _fit(fits, name)))
    null = of_null(study, change)
    if len(null):
        fit = _fit(fits, NULL_WORDS)
        found.append(Group(NULL_WORDS, null[before], null[change], NULL, fit))
    people = of_benchmark(study, measure)
    if len(people):
        fit = _fit(fits, "people")
        found.append(Group("people", people["pre"], people["change"], PEOPLE, fit))
    return found


def _fit(fits: pd.DataFrame, who: str) -> dict[str, float]:
    if fits.empty:
        return {}
    own = fits[(fits["population"] == who) & fits["slope"].notna()]
    if own.empty:
        return {}
    first = own.iloc[0]
    return {end: float(first[end]) for end in ("slope", "low", "high", "r2", *ENDS_OF_CORRECTED)}


def _draw(axes: "Axes", group: Group, most: int) -> None:
    x, y = group.before.to_numpy(dtype=float), group.change.to_numpy(dtype=float)
    axes.axhline(0, color=GREY, linewidth=0.7)
    large = group.mark is PEOPLE
    cloud(axes, x, y, group.mark, most)
    if large:
        axes.plot(x, y, linestyle="", **group.mark.of_points(markersize=6))
    if group.fit and len(x):
        # The line of least squares runs through the point of both means.
        ends = np.array([x.min(), x.max()])
        axes.plot(ends, y.mean() + group.fit["slope"] * (ends - x.mean()), color=INK, linewidth=1.6)
    axes.set_title(f"{shortened(group.label, 20, 1)} (n = {len(x):,})")
    if group.fit:
        axes.annotate(
            f"slope {number(group.fit['slope'], 2)}, R² {number(group.fit['r2'], 2)}\n"
            f"{group.corrected()}",
            (0.98, 0.97),
            xycoords="axes fraction",
            ha="right",
            va="top",
            fontsize=6.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8},
        )
    few_ticks(axes, most=6)
    few_ticks(axes, across=False, most=6)
