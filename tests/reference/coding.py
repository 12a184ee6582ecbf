"""Prints the intervals of statsmodels 0.15.0 in coding.json.

python tests/reference/coding.py
"""

import json
import sys
from pathlib import Path

from statsmodels.stats.proportion import proportion_confint

KEPT = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

wilson = []
for row in KEPT["wilson"]:
    low, high = proportion_confint(row["successes"], row["n"], method="wilson")
    wilson.append({**row, "low": float(low), "high": float(high)})
json.dump({**KEPT, "wilson": wilson}, sys.stdout, indent=1)
