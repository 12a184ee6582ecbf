"""Measure how often intervals of strengths hold the truth: python bench/coverage_pairs.py

100 texts, Rao and Kupper's model with threshold 0.3 and place bias 0.4, both estimated, dummy 0.1.
Also whether p values of "no place bias" are uniform where there is none. Run it by hand, never in
CI; it takes minutes.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from record import Value, record
from scipy.stats import kstest, norm
from threadpoolctl import threadpool_limits

from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.stability import jackknifed
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.pair_designs import random_pairs, shown

TEXTS, THETA, DELTA = 100, 0.3, 0.4
SPREADS, EACH = (1.0, 2.0, 4.0), (10, 20, 40)
MODEL = Model(order=True)
ABOUT = f"""How often intervals of 95 percent hold the truth, {TEXTS} texts with strengths of
standard deviation `spread`, random pairs in one drawn order, Rao and Kupper's model, threshold
{THETA} and place bias {DELTA} estimated, dummy 0.1. `scale` is the standard deviation of the
scores over that of the truth. Intervals of delta and theta after the jackknife have the same
width, about the corrected value. The last column is p of a Kolmogorov test that p values of "no
place bias" are uniform where there is none."""
Array = NDArray[np.float64]


def votes_on(sheets: NDArray[np.int64], truth: Array, delta: float, seed: int) -> Counts:
    """One vote on each sheet."""
    first, second = sheets.T
    d = truth[first] - truth[second] + delta
    won, lost = 1 / (1 + np.exp(THETA - d)), 1 / (1 + np.exp(THETA + d))
    chance = np.random.default_rng(seed).random(len(first))
    outcome = np.where(chance < won, 1, np.where(chance < won + lost, -1, 0))
    return counted(len(truth), first, second, outcome)


def drawn(spread: float, each: int, delta: float, seed: int) -> tuple[Counts, Array]:
    """Votes on random pairs, and the truth, which adds up to 0."""
    truth = np.random.default_rng([seed, 1]).normal(0, spread, TEXTS)
    pairs = random_pairs(TEXTS, TEXTS * each // 2, seed)
    sheets = shown(pairs, TEXTS, seed)
    return votes_on(sheets, truth, delta, seed), truth - truth.mean()


def covered(spread: float, each: int, repeats: int) -> dict[str, Value]:
    """How often intervals hold the truth in one setting."""
    inside, scales, p = [], [], []
    for seed in range(repeats):
        votes, truth = drawn(spread, each, DELTA, seed)
        found = fit(votes, MODEL)
        errors = uncertainty(found)
        scores, delta, theta = errors.score_intervals(), errors.delta(), errors.theta()
        better_delta, better_theta = jackknifed(votes, MODEL, seed, splits=2)
        half = (delta.high - delta.low)[0] / 2
        factor = theta.high[0] / theta.value[0]
        inside.append(
            [
                ((scores.low < truth) & (truth < scores.high)).mean(),
                delta.low[0] < DELTA < delta.high[0],
                theta.low[0] < THETA < theta.high[0],
                abs(better_delta[0] - DELTA) < half,
                better_theta[0] / factor < THETA < better_theta[0] * factor,
            ]
        )
        scales.append(found.scores.std() / truth.std())
        without, _ = drawn(spread, each, 0.0, seed)
        none = uncertainty(fit(without, MODEL)).delta()
        p.append(2 * norm.sf(abs(none.value[0] / none.error[0])))
    names = ("scores", "delta", "theta", "delta_jackknifed", "theta_jackknifed")
    means = dict(zip(names, np.mean(np.array(inside, dtype=float), axis=0).tolist(), strict=True))
    row: dict[str, Value] = {"design": f"spread {spread:g}, {each} a text", **means}
    row |= {"scale": float(np.mean(scales)), "uniform_p": float(kstest(p, "uniform").pvalue)}
    print(row, flush=True)
    return row


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    settings = [(spread, each) for spread in SPREADS for each in EACH]
    with threadpool_limits(1):
        rows = [covered(*setting, options.repeats) for setting in settings]
    print(record("coverage_pairs", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
