"""Measure whether what `delibsim analyze` says of a study is so: python bench/validity.py

Studies are drawn from a known truth, 1,000 of each kind, and analysed by the functions of the
command: the share of intervals that hold the truth, of tests that reject a true null, and of
studies whose summary would have a wrong verb.
"""

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from record import record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from known_studies import Known, claims_of_contrasts, claims_of_tables, drawn

from delibsim.analysis.study.draws import Draws

DRAWS = Draws(permutations=499, resamples=499, parametric=99)
VARIED = 0.07
"""The standard deviation between topics, or models, of what a treatment does."""
ALONE = {"shared": False, "correlation": 0.0}
GRID = {
    **{f"{n} topics": Known(topics=n, sd_topic=VARIED) for n in (2, 3, 4, 6, 12)},
    "6 topics, independent draws": Known(sd_topic=VARIED, **ALONE),
    "12 topics, 11 models, .43": Known(12, 11, sd_topic=VARIED, correlation=0.43),
    "equal topics, 1 model": Known(models=1),
    "equal topics": Known(),
    "equal topics, 11 models": Known(models=11),
    "equal topics, 3 topics, .43": Known(topics=3, correlation=0.43),
    "equal topics, 12 topics, 11 models, independent draws": Known(12, 11, **ALONE),
    "models differ": Known(sd_topic=VARIED, sd_model=VARIED),
    "models and blocks differ, 12 topics, 11 models": Known(
        12, 11, sd_topic=VARIED, sd_model=VARIED, sd_block=VARIED
    ),
    "1 topic, 10 replicates": Known(topics=1, replicates=10),
    "a tenth missing": Known(sd_topic=VARIED, missing=0.1),
    "a tenth missing, equal topics": Known(models=11, missing=0.1),
    "normative .03": Known(normative=0.03, sd_topic=VARIED),
    "normative .03, 12 topics, 11 models": Known(12, 11, normative=0.03, sd_topic=VARIED),
    "skewed": Known(12, sd_topic=VARIED, skewed=True),
}
"""Kinds of studies: 6 topics, 3 models and 3 replicates where nothing else is said."""
CLAIMS = (
    "interval", "p", "interval here", "p here", "published interval", "wrong verb", "wrong here",
    "verb for an effect",
)  # fmt: skip


def shares(known, claims, seeds):
    """The share of true values of each claim over as many studies."""
    found = defaultdict(list)
    for seed in range(seeds):
        for name, value in claims(drawn(known, seed), DRAWS):
            found[name].append(value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def row(name, found, seeds):
    """A row of the table."""
    shown = {claim.replace(" ", "_"): found.get(claim) for claim in CLAIMS}
    print(f"{name:56}", {key: value and round(value, 3) for key, value in shown.items()}, flush=True)
    return {"study": name, **shown, "studies": seeds}


def main():
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--rows", default="", help="only the kinds with this in their name")
    parser.add_argument("--name", default="validity")
    parser.add_argument("--tables", action="store_true")
    given = parser.parse_args()
    rows, started = [], time.perf_counter()
    if given.tables:
        for name, known in GRID.items():
            if given.rows in name:
                print(name, shares(known, claims_of_tables, given.seeds), flush=True)
        print(time.perf_counter()-started)
        return
    for name, known in GRID.items():
        if given.rows in name:
            seeds = given.seeds // 4 if known.missing else given.seeds  # tables take their time
            rows.append(row(name, shares(known, claims_of_contrasts, seeds), seeds))
    print(f"{given.seeds} studies a row, {time.perf_counter() - started:.0f} s")
    if not given.rows:
        print(record(given.name, ABOUT, rows, ["numpy", "scipy"]))


ABOUT = "x"
if __name__ == "__main__":
    main()
