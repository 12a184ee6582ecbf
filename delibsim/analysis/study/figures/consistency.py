"""Intersubjective consistency: agreement on considerations against agreement on preferences.

A point a pair of participants, as the R package deliberr draws it: pairs on the diagonal agree on
preferences as much as on considerations (Niemeyer et al. 2024, doi:10.1017/S0003055423000023).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.analyses.pair_correlations import OF_PEOPLE, PAIRS
from delibsim.analysis.study.figures.drawing import Drawing
from delibsim.analysis.study.figures.labels import NULL_WORDS, is_null, remark, rows_of
from delibsim.analysis.study.figures.points import apart, cloud, few
from delibsim.analysis.study.figures.style import (
    GREY,
    INK,
    NULL,
    PEOPLE,
    WIDTHS,
    Mark,
    in_order,
    marks,
    number,
    shortened,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.survey import PHASES
from delibsim.domain.text import counted
from delibsim.measures.dri import pair_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8
"""Groups that are drawn, each a row of two panels."""
ENOUGH, SHARES = 30, (0.5, 0.9)
"""Pairs from which on density is drawn, and the shares of pairs that its lines enclose."""
ON_GRID, AT_MOST = 42, 1_000
LIMIT, SPREAD = 1.08, 0.06
"""Where the axes end, and how far apart equal correlations are drawn at most."""
HEADINGS = {"pre": "before", "post": "after"}


@dataclass(frozen=True)
class Group:
    """The pairs of one condition, of the null citizen or of people."""

    label: str
    pairs: pd.DataFrame
    mark: Mark

    def of(self, phase: str) -> pd.DataFrame:
        """The pairs of a phase that have both correlations."""
        return self.pairs[self.pairs["phase"] == phase].dropna()

    @property
    def has_pairs(self) -> bool:
        """Whether there are pairs with both correlations, before and after."""
        return all(len(self.of(phase)) for phase in PHASES)

    def index(self, phase: str) -> float:
        """The mean over groups of their Deliberative Reason Index."""
        own = self.of(phase)
        rc, rp = own["considerations"].to_numpy(), own["preferences"].to_numpy()
        return float(pd.Series(pair_index(rc, rp)).groupby(own["group"].to_numpy()).mean().mean())

    def sentence(self) -> str:
        """Counts and index in words."""
        told = []
        for phase in PHASES:
            own = self.of(phase)
            rc, rp = number(own["considerations"].mean(), 2), number(own["preferences"].mean(), 2)
            told.append(
                f"{HEADINGS[phase]} {counted(len(own), 'pair')}, mean correlation {rc} on"
                f" considerations and {rp} on preferences, index {number(self.index(phase))}"
            )
        return f"{self.label}: {'; '.join(told)}"


def consistency(study: StudyTable, results: Mapping[str, Result]) -> Drawing | None:
    """Every pair by condition, before and after; people beside where their answers are there."""
    every = _groups(study, rows_of(results, PAIRS), rows_of(results, OF_PEOPLE))
    if not every:
        return None
    people = [group for group in every if group.mark is PEOPLE]
    others = [group for group in every if group.mark is not PEOPLE]
    groups = others[:MOST] + people

    def draw(columns: int) -> "Figure":
        from matplotlib.figure import Figure

        width = min(WIDTHS[columns], 5.2)
        figure = Figure(figsize=(width, width / 2 * 1.04 * len(groups)), layout="constrained")
        grid = figure.subplots(len(groups), 2, squeeze=False, sharex=True, sharey=True)
        for line, group in zip(grid, groups, strict=True):
            for panel, phase in zip(line, PHASES, strict=True):
                _draw(panel, group, phase, few(2 * len(groups)))
        figure.supxlabel("Correlation on considerations", fontsize=7.5)
        figure.supylabel("Correlation on preferences", fontsize=7.5)
        return figure

    caption = _caption(groups, every, study, results)
    told = [group.sentence() for group in groups]
    alt = f"Correlations of pairs. {'. '.join(told)}."
    title = "Intersubjective consistency of pairs of participants"
    return Drawing("consistency", title, caption, alt, draw, 1)


def _groups(study: StudyTable, pairs: pd.DataFrame, people: pd.DataFrame) -> list[Group]:
    found = []
    if len(pairs):
        plan = study.rows[["session", "treatment"]].assign(null=is_null(study.rows))
        own = pairs.merge(plan, left_on="group", right_on="session", how="inner")
        own = own.drop(columns=["session", "note"])
        beside = bool(own["null"].any() and not own["null"].all())
        models = own[~own["null"]] if beside else own
        treatments = in_order(models["treatment"].astype(str).unique().tolist())
        looks = marks(treatments)
        for name in treatments:
            found.append(Group(name, models[models["treatment"] == name], looks[name]))
        if beside:
            found.append(Group(NULL_WORDS, own[own["null"]], NULL))
    if len(people):
        found.append(Group("people", people.drop(columns="note"), PEOPLE))
    return [group for group in found if group.has_pairs]


def _caption(
    groups: Sequence[Group],
    every: Sequence[Group],
    study: StudyTable,
    results: Mapping[str, Result],
) -> str:
    caption = (
        "A point a pair of participants of one session, moved by at most .03 so that equal ones do"
        " not hide each other. On the diagonal, agreement on preferences"
        " is as high as on considerations: the nearer the pairs, the higher the index (the mean"
        " over sessions stands in each panel). Upper right: both agree on both; lower left: they"
        f" disagree on both. Lines enclose {SHARES[0]:.0%} and {SHARES[1]:.0%} of the estimated"
        f" density, where there are {ENOUGH} pairs or more."
    )
    most = few(2 * len(groups))
    counts = [len(group.of(phase)) for group in groups for phase in PHASES]
    if max(counts) > most:
        caption += f" More than {most} pairs: squares, darker for more of them."
    lost = sum(int(group.pairs["considerations"].isna().sum()) for group in every)
    if lost:
        caption += f" {counted(lost, 'survey')} with undefined correlations are left out."
    people = results.get(OF_PEOPLE)
    if people is not None and not people.given:
        caption += f" No people: {people.detail}"
    if len(every) > len(groups):
        names = [group.label for group in every if group not in groups]
        caption += f" Not drawn: {', '.join(names)}."
    return caption + remark(study)


def _draw(axes: "Axes", group: Group, phase: str, most: int) -> None:
    own = group.of(phase)
    x, y = own["considerations"].to_numpy(dtype=float), own["preferences"].to_numpy(dtype=float)
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.axvline(0, color=GREY, linewidth=0.6)
    axes.plot([-1, 1], [-1, 1], color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    mark = Mark(group.mark.colour, "o", group.mark.filled)
    spread = (apart(x, SPREAD), apart(y[::-1], SPREAD)[::-1])
    cloud(axes, *spread, mark, most, (-LIMIT, LIMIT))
    _density(axes, x, y)
    axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), aspect="equal")
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1])
    axes.set_title(f"{shortened(group.label, 18, 1)}, {HEADINGS[phase]}")
    axes.annotate(
        f"index {number(group.index(phase), 2)}\n{counted(len(own), 'pair')}",
        (0.03, 0.97),
        xycoords="axes fraction",
        va="top",
        fontsize=6.5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8},
    )


def _density(axes: "Axes", x: np.ndarray, y: np.ndarray) -> None:
    """Lines that enclose shares of the estimated density; none where it cannot be estimated."""
    if len(x) < ENOUGH:
        return
    from scipy.stats import gaussian_kde

    step = max(1, len(x) // AT_MOST)
    points = np.vstack([x, y])[:, ::step]
    try:
        density = gaussian_kde(points)
    except np.linalg.LinAlgError:  # all pairs on a line
        return
    ticks = np.linspace(-LIMIT, LIMIT, ON_GRID)
    values = density(np.vstack([grid.ravel() for grid in np.meshgrid(ticks, ticks)]))
    falling = np.sort(values)[::-1]
    enclosed = np.cumsum(falling) / falling.sum()
    levels = sorted({float(falling[np.searchsorted(enclosed, share)]) for share in SHARES})
    heights = values.reshape(ON_GRID, ON_GRID)
    axes.contour(ticks, ticks, heights, levels=levels, colors=[INK], linewidths=0.7)
