"""Differences of summarisers within one question, opinion by opinion."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.summaries.judged import OVERALL, JudgedSet
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
    return make_table("summaries/pairs_by_opinion", rows)
