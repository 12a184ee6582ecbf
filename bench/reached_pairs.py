"""Measure how near scores come to the truth by pairs: python bench/reached_pairs.py

Random against adaptive pairs, 100 texts, beside the table of the definitions (PAIRS 12). Run it by
hand, never in CI; it takes minutes.
"""

import argparse

import numpy as np
from coverage_pairs import DELTA, SPREADS, TEXTS, THETA, votes_on
from numpy.typing import NDArray
from record import Value, record
from threadpoolctl import threadpool_limits

from delibsim.measures.bradley_terry.adaptive import next_pairs
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.likelihood import Normal
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import random_pairs, ring, shown

BATCH, STEPS, WIDE = 50, (8, 12, 16, 20), 4.0
TABLE = {
    ("random", 1.0): (0.75, 0.82, 0.86, 0.89),
    ("random", 2.0): (0.87, 0.92, 0.937, 0.950),
    ("random", 4.0): (0.92, 0.95, 0.963, 0.971),
    ("adaptive", 1.0): (0.76, 0.83, 0.87, 0.89),
    ("adaptive", 2.0): (0.90, 0.94, 0.956, 0.966),
    ("adaptive", 4.0): (0.957, 0.977, 0.985, 0.989),
}
"""What the definitions give for random and adaptive pairs at these comparisons a text."""
ABOUT = f"""The mean correlation of scores with the truth by comparisons a text (2 * calls /
{TEXTS}), {TEXTS} texts, threshold {THETA}, place bias {DELTA}, batches of {BATCH}, no probe pairs,
a normal prior with the standard deviation `prior`; the Monte Carlo error of the last column; and
the largest difference from the table of the definitions, which names no prior. With the true
standard deviation as prior, scores come nearer to the truth than in that table, by up to 0.04 where
votes are few. With one wide prior of {WIDE:g} for all spreads all of its rows are met within 0.02,
those of random pairs within 0.01, which is its Monte Carlo error: most likely the prior is what
differs."""
Places = NDArray[np.int64]


def sheets_drawn(design: str, seed: int) -> Places:
    """The sheets of a design at the beginning: all where they are drawn, else a ring."""
    if design == "adaptive":
        return shown(ring(TEXTS, 2, seed), TEXTS, seed)
    sheets = shown(random_pairs(TEXTS, TEXTS * max(STEPS) // 2, seed), TEXTS, seed)
    return np.random.default_rng(seed).permutation(sheets)


def reached(design: str, spread: float, prior: float, repeats: int) -> dict[str, Value]:
    """The correlation with the truth as comparisons are added."""
    model = Model(order=True, penalty=Normal(prior))
    r = np.zeros((repeats, len(STEPS)))
    for seed in range(repeats):
        truth = np.random.default_rng([seed, 2]).normal(0, spread, TEXTS)
        sheets = sheets_drawn(design, seed)
        for place, each in enumerate(STEPS):
            need = TEXTS * each // 2
            while len(sheets) < need:
                votes = votes_on(sheets, truth, DELTA, seed)
                known = uncertainty(fit(votes, model), clustered=False)
                chosen, _ = next_pairs(known, sheets, BATCH, len(sheets), probe=0.0)
                sheets = np.concatenate([sheets, shown(chosen, TEXTS, len(sheets))])
            # The same seed gives every sheet the vote that it had before.
            votes = votes_on(sheets[:need], truth, DELTA, seed)
            r[seed, place] = np.corrcoef(fit(votes, model).scores, truth)[0, 1]
    row: dict[str, Value] = {"design": f"{design}, spread {spread:g}, prior {prior:g}"}
    row |= {f"r_at_{each}": float(r[:, place].mean()) for place, each in enumerate(STEPS)}
    row["error"] = float(r[:, -1].std(ddof=1) / np.sqrt(repeats))
    given = TABLE[design, spread]
    row["off_table"] = float(np.abs(r.mean(axis=0) - given).max())
    print(row, flush=True)
    return row


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    settings = []
    for spread in SPREADS:
        for design in ("random", "adaptive"):
            settings += [(design, spread, prior) for prior in dict.fromkeys((spread, WIDE))]
    with threadpool_limits(1):
        rows = [reached(*setting, options.repeats) for setting in settings]
    print(record("reached_pairs", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
