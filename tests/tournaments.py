"""Synthetic tournaments: ratings with known strengths and effects, for tests of the analysis and for bench/debates.py."""

import numpy as np
import pandas as pd

from delibsim.analysis.debate import columns
from delibsim.domain.participant import SIDES
from delibsim.domain.rating import DIMENSIONS
from delibsim.domain.tournament import round_robin

MOTIONS = [f"motion{i}" for i in range(10)]


def tournament(strengths, raters=20, seed=0, side=0.0, motions=None, shared=0.5, meetings=None):
    """A table of ratings in which log odds(proposition wins) are the difference of strengths, plus `side` and the motion's effect.

    `shared` is the standard deviation of what a debate's raters have in common, on the scale of the ratings of performance (points of
    ten); the winner that a rater names is drawn from the odds.
    """
    rng = np.random.default_rng(seed)
    motions = motions or dict.fromkeys(MOTIONS, 0.0)
    leniency = rng.normal(0, 6, raters)
    rows = []
    for match in round_robin(list(strengths), list(motions), meetings, seed=seed):
        name = f"{match.motion}.{match.proposition}-v-{match.opposition}.r{match.replicate}"
        common = rng.normal(0, shared)
        odds = strengths[match.proposition] - strengths[match.opposition] + side + motions[match.motion] + common
        for k in range(raters):
            won = rng.random() < 1 / (1 + np.exp(-odds))
            before = float(rng.integers(20, 81))
            row = {
                "debate": name, "motion": match.motion, "replicate": match.replicate, "rater": f"Rater {k + 1}", "source": "model",
                "model": "citizen", "proposition": match.proposition, "opposition": match.opposition, "first": SIDES[k % 2],
                "winner": SIDES[0] if won else SIDES[1], "attentive": True, "before": before,
                "after": float(np.clip(np.rint(before + (8 if won else -8) + rng.normal(0, 6)), 0, 100)),
            }  # fmt: skip
            for s, sign in zip(SIDES, (1, -1), strict=True):
                quality = 60 + leniency[k] + 5 * strengths[match.proposition if sign == 1 else match.opposition] + sign * (4 if won else -4)
                for dimension in DIMENSIONS:
                    row[f"{s}.{dimension}"] = float(np.clip(np.rint(quality + rng.normal(0, 8)), 0, 100))
                row[f"{s}.words"] = 390 + int(rng.integers(-40, 41))
            rows.append(row)
    return pd.DataFrame(rows, columns=columns())
