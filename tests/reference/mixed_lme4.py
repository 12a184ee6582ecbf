"""The data of mixed_lme4.R: python tests/reference/mixed_lme4.py > tests/reference/mixed_lme4.csv

Three invented studies of treatments, topics, models and replicates: balanced, unbalanced (a fifth
of the rows left out), and one whose slopes and pairs have no variance.
"""

import sys

import numpy as np

TREATMENTS = ("none", "basic", "normative")
CASES = {
    "balanced": (1, {"topic": 0.06, "model": 0.03, "slope": 0.04, "pair": 0.05}, 1.0),
    "unbalanced": (5, {"topic": 0.06, "model": 0.03, "slope": 0.04, "pair": 0.05}, 0.8),
    "zero": (3, {"topic": 0.06, "model": 0.03, "slope": 0.0, "pair": 0.0}, 0.9),
}


def rows(case: str) -> list[str]:
    """The rows of a case, as lines of the file."""
    seed, sds, kept = CASES[case]
    rng = np.random.default_rng(seed)
    of_topic = rng.normal(0, sds["topic"], 8)
    of_model = rng.normal(0, sds["model"], 6)
    slopes = rng.normal(0, sds["slope"], (6, 3))
    of_pair = rng.normal(0, sds["pair"], (8, 3))
    lines = []
    for t, m, r, k in np.ndindex(8, 6, 3, 3):
        y = 0.02 * k + of_topic[t] + of_model[m] + of_pair[t, r] + rng.normal(0, 0.1)
        y += slopes[m, k] * (k > 0)
        if rng.random() < kept:
            lines.append(f"{case},t{t},m{m},{r + 1},{TREATMENTS[k]},{y:.6f}")
    return lines


if __name__ == "__main__":
    lines = ["case,topic,model,replicate,treatment,y"]
    for name in CASES:
        lines += rows(name)
    sys.stdout.write("\n".join(lines) + "\n")
