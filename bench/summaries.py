"""Measure how fast opinions are summarised and reported: python bench/summaries.py [--seeds N]

CPU seconds on one core and the largest memory of the process, on invented opinions and judgments.
With --seeds N it is also counted how often intervals hold what was planted in N sets of judgments.
Run it by hand, never in CI.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from record import Value, record

from delibsim.analysis.summaries import biases, minorities
from delibsim.analysis.summaries.judged import JudgedSet, scores_of
from delibsim.analysis.summaries.report import summaries_report
from delibsim.domain.judgment import DIMENSIONS, Judgment, Sitting
from delibsim.measures.summaries.texts import local_outliers, tfidf_points
from delibsim.models.extractive import by_relevance, by_themes
from delibsim.store.judgments import Judgments
from delibsim.store.opinions import EXAMPLES
from delibsim.store.runs import Runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
planted: Callable[..., JudgedSet] = import_module("planted_summaries").planted

TOPICS, MODELS, SIZES, RUNS = 10, 18, (10, 20, 30, 50, 70, 90, 120, 160, 200, 240, 300), 3
JUDGMENTS = 700_000
ABOUT = """CPU seconds on one core and the largest memory of the process so far. The opinions are
those of the example tram with their words in drawn orders. The report is that of the published
design: 10 topics, 18 summarisers, 11 sizes, 3 runs, one judge: 5,940 summaries, 696,600 judgments.
The page is not drawn."""


def measured(what: str, aim: float | None, call: Callable[[], object]) -> dict[str, Value]:
    """A row: the CPU seconds of one call, and memory."""
    begun = time.process_time()
    call()
    seconds = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"{what:60}{seconds:9.2f} s{memory:8.2f} GB", flush=True)
    return {"what": what, "cpu_seconds": seconds, "aim_seconds": aim, "memory_gb": memory}


def opinions(n: int) -> list[str]:
    """So many opinions made of those of the example."""
    rng = np.random.default_rng(0)
    said = pd.read_csv(EXAMPLES / "tram.csv")["text"].tolist()
    found = []
    for _ in range(n):
        words = " ".join(rng.choice(said, 2)).rstrip(".").split()
        found.append(" ".join(rng.permutation(words)[: rng.integers(10, 40)].tolist()) + ".")
    return found


def sets() -> Iterator[JudgedSet]:
    """The published design, with drawn ratings."""
    rng = np.random.default_rng(1)
    for topic in range(TOPICS):
        one = planted(seed=topic, n=300, runs=1)
        ids = one.opinions.index.to_numpy()
        rows, sources, parts = [], {}, []
        for model in range(MODELS):
            for size in SIZES:
                for run in range(1, RUNS + 1):
                    id = f"m{model} {size}.1.{run}"
                    row = {"id": id, "model": f"m{model}", "size": size, "draw": 1, "run": run}
                    row |= {"group": "", "cell": f"{size} {run}", "text": "Some want trams."}
                    rows.append(row | {"words": 200, "characters": 1200, "missing": ""})
                    shown = rng.permutation(ids[:size])
                    sources[id] = shown.tolist()
                    values = rng.integers(1, 6, (size, 4)).astype(float)
                    own = pd.DataFrame(values, columns=list(DIMENSIONS))
                    own = own.assign(judge="j", people=False, summary=id, opinion=shown)
                    parts.append(own.assign(control=False, missing=""))
        yield JudgedSet(
            study=f"topic {topic}",
            question=one.question,
            kind=one.kind,
            opinions=one.opinions,
            summaries=pd.DataFrame(rows).set_index("id"),
            sources=sources,
            ratings=pd.concat(parts, ignore_index=True),
            comparisons=one.comparisons.iloc[:0],
            planned={"j": sum(map(len, parts))},
            models={},
            judges={"j": {"kind": "citizen"}},
        )


def read_again(folder: Path) -> Callable[[], object]:
    """Reads 700,000 judgments of a file, as going on with them does."""
    own = Judgments.of(Runs(folder, "large"), "main")
    lines = []
    values = dict.fromkeys(DIMENSIONS, 3)
    for n in range(JUDGMENTS):
        lines.append(Judgment(Sitting(f"m {n // 300}.1.1", f"o{n % 300}"), "j", values))
        if len(lines) == 50_000:
            own.add(lines)
            lines.clear()
    own.add(lines)
    return lambda: {one.key: one for one in own.all()}


def coverage(seeds: int) -> list[dict[str, Value]]:
    """How often intervals hold what is planted, and how p is spread where nothing is."""
    held = {"gap": 0, "order": 0, "place": 0}
    p: list[float] = []
    for seed in range(seeds):
        one = planted(seed, n=120, gap=0.04, order=0.05, place=0.3, length=0.5)
        marks = (one.opinions["minority"] == "yes").to_numpy()
        score = minorities.represented(one).reindex(one.opinions.index).to_numpy(float)
        found = minorities.gap(score, marks)
        held["gap"] += found.low < 0.04 < found.high
        row = biases.order([one]).rows.set_index("model").loc["m"]
        held["order"] += row["low"] < -0.05 < row["high"]
        row = biases.places([one]).rows.set_index("dimension").loc["neu"]
        held["place"] += abs(row["at_equal_length"] - 0.3) < 1.96 * row["se"]
        none = planted(seed + 10_000, n=120)
        score = minorities.represented(none).reindex(none.opinions.index).to_numpy(float)
        p.append(minorities.gap(score, marks).p)
    rows: list[dict[str, Value]] = []
    for what, n in held.items():
        told = f"intervals that hold the planted {what}, of {seeds}"
        rows.append({"what": told, "cpu_seconds": None, "aim_seconds": None, "memory_gb": None})
        rows[-1]["share"] = n / seeds
    told = f"gaps with p < .05 where none is planted, of {seeds}"
    rows.append({"what": told, "cpu_seconds": None, "aim_seconds": None, "memory_gb": None})
    rows[-1]["share"] = float((np.array(p) < 0.05).mean())
    for row in rows:
        print(f"{row['what']:60}{row['share']:9.3f}")
    return rows


def main() -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    tfidf_points(opinions(50))  # what is imported is not measured
    texts = opinions(1_000)
    rows = [
        measured(
            "1,000 opinions: points and local outliers",
            3.0,
            lambda: local_outliers(tfidf_points(texts), ["all"] * len(texts)),
        ),
        measured("1,000 opinions: extractive summary", 1.0, lambda: by_relevance(texts)),
        measured("1,000 opinions: themes", None, lambda: by_themes(texts, 1)),
    ]
    judged = list(sets())
    rows.append(measured("report of 696,600 judgments", 60.0, lambda: summaries_report(judged)))
    rows.append(measured("its scores alone", None, lambda: scores_of(judged)))
    judged.clear()
    with tempfile.TemporaryDirectory() as folder:
        rows.append(measured("reading 700,000 judgments again", 10.0, read_again(Path(folder))))
    rows = [row | {"share": None} for row in rows]
    rows += coverage(given.seeds) if given.seeds else []
    if given.keep:
        print(record("summaries", ABOUT, rows, ["numpy", "scikit-learn", "pandas"]))


if __name__ == "__main__":
    main()
