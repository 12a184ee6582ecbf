"""Measure how often intervals of strengths hold the truth: python bench/coverage_pairs.py

100 texts, Rao and Kupper's model with threshold 0.3 and place bias 0.4, both estimated, dummy 0.1,
with random pairs and with adaptive ones; and how often those of a difference between two conditions
do. Also whether p values of "no place bias" are uniform where there is none. Run it by hand, never
in CI; it takes a quarter of an hour.
"""

import argparse
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from record import Value, record
from scipy.stats import kstest, norm
from threadpoolctl import threadpool_limits

from delibsim.asking.designs import Chain, Known, next_step
from delibsim.domain.comparison import Batch, Rule, Vote
from delibsim.measures.bradley_terry.adaptive import PROBE
from delibsim.measures.bradley_terry.counts import Counts, counted
from delibsim.measures.bradley_terry.fit import Model, fit
from delibsim.measures.bradley_terry.stability import jackknifed, stretch
from delibsim.measures.bradley_terry.strengths import cluster_weights, contrast_of_strengths
from delibsim.measures.bradley_terry.uncertainty import uncertainty
from delibsim.measures.designs import random_pairs, shown

TEXTS, THETA, DELTA = 100, 0.3, 0.4
SPREADS, EACH = (1.0, 2.0, 4.0), (10, 20, 40)
MODEL = Model(order=True)
ADAPTIVE = (10, 20, 30)
TARGET, MOST, BATCH = 0.9, 40, 50
SESSIONS, OF_SESSION, SPREAD_OF_SESSIONS = 5, 3, 0.5
ABOUT = f"""How often intervals of 95 percent hold the truth: {TEXTS} texts with strengths of
standard deviation `spread`, one drawn order, Rao and Kupper's model, threshold {THETA}
and place bias {DELTA} estimated, dummy 0.1. `width` is the median width of the
intervals of scores, `scale` the standard deviation of the scores over that of the
truth, `r` their correlation. Intervals of delta and theta after the jackknife have the
same width, about the corrected value. `uniform_p` is p of a Kolmogorov test that p
values of "no place bias" are uniform where there is none. Adaptive pairs in batches of
{BATCH}, a ring and {PROBE:g} of every batch drawn at random: the interval of all votes,
as textbooks have it, and that of the random part, which reports give. `contrast`: the
difference of two conditions with {SESSIONS} sessions each in a topic, {OF_SESSION}
texts a session (standard deviation 1, of sessions {SPREAD_OF_SESSIONS:g}), pairs drawn
at random within topics, with the errors of the strengths; `as_data`: the same by
Welch's test of the sessions' means, which takes strengths for data; `estimate` is the
mean estimate. A row of adaptive pairs is of a fifth as many studies,
a row of contrasts of four times as many."""
COLUMNS = (
    "scores width r delta theta delta_jackknifed theta_jackknifed scale uniform_p contrast as_data"
    " estimate"
).split()
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
    inside, scales, p, widths, r = [], [], [], [], []
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
        widths.append(np.median(scores.high - scores.low))
        r.append(np.corrcoef(found.scores, truth)[0, 1])
        without, _ = drawn(spread, each, 0.0, seed)
        none = uncertainty(fit(without, MODEL)).delta()
        p.append(2 * norm.sf(abs(none.value[0] / none.error[0])))
    names = ("scores", "delta", "theta", "delta_jackknifed", "theta_jackknifed")
    shares = np.mean(np.array(inside, dtype=float), axis=0).tolist()
    means: dict[str, float] = dict(zip(names, shares, strict=True))
    means |= {"width": float(np.mean(widths)), "r": float(np.mean(r))}
    means |= {"scale": float(np.mean(scales)), "uniform_p": float(kstest(p, "uniform").pvalue)}
    return row_of(f"random, spread {spread:g}, {each} a text", means)


def row_of(design: str, values: dict[str, float]) -> dict[str, Value]:
    """A row of the table, shown as it is made."""
    row: dict[str, Value] = {"design": design}
    row |= {name: values.get(name) for name in COLUMNS}
    print({name: value for name, value in row.items() if value is not None}, flush=True)
    return row


def course(
    spread: float, most: int, until: Mapping[Rule, float], seed: int
) -> Iterator[tuple[Known, Array]]:
    """What is known after every batch of an adaptive comparison, and the truth."""
    ids = [f"{n:03}" for n in range(TEXTS)]
    truth = np.random.default_rng([seed, 2]).normal(0, spread, TEXTS)
    rng = np.random.default_rng([seed, 3])
    chain = Chain("d", {"": ids}, ("bench", seed), BATCH, PROBE, "one", most, until)
    batches: list[Batch] = []
    votes: list[Vote] = []
    while isinstance(step := next_step(chain, batches, votes), Batch):
        batches.append(step)
        for sheet in step.sheets:
            d = truth[int(sheet.a)] - truth[int(sheet.b)] + DELTA
            won, lost = 1 / (1 + np.exp(THETA - d)), 1 / (1 + np.exp(THETA + d))
            draw = rng.random()
            outcome = "a" if draw < won else "b" if draw < won + lost else "tie"
            votes.append(Vote(sheet, "judge", "d", outcome))
        yield Known(chain, tuple(batches), tuple(votes)), truth - truth.mean()


def of_known(known: Known, truth: Array) -> tuple[list[float], list[float]]:
    """Coverage, width, r and scale by all votes, and by the random part."""
    found = []
    assert known.random is not None
    for errors in (uncertainty(fit(known.counts, MODEL)), known.random):
        ends, scores = errors.score_intervals(), errors.fit.scores
        inside = ((ends.low < truth) & (truth < ends.high)).mean()
        width = np.median(ends.high - ends.low)
        r = np.corrcoef(scores, truth)[0, 1]
        found.append([float(inside), float(width), float(r), float(scores.std() / truth.std())])
    return found[0], found[1]


def adaptive(spread: float, repeats: int) -> Iterator[dict[str, Value]]:
    """How often both intervals hold the truth after so many comparisons a text, and where the rule
    r ends them.
    """
    kept: dict[str, list[tuple[list[float], list[float]]]] = {}
    for seed in range(repeats):
        left = list(ADAPTIVE)
        for known, truth in course(spread, ADAPTIVE[-1], {}, seed):
            if left and 2 * len(known.votes) >= left[0] * TEXTS:
                kept.setdefault(f"{left.pop(0)} a text", []).append(of_known(known, truth))
        *_, (known, truth) = course(spread, MOST, {"r": TARGET}, seed)
        kept.setdefault(f"until r:{TARGET:g}", []).append(of_known(known, truth))
    for name, values in kept.items():
        for place, part in enumerate(("all votes", "random part")):
            means = np.mean([one[place] for one in values], axis=0).tolist()
            own = dict(zip(("scores", "width", "r", "scale"), means, strict=True))
            yield row_of(f"adaptive, spread {spread:g}, {name}: {part}", own)


def contrasted(topics: int, effect: float, each: int, repeats: int) -> dict[str, Value]:
    """How often the interval of a difference between two conditions holds the truth."""
    inside, as_data, estimates = [], [], []
    n = 2 * SESSIONS * OF_SESSION
    for seed in range(repeats):
        rng = np.random.default_rng([seed, 9])
        session = np.repeat(np.arange(topics * 2 * SESSIONS), OF_SESSION)
        of_sessions = rng.normal(0, SPREAD_OF_SESSIONS, topics * 2 * SESSIONS)
        first = np.arange(topics * 2 * SESSIONS) // SESSIONS % 2 == 0
        truth = rng.normal(0, 1, topics * n) + (of_sessions + effect * first)[session]
        sheets = []
        for topic in range(topics):
            pairs = random_pairs(n, n * each // 2, seed * 100 + topic)
            sheets.append(shown(pairs, n, seed) + topic * n)
        votes = votes_on(np.concatenate(sheets), truth, DELTA, seed)
        errors = uncertainty(fit(votes, MODEL))
        _, weights = cluster_weights(session.tolist())
        means, blocks = weights @ errors.fit.scores, np.arange(len(first)) // (2 * SESSIONS)
        parts = means, errors.covariance(weights), first, blocks
        found = contrast_of_strengths(*parts, stretch(votes, MODEL, seed, 5))
        data = contrast_of_strengths(means, np.zeros((len(means), len(means))), first, blocks)
        inside.append(found.low < effect < found.high)
        as_data.append(data.low < effect < data.high)
        estimates.append(found.estimate)
    name = f"effect {effect:g}, topics {topics}, {each} a text"
    values = {"contrast": float(np.mean(inside)), "as_data": float(np.mean(as_data))}
    return row_of(name, values | {"estimate": float(np.mean(estimates))})


def main() -> None:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    settings = [(spread, each) for spread in SPREADS for each in EACH]
    with threadpool_limits(1):
        rows = [covered(*setting, options.repeats) for setting in settings]
        for spread in SPREADS:
            rows += adaptive(spread, max(options.repeats // 5, 2))
        for topics in (1, 4):
            for effect, each in ((0.0, 10), (1.0, 10), (1.0, 20)):
                rows.append(contrasted(topics, effect, each, 4 * options.repeats))
    print(record("coverage_pairs", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
