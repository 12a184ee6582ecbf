"""Differences of summarisers within one question, opinion by opinion."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet, frame
from delibsim.measures.inference.means import holm
from delibsim.measures.summaries.gaps import t_mean


def pairs_by_opinion(sets: Sequence[JudgedSet]) -> Result:
    """Differences of models paired by opinion, in every set for itself."""
    rows = []
    for one in sets:
        models = one.summaries["model"]
        whole = one.summaries.index[one.summaries["group"] == ""]
        known = one.scored[one.scored["summary"].isin(whole)]
        known = known.assign(
            model=known["summary"].map(models), cell=known["summary"].map(one.summaries["cell"])
        )
        keys = ["judge", "opinion", "cell"]
        for name in (OVERALL, "rep"):
            wide = known.pivot_table(index=keys, columns="model", values=name)
            own: list[dict[str, Any]] = []
            for a, b in combinations([m for m in models.unique() if m in wide], 2):
                difference = (wide[a] - wide[b]).dropna().groupby(level="opinion").mean()
                found = t_mean(difference)
                row = {"study": one.study, "dimension": name, "a": a, "b": b, "n": found.n}
                row |= {"estimate": found.mean, "low": found.low, "high": found.high}
                own.append(row | {"p": found.p, "note": found.note})
            adjusted = holm([row["p"] for row in own])
            rows += [row | {"p_holm": p} for row, p in zip(own, adjusted, strict=True)]
    return Result(
        name="pairs_by_opinion",
        title="Differences between summarisers, opinion by opinion",
        definition="For each opinion the mean score of a less that of b at the same size, draw, run"
        " and judge; the mean over opinions with t interval, p after Holm within the set. It holds"
        " for this question only.",
        source="docs/summaries.md",
        rows=frame(rows, "study dimension a b n estimate low high p p_holm note".split()),
        meanings={"n": "opinions that judged both"},
    )
