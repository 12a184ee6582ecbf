"""Measure whether tests and intervals of a study keep their rates: python bench/validity.py

Studies of 11 models, 12 topics and 5 replicates are drawn with a known truth, 500 of each kind, and
the share of p below .05, or of intervals that hold the truth, is shown beside its nominal rate. The
simulation error of a share of 500 is .010 at .05 or .95.
"""

import argparse
import time

import numpy as np
from record import record

from delibsim.measures.inference.contrasts import free_p, paired_p
from delibsim.measures.inference.equivalence import equivalence_of_mean
from delibsim.measures.inference.intraclass import intraclass
from delibsim.measures.inference.resampling import cluster_interval

MODELS, TOPICS, REPLICATES = 11, 12, 5
LEVELS = 3
"""Levels of speech, such as rounds, at each of which the same control is compared."""
CORRELATIONS = (0.0, 0.5, 0.9)
PERMUTATIONS, RESAMPLES = 999, 2000
EFFECT, SD_OF_TOPICS = 0.03, 0.04
"""The true effect, and the standard deviation between topics of what a treatment does."""
ABOUT = """How often tests reject and intervals hold the truth in synthetic studies of 11 models, 12
topics and 5 replicates, where nothing else is said. Rejections of a true null are at the level of
5%; the free test is to be conservative where pairs are correlated. `ks_p` is that of a
Kolmogorov-Smirnov test of p being uniform."""


def pairs_of(correlation, rng, effect=0.0, sd_topic=0.0, topics=TOPICS):
    """Values under both treatments, of shape (topics, models, replicates)."""
    shape = (topics, MODELS, REPLICATES)
    shared = np.sqrt(correlation) * rng.normal(0, 0.1, shape)
    alone = np.sqrt(1 - correlation)
    b = shared + alone * rng.normal(0, 0.1, shape)
    a = shared + alone * rng.normal(0, 0.1, shape)
    return a + effect + rng.normal(0, sd_topic, (topics, 1, 1)), b


def rejections(correlation, seeds):
    """The p of both permutation tests of a true null."""
    blocks = np.repeat(np.arange(TOPICS * MODELS), REPLICATES)
    first = np.repeat([True, False], len(blocks))
    free, paired = [], []
    for seed in range(seeds):
        a, b = pairs_of(correlation, np.random.default_rng([1, seed, round(10 * correlation)]))
        values = np.concatenate([a.ravel(), b.ravel()])
        free.append(free_p(values, first, np.tile(blocks, 2), PERMUTATIONS, seed))
        paired.append(paired_p((a - b).ravel(), blocks, PERMUTATIONS, seed))
    return np.array(free), np.array(paired)


def rejections_at_levels(seeds):
    """The p of both tests of a true null, where one control of a replicate serves all levels.

    The tests are those that know of it, paired and free, then the same without that knowledge.
    """
    shape = (TOPICS, LEVELS, REPLICATES)
    count = int(np.prod(shape))
    blocks = np.repeat(np.arange(TOPICS * LEVELS), REPLICATES)
    of_control = np.arange(TOPICS * REPLICATES).reshape(TOPICS, 1, REPLICATES)
    controls = np.broadcast_to(of_control, shape).ravel()
    first = np.repeat([True, False], count)
    sessions = np.concatenate([np.arange(count), count + controls])
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([5, seed])
        a, control = rng.normal(0, 0.1, shape), rng.normal(0, 0.1, (TOPICS, 1, REPLICATES))
        b = np.broadcast_to(control, shape)
        flipped = ((a - b).ravel(), blocks, PERMUTATIONS, seed)
        values = np.concatenate([a.ravel(), b.ravel()])
        permuted = (values, first, np.tile(blocks, 2), PERMUTATIONS, seed)
        own = (paired_p(*flipped, controls), free_p(*permuted, sessions))
        found.append((*own, paired_p(*flipped), free_p(*permuted)))
    return np.array(found).T


def coverage(topics, seeds):
    """How often the interval over topics holds the true effect."""
    held = []
    names = np.repeat(np.arange(topics), MODELS)
    for seed in range(seeds):
        rng = np.random.default_rng([2, seed])
        a, b = pairs_of(0.5, rng, EFFECT, SD_OF_TOPICS, topics)
        low, high = cluster_interval((a - b).mean(axis=2).ravel(), names, RESAMPLES, seed)
        held.append(low <= EFFECT <= high)
    return np.mean(held)


def equivalences(seeds):
    """How often treatments are called equivalent whose difference is exactly the margin."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng([3, seed])
        a, b = pairs_of(0.5, rng, EFFECT, SD_OF_TOPICS)
        found.append(equivalence_of_mean((a - b).mean(axis=(1, 2)), EFFECT).p < 0.05)
    return np.mean(found)


def of_topics(truth, topics, seeds):
    """The mean intraclass correlation, and how often its interval holds the truth."""
    each = 3 * MODELS * REPLICATES
    sd, found, held = np.sqrt(truth / (1 - truth)), [], []
    for seed in range(seeds):
        rng = np.random.default_rng([4, seed])
        values = rng.normal(size=(topics, each)) + rng.normal(0, sd, (topics, 1))
        one = intraclass(values.ravel(), np.repeat(range(topics), each))
        found.append(one.icc)
        held.append(one.low <= truth <= one.high)
    return np.mean(found), np.mean(held)


def row(what, nominal, found, seeds, ks=None):
    """A row of the table."""
    print(f"{what:66}{nominal:8.3f}{found:8.3f}", flush=True)
    return {
        "what": what,
        "nominal": nominal,
        "found": float(found),
        "ks_p": None if ks is None else float(ks),
        "seeds": seeds,
    }


def check(seeds):
    """Print the table and keep it."""
    from scipy.stats import kstest

    started, rows = time.perf_counter(), []
    for correlation in CORRELATIONS:
        free, paired = rejections(correlation, seeds)
        of = f"true null rejected, pairs correlated {correlation:g}"
        for name, p in (("paired", paired), ("free", free)):
            uniform = kstest(p, "uniform").pvalue
            rows.append(row(f"{of}: {name} test", 0.05, np.mean(p <= 0.05), seeds, uniform))
    tests = ("paired test", "free test", "paired, blocks as independent", "free, the same")
    for name, p in zip(tests, rejections_at_levels(seeds), strict=True):
        what = f"true null rejected, one control at {LEVELS} levels, one model: {name}"
        rows.append(row(what, 0.05, np.mean(p <= 0.05), seeds))
    for topics in (12, 24, 48):
        name = f"95% interval of a contrast holds the truth, {topics} topics"
        rows.append(row(name, 0.95, coverage(topics, seeds), seeds))
    name = "called equivalent where the difference is the margin"
    rows.append(row(name, 0.05, equivalences(seeds), seeds))
    for topics in (12, 48):
        mean, held = of_topics(0.1, topics, seeds)
        rows.append(row(f"mean intraclass correlation of .1, {topics} topics", 0.1, mean, seeds))
        name = f"95% interval of it holds the truth, {topics} topics"
        rows.append(row(name, 0.95, held, seeds))
    print(f"{seeds} studies a row, {time.perf_counter() - started:.0f} s")
    print(record("validity", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=500)
    check(parser.parse_args().seeds)
