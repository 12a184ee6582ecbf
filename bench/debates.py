"""Measure how often 95 percent intervals of debates cover equality: python bench/debates.py

Four equal debaters meet on ten motions, in 200 tournaments (60 debates, five raters each; the
effect that raters of one debate share has a standard deviation of 0.5 in log odds). Standings draw
debates, Bradley-Terry errors are clustered by debate. Both must cover 0.5 and 0 at their nominal
rate, plus or minus 0.021 (1.96 standard errors of a share of 400: two of the four intervals are
independent).
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from tournaments import tournament  # ty: ignore[import-not-found]

from delibsim.analysis.debates.ratings import standings
from delibsim.analysis.debates.winner import bradley_terry

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--seeds", type=int, default=200)
parser.add_argument("--samples", type=int, default=2000)
given = parser.parse_args()

started = time.perf_counter()
rates, strengths, sides = [], [], []
for seed in range(given.seeds):
    table = tournament(dict.fromkeys("abcd", 0.0), raters=5, seed=seed)
    placed = standings(table, seed, given.samples)
    rates.append(((placed["win_low"] <= 0.5) & (placed["win_high"] >= 0.5)).mean())
    fit = bradley_terry(table)
    covers = (fit["low"] <= 0) & (fit["high"] >= 0)
    strengths.append(covers[fit["kind"] == "debater"].mean())
    sides.append(covers[fit["kind"] == "side"].mean())
    if (fit["note"] != "").any():
        print(f"seed {seed}: {fit['note'].iloc[0]}")
seconds = time.perf_counter() - started
for name, found in (
    ("win rate, bootstrap over debates", rates),
    ("Bradley-Terry strength", strengths),
    ("advantage of a side", sides),
):
    print(f"{name:<34} {np.mean(found):.3f}")
print(f"{given.seeds} tournaments in {seconds:.0f} s")
