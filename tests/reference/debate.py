"""Makes debate.json: run in an environment of its own with pingouin 0.7.0, krippendorff 0.9.0,
choix 0.4.1 (GPL, so no dependency here).

python tests/reference/debate.py > tests/reference/debate.json
"""

import json
import sys
from importlib.metadata import version

import choix
import krippendorff
import numpy as np
import pandas as pd
import pingouin

rng = np.random.default_rng(9)
quality = rng.normal(60, 10, (12, 1))
ratings = np.clip(np.rint(quality + rng.normal(0, 4, (1, 5)) + rng.normal(0, 6, (12, 5))), 0, 100)
items = np.clip(np.rint(rng.normal(60, 10, (40, 1)) + rng.normal(0, 8, (40, 11))), 0, 100)
winners = (rng.random((15, 6)) < rng.beta(2, 2, (15, 1))).astype(float)
winners[rng.random((15, 6)) < 0.15] = np.nan
three = rng.integers(0, 3, (10, 4)).astype(float)
three[0, 1:] = np.nan
left, right = rng.normal(60, 9, (30, 4)), rng.normal(57, 9, (30, 4))

long = pd.DataFrame([{"unit": u, "rater": r, "value": v} for (u, r), v in np.ndenumerate(ratings)])
icc = pingouin.intraclass_corr(long, targets="unit", raters="rater", ratings="value").set_index(
    "Type"
)
p = [float(pingouin.ttest(left[:, i], right[:, i], paired=True)["p_val"].iloc[0]) for i in range(4)]
t = [float(pingouin.ttest(left[:, i], right[:, i], paired=True)["T"].iloc[0]) for i in range(4)]
games = [(int(a), int(b)) for a, b in rng.integers(0, 4, (120, 2)) if a != b]

# Drawn after everything above, which therefore stays as it was.
balanced = [
    rng.normal(60, 7, (25, 1)) + rng.normal(0, own, (1, 4)) + rng.normal(0, 9, (25, 4))
    for own in (6, 2)
]
incomplete = rng.normal(60, 8, (30, 1)) + rng.normal(0, 6, (30, 8))
incomplete[rng.random((30, 8)) < 0.5] = np.nan
change = 3 * left[:, 0] / 10 + rng.normal(0, 4, 30)


def nullable(table):
    return [[None if np.isnan(x) else float(x) for x in row] for row in table]


def alpha(table, level="nominal"):
    return float(krippendorff.alpha(reliability_data=table.T, level_of_measurement=level))


def iccs(table):
    rows = [{"unit": u, "rater": r, "value": v} for (u, r), v in np.ndenumerate(table)]
    data = pd.DataFrame(rows)
    found = pingouin.intraclass_corr(data, targets="unit", raters="rater", ratings="value")
    values = found.set_index("Type")["ICC"]
    kinds = {"icc_21": ("ICC2", "ICC(A,1)"), "icc_2k": ("ICC2k", "ICC(A,k)")}
    return {
        key: float(next(values[n] for n in names if n in values)) for key, names in kinds.items()
    }


regression = pingouin.linear_regression(left[:, :2], change).iloc[0]

names = [name for name in icc.index if name in ("ICC2k", "ICC(A,k)")]
result = {
    "source": {name: version(name) for name in ("pingouin", "krippendorff", "choix", "numpy")},
    "icc": {"ratings": ratings.tolist(), "icc_2k": float(icc.loc[names[0], "ICC"])},
    "cronbach": {
        "items": items.tolist(),
        "alpha": float(pingouin.cronbach_alpha(pd.DataFrame(items))[0]),
    },
    "winners": {"ratings": nullable(winners), "alpha": alpha(winners)},
    "three": {"ratings": nullable(three), "alpha": alpha(three)},
    "paired": {
        "left": left.tolist(),
        "right": right.tolist(),
        "t": t,
        "holm": pingouin.multicomp(p, method="holm")[1].tolist(),
    },
    "balanced": [{"ratings": table.tolist(), **iccs(table)} for table in balanced],
    "interval": {"ratings": nullable(incomplete), "alpha": alpha(incomplete, "interval")},
    "regression": {
        "y": change.tolist(),
        "r2": float(regression["r2"]),
        "r2_adjusted": float(regression["adj_r2"]),
    },
    "correlations": [[float(pingouin.corr(a, b)["r"].iloc[0]) for b in left.T] for a in left.T],
    "bradley_terry": {
        "games": games,
        "strengths": choix.ilsr_pairwise(4, games, alpha=0.0).tolist(),
    },
}
sys.stdout.write(json.dumps(result))
