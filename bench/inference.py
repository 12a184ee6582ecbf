"""Measure how fast the inference of a study is, beside a plain loop: python bench/inference.py

The study has the size of the published one: 11 set-ups, 12 topics, 3 treatments, 5 replicates.
Then studies of 100,000 runs: more replicates of the same blocks, and more topics and models; each
in a process of its own, whose highest memory is shown. Whether tests and intervals hold is shown by
bench/validity.py. Run it by hand, never in CI.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
import pandas as pd
from record import record

from delibsim.analysis.study.analyses.aqua import aqua
from delibsim.analysis.study.analyses.by_block import by_block
from delibsim.analysis.study.analyses.contrasts import contrasts
from delibsim.analysis.study.analyses.equivalence import equivalence
from delibsim.analysis.study.analyses.icc import icc, indicators
from delibsim.analysis.study.analyses.mixed import mixed
from delibsim.analysis.study.analyses.noise_floor import noise_floor
from delibsim.analysis.study.analyses.reasoning import reasoning
from delibsim.analysis.study.analyses.specifications import specifications
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.report.findings import findings
from delibsim.analysis.study.sample.blocks import compared
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.components import intraclass
from delibsim.measures.inference.contrasts import flipped_p, free_p
from delibsim.measures.inference.resampling import cluster_interval

ANALYSES = (
    contrasts, by_block, noise_floor, icc, equivalence, reasoning, aqua, specifications, mixed,
)  # fmt: skip
"""What is timed, in this order; another analysis of a study is timed by adding it here."""
PUBLISHED = (11, 12, 5)
"""Models, topics and replicates of the published study; it has three treatments."""
LARGE = {"more replicates": (11, 12, 252), "more topics and models": (50, 133, 5)}
TREATMENTS = ("none", "basic", "normative")
LOOPED = 20
"""Permutations and resamples of the plain loops, which are scaled up."""
ABOUT = f"""Seconds of inference with 10,000 permutations, 10,000 bootstrap draws and 2,000 draws
of the parametric bootstrap of the mixed model, beside the aim and beside plain loops, which were
timed on {LOOPED} draws and scaled up. `analyze` is everything that the command computes from the
table of a study, without reading runs and without drawing figures. Seconds of processor
time are those of all cores, which other work on the machine does not change. Memory is the highest
of the process, with Python and the table."""


def study(models, topics, replicates, seed=0):
    """A balanced study in which treatments move nothing, with every column that is analysed."""
    rng = np.random.default_rng(seed)
    named = [range(topics), range(models), range(1, replicates + 1), TREATMENTS]
    rows = pd.MultiIndex.from_product(named).to_frame(index=False)
    rows.columns = ["topic", "model", "replicate", "treatment"]
    shared = rng.normal(0, 0.1, (topics, models, replicates))
    size = len(rows)
    change = np.repeat(shared.ravel(), len(TREATMENTS)) + rng.normal(0, 0.1, size)
    rows["reasoning"] = rows["model"] % 2 == 1
    rows["family"] = "family" + (rows["model"] // 2).astype(str)
    rows["topic"] = "topic" + rows["topic"].astype(str)
    rows["model"] = "model" + rows["model"].astype(str)
    rows["setting"] = ""
    rows["null"] = False
    rows["status"] = "complete"
    for measure, scale in (("dri", 1.0), ("dri_adjusted", 1.1), ("diversity", 5.0)):
        rows[f"{measure}_change"] = scale * (change + rng.normal(0, 0.02, size))
        rows[f"{measure}_relative_change"] = rows[f"{measure}_change"] / 0.7
    for measure, level in (("dri", 0.3), ("dri_adjusted", 0.3), ("diversity", 8.0)):
        rows[f"{measure}_pre"] = level * (1 + rng.normal(0, 0.2, size))
        rows[f"{measure}_post"] = rows[f"{measure}_pre"] + rows[f"{measure}_change"]
    for measure in ("opinion_change_c", "opinion_change_p", "rank_stability"):
        rows[f"{measure}_change"] = rng.uniform(0, 1, size)
    rows["rounds"] = np.where(rows["treatment"] == "none", 0, 2)
    rows["aqua.score"] = np.where(rows["treatment"] == "none", np.nan, rng.normal(2.94, 0.12, size))
    return StudyTable("bench", rows, columns=())


def timed(function, *arguments):
    """Wall seconds and processor seconds of one call."""
    start, cpu = time.perf_counter(), time.process_time()
    function(*arguments)
    return time.perf_counter() - start, time.process_time() - cpu


def parts(found, draws):
    """Each part of the inference of one contrast on arrays, and its plain loop over `n` draws."""
    runs, pairs, blocks = found.runs, found.pairs, found.blocks
    first = runs["treatment"] == found.a
    values, flips = draws.permutations, pairs["difference"]
    rng = np.random.default_rng(0)
    of_block = [own for _, own in runs.groupby("block")]
    of_pairs = [own.to_numpy() for _, own in pairs.groupby("block")["difference"]]
    of_draws = [own.to_numpy() for _, own in pairs.groupby("block")["draw"]]
    of_topic = [own.to_numpy() for _, own in blocks.groupby("topic")["difference"]]
    labelled = [
        (own["value"].to_numpy(), (own["treatment"] == found.a).to_numpy()) for own in of_block
    ]
    return {
        "free permutation test": (
            lambda: free_p(runs["value"], first, runs["block"], values, 1),
            lambda n: [free_draw(labelled, rng) for _ in range(n)],
        ),
        "signs flipped by draw": (
            lambda: flipped_p(flips, pairs["block"], pairs["draw"], values, 1),
            lambda n: [paired_draw(of_pairs, of_draws, rng) for _ in range(n)],
        ),
        "bootstrap over topics": (
            lambda: cluster_interval(blocks["difference"], blocks["topic"], draws.resamples, 1),
            lambda n: [topics_draw(of_topic, rng) for _ in range(n)],
        ),
    }


def free_draw(labelled, rng):
    """One contrast with labels permuted block by block."""
    means = []
    for values, marks in labelled:
        shuffled = rng.permutation(marks)
        means.append(values[shuffled].mean() - values[~shuffled].mean())
    return np.mean(means)


def paired_draw(differences, draws, rng):
    """One contrast with the signs of each draw flipped in all blocks at once."""
    signs = rng.choice([-1, 1], 1 + max(own.max() for own in draws))
    pairs = zip(differences, draws, strict=True)
    return np.mean([(own * signs[draw]).mean() for own, draw in pairs])


def topics_draw(differences, rng):
    """One contrast of topics drawn with replacement."""
    picked = rng.integers(0, len(differences), len(differences))
    return np.concatenate([differences[i] for i in picked]).mean()


def row(what, runs, seconds, aim=None, loop=None, memory=None):
    """A row of the table."""
    wall, cpu = seconds
    print(f"{what:55}{runs:9,}{wall:9.2f} s{cpu:9.2f} s cpu", flush=True)
    return {
        "what": what,
        "runs": runs,
        "seconds": wall,
        "cpu_seconds": cpu,
        "aim_seconds": aim,
        "loop_seconds": loop,
        "memory_mb": memory,
    }


def published():
    """The rows of a study of the published size."""
    draws, table = Draws(), study(*PUBLISHED)
    contrasts(study(2, 2, 2), Draws(10, 10, 10))  # imports
    found = compared(table.rows, "dri_change", "normative", "none")
    size, rows = len(table.rows), []
    for name, (ours, loop) in parts(found, draws).items():
        looped = timed(loop, LOOPED)[0] * draws.permutations / LOOPED
        rows.append(row(f"one contrast: {name}", size, timed(ours), loop=looped))
    together = [sum(one[key] for one in rows) for key in ("seconds", "cpu_seconds")]
    looped = sum(one["loop_seconds"] for one in rows)
    rows.append(row("one contrast: the three together", size, together, 2.0, looped))
    values, topics = table.rows["dri_change"], table.rows["topic"]
    fixed = indicators(table.rows, ["model", "treatment"])
    seconds = timed(intraclass, values, topics, fixed)
    rows.append(row("intraclass correlation after fixed effects", size, seconds))
    for analysis in ANALYSES:
        rows.append(row(analysis.__name__, size, timed(analysis, table, draws)))
    rows.append(row("analyze: all analyses together", size, timed(findings, table, draws)))
    return rows


def large(name):
    """The rows of a study of 100,000 runs, in this process."""
    made, draws = time.perf_counter(), Draws()
    table = study(*LARGE[name])
    size = len(table.rows)
    print(f"{name}: table of {size:,} runs made in {time.perf_counter() - made:.1f} s", flush=True)
    rows = []
    for analysis in (contrasts, by_block, noise_floor, equivalence):
        seconds = timed(analysis, table, draws)
        aim = 60.0 if analysis is contrasts else None
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(row(f"{analysis.__name__}, {name}", size, seconds, aim, memory=memory))
    return rows


def in_a_process(name):
    """The rows of `large`, from a process of its own."""
    command = [sys.executable, __file__, "--large", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    print("\n".join(lines), flush=True)
    return json.loads(last)


def main():
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", choices=LARGE, help="one large study; rows as JSON")
    given = parser.parse_args()
    if given.large:
        print(json.dumps(large(given.large)))
        return
    rows = published()
    for name in LARGE:
        rows += in_a_process(name)
    print(record("inference", ABOUT, rows, ["numpy", "scipy", "pandas"]))


if __name__ == "__main__":
    main()
