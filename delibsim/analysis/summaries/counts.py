"""How many summaries and judgments were planned, made and are missing, and why."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.summaries.judged import JudgedSet


def counts(sets: Sequence[JudgedSet]) -> Result:
    """A row a summariser and a judge of every set."""
    rows: list[dict[str, Any]] = []
    for one in sets:
        for model, own in one.summaries.groupby("model", sort=False):
            missing = own["missing"]
            row = {"study": one.study, "who": model, "what": "summaries", "planned": len(own)}
            rows.append(row | _missing(missing))
        table = pd.concat([one.ratings, one.comparisons], ignore_index=True)
        given = {str(judge): own for judge, own in table.groupby("judge", sort=False)}
        people = [own for own in given.values() if own["people"].any()]
        for judge, n in one.planned.items():
            missing = given[judge]["missing"] if judge in given else pd.Series(dtype=str)
            left = max(n - len(missing), 0)
            row = {"study": one.study, "who": judge, "what": "judgments", "planned": n}
            rows.append(row | _missing(missing, left))
        if people:
            missing = pd.concat([own["missing"] for own in people])
            row = {"study": one.study, "who": "people", "what": "judgments"}
            rows.append(row | {"planned": len(missing)} | _missing(missing))
    return make_table("summaries/counts", rows)


def _missing(missing: pd.Series, left: int = 0) -> dict[str, Any]:
    """How many are there, and the reasons of those that are not."""
    reasons = missing[missing != ""].value_counts().to_dict()
    if left:
        reasons["not_asked"] = reasons.get("not_asked", 0) + left
    told = ", ".join(f"{code} {n:,}" for code, n in reasons.items())
    made = int((missing == "").sum())
    return {"made": made, "missing": sum(reasons.values()), "reasons": told}
