"""Tables of change against the value before, with the fitted line of each population."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.figures.entries import Data
from delibsim.analysis.figures.labels import (
    NULL_WORDS,
    left_out,
    of_models,
    of_null,
    population,
    rows_of,
)
from delibsim.analysis.figures.people import of_benchmark, why_no_people
from delibsim.analysis.figures.points import few
from delibsim.analysis.figures.style import number
from delibsim.analysis.result import Result
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.study_table import StudyTable

Results = Mapping[str, Result]
Prepare = Callable[[StudyTable, Results], Data]
NOTHING = Data(pd.DataFrame())
PEOPLE = "people"


def regression(measure: str, table: str) -> Prepare:
    """Change against the value before with its fitted line: treatments, null citizen, people."""

    def prepared(study: StudyTable, results: Results) -> Data:
        before, change = f"{measure}_pre", f"{measure}_change"
        known = of_models(study, change)
        if known.empty:
            return NOTHING
        named = {"pre": before, "change": change}
        groups = {name: known[known["treatment"] == name] for name in treatments_of(known)}
        groups[NULL_WORDS] = of_null(study, change)
        people = of_benchmark(study, measure)
        groups[PEOPLE] = people.rename(columns=named)
        groups = {name: own for name, own in groups.items() if len(own)}
        fits = rows_of(results, table)
        parts = []
        for name, own in groups.items():
            values = own[[before, change]].set_axis(["before", "change"], axis=1)
            parts.append(values.assign(group=name, size=len(own), **_fit(fits, name)))
        most, more = few(len(groups)), ""
        if max(map(len, parts)) > most:
            more += f" More than {most} sessions: squares, darker for more of them."
        if len(people):
            more += " People: a point for each topic of the benchmark, plain errors."
        more += why_no_people(study, measure) + left_out(study, known, change)
        facts = {"sessions": len(known), "whose": population(study)}
        return Data(pd.concat(parts), facts, more)

    return prepared


def _fit(fits: pd.DataFrame, who: str) -> dict[str, Any]:
    """The slope of a population, and what stands of it in its panel and in the words."""
    own = fits[(fits["population"] == who) & fits["slope"].notna()] if len(fits) else fits
    if own.empty:
        return {"slope": float("nan"), "corner": "", "told": "no fitted line"}
    fit = own.iloc[0]
    ends = ("slope", "low", "high", "corrected", "corrected_low", "corrected_high")
    slope, low, high, corrected, lowest, highest = (number(fit[end], 2) for end in ends)
    said = "not corrected"
    if fit["corrected"] == fit["corrected"]:
        interval = f" [{lowest}, {highest}]" if fit["corrected_low"] == fit["corrected_low"] else ""
        said = f"corrected {corrected}{interval}"
    r2 = f"R² {number(fit['r2'], 2)}"
    told = f"slope {slope} [{low}, {high}], {r2}, {said}"
    return {"slope": fit["slope"], "corner": f"slope {slope}, {r2}\n{said}", "told": told}
