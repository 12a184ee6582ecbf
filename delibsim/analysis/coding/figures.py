"""The figures of the report on codes: data/figures/codes.yaml, drawn from its tables."""

from collections.abc import Mapping

import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import drawings_of
from delibsim.analysis.study.result import Result


def drawings(results: Mapping[str, Result]) -> list[Drawing]:
    """The figures that the tables give."""
    given = {name: result.rows for name, result in results.items() if result.given}
    for name, make in {"equivalence_curve": _with_bounds, "corrected_means": _with_labels}.items():
        if len(given.get(name, ())):
            given[name] = make(given[name])
    return drawings_of("codes", given)


def _with_bounds(curve: pd.DataFrame) -> pd.DataFrame:
    """The curve, with the words for the bound from which p is below .05."""
    line = ["dimension", "anchor", "other"]
    smallest = curve["bound"].where(curve["p"] < 0.05)
    first = smallest.groupby([curve[name] for name in line]).transform("min")
    since = ["at none of these bounds" if x != x else f"from {x:.2f} on" for x in first]
    return curve.assign(since=since)


def _with_labels(means: pd.DataFrame) -> pd.DataFrame:
    """Corrected means, with the words for the texts that each is of."""
    labels = []
    for row in means.to_dict("records"):
        texts = f"{row['by']} {row['part']}".strip() or "all texts"
        labels.append(f"{texts}, {row['draw']}" if row["draw"] else texts)
    return means.assign(of_whom=labels)
