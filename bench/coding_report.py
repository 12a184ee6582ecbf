"""Measure the report on codes: .venv/bin/python bench/coding_report.py [--quick]

Studies of texts that four models coded in five samples, on one dimension of four levels or on
three, and two people the first 500 of. The codes are drawn: each model errs from a level of the
text by one with a probability of a fifth. Each report is a process of its own; writing the study
is not measured. Seconds of processor time are user and system together.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from record import Row, record

from delibsim import Runs, Text
from delibsim.domain.coding import Code, Sample
from delibsim.store.codings import Codings, scheme_to_plain
from delibsim.store.instruments.library import Library
from delibsim.store.manifest import Manifest
from delibsim.store.study_texts import StudyTexts

MODELS, SAMPLES, READ = ("a", "b", "c", "d"), 5, 500
PEOPLE = ("Ann", "Ben")
SIZES = ((10_000, 1), (10_000, 3), (100_000, 1))
ABOUT = """`delibsim code report`, with page, tables and figures, and with `--json`, of texts that
four models coded in five samples and two people the first 500 of; a process of its own, start
included."""


def main() -> None:
    """Every size in a folder that is removed afterwards."""
    quick = "--quick" in sys.argv
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        for texts, dimensions in SIZES[:1] if quick else SIZES:
            name = f"s{texts}d{dimensions}"
            written(Path(home), name, texts, dimensions)
            for way, words in (("page", ("--to", name)), ("json", ("--json",))):
                seconds, cpu, peak = timed(name, words)
                rows.append(
                    {
                        "texts": texts,
                        "dimensions": dimensions,
                        "samples": texts * dimensions * len(MODELS) * SAMPLES,
                        "written": way,
                        "seconds": seconds,
                        "cpu seconds": cpu,
                        "peak mb": peak,
                    }
                )
                print(rows[-1])
    if not quick:
        print(record("coding_report", ABOUT, rows))


def timed(study: str, words: tuple[str, ...]) -> tuple[float, float, float]:
    """Seconds, processor seconds and highest memory in MB of one report."""
    clock = time.perf_counter()
    command = [sys.executable, "-m", "delibsim.cli.main", "code", "report", study, *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return time.perf_counter() - clock, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def written(home: Path, name: str, n: int, dimensions: int) -> None:
    """A study of n texts with its codes."""
    draw = random.Random(name)
    runs = Runs(home / "runs", name)
    texts = [Text(str(number), f"Text {number} says this.") for number in range(1, n + 1)]
    StudyTexts(runs).keep(texts, Manifest(name, {}, {}))
    scheme = Library().scheme("dqi3")
    scheme = replace(scheme, dimensions=scheme.dimensions[:dimensions])
    codings = Codings.of(runs, scheme.id)
    task = {
        "scheme": scheme_to_plain(scheme),
        "scheme_sha256": scheme.sha256,
        "unit": "text",
        "context": 0,
        "samples": SAMPLES,
        "rules": "lower",
        "models": {model: {} for model in MODELS},
        "wordings": {"coding": {}},
        "texts": {text.id: text.sha256 for text in texts},
    }
    codings.files.settle(task)
    for dimension in scheme.dimensions:
        highest = len(dimension.levels) - 1
        levels = [draw.randint(0, highest) for _ in texts]
        codings.add(samples(texts, levels, dimension.id, highest, draw))
        for person in PEOPLE:
            read = zip(texts[:READ], levels, strict=False)
            own = [(text, near(level, highest, draw)) for text, level in read]
            codes = [Code(text.id, dimension.id, person, "human", level) for text, level in own]
            codings.add(codes, people=True)


def samples(
    texts: list[Text], levels: list[int], dimension: str, highest: int, draw: random.Random
) -> Iterator[Sample]:
    """The samples of every model on every text."""
    for text, level in zip(texts, levels, strict=True):
        for model in MODELS:
            own = near(level, highest, draw)
            for index in range(1, SAMPLES + 1):
                given, why = near(own, highest, draw), "The anchor fits."
                yield Sample(text.id, text.sha256, dimension, model, index, given, why)


def near(level: int, highest: int, draw: random.Random) -> int:
    """A level, or with a probability of a fifth one of its neighbours."""
    if draw.random() > 0.2:
        return level
    return min(max(level + draw.choice((-1, 1)), 0), highest)


if __name__ == "__main__":
    main()
