"""Measure how often intervals of agreement hold the truth: python bench/coverage_agreement.py

Coders of known agreement code texts of known shares of levels. The truth is the value in
400,000 texts. Run it by hand, never in CI; it takes some minutes. `--sessions` does the same for
the tables of `delibsim code report` where texts are of sessions.
"""

import argparse
from collections import defaultdict
from functools import partial

import numpy as np
import pandas as pd
from record import record

from delibsim.analysis.coding.agreement import against, pairs, trends
from delibsim.analysis.coding.codes import DimensionCodes
from delibsim.analysis.coding.equivalence import equivalences
from delibsim.domain.scheme import Dimension, Level
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import area_interval, area_under_curve
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


FOUR = Dimension("just", "Just", "ordinal", tuple(Level(i, str(i), "A.") for i in range(LEVELS)))
MODELS, PEOPLE = ("m", "n"), ("Ann", "Ben")
DESIGNS = ((4, 10), (6, 10), (8, 10), (24, 6))
ALIKE, HARD = 0.3, 0.5
ABOUT_SESSIONS = f"""The tables of `delibsim code report` where texts are of sessions: the share of
95% intervals that hold the truth (of p, that reject a true null at .05), over sessions and
with texts taken one by one. Two people and two models code texts with four levels. Of what a text
is worth a share of {ALIKE} is its session's, and sessions differ in how hard they are to code (the
SD of the log error is {HARD}); the errors of models go together. The area is that of a doubt that
tells something of where people disagree. {{reports}} reports a row, ten pairs of coders in each."""


def coded(sessions, texts, rng):
    """The codes of a study."""
    session = np.repeat(np.arange(sessions), texts)
    worth = rng.normal(0, ALIKE**0.5, sessions)[session]
    worth += rng.normal(0, (1 - ALIKE) ** 0.5, len(session))
    error = np.exp(rng.normal(-0.7, HARD, sessions))[session]
    shared, columns = rng.normal(size=len(session)), {}
    for coder in (ENSEMBLE, *MODELS, *PEOPLE):
        own = rng.normal(size=len(session))
        if coder not in PEOPLE:
            own = (shared + own) / 2**0.5
        columns[coder] = np.searchsorted([-1.0, 0.0, 1.0], worth + error * own).astype(float)
    names = [f"t{i}" for i in range(len(session))]
    table = pd.DataFrame(columns, index=names)
    groups = dict(zip(names, map(str, session), strict=True))
    doubt = np.round(error + rng.normal(0, 0.5, len(session)), 1)
    return DimensionCodes(FOUR, table, MODELS, PEOPLE, None, {}, groups), session, doubt


def said(sessions, texts, rng):
    """Of a study every claim, what it is about, and its ends or p; or the truths themselves."""
    own, session, doubt = coded(sessions, texts, rng)
    for row in pairs(own):
        about = row["a"], row["b"]
        yield "agreement of two coders", about, row["estimate"], ends(row), ends(row, "texts")
        if about[0] in PEOPLE:
            yield "kappa of people", about, row["kappa"], ends(row, "kappa"), None
            yield "alpha of people", about, row["alpha"], ends(row, "alpha"), None
    for row in equivalences(own, 0.1, 0.6):
        about = row["anchor"], row["other"]
        yield "delta", about, row["estimate"], ends(row), ends(row, "texts")
    parts = pd.Series(session % 2, index=own.places.index)
    for row in against(own, parts):
        if row["part"] == "1":
            found = row["difference_low"], row["difference_high"]
            yield "against: difference", "", 0.0, found, None
    apart = own.columns["Ann"] != own.columns["Ben"]
    area, error = area_under_curve(doubt, apart)
    one_by_one = area - 1.96 * error, area + 1.96 * error
    yield "foretold: area", "", area, area_interval(doubt, apart, session), one_by_one
    for row in trends(own, pd.Series(session, index=own.places.index)):
        if "rho" in row:
            yield "against_trend: p", "", 0.0, row.get("p", np.nan), None


def ends(row, name=""):
    """The ends of an interval."""
    before = f"{name}_" if name else ""
    return row.get(f"{before}low", np.nan), row.get(f"{before}high", np.nan)


def of_sessions(design, reports):
    """The rows of one design."""
    rng = np.random.default_rng([3, *design])
    truths = {(what, about): value for what, about, value, *_ in said(1_000, design[1], rng)}
    truths |= {("against: difference", ""): 0.0}
    held = defaultdict(lambda: ([], []))
    for _ in range(reports):
        for what, about, _, *both in said(*design, rng):
            for found, kept in zip(both, held[what], strict=True):
                if found is None or np.isnan(found).any():
                    continue
                p = what.endswith(": p")
                kept.append(found < 0.05 if p else holds(found, truths[what, about]))
    for what, (over, alone) in held.items():
        shown = {"claim": what, "sessions": design[0], "texts of each": design[1]}
        shown |= {"over sessions": float(np.mean(over)), "n": len(over)}
        shown |= {"texts one by one": float(np.mean(alone)) if alone else None}
        print(*shown.values(), flush=True)
        yield shown


def main():
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=500)
    parser.add_argument("--sessions", action="store_true")
    given = parser.parse_args()
    if given.sessions:
        rows = [row for design in DESIGNS for row in of_sessions(design, given.tables)]
        about = ABOUT_SESSIONS.format(reports=given.tables)
        print(record("coverage_agreement_sessions", about, rows, ["numpy", "scipy"]))
        return
    rows = []
    for missing in (0.0, 0.3):
        for name in SHARES:
            for texts in SIZES if not missing else SIZES[:2]:
                rows += coverage(name, texts, missing, given.tables, given.resamples)
    rows += [size(texts, given.tables) for texts in SIZES]
    print(record("coverage_agreement", ABOUT, rows, ["numpy", "scipy"]))


if __name__ == "__main__":
    main()
