"""Measure how fast strengths of texts are fitted: python bench/pairs.py

One core, no other threads; CPU seconds, the least of some calls. Beside choix where it is installed
(it is no dependency). With --data FOLDER the Webis pairs are fitted too. Run it by hand, never in
CI.
"""

import argparse
import csv
import resource
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from record import Value, record
from threadpoolctl import threadpool_limits

from delibsim.measures.bradley_terry.adaptive import next_pairs
from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.fit import Fit, Model, fit
from delibsim.measures.bradley_terry.likelihood import Dummy
from delibsim.measures.bradley_terry.stability import bootstrap
from delibsim.measures.bradley_terry.strengths import ranks
from delibsim.measures.bradley_terry.uncertainty import uncertainty

TEXTS, VOTES, DRAWS = 1_000, 100_000, 1_000
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "webis"
ABOUT = """CPU seconds on one core, from counts of votes to the result, the least of some calls,
and the largest gradient that a fit leaves (0 is the maximum). Votes are drawn at random among all
pairs, strengths with standard deviation 1.5, threshold 0.3, place bias 0.3. Memory is that of the
whole process at its largest so far, the votes themselves among it. A peer is shown where it is
installed."""
PLAIN, TIES = Model("bt"), Model(order=True)


def simulated(n: int, votes: int, seed: int) -> Counts:
    """Votes of Rao and Kupper's model with place bias."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 1.5, n)
    first = rng.integers(0, n, votes)
    second = (first + rng.integers(1, n, votes)) % n
    d = strengths[first] - strengths[second] + 0.3
    won, lost = 1 / (1 + np.exp(0.3 - d)), 1 / (1 + np.exp(0.3 + d))
    chance = rng.random(votes)
    outcome = np.where(chance < won, 1, np.where(chance < won + lost, -1, 0))
    return counted(n, first, second, outcome)


def cpu(function: Callable[[], object], calls: int) -> tuple[float, object]:
    """The least CPU time of some calls, and what the last one gave."""
    best, found = np.inf, None
    for _ in range(calls):
        start = time.process_time()
        found = function()
        best = min(best, time.process_time() - start)
    return best, found


def gradient(found: object) -> float | None:
    """The largest derivative of what a fit maximises."""
    if not isinstance(found, Fit):
        return None
    slope, _ = found.problem.slope(found.problem.at(found.point))
    return float(np.abs(slope).max())


def row(what: str, function: Callable[[], object], calls: int, target: float | None) -> dict:
    """A row of the table."""
    seconds, found = cpu(function, calls)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    made: dict[str, Value] = {"what": what, "cpu_s": seconds, "to_reach_s": target}
    made |= {"gradient": gradient(found), "memory_gb": memory}
    print(what, f"{seconds:.3f}", flush=True)
    return made


def with_errors(votes: Counts, model: Model) -> Fit:
    """A fit with the errors of scores, delta and theta, model-based and clustered, and of ranks."""
    found = fit(votes, model)
    for clustered in (False, True):
        errors = uncertainty(found, clustered)
        errors.score_intervals()
        errors.delta()
    ranks(errors)
    return found


def webis(folder: Path) -> Counts | None:
    """The Webis pairs; None where they are not there."""
    file = folder / "pairs_logical.csv"
    if not file.is_file():
        return None
    numbers: dict[tuple[str, str], int] = {}
    votes: list[tuple[int, ...]] = []
    with file.open(encoding="utf-8") as rows:
        for one in csv.DictReader(rows):
            texts = [(one["topic"], one[side]) for side in ("a", "b")]
            places = [numbers.setdefault(text, len(numbers)) for text in texts]
            votes.append((*places, {"a": 1, "tie": 0, "b": -1}[one["outcome"]]))
    return counted(len(numbers), *np.array(votes).T)


def of_a_thousand(draws: int) -> list[dict]:
    """The rows of 1,000 texts."""
    votes = simulated(TEXTS, VOTES, 1)
    rows = []
    for name, model, target in (("plain", PLAIN, 0.15), ("ties and place bias", TIES, None)):
        what = f"{TEXTS:,} texts, {VOTES:,} votes, one fit, {name}"
        rows.append(row(what, lambda model=model: fit(votes, model), 5, target))
    what = "the same, ties and place bias, all errors and ranks"
    rows.append(row(what, lambda: with_errors(votes, TIES), 3, 1.0))
    for name, model in (("plain", PLAIN), ("ties and place bias", TIES)):
        found = fit(votes, model)
        what = f"{draws:,} bootstrap fits of it, {name}"
        target = 90.0 * draws / DRAWS
        rows.append(row(what, lambda found=found: bootstrap(found, draws, 1), 1, target))
    few = simulated(TEXTS, 10_000, 2)
    judged = few.pairs

    def batch() -> object:
        return next_pairs(uncertainty(fit(few, TIES), clustered=False), judged, 50, 1)

    rows.append(row(f"choosing an adaptive batch of 50 among {TEXTS:,} texts", batch, 3, 0.6))
    return rows


def peer(votes: Counts) -> list[dict]:
    """The row of choix 0.4.1, where it is installed; decided votes only."""
    if not find_spec("choix"):
        return []
    choix = import_module("choix")
    won, lost = votes.a.astype(int), votes.b.astype(int)
    data = np.concatenate(
        [
            np.repeat(np.column_stack([votes.first, votes.second]), won, axis=0),
            np.repeat(np.column_stack([votes.second, votes.first]), lost, axis=0),
        ]
    ).tolist()
    return [
        row("choix, ilsr_pairwise, the same", lambda: choix.ilsr_pairwise(TEXTS, data), 1, None)
    ]


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--draws", type=int, default=DRAWS)
    options = parser.parse_args()
    with threadpool_limits(1):
        rows = of_a_thousand(options.draws) + peer(simulated(TEXTS, VOTES, 1))
        people = webis(options.data)
        if people is not None:
            model = Model(theta=0.05, penalty=Dummy(0.1, 1))
            what = "Webis, one dimension, 20 topics, one fit"
            rows.append(row(what, lambda: fit(people, model), 5, 0.1))
        votes = simulated(10_000, 1_000_000, 3)
        for name, model, target in (("plain", PLAIN, 3.0), ("ties and place bias", TIES, 3.0)):
            what = f"10,000 texts, 1,000,000 votes, one fit, {name}"
            rows.append(row(what, lambda model=model: fit(votes, model), 2, target))
    print(record("pairs", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
