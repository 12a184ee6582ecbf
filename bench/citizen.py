"""Measure what the citizen does under each treatment: .venv/bin/python bench/citizen.py

docs/citizen.md shows the tables. Every condition holds the same sessions: the twelve topics,
REPLICATES groups of five a topic, with the same people in the same seats.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev

from delibsim import DRI, Agreement, Diversity, Run, Score, Session, compose, hold, models_for

TOPICS = (
    "acp", "auscj", "bep", "biobanking_wa", "ccps", "energy_futures", "fnqcj", "forestera",
    "fremantle", "swiss_health", "uppsala_speaks", "zukunft",
)  # fmt: skip
REPLICATES = 5
CONDITIONS = {
    "none": ("treatment=none",),
    "basic": ("treatment=basic",),
    "normative": ("treatment=normative",),
    "normative, 4 rounds": ("treatment=normative", "rounds=4"),
    "normative, ring": ("treatment=normative", "procedure.audience.network=ring"),
    "normative, personas": ("treatment=normative", "persona=values"),
    "normative, citizen_firm": ("treatment=normative", "model=citizen_firm"),
    "normative, citizen_open": ("treatment=normative", "model=citizen_open"),
}
MEASURES = {
    "dri": "DRI",
    "dri_adjusted": "adjusted DRI",
    "consideration_agreement": "agreement C",
    "preference_agreement": "agreement P",
    "diversity": "diversity",
}


def main() -> None:
    started = time.perf_counter()
    held = {name: held_in_memory(sessions(name)) for name in CONDITIONS}
    scores = {name: scored(runs) for name, runs in held.items()}
    n = len(TOPICS) * REPLICATES
    print(
        f"{n} sessions a condition ({len(TOPICS)} topics, {REPLICATES} groups of five), seed 0,"
        f" {time.perf_counter() - started:.0f} s"
    )
    basic = spoken(held["basic"])
    same = [name for name in CONDITIONS if name != "basic" and spoken(held[name]) == basic]
    print(f"Equal to basic, answer by answer and word for word: {', '.join(same) or 'none'}\n")
    print("Mean (SD) of the change over sessions; n where the measure is undefined in some\n")
    print_table(scores, "change")
    print("\nMean (SD) before\n")
    print_table(
        {"none": scores["none"], "normative, personas": scores["normative, personas"]}, "pre"
    )


def sessions(condition: str) -> list[Session]:
    planned = [compose(f"topic={topic}", *CONDITIONS[condition]) for topic in TOPICS]
    return [
        replace(session, id=f"{session.id}.{i}", replicate=i)
        for session in planned
        for i in range(1, REPLICATES + 1)
    ]


def held_in_memory(sessions: Sequence[Session]) -> list[Run]:
    return [asyncio.run(hold(session, models_for(session))) for session in sessions]


def scored(runs: Sequence[Run]) -> list[Score]:
    return [
        score
        for scorer in (DRI(), Agreement(), Diversity())
        for score in scorer.score(runs)
        if score.unit == "run"
    ]


def spoken(runs: Sequence[Run]) -> list[tuple[object, ...]]:
    """What was answered and said in each run, and nothing of how it was planned."""
    return [(run.responses, run.transcript) for run in runs]


def print_table(scores: dict[str, list[Score]], phase: str) -> None:
    print("| treatment | " + " | ".join(MEASURES.values()) + " |")
    print("|---|" + "--:|" * len(MEASURES))
    for name, found in scores.items():
        cells = [cell(found, measure, phase) for measure in MEASURES]
        print(f"| {name} | " + " | ".join(cells) + " |")


def cell(scores: Sequence[Score], measure: str, phase: str) -> str:
    every = [score.value for score in scores if (score.measure, score.phase) == (measure, phase)]
    valid = [value for value in every if value == value]
    sign = "+" if phase == "change" else ""
    shown = f"{fmean(valid):{sign}.3f} ({stdev(valid):.3f})"
    return shown if len(valid) == len(every) else f"{shown}, n {len(valid)}"


if __name__ == "__main__":
    main()
