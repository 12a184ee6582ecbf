"""Measure how often intervals of debates hold the truth, and how often verbs are wrong:
python bench/debates.py

Four debaters who are equal over motions like these meet in tournaments. Performance varies by
debater and motion, by side of a debate, by rater and debater (taste), and by rating. Each interval
is held to the truth of its own question. Run it by hand, never in CI; it takes some minutes.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from record import record

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from tournaments import tournament  # ty: ignore[import-not-found]

from delibsim.analysis.debates.contrasts import ANEW, HEADLINE, ON_THESE, debater_contrasts
from delibsim.analysis.debates.ratings import columns, standings
from delibsim.analysis.debates.winner import bradley_terry
from delibsim.domain.participant import SIDES
from delibsim.domain.tournament import round_robin
from delibsim.measures.inference.components import crossed_components

NAMES = "abcd"
BY_MOTION, BY_SIDE, RESIDUAL = 4.0, 4.0, 8.0
"""Standard deviations of performance, in points: by debater and motion, by side of a debate, by
rating."""
CASES = [(3, 6, 0.0), (6, 6, 0.0), (10, 20, 0.0), (10, 20, 4.0)]
"""Motions, raters, and the standard deviation of taste (by rater and debater)."""
LISTS = ["rater", "winner", "proposition.performance", "opposition.performance"]
"""Columns that differ between the ratings of one debate."""
PANELS = [
    (60, 6, 6, (6, 5, 8), 0.0),
    (60, 3, 3, (6, 5, 8), 0.0),
    (60, 6, 6, (3, 8, 8), 0.0),
    (20, 6, 6, (6, 5, 8), 0.0),
    (120, 6, 6, (6, 5, 8), 0.5),
    (120, 6, 6, (6, 5, 8), -0.5),
    (200, 50, 5, (6, 5, 8), 0.0),
]
"""Sides of debates, raters, ratings of a side, the standard deviations of sides, raters and
residual, and the correlation of the two sides of a debate. The last is the published design."""
ABOUT = """How often an interval of 95% holds the truth of its question in tournaments of four equal
debaters, over all contrasts of performance: over motions like these (`motions`), on these motions
(`debates`), over motions and raters like these (`both`); and the published bootstrap over debates,
held to motions like these (`published`). `taste` is the standard deviation of what raters like in a
debater; the first question is held to the truth for these raters, the third to that for all.
`wrong_verb` is the share of studies in which a verb claims a difference over motions like these for
any debater against its opponents, in performance or in winning, where raters have no taste. With
three motions there is no interval over motions. Then come intervals of win rates (`motions`,
`published`) and of strengths (`debates`). In the last rows the interval is that of ICC(2,k), by the
profile of the restricted likelihood (`icc`). The simulation error of a share of 200 studies is
.015 at .95."""


def study(rng, motions, raters, taste):
    """A table of ratings; and by debater the truth on these motions, and for these raters."""
    named = [f"motion{i}" for i in range(motions)]
    on_motion = {(name, m): rng.normal(0, BY_MOTION) for name in NAMES for m in named}
    liked = {name: rng.normal(0, taste, raters) if taste else np.zeros(raters) for name in NAMES}
    severity = rng.normal(0, 6, raters)
    rows = []
    for match in round_robin(list(NAMES), named, 2 * motions, seed=int(rng.integers(1e9))):
        debate = f"{match.motion}.{match.proposition}-v-{match.opposition}.r{match.replicate}"
        row = dict[str, Any](debate=debate, motion=match.motion, source="model", attentive=True)
        row |= {"proposition": match.proposition, "opposition": match.opposition}
        row |= {"replicate": match.replicate, "rater": [f"Rater {k}" for k in range(raters)]}
        for side in SIDES:
            who = row[side]
            mean = 60 + on_motion[who, match.motion] + rng.normal(0, BY_SIDE)
            row[f"{side}.performance"] = (
                mean + severity + liked[who] + rng.normal(0, RESIDUAL, raters)
            )
            row[f"{side}.kind"] = "model"
        ahead = row["proposition.performance"] - row["opposition.performance"]
        row["winner"] = np.where(ahead > 0, *SIDES)
        rows.append(row)
    table = pd.DataFrame(rows).explode(LISTS, ignore_index=True).reindex(columns=columns())
    numbers = [f"{side}.performance" for side in SIDES]
    table = table.astype(dict.fromkeys(numbers, float))
    tastes = {name: float(liked[name].mean()) for name in NAMES}
    here = {name: tastes[name] + np.mean([on_motion[name, m] for m in named]) for name in NAMES}
    return table, here, tastes


def difference(contrast, values):
    """The true difference of a contrast."""
    one, _, other = contrast.partition(" - ")
    others = [name for name in NAMES if name != one] if other == "opponents" else [other]
    return values[one] - np.mean([values[name] for name in others])


def coverage(motions, raters, taste, studies, samples):
    """A row of the table."""
    rng = np.random.default_rng([motions, raters, int(taste)])
    held = {name: [] for name in ("motions", "debates", "both", "published")}
    wrong = 0
    for seed in range(studies):
        table, here, tastes = study(rng, motions, raters, taste)
        found = debater_contrasts(table, seed=seed, samples=samples)
        own = found[found["outcome"] == "performance"]
        for row in own.itertuples():
            truth = {HEADLINE: difference(row.contrast, tastes), ANEW: 0.0}
            truth[ON_THESE] = difference(row.contrast, here)
            name = {HEADLINE: "motions", ON_THESE: "debates", ANEW: "both"}[row.question]
            if row.low == row.low:
                held[name].append(row.low <= truth[row.question] <= row.high)
            if row.question == HEADLINE:
                ends = (row.published_low, row.published_high)
                held["published"].append(ends[0] <= truth[HEADLINE] <= ends[1])
        claimed = found["verb"].isin(["better", "worse"])
        wrong += claimed[found["family"] == "debater against opponents"].any()
    what = f"contrasts, {motions} motions, {raters} raters, taste {taste:g}"
    return shown(what, studies, held, None if taste else float(wrong / studies))


def equal(studies, samples):
    """Rows of win rates and of strengths in tournaments of equal debaters, with shared errors."""
    rates = {name: [] for name in ("motions", "published", "debates")}
    strengths = {name: [] for name in ("debates",)}
    for seed in range(studies):
        table = tournament(dict.fromkeys(NAMES, 0.0), raters=5, seed=seed)
        placed = standings(table, seed, samples)
        rates["motions"] += ((placed["win_low"] <= 0.5) & (placed["win_high"] >= 0.5)).tolist()
        low, high = placed["win_published_low"], placed["win_published_high"]
        rates["published"] += ((low <= 0.5) & (high >= 0.5)).tolist()
        fit = bradley_terry(table)
        strengths["debates"] += ((fit["low"] <= 0) & (fit["high"] >= 0)).tolist()
    return [
        shown("win rates, 10 motions, 5 raters", studies, rates),
        shown("strengths, side and motions", studies, strengths),
    ]


def agreement(sides, raters, each, sds, shared, studies):
    """A row: how often the interval of ICC(2,k) holds the truth."""
    rng = np.random.default_rng([3, sides, raters, each])
    side, rater, residual = (sd**2 for sd in sds)
    truth = side / (side + (rater + residual) / each)
    held = []
    for _ in range(studies):
        low, high = crossed_components(panel(sides, raters, each, sds, shared, rng)).interval_2k
        held.append(low <= truth <= high)
    what = f"ICC(2,k) of {truth:.3f}: {sides} sides, {raters} raters, {each} a side"
    what += f", sides correlated {shared:g}" if shared else ""
    return shown(what, studies, {"icc": held})


def panel(sides, raters, each, sds, shared, rng):
    """Ratings (sides, raters) of which every side has `each`; NaN elsewhere."""
    common = np.repeat(rng.normal(0, sds[0], (sides // 2, 1)), 2, axis=0)
    common[1::2] *= np.sign(shared) or 1.0
    own = rng.normal(0, sds[0], (sides, 1))
    table = abs(shared) ** 0.5 * common + (1 - abs(shared)) ** 0.5 * own
    table = table + rng.normal(0, sds[1], (1, raters)) + rng.normal(0, sds[2], (sides, raters))
    order = np.argsort(rng.random((sides, raters)), axis=1)
    return np.where(order < each, table, np.nan)


def shown(what, studies, held, wrong=None):
    """A row, which is printed."""
    row = {"what": what, "studies": studies}
    for name in ("motions", "debates", "both", "published", "icc"):
        row[name] = float(np.mean(held[name])) if held.get(name) else None
    row["wrong_verb"] = wrong
    print(row, flush=True)
    return row


def main():
    """Print the rows and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--samples", type=int, default=200)
    given = parser.parse_args()
    rows = [coverage(*case, given.studies, given.samples) for case in CASES]
    rows += equal(given.studies, given.samples)
    rows += [agreement(*case, given.studies) for case in PANELS]
    print(record("debates", ABOUT, rows, ["numpy", "scipy", "statsmodels"]))


if __name__ == "__main__":
    main()
