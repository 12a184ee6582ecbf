"""Judgments of summaries in which everything that a report estimates is known."""

import numpy as np
import pandas as pd

from delibsim.analysis.summaries.judged import JudgedSet

DIMENSIONS = ("rep", "inf", "neu", "pol")


def planted(seed=1, n=120, runs=3, gap=0.0, order=0.0, place=0.0, length=0.0, people=0.0):
    """A set of `n` opinions, one in four of a minority, and two models of equal merit.

    On the scale from 1 to 5: minority opinions score 8 `gap` lower, opinions lose 8 `order` from
    the first place of the prompt to the last; of comparisons A gains `place`, and `length` a log
    unit of more words. Ratings are numbers, not rounded, so that what is planted is what is there.
    """
    rng = np.random.default_rng(seed)
    ids = [f"o{i}" for i in range(n)]
    minority = np.arange(n) % 4 == 0
    stance = np.array(["positive", "negative", "not sure"])[np.arange(n) % 3]
    opinions = pd.DataFrame(
        {
            "text": [f"Opinion {i} on trams." for i in range(n)],
            "words": rng.integers(8, 40, n),
            "stance": stance,
            "minority": np.where(minority, "yes", "no"),
        },
        index=pd.Index(ids, name="id"),
    )
    own = rng.normal(0, 0.6, n)
    rows, ratings, sources = [], [], {}
    for model in ("extractive", "m"):
        for run in range(1, runs + 1):
            id = f"{model} {n}.1.{run}"
            words = int(np.exp(rng.normal(5.3, 0.4)))
            row = {"id": id, "model": model, "size": n, "draw": 1, "run": run, "group": ""}
            row |= {"cell": f"{n} {run}", "text": "Some want trams.", "words": words}
            rows.append(row | {"characters": 6 * words, "missing": ""})
            shown = rng.permutation(n)
            sources[id] = [ids[i] for i in shown]
            position = np.empty(n)
            position[shown] = np.arange(n) / (n - 1)
            effect = rng.normal(0, people) if people else 0.0
            rep = 3 + own - 8 * gap * minority - 8 * order * position + effect
            for i in range(n):
                values = [rep[i] + rng.normal(0, 0.5), *(3 + effect + rng.normal(0, 1, 3))]
                ratings.append(("j", False, id, ids[i], False, "", *values))
    summaries = pd.DataFrame(rows).set_index("id")
    named = ["judge", "people", "summary", "opinion", "control", "missing", *DIMENSIONS]
    compared = _comparisons(rng, summaries, ids, place, length)
    return JudgedSet(
        study="planted",
        question="Trams?",
        kind="stance",
        opinions=opinions,
        summaries=summaries,
        sources=sources,
        ratings=pd.DataFrame(ratings, columns=named),
        comparisons=compared,
        planned={"j": len(ratings) + len(compared)},
        models={},
        judges={"j": {"kind": "citizen"}},
    )


def _comparisons(rng, summaries, ids, place, length):
    """Each two summaries in a drawn order, by twenty opinions."""
    rows = []
    names = list(summaries.index)
    for a in names:
        for b in names:
            if a == b:
                continue
            ratio = np.log(summaries.loc[a, "words"] / summaries.loc[b, "words"])
            for opinion in rng.choice(ids, 20, replace=False):
                lead = place + length * ratio + rng.normal(0, 1, 4)
                values = 3 - np.clip(np.round(lead), -2, 2)
                rows.append(("j", False, a, b, opinion, "", "", *values))
    named = ["judge", "people", "a", "b", "opinion", "first", "missing", *DIMENSIONS]
    return pd.DataFrame(rows, columns=named)
