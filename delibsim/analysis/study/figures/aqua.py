"""Profiles of discourse quality: the twenty indicators of AQuA by treatment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import of_models, population, remark
from delibsim.analysis.study.figures.points import interval_over
from delibsim.analysis.study.figures.style import GREY, INK, few_ticks, marks, number, panels
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.measure import CATALOGUE
from delibsim.domain.text import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOTALS = ("aqua.sum", "aqua.score")
INDICATORS = {
    measure.id: measure.label.removeprefix("AQuA ")
    for measure in CATALOGUE["aqua"]
    if measure.id not in TOTALS
}
"""Labels of the twenty indicators by the column of the table that holds them."""


def aqua_profiles(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """The mean of every indicator under every treatment, with intervals over topics."""
    shown = [name for name in INDICATORS if len(study.analysed(name))]
    if not shown:
        return None
    known = of_models(study, shown[0])
    treatments = treatments_of(known)
    means = {name: _means(known, shown, name) for name in treatments}
    highest = pd.concat([own["mean"] for own in means.values()], axis=1).max(axis=1)
    order = highest.sort_values(ascending=False, kind="stable").index.tolist()
    looks = marks(treatments)

    def draw(columns: int) -> "Figure":
        step = 0.8 / max(len(treatments), 1)
        figure, (axes,) = panels(1, columns, 0.8 + 0.21 * len(order))
        for i, name in enumerate(treatments):
            shift = (i - (len(treatments) - 1) / 2) * step * 0.7
            own = means[name].loc[order]
            places = [place + shift for place in range(len(order))]
            axes.hlines(places, own["low"], own["high"], color=looks[name].colour, linewidth=0.8)
            points = looks[name].of_points(markersize=4)
            axes.plot(own["mean"], places, linestyle="", label=name, **points)
        axes.set_yticks(range(len(order)), [INDICATORS[name] for name in order])
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.spines["left"].set_visible(False)
        few_ticks(axes, most=5)
        axes.set_xlabel("Mean label, 0 to 3")
        axes.axvline(0, color=GREY, linewidth=0.7)
        figure.legend(loc="outside upper left", ncols=min(len(treatments), 3))
        return figure

    topics = known["topic"].nunique()
    caption = (
        f"Means over {counted(topics, 'topic')} of {counted(len(known), 'session')}"
        f" ({population(study)}) with 95% intervals over topics (Student's t; from four topics"
        " on). A session has the mean over its statements of the labels of AQuA's adapters, from 0"
        " to 3. People's indicators are not published, and no corpus of theirs is at"
        " hand: none stand beside."
    )
    told = []
    for name in treatments:
        own = [f"{INDICATORS[key]} {number(means[name].loc[key, 'mean'], 2)}" for key in order]
        told.append(f"{name}: {', '.join(own)}")
    alt = f"Mean of each indicator. {'. '.join(told)}."
    title = "Profiles of discourse quality (AQuA)"
    return Drawing("aqua_profiles", title, caption + remark(study), alt, draw, 1)


def _means(known: pd.DataFrame, shown: list[str], treatment: str) -> pd.DataFrame:
    own = known[known["treatment"] == treatment].groupby("topic")[shown].mean()
    found = {name: interval_over(own[name]) for name in shown}
    return pd.DataFrame(found, index=["mean", "low", "high"]).T
