"""Measure how often intervals of agreement hold the truth: python bench/coverage_agreement.py

Coders of known agreement code texts of known shares of levels. The truth is the value in
400,000 texts. Run it by hand, never in CI; it takes some minutes.
"""

import argparse
from functools import partial

import numpy as np
from record import record

from delibsim.measures.inference.means import equivalence
from delibsim.measures.reliability.bootstrap import bootstrap, difference
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import coefficient

LEVELS, CODERS, TRUTH = 4, 3, 400_000
SHARES = {"even": [0.25] * 4, "skewed": [0.85, 0.10, 0.03, 0.02]}
SIZES = (50, 200, 1000)
KNOWN = 0.8
"""The probability with which a coder gives the true level and does not draw one."""
KINDS = [
    ("ac", "linear"),
    ("kappa", "linear"),
    ("fleiss", "linear"),
    ("brennan_prediger", "linear"),
    ("alpha", "interval"),
    ("alpha", "ordinal"),
]
ABOUT = """How often an interval of 95% holds the true coefficient, by t and by bootstrap: three
coders and four levels; each coder gives the true level with probability .8, and draws one at random
otherwise. `even` levels have a quarter of the texts each, `skewed` ones 85, 10, 3 and 2%. `missing`
is the share of codes that are missing. The simulation error of a share of 1,000 tables is .007 at
.95. The last rows are how often two AC2 on the same texts that differ by exactly the bound are
called equivalent, at the level of .05."""


def drawn(texts, shares, missing, rng, known=KNOWN):
    """Codes (texts, coders): NaN where one is missing."""
    truth = rng.choice(LEVELS, size=(texts, 1), p=shares)
    shape = (texts, CODERS)
    guesses = rng.choice(LEVELS, size=shape, p=shares)
    codes = np.where(rng.random(shape) < known, truth, guesses).astype(float)
    codes[rng.random(shape) < missing] = np.nan
    return codes


def coverage(name, texts, missing, tables, resamples):
    """A row for each coefficient: the shares of intervals that hold the truth."""
    rng = np.random.default_rng([1, texts, round(100 * missing), sorted(SHARES).index(name)])
    population = codes_of(drawn(TRUTH, SHARES[name], missing, rng), range(LEVELS))
    truths = [coefficient(population, *kind).value for kind in KINDS]
    held = np.full((2, len(KINDS), tables), np.nan)
    for i in range(tables):
        codes = codes_of(drawn(texts, SHARES[name], missing, rng), range(LEVELS))
        draws = bootstrap(codes, KINDS, resamples, i)
        for k, kind in enumerate(KINDS):
            found = coefficient(codes, *kind)
            if not np.isnan(found.error):
                held[0, k, i] = holds(found.interval(), truths[k])
            if not found.reason:
                held[1, k, i] = holds(draws[k].interval(), truths[k])
    rows = []
    for k, kind in enumerate(KINDS):
        shares = [float(np.nanmean(own)) if len(own) else None for own in defined(held[:, k])]
        rows.append(row(f"{' '.join(kind)}, {name}", texts, missing, tables, shares))
    return rows


def defined(held):
    """Without what is undefined."""
    return [own[~np.isnan(own)] for own in held]


def holds(interval, truth):
    """Whether an interval holds the truth."""
    return interval[0] <= truth <= interval[1]


def size(texts, tables):
    """How often two AC2 that differ by the bound exactly are called equivalent; a row."""
    make = partial(panel, rng=np.random.default_rng([2, texts]))
    whole = make(TRUTH)
    bound = abs(difference(*whole, range(LEVELS), "ac", "linear").value)
    called = 0
    for _ in range(tables):
        found = difference(*make(texts), range(LEVELS), "ac", "linear")
        called += equivalence(found.value, found.error, found.df, bound).p < 0.05
    what = f"equivalence at the bound of {bound:.3f}, even"
    return row(what, texts, 0.0, tables, [called / tables, None])


def panel(texts, rng):
    """Two pairs of coders on the same texts, the second less able."""
    truth = rng.choice(LEVELS, size=(texts, 1))
    known = np.array([0.85, 0.85, 0.7])
    guesses = rng.choice(LEVELS, size=(texts, 3))
    codes = np.where(rng.random((texts, 3)) < known, truth, guesses).astype(float)
    return codes[:, :2], codes[:, 1:]


def row(what, texts, missing, tables, shares):
    """A row of the table."""
    print(what, texts, missing, shares, flush=True)
    return {
        "what": what,
        "texts": texts,
        "missing": missing,
        "tables": tables,
        "by_t": shares[0],
        "by_bootstrap": shares[1],
    }


def main():
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=500)
    given = parser.parse_args()
    rows = []
    for missing in (0.0, 0.3):
        for name in SHARES:
            for texts in SIZES if not missing else SIZES[:2]:
                rows += coverage(name, texts, missing, given.tables, given.resamples)
    rows += [size(texts, given.tables) for texts in SIZES]
    print(record("coverage_agreement", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
