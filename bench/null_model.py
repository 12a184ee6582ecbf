"""Measure the change of DRI under a null model: .venv/bin/python bench/null_model.py

docs/null-model.md shows the tables, by susceptibility, confidence bound and network. The script
holds the sessions of conf/experiment/null_model.yaml in memory, with the same groups of people in
every condition. Other overrides of the experiment may follow on the command line, such as
`group.size=5` or `replicate=1-10`.
"""

import asyncio
import sys
import time
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from delibsim import DRI, Agreement, Session, hold, models_for
from delibsim.planning.compose import plan

RESAMPLES = 10_000
MEASURES = {
    "dri": "change of DRI",
    "dri_adjusted": "change of adjusted DRI",
    "consideration_agreement": "change of agreement on considerations",
    "preference_agreement": "change of agreement on preferences",
    "opinion_change_c": "opinion change, in points of the scale",
}
BANDS = (-1.0, 0.1, 0.3, 0.5, 0.7, 1.0)
"""Bounds of the bands of change of agreement within which changes of DRI are shown."""


def main() -> None:
    started = time.process_time()
    sessions = plan(["experiment=null_model", *sys.argv[1:]], Path.cwd(), sweep=True).sessions
    cells = list(dict.fromkeys(map(cell_of, sessions)))
    groups = sorted({(session.topic.id, session.replicate) for session in sessions})
    values = {
        measure: np.full((len(cells), len(groups)), np.nan) for measure in ("before", *MEASURES)
    }
    for session in sessions:
        place = cells.index(cell_of(session)), groups.index((session.topic.id, session.replicate))
        for measure, value in measured(session).items():
            values[measure][place] = value
    print(
        f"python {' '.join(sys.argv)}: {len(sessions)} sessions,"
        f" {time.process_time() - started:.0f} s of one core"
    )
    undefined = {measure: int(np.isnan(found).sum()) for measure, found in values.items()}
    print(f"{len(cells)} conditions of {len(groups)} groups; undefined values: {undefined}")
    drawn = resamples(groups)
    for measure in MEASURES:
        print_cells(measure, cells, values[measure], drawn)
    moving = np.array([susceptibility > 0 for susceptibility, _, _ in cells])
    print_contrasts([cell for cell in cells if cell[0] > 0], values["dri"][moving], drawn)
    means = [values[measure][moving].mean(axis=1) for measure in ("consideration_agreement", "dri")]
    print(
        "\ncorrelation of the two mean changes over these conditions:"
        f" {np.corrcoef(means)[0, 1]:.2f}"
    )
    # Where nobody moves, all conditions are the same sessions: the first stands for them.
    once = moving | (np.arange(len(cells)) == 0)
    print_bands({measure: found[once].ravel() for measure, found in values.items()})
    print_start({measure: found[moving] for measure, found in values.items()}, groups)


def cell_of(session: Session) -> tuple[float, float, str]:
    """Susceptibility, openness and network of a session."""
    (settings,) = session.models.values()
    return settings["susceptibility"], settings["openness"], session.procedure.audience.network


def measured(session: Session) -> dict[str, float]:
    """The change of every measure in one session, and the DRI before it."""
    run = asyncio.run(hold(session, models_for(session)))
    scores = [
        score
        for scorer in (DRI(), Agreement())
        for score in scorer.score([run])
        if score.unit == "run"
    ]
    (before,) = (score.value for score in scores if (score.measure, score.phase) == ("dri", "pre"))
    return {"before": before} | {
        score.measure: score.value
        for score in scores
        if score.phase == "change" and score.measure in MEASURES
    }


def resamples(groups: list[tuple[str, int]]) -> np.ndarray:
    """Groups drawn with replacement within their topics, which are fixed: (RESAMPLES, groups)
    indices into `groups`.
    """
    rng = np.random.default_rng(0)
    topics = np.array([topic for topic, _ in groups])
    within = [np.flatnonzero(topics == topic) for topic in dict.fromkeys(topics)]
    return np.concatenate(
        [rng.choice(places, (RESAMPLES, len(places))) for places in within], axis=1
    )


def interval(values: np.ndarray, drawn: np.ndarray) -> str:
    """Mean over groups and its percentile interval, by resampling."""
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def print_cells(
    measure: str, cells: list[tuple[float, float, str]], values: np.ndarray, drawn: np.ndarray
) -> None:
    susceptibilities = dict.fromkeys(susceptibility for susceptibility, _, _ in cells)
    bounds = dict.fromkeys(openness for _, openness, _ in cells)
    networks = list(dict.fromkeys(network for _, _, network in cells))
    print(f"\n{MEASURES[measure]}: mean [95 percent interval]\n")
    print("| susceptibility | openness | " + " | ".join(networks) + " |")
    print("|--:|--:|" + "--:|" * len(networks))
    for s, o in product(susceptibilities, bounds):
        row = [interval(values[cells.index((s, o, network))], drawn) for network in networks]
        print(f"| {s:g} | {o:g} | " + " | ".join(row) + " |")


def print_contrasts(
    cells: list[tuple[float, float, str]], values: np.ndarray, drawn: np.ndarray
) -> None:
    """Differences of the change of DRI between levels of one factor, over all levels of the
    others.
    """
    print(
        "\nDifferences in the change of DRI, the same groups compared, over all conditions with"
        " susceptibility above 0\n"
    )
    print("| difference | mean [95 percent interval] |\n|---|--:|")
    for part, name in enumerate(("susceptibility", "openness", "network")):
        levels = list(dict.fromkeys(cell[part] for cell in cells))
        of_cell = np.array([levels.index(cell[part]) for cell in cells])
        means = [values[of_cell == place].mean(axis=0) for place in range(len(levels))]
        for level, mean in zip(levels[1:], means[1:], strict=True):
            difference = interval(mean - means[0], drawn)
            print(f"| {name} {level} less {levels[0]} | {difference} |")


def print_bands(values: dict[str, np.ndarray]) -> None:
    """The distribution of the change of DRI over sessions, by how far the group converged."""
    agreement, index, adjusted = (
        values[measure] for measure in ("consideration_agreement", "dri", "dri_adjusted")
    )
    print(f"\nChange of DRI by change of agreement on considerations, {len(index)} sessions\n")
    columns = ("sessions", "mean DRI", "SD", "2.5 %", "97.5 %", "rose", "mean adjusted")
    print("| change of agreement | " + " | ".join(columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for low, high in pairwise(BANDS):
        inside = (agreement >= low) & (agreement < high)
        if inside.sum() > 1:
            found = index[inside]
            ends = " | ".join(f"{end:+.3f}" for end in np.percentile(found, [2.5, 97.5]))
            shares = f"{np.mean(found > 0):.0%} | {adjusted[inside].mean():+.3f}"
            print(
                f"| {low:g} to {high:g} | {inside.sum()} | {found.mean():+.3f} |"
                f" {found.std(ddof=1):.3f} | {ends} | {shares} |"
            )
    print(
        "\ncorrelation of the change of DRI with that of agreement:"
        f" {np.corrcoef(agreement, index)[0, 1]:.2f}"
    )
    print(
        "correlation of the change of DRI with DRI before:"
        f" {np.corrcoef(values['before'], index)[0, 1]:.2f}"
    )


def print_start(values: dict[str, np.ndarray], groups: list[tuple[str, int]]) -> None:
    """DRI before and its change by topic, over all conditions in which people move."""
    print(
        "\nBy topic, over all conditions with susceptibility above 0\n\n| topic | DRI before |"
        " change |\n|---|--:|--:|"
    )
    for topic in dict.fromkeys(topic for topic, _ in groups):
        own = [i for i, group in enumerate(groups) if group[0] == topic]
        print(
            f"| {topic} | {values['before'][:, own].mean():.3f} |"
            f" {values['dri'][:, own].mean():+.3f} |"
        )


if __name__ == "__main__":
    main()
