"""Measure where the rule r ends adaptive comparisons: python bench/stopped_pairs.py

What it says of the correlation with the truth, beside the truth. Run it by hand, never in CI.
"""

import argparse

import numpy as np
from coverage_pairs import DELTA, SPREADS, THETA
from record import Value, record
from threadpoolctl import threadpool_limits

from delibsim.asking.adaptive import Chain, Known, next_step
from delibsim.domain.adaptive import Batch
from delibsim.domain.comparison import Vote

TEXTS, BATCH = 100, 50
ABOUT = f"""Adaptive comparisons of {TEXTS} texts (threshold {THETA}, place bias {DELTA}, batches of
{BATCH}, a fifth drawn at random, spread of the texts estimated) until design.until=r:TARGET ended
them, 40 comparisons a text at most: comparisons a text, the mean of r by the errors of the fit, by
the pairs drawn at random, and with the truth, the standard deviation of the last, the share of
comparisons in which it is below the target, and below it by more than 0.02."""


def course(spread: float, target: float, seed: int) -> tuple[float, ...]:
    """Comparisons a text, and r by the fit, by probes and with the truth, where it ended."""
    ids = [f"{n:03}" for n in range(TEXTS)]
    truth = np.random.default_rng([seed, 2]).normal(0, spread, TEXTS)
    rng = np.random.default_rng([seed, 3])
    chain = Chain("d", {"": ids}, ("bench", seed), BATCH, 0.2, "one", 40, {"r": target})
    batches: list[Batch] = []
    votes: list[Vote] = []
    while isinstance(step := next_step(chain, batches, votes), Batch):
        batches.append(step)
        for sheet in step.sheets:
            d = truth[int(sheet.a)] - truth[int(sheet.b)] + DELTA
            draw = rng.random()
            won, lost = 1 / (1 + np.exp(THETA - d)), 1 / (1 + np.exp(THETA + d))
            outcome = "a" if draw < won else "b" if draw < won + lost else "tie"
            votes.append(Vote(sheet, "judge", "d", outcome))
    known = Known(chain, batches, votes)
    reached = np.corrcoef(known.found.fit.scores, truth)[0, 1]
    return 2 * len(votes) / TEXTS, known.r_fit, known.r_probe, float(reached)


def stopped(spread: float, target: float, repeats: int) -> dict[str, Value]:
    """One row."""
    found = np.array([course(spread, target, seed) for seed in range(repeats)])
    each, by_fit, by_probe, r = np.nanmean(found, axis=0).tolist()
    row: dict[str, Value] = {"rule": f"r:{target:g}, spread {spread:g}", "comparisons": each}
    row |= {"r_fit": by_fit, "r_probe": by_probe, "r": r, "sd": float(found[:, 3].std(ddof=1))}
    row["below"] = float((found[:, 3] < target).mean())
    row["below_by_0.02"] = float((found[:, 3] < target - 0.02).mean())
    print(row, flush=True)
    return row


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    with threadpool_limits(1):
        settings = [(spread, target) for spread in SPREADS for target in (0.9, 0.95)]
        rows = [stopped(*setting, options.repeats) for setting in settings]
    print(record("stopped_pairs", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
