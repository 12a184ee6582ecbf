"""Measure the diversity of groups with personas: .venv/bin/python bench/personas.py FOLDER

docs/human-reference.md shows the table and says how to get FOLDER, the published instruments and
answers. Every value is that of a group of five citizens on the real instrument, over REPLICATES
groups, which answer the first survey only.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean, stdev

from delibsim import Diversity, compose, hold, models_for
from delibsim.analysis.human.reference import groups_of_five, reference

TOPICS = ("ccps", "fremantle", "bep")
REPLICATES = 20
CONDITIONS = {
    "no personas": "persona=none",
    "clusters": "persona={topic}_5",
    "clusters, in proportion": "persona={topic}_5 persona.seating=proportional",
    "real people": "persona=human:{topic}",
    "real people, low": "persona=human:{topic} group.diversity=low",
    "real people, matched": "persona=human:{topic} group.diversity=matched",
    "real people, high": "persona=human:{topic} group.diversity=high",
}


def main() -> None:
    """Import, build, hold and print; in a folder of its own, which is removed."""
    if len(sys.argv) != 2:
        print("skipped: name the folder of the published answers, python bench/personas.py FOLDER")
        return
    published = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        command("import", "deliberr", str(published))
        print("| group of five | " + " | ".join(TOPICS) + " |\n|---|" + "--:|" * len(TOPICS))
        for topic in TOPICS:
            command("personas", "build", topic)
        for name, settings in CONDITIONS.items():
            print(
                f"| {name} | " + " | ".join(cell(topic, settings) for topic in TOPICS) + " |",
                flush=True,
            )
        people = [(reference(topic) or {})["pre"]["diversity"] for topic in TOPICS]
        fives = [(groups_of_five(topic) or {})["diversity"]["pre"] for topic in TOPICS]
        print("| all participants | " + " | ".join(f"{value:.2f}" for value in people) + " |")
        print(
            "| participants in groups of five | "
            + " | ".join(f"{own['mean']:.2f} ({own['between_groups']:.2f})" for own in fives)
            + " |"
        )
        os.chdir("/")


def command(*words: str) -> None:
    """Run a command of delibsim; its output goes to stderr."""
    subprocess.run(
        [Path(sys.executable).with_name("delibsim"), *words], check=True, stdout=sys.stderr
    )


def cell(topic: str, settings: str) -> str:
    """Mean (SD) over the replicates."""
    own = [
        "treatment=none",
        f"topic={topic}",
        f"survey=deliberr.{topic}",
        *settings.format(topic=topic).split(),
    ]
    sessions = [compose(*own, f"replicate={replicate}") for replicate in range(1, REPLICATES + 1)]
    runs = [asyncio.run(hold(session, models_for(session))) for session in sessions]
    values = [
        score.value
        for score in Diversity().score(runs)
        if (score.measure, score.phase) == ("diversity", "pre")
    ]
    return f"{fmean(values):.2f} ({stdev(values):.2f})"


if __name__ == "__main__":
    main()
