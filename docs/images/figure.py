"""Draw docs/images/figure.svg, the figure of the README: make figures

Hold a small study with embedded citizens in memory, score it, and draw three turns of one
transcript beside the change of the Deliberative Reason Index under each treatment. Seeds are
fixed, so the same versions of the packages give the same file, byte for byte.
"""

import asyncio
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import matplotlib as mpl

mpl.use("svg")

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from delibsim import DRI, Run, Statement, compose, hold, models_for
from delibsim.analysis.human.reference import groups_of_five

FILE = Path(__file__).with_name("figure.svg")
TOPIC = "ccps"
TREATMENTS = ("none", "basic", "normative")
REPLICATES = 20
SEED = 7

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
INK, GREY, PALE = "#1f2933", "#6b7785", "#eef1f4"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SPEAKERS = (BLUE, "#8a4f9e", BLUE)
STYLE = {
    "svg.hashsalt": "delibsim",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": GREY,
}

SHOWN = slice(5, 8)
TOLD = {"none": "nobody speaks", "basic": "two rounds", "normative": "two rounds, norms"}

ALTERNATIVE_TEXT = (
    "Left: three turns of a transcript, in which simulated citizens answer one another."
    " Right: change of the Deliberative Reason Index of {sessions} simulated groups of five, as"
    " dots by treatment, beside the change in groups of five real citizens on the same topic."
    " {means}"
)


@dataclass(frozen=True)
class Series:
    """One kind of participant in the right panel: model, name in the legend, and appearance."""

    model: str
    label: str
    colour: str
    filled: bool
    offset: float

    @property
    def face(self) -> str:
        """The colour a dot is filled with."""
        return self.colour if self.filled else "white"


NULL = Series("citizen", "null model (citizen)", ORANGE, filled=False, offset=-0.17)
OPEN = Series("citizen_open", "a more open citizen", BLUE, filled=True, offset=0.17)


def main() -> None:
    """Hold the study, draw it and write the file."""
    runs = asyncio.run(hold_study())
    changes = {cell: change_of_index(held) for cell, held in runs.items()}
    figure = draw(runs["normative", NULL.model][0], changes)
    figure.savefig(FILE, format="svg", metadata={"Date": None, "Creator": "docs/images/figure.py"})
    FILE.write_text(described(FILE.read_text(encoding="utf-8"), changes), encoding="utf-8")


async def hold_study() -> dict[tuple[str, str], list[Run]]:
    """The runs of every treatment and model."""
    runs: dict[tuple[str, str], list[Run]] = {}
    for treatment in TREATMENTS:
        for model in (NULL.model, OPEN.model):
            settings = (f"topic={TOPIC}", f"treatment={treatment}", f"model={model}")
            for replicate in range(1, REPLICATES + 1):
                session = compose(*settings, f"seed={SEED}", f"replicate={replicate}")
                run = await hold(session, models_for(session))
                runs.setdefault((treatment, model), []).append(run)
    return runs


def change_of_index(runs: Sequence[Run]) -> list[float]:
    """The change of the plain index in each run."""
    scores = DRI().score(runs)
    found = [s.value for s in scores if (s.measure, s.phase, s.unit) == ("dri", "change", "run")]
    if len(found) != len(runs) or np.isnan(found).any():
        raise ValueError("a run has no index: the figure would leave it out")
    return found


def draw(run: Run, changes: dict[tuple[str, str], list[float]]) -> Figure:
    """The figure: transcript on the left, change of the index on the right."""
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(11, 5.2), facecolor="white")
    left = figure.add_axes((0.018, 0.0, 0.445, 1.0))
    right = figure.add_axes((0.605, 0.125, 0.385, 0.62))
    draw_transcript(left, run)
    figure.text(0.5, 0.94, "What it changed", fontsize=14, fontweight="bold", va="center")
    about = f"{TOPIC}: one dot a group of five, bar = mean of {REPLICATES} groups"
    figure.text(0.5, 0.884, about, color=GREY, va="center")
    draw_changes(right, changes)
    return figure


def draw_transcript(axes: Axes, run: Run) -> None:
    """The beginnings of three statements as speech bubbles."""
    axes.set(xlim=(0, 100), ylim=(0, 100))
    axes.axis("off")
    axes.text(0, 94, "What was said", fontsize=14, fontweight="bold", va="center")
    about = f"{TOPIC}, treatment {run.session.treatment.name}: three turns, shortened"
    axes.text(0, 88.4, about, color=GREY, va="center")
    top = 83.5
    for place, statement in enumerate(run.transcript[SHOWN]):
        indent = 7 * (place % 2)
        top -= draw_bubble(axes, statement, SPEAKERS[place], (indent, top)) + 3


def draw_bubble(
    axes: Axes, statement: Statement, colour: str, corner: tuple[float, float]
) -> float:
    """One statement below and right of its upper left corner; the height it takes."""
    left, top = corner
    lines = textwrap.wrap(shortened(statement.text), 62)
    height = 8.8 + 4.0 * len(lines)
    shape = "round,pad=0,rounding_size=1.5"
    bubble = FancyBboxPatch((left, top - height), 92, height, boxstyle=shape, fc=PALE, ec="none")
    axes.add_patch(bubble)
    axes.plot([left + 0.4] * 2, [top - height + 1.6, top - 1.6], color=colour, linewidth=3.5)
    turn = statement.turn
    place = f"round {turn.round}, turn {turn.index}"
    head = top - 4.2
    axes.text(left + 3.5, head, turn.speaker, color=colour, fontweight="bold", va="center")
    axes.text(left + 89.5, head, place, color=GREY, fontsize=8.5, va="center", ha="right")
    for number, line in enumerate(lines):
        axes.text(left + 3.5, head - 4.7 - 4.0 * number, line, fontsize=9.5, va="center")
    return height


def shortened(text: str, sentences: int = 2) -> str:
    """The first sentences of a statement; an ellipsis stands for the rest."""
    parts = re.split(r"(?<=[.!?])\s+", text)
    return text if len(parts) <= sentences else " ".join(parts[:sentences]) + " …"


def draw_changes(axes: Axes, changes: dict[tuple[str, str], list[float]]) -> None:
    """A dot a session by treatment and model, their means, and the values of people."""
    axes.set(xlim=(-0.65, 0.95), ylim=(len(TREATMENTS) - 0.5, -0.5))
    draw_people(axes)
    for row, treatment in enumerate(TREATMENTS):
        axes.text(
            -0.69, row - 0.07, treatment, fontsize=11, fontweight="bold", ha="right", va="center"
        )
        axes.text(
            -0.69, row + 0.15, TOLD[treatment], color=GREY, fontsize=8.5, ha="right", va="center"
        )
        for series in (NULL, OPEN):
            draw_dots(axes, row + series.offset, changes[treatment, series.model], series)
    axes.axvline(0, color=GREY, linewidth=1.0, zorder=1)
    axes.set_xlabel("change of the Deliberative Reason Index, after less before", labelpad=7)
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#dde2e7", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    for edge in (0.5, 1.5):
        axes.axhline(edge, color="#dde2e7", linewidth=0.6, zorder=0)
    draw_legend(axes)


def draw_legend(axes: Axes) -> None:
    """The two series, named above the dots."""
    handles = [
        Line2D([], [], linestyle="none", marker="o", markersize=5.5, label=series.label,
               markerfacecolor=series.face, markeredgecolor=series.colour)
        for series in (NULL, OPEN)
    ]  # fmt: skip
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(-0.285, 1.06),
        ncols=2,
        frameon=False,
        handletextpad=0.1,
        columnspacing=1.6,
        borderpad=0,
        fontsize=9.5,
    )


def draw_people(axes: Axes) -> None:
    """The mean change in groups of five real citizens, with one standard deviation each side."""
    people = groups_of_five(TOPIC)
    if people is None:
        raise ValueError(f"no human reference for {TOPIC}")
    mean, spread = (people["dri"]["change"][name] for name in ("mean", "between_groups"))
    label = "people in groups of five: mean ± SD"
    axes.text(mean, -0.54, label, color="#00694d", fontsize=8.5, ha="center", va="bottom")
    axes.axvspan(mean - spread, mean + spread, color=GREEN, alpha=0.14, linewidth=0, zorder=0)
    axes.axvline(mean, color=GREEN, linewidth=1.6, zorder=1)


def draw_dots(axes: Axes, height: float, values: Sequence[float], series: Series) -> None:
    """The sessions of a treatment and model in one row, and their mean as a bar."""
    axes.scatter(
        values,
        stacked(values, height),
        s=20,
        facecolor=series.face,
        edgecolor=series.colour,
        linewidth=1.0,
        alpha=0.85,
        zorder=3,
    )
    mean = fmean(values)
    axes.plot([mean, mean], [height - 0.15, height + 0.15], color=series.colour, lw=3, zorder=4)


def stacked(values: Sequence[float], height: float, width: float = 0.035) -> list[float]:
    """Heights at which dots of similar value do not cover one another."""
    heights = []
    taken: list[tuple[float, float]] = []
    for value in values:
        near = {step for other, step in taken if abs(other - value) <= width}
        step = next((step for step in (0, 1, -1, 2, -2, 3, -3) if step not in near), 0)
        taken.append((value, step))
        heights.append(height + 0.055 * step)
    return heights


def described(svg: str, changes: dict[tuple[str, str], list[float]]) -> str:
    """The drawing with alternative text, and with fonts that readers have."""
    means = []
    for (treatment, model), values in changes.items():
        means.append(f"Mean change under {treatment}, {model}: {fmean(values):+.2f}.")
    sessions = len(changes) * REPLICATES
    text = ALTERNATIVE_TEXT.format(sessions=sessions, means=" ".join(means))
    head, rest = svg.split("<metadata>", 1)
    head += f"<title>delibsim</title>\n <desc>{text}</desc>\n "
    fonts = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
    return (head.rstrip() + "\n <metadata>" + rest).replace("'DejaVu Sans'", fonts)


if __name__ == "__main__":
    main()
