"""Prints the values of statsmodels 0.15.0 and ppi_py 0.2.3 in coding.json: run in an environment of
its own that has both.

python tests/reference/coding.py
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from statsmodels.stats.proportion import proportion_confint

KEPT = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def digits(text):
    return np.array([float(digit) for digit in text])


wilson = []
for row in KEPT["wilson"]:
    low, high = proportion_confint(row["successes"], row["n"], method="wilson")
    wilson.append({**row, "low": float(low), "high": float(high)})
codes = [digits(KEPT["ppi"][name]) for name in ("people", "models", "others")]
# lam=1 is the estimator of the paper, without the tuning of later versions.
low, high = ppi_mean_ci(*codes, alpha=0.05, lam=1)
estimate = ppi_mean_pointestimate(*codes, lam=1)
ppi = {"estimate": float(estimate[0]), "low": float(low[0]), "high": float(high[0])}
packages = {name: version(name) for name in ("statsmodels", "ppi_py")}
json.dump({"packages": packages, "wilson": wilson, "ppi": ppi}, sys.stdout, indent=1)
