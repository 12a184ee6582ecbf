"""The way of every session from the index before to the index after, by treatment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import left_out, of_models, population, remark
from delibsim.analysis.study.figures.people import known_people
from delibsim.analysis.study.figures.points import thinned
from delibsim.analysis.study.figures.style import INK, few_ticks, marks, number, panels, shortened
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = 80
"""Lines of a panel."""
MOST = 9
"""Treatments that are drawn, each a panel."""


def trajectories(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """A line for each session from before to after, the mean in bold, people's mean beside."""
    known = of_models(study, "dri_change")
    if known.empty:
        return None
    every = treatments_of(known)
    drawn = every[:MOST]
    looks = marks(every)
    groups = {name: known[known["treatment"] == name] for name in drawn}
    people = known_people(study, "dri")

    def draw(columns: int) -> "Figure":
        figure, axes = panels(len(drawn), columns, 2.1, sharey=True)
        for panel, name in zip(axes, drawn, strict=True):
            own, mark = groups[name], looks[name]
            lines = thinned(own, "dri_change", LINES)
            ends = lines[["dri_pre", "dri_post"]].to_numpy(dtype=float).T
            panel.plot([0, 1], ends, color=mark.colour, linewidth=0.5, alpha=0.45)
            if len(people):
                mean = [people["pre"].mean(), people["post"].mean()]
                panel.plot([0, 1], mean, color=INK, linestyle=(0, (2, 2)), marker="*", markersize=7)
                panel.annotate(
                    "people", (1, mean[1]), (4, 0), textcoords="offset points", va="center"
                )
            mean = [own["dri_pre"].mean(), own["dri_post"].mean()]
            bold = mark.of_points(markersize=6)
            panel.plot([0, 1], mean, linewidth=2.4, zorder=4, **bold)
            panel.set_title(shortened(name, 22, 1))
            panel.set_xticks([0, 1], ["before", "after"])
            panel.set_xlim(-0.12, 1.12 if people.empty else 1.32)
            panel.grid(False, axis="x")
        few_ticks(axes[0], across=False)
        axes[0].set_ylabel("Deliberative Reason Index")
        return figure

    many = any(len(own) > LINES for own in groups.values())
    caption = f"{counted(len(known), 'session')} ({population(study)}): the index before and after."
    if many:
        caption += (
            f" Of more than {LINES} sessions, {LINES} lines at even steps of the change"
            " are drawn, the smallest and the largest among them."
        )
    caption += " Bold: the mean of all sessions of the treatment."
    if len(people):
        caption += f" Dashed, with stars: people's mean on {counted(len(people), 'topic')}."
    caption += left_out(study, known, "dri_change")
    if len(every) > MOST:
        caption += f" Not drawn: {', '.join(every[MOST:])}."
    told = []
    for name, own in groups.items():
        change = own["dri_change"].to_numpy(dtype=float)
        told.append(
            f"{name} (n = {len(own):,}): from {number(own['dri_pre'].mean())} to"
            f" {number(own['dri_post'].mean())}, {np.mean(change > 0):.0%} of sessions rise"
        )
    alt = f"Lines from before to after. {'; '.join(told)}."
    title = "The index of every session before and after"
    return Drawing("trajectories", title, caption + remark(study), alt, draw)
