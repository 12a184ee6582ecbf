"""Measure how fast coefficients of agreement are: python bench/agreement.py

Beside krippendorff where it is installed (it is no dependency). Run it by hand, never in CI.
"""

import time
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations

import numpy as np
from record import record

from delibsim.measures.reliability.bootstrap import bootstrap, resampled_differences
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

TEXTS, RESAMPLES, LEVELS = 10_000, 10_000, range(4)
ABOUT = f"""Seconds that coefficients of agreement take for {TEXTS:,} texts with four levels, 5% of
the codes missing, from an array of numbers to the coefficient: the best of five calls;
{RESAMPLES:,} resamples, of one call. Seconds of processor time are those of all cores, which other
work on the machine hardly changes. A peer is shown where it is installed."""
BOTH = [("ac", "linear"), ("alpha", "ordinal")]


def table(coders, rng):
    """Codes of coders of whom each gives the true level in seven of ten texts."""
    truth = rng.integers(0, len(LEVELS), (TEXTS, 1))
    noise = rng.integers(0, len(LEVELS), (TEXTS, coders))
    codes = np.where(rng.random((TEXTS, coders)) < 0.7, truth, noise).astype(float)
    codes[rng.random(codes.shape) < 0.05] = np.nan
    return codes


def seconds(function, calls):
    """The shortest wall time of some calls, and the shortest processor time."""
    wall, cpu = [], []
    for _ in range(calls):
        start, busy = time.perf_counter(), time.process_time()
        function()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - busy)
    return min(wall), min(cpu)


def all_pairs(tables):
    """AC2 and alpha of every pair of coders in every table, with resamples."""
    for codes in tables:
        for pair in combinations(range(codes.shape[1]), 2):
            bootstrap(codes_of(codes[:, pair], LEVELS), BOTH, RESAMPLES, 1)


def peer(codes):
    """Seconds of the package krippendorff; None where it is not installed."""
    if not find_spec("krippendorff"):
        return None
    alpha = import_module("krippendorff").alpha
    transposed = codes.T
    return seconds(lambda: alpha(transposed, level_of_measurement="ordinal"), 5)[0]


def main():
    """Print the table and keep it."""
    rng = np.random.default_rng(0)
    five, seven = table(5, rng), [table(7, rng) for _ in range(3)]
    codes = codes_of(five, LEVELS)
    measured = [
        (
            "AC2 linear with standard error, 5 coders",
            lambda: coefficient(codes_of(five, LEVELS), "ac", "linear"),
            5,
            0.02,
            None,
        ),
        (
            "alpha ordinal, 5 coders",
            lambda: coefficient(codes_of(five, LEVELS), "alpha", "ordinal"),
            5,
            0.02,
            peer(five),
        ),
        (
            "Conger's kappa linear with standard error, 5 coders",
            lambda: coefficient(codes_of(five, LEVELS), "kappa", "linear"),
            5,
            None,
            None,
        ),
        (
            "bootstrap of AC2 and alpha ordinal together, 5 coders",
            lambda: bootstrap(codes, BOTH, RESAMPLES, 1),
            1,
            1.0,
            None,
        ),
        (
            "bootstrap of Conger's kappa, 5 coders",
            lambda: bootstrap(codes, [("kappa", "linear")], RESAMPLES, 1),
            1,
            None,
            None,
        ),
        (
            "bootstrap of AC2 and alpha, 21 pairs of 7 coders, 3 dimensions",
            lambda: all_pairs(seven),
            1,
            10.0,
            None,
        ),
        (
            "bootstrap of the difference of two AC2 on the same texts",
            lambda: resampled_differences(
                five[:, :2], five[:, 1:3], LEVELS, "ac", "linear", RESAMPLES, 1
            ),
            1,
            None,
            None,
        ),
    ]
    rows = []
    for what, function, calls, aim, other in measured:
        wall, cpu = seconds(function, calls)
        own = {"what": what, "seconds": wall, "cpu_seconds": cpu, "aim_seconds": aim}
        rows.append(own | {"krippendorff_seconds": other})
        print(f"{what:65}{wall:9.4f} s{cpu:9.4f} s cpu", flush=True)
    print(record("agreement", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
