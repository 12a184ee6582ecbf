"""Draw docs/images/figure.svg, the figure of the README: make figures

Hold a small study with embedded citizens in memory, score it, and draw three turns of one
transcript beside the change of the Deliberative Reason Index under each treatment. Seeds are
fixed, so the same versions of the packages give the same file, byte for byte.
"""

import asyncio
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
from matplotlib.patches import FancyBboxPatch

from delibsim import DRI, Run, Statement, compose, hold, models_for
from delibsim.analysis.human.reference import groups_of_five, reference

FILE = Path(__file__).with_name("figure.svg")
TOPIC = "ccps"
TREATMENTS = ("none", "basic", "normative")
REPLICATES = 20
SEED = 7

# Colours of Okabe and Ito, which colour-blind readers can tell apart.
INK, GREY, PALE = "#1f2933", "#6b7785", "#eef1f4"
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
SPEAKERS = (BLUE, ORANGE, "#8a4f9e")

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


NULL = Series("citizen", "null model: citizen", ORANGE, filled=False, offset=-0.17)
OPEN = Series("citizen_open", "open citizen, in a model's place", BLUE, filled=True, offset=0.17)


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
    style = {
        "svg.hashsalt": "delibsim",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": 9.5,
        "text.color": INK,
        "axes.labelcolor": INK,
        "xtick.color": GREY,
        "ytick.color": INK,
    }
    mpl.rcParams.update(style)
    figure = Figure(figsize=(11, 5.0), facecolor="white")
    left = figure.add_axes((0.02, 0.02, 0.44, 0.96))
    right = figure.add_axes((0.565, 0.145, 0.415, 0.62))
    draw_transcript(left, run.transcript[5:8])
    draw_changes(right, changes)
    return figure


def draw_transcript(axes: Axes, statements: Sequence[Statement]) -> None:
    """Three statements as speech bubbles."""
    axes.set(xlim=(0, 100), ylim=(0, 100))
    axes.axis("off")
    axes.text(0, 96, "What was said", fontsize=13, fontweight="bold", va="center")
    axes.text(0, 89.5, "three turns of one session, treatment normative", color=GREY, va="center")
    top = 84.0
    for place, (statement, colour) in enumerate(zip(statements, SPEAKERS, strict=True)):
        lines = textwrap.wrap(statement.text, 62)
        height = 9.5 + 4.4 * len(lines)
        x = 0 if place % 2 == 0 else 8
        bubble = FancyBboxPatch(
            (x + 1.5, top - height),
            90,
            height,
            boxstyle="round,pad=0,rounding_size=2",
            facecolor=PALE,
            edgecolor="none",
        )
        axes.add_patch(bubble)
        axes.plot(
            [x + 1.5, x + 1.5],
            [top - height + 1.5, top - 1.5],
            color=colour,
            linewidth=3,
            solid_capstyle="round",
        )
        axes.text(
            x + 4.5,
            top - 4.2,
            f"{statement.turn.speaker}",
            color=colour,
            fontweight="bold",
            va="center",
        )
        axes.text(
            x + 90,
            top - 4.2,
            f"round {statement.turn.round}, turn {statement.turn.index}",
            color=GREY,
            fontsize=8.5,
            va="center",
            ha="right",
        )
        for number, line in enumerate(lines):
            axes.text(x + 4.5, top - 9.3 - 4.4 * number, line, va="center", fontsize=9)
        top -= height + 3


def draw_changes(axes: Axes, changes: dict[tuple[str, str], list[float]]) -> None:
    """A dot a session by treatment and model, their means, and the values of people."""
    draw_people(axes)
    for row, treatment in enumerate(TREATMENTS):
        for series in (NULL, OPEN):
            draw_dots(axes, row + series.offset, changes[treatment, series.model], series)
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(TREATMENTS)), TREATMENTS, fontsize=11)
    axes.set_ylim(len(TREATMENTS) - 0.5, -0.5)
    axes.set_xlim(-0.65, 0.95)
    axes.set_xlabel("change of the Deliberative Reason Index (after − before)")
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#dde2e7", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "left", "right", "bottom"):
        axes.spines[side].set_visible(False)


def draw_people(axes: Axes) -> None:
    """The mean change in groups of five real citizens, with one standard deviation each side."""
    people = groups_of_five(TOPIC)
    if people is None:
        raise ValueError(f"no human reference for {TOPIC}")
    mean, spread = (people["dri"]["change"][name] for name in ("mean", "between_groups"))
    axes.axvspan(mean - spread, mean + spread, color=GREEN, alpha=0.14, linewidth=0, zorder=0)
    axes.axvline(mean, color=GREEN, linewidth=1.6, zorder=1)


def draw_dots(axes: Axes, height: float, values: Sequence[float], series: Series) -> None:
    """The sessions of a treatment and model in one row, and their mean as a bar."""
    axes.scatter(
        values,
        stacked(values, height),
        s=20,
        facecolor=series.colour if series.filled else "white",
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
        steps = (0, 1, -1, 2, -2, 3, -3)
        free = (
            step
            for step in steps
            if all(s != step or abs(v - value) > width for v, s in taken)
        )
        step = next(free, 0)
        taken.append((value, step))
        heights.append(height + 0.055 * step)
    return heights


def described(svg: str, changes: dict[tuple[str, str], list[float]]) -> str:
    """The drawing with alternative text, and with fonts that readers have."""
    means = []
    for (treatment, model), values in changes.items():
        means.append(f"Mean change under {treatment}, {model}: {fmean(values):+.2f}.")
    people = reference(TOPIC)
    sessions = len(changes) * REPLICATES
    text = ALTERNATIVE_TEXT.format(sessions=sessions, means=" ".join(means))
    head, rest = svg.split("<metadata>", 1)
    head += f"<title>delibsim</title>\n <desc>{text}</desc>\n "
    fonts = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
    return (head.rstrip() + "\n <metadata>" + rest).replace("'DejaVu Sans'", fonts)


if __name__ == "__main__":
    main()
