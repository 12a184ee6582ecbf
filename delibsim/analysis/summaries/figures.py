"""The figures of the report on summaries: data/figures/summaries.yaml, drawn from its tables."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.study.result import Result
from delibsim.analysis.summaries.judged import OVERALL
from delibsim.domain.judgment import LABELS

TITLES = {OVERALL: "Overall", **{name: label.capitalize() for name, label in LABELS.items()}}


def drawings(results: Mapping[str, Result], scores: pd.DataFrame) -> list[Drawing]:
    """The figures that the tables give; `scores` (opinion, score, group) are those of opinions."""
    given = {name: result.rows for name, result in results.items() if result.given}
    tables = {**given, "opinions": _opinions(scores)}
    if "overall" in given:
        overall = given["overall"]
        tables["overall"] = overall.assign(dimension=overall["dimension"].map(TITLES))
    if "sizes" in given:
        own = given["sizes"].dropna(subset=[OVERALL])
        tables["sizes"] = _several(own[own["model"] != "all"], "size")
    if "topics" in given:
        tables["topics"] = _several(given["topics"].dropna(subset=["relative"]), "topic")
    return drawings_of("summaries", tables)


def _several(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows of a table that has several values in a column; none of another."""
    return table if table[column].nunique() > 1 else table.iloc[:0]


def _opinions(scores: pd.DataFrame) -> Data:
    """Opinions from the least represented on; those that call themselves minorities named so."""
    known = scores.dropna(subset=["score"]) if len(scores) else scores
    if not len(known):
        return Data(pd.DataFrame())
    ordered = known.sort_values("score", ignore_index=True, kind="stable")
    marked = ordered["minority"].astype(bool)
    who = np.where(marked, "minority by own word", "others")
    told = ""
    if marked.any():
        median = number(float(ordered["score"][marked].median()))
        told = f"; median of the {int(marked.sum())} minority opinions {median}"
    rows = ordered.assign(place=np.arange(1, len(ordered) + 1), who=who)
    return Data(rows, {"of_minorities": told})
