"""Measure estimate and resume of the published design: python bench/resuming.py [--keep]

18 summarisers, 11 sizes, 3 runs, 300 opinions a topic. The estimate is that of 10 topics: 5,940
summaries and 696,600 judgments, each topic planned as the command does. The resume is that of one
study with ten judges: 696,600 judgments, of which the last is missing, with every exchange on
record. CPU seconds on one core. It writes 3 GB to the temporary folder (TMPDIR) and takes minutes.
Run it by hand, never in CI.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from record import Value, record
from summaries import opinions

from delibsim.asking import road
from delibsim.asking.kinds.judgment import plan_judging, question
from delibsim.asking.kinds.summary import plan_summaries
from delibsim.asking.nouns import Plan
from delibsim.conduct import ask as asking
from delibsim.domain.judgment import DIMENSIONS, Judgment
from delibsim.domain.summary import Summary
from delibsim.models.base import Completion
from delibsim.models.replay import Exchange
from delibsim.store.files import json_text
from delibsim.store.runs import Runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
study_of_opinions: Callable[..., Runs] = import_module("opinions").study_of_opinions

TOPICS = 10
SIZES = "10,20,30,50,70,90,120,160,200,240,300"
SUMMARISE = ["model=citizen", "group.size=16", f"sizes='{SIZES}'", "runs=3"]
"""Sixteen citizens and the two extractive summarisers: eighteen."""
JUDGE = ["model=citizen"]
ABOUT = """CPU seconds on one core, of the published design: 18 summarisers, 11 sizes, 3 runs, 300
opinions a topic. The estimate is that of 10 topics (5,940 summaries, 696,600 judgments). The resume
is that of one study with ten judges (696,600 judgments, the last of them missing), with every
exchange on record, prompts included; its file is in the cache of the system."""


def measured(what: str, aim: float | None, call: Callable[[], Any]) -> tuple[Any, dict[str, Value]]:
    """What a call gives, and a row: its CPU and wall seconds, and memory of the process so far."""
    begun, clock = time.process_time(), time.monotonic()
    found = call()
    seconds, wall = time.process_time() - begun, time.monotonic() - clock
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{what:60}{seconds:9.2f} s CPU{wall:9.2f} s{memory:8.2f} GB", flush=True)
    row: dict[str, Value] = {"what": what, "cpu_seconds": seconds, "wall_seconds": wall}
    return found, row | {"aim_seconds": aim, "memory_gb": memory}


def summarised(study: str) -> Runs:
    """A study of 300 opinions with its 594 summaries, of 250 words each."""
    said = {}
    for i, text in enumerate(opinions(300)):
        stance = ("positive", "negative", "not sure")[i % 3]
        said[f"o{i:03}"] = (stance, "yes" if i % 8 == 0 else "no", text)
    runs = study_of_opinions(Path(), said, study)
    planned = plan_summaries(runs, SUMMARISE)
    planned.answers.files.settle(planned.task)
    words = " ".join(text for _, _, text in said.values()).split()
    rng = np.random.default_rng(0)
    made = []
    for slot in planned.about.slots:
        made.append(Summary(slot, " ".join(rng.choice(words, 250).tolist())))
    planned.answers.add(made)
    return runs


def estimates(studies: list[Runs]) -> int:
    """The judgments that the estimates of all studies name, summaries included in the work."""
    judgments = 0
    for runs in studies:
        road.estimate(plan_summaries(runs, [*SUMMARISE, "name=new"]))
        judgments += road.estimate(plan_judging(runs, [*JUDGE, "group.size=2"])).planned // 2
    return judgments


def judged(runs: Runs, settings: list[str]) -> None:
    """Keep every judgment but the last, and every exchange, as if they had been asked."""
    planned = plan_judging(runs, settings)
    files = planned.answers.files
    files.settle(planned.task)
    left = list(planned.models)[-1], planned.about.sittings[-1].id
    values = dict.fromkeys(DIMENSIONS, 3)
    with files.exchanges.open("w", encoding="utf-8") as log:
        for judge in planned.models:
            log.writelines(_lines(planned, judge))
    lines = []
    for judge in planned.models:
        for sitting in planned.about.sittings:
            if (judge, sitting.id) != left:
                lines.append(Judgment(sitting, judge, values))
    planned.answers.add(lines)


def _lines(planned: Plan, judge: str) -> list[str]:
    """The exchanges of one judge, as lines."""
    found = []
    reply = "\n".join(f"D{n}: 3" for n in range(1, 5))
    for sitting in planned.about.sittings:
        asked = question(planned.about, sitting, judge)
        prompt = asked.prompt()
        seed = asked.seed(prompt)
        exchange = Exchange(
            hash=prompt.hash(judge, seed),
            model=judge,
            seed=seed,
            purpose=prompt.purpose,
            messages=prompt.messages,
            form=prompt.reply.describe(),
            started="2026-01-01T00:00:00.000+00:00",
            seconds=0.0,
            completion=Completion(reply, "ok"),
        )
        found.append(json_text(exchange.record()) + "\n")
    return found


def resume(runs: Runs, settings: list[str]) -> tuple[int, int, int]:
    """Give the command again: judgments that are new and that were there, and calls."""
    outcome = asyncio.run(asking.ask(plan_judging(runs, settings)))
    return outcome.new, outcome.before, outcome.asked


def main() -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        studies = [summarised(f"topic{n}") for n in range(TOPICS)]
        plan_judging(studies[0], JUDGE)  # what is imported is not measured
        found, row = measured("estimate of the full benchmark", 5.0, lambda: estimates(studies))
        assert found == 696_600, found
        rows.append(row)
        settings = [*JUDGE, "group.size=10"]
        judged(studies[0], settings)
        found, row = measured(
            "resume of 696,600 judgments", 10.0, lambda: resume(*(studies[0], settings))
        )
        assert found == (1, 696_599, 0), found
        rows.append(row)
    if given.keep:
        print(record("resuming", ABOUT, rows))


if __name__ == "__main__":
    main()
