"""Prints the values of krippendorff 0.9.0 and statsmodels 0.15.0 in agreement.json: run in an
environment of its own that has both.

python tests/reference/agreement.py
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np
from statsmodels.stats.inter_rater import cohens_kappa

KEPT = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
WEIGHTS = {"identity": None, "linear": "linear", "quadratic": "quadratic"}


def table_of(rows):
    cells = [[np.nan if code == "." else float(code) for code in row] for row in rows.split()]
    return np.array(cells)


rows = []
for row in KEPT["rows"]:
    data, name, weighting = row["data"], row["coefficient"], row["weighting"]
    own = [data, name, weighting, row["value"], row["error"]]
    if name == "alpha" and data in KEPT["codes"]:
        codes = table_of(KEPT["codes"][data]["rows"]).T
        alpha = krippendorff.alpha(reliability_data=codes, level_of_measurement=weighting)
        rows.append([*own, float(alpha)])
    if name == "kappa" and data in KEPT["tables"]:
        cells = np.array(KEPT["tables"][data]["cells"])
        result = cohens_kappa(cells, wt=WEIGHTS[weighting])
        rows.append([*own, float(result.kappa), float(result.std_kappa)])
packages = {name: version(name) for name in ("krippendorff", "statsmodels")}
json.dump({"packages": packages, "rows": rows}, sys.stdout, indent=1)
