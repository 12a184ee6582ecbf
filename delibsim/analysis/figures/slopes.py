"""Change against the value before with fitted lines; what people did on the topics of a study."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.figures.entries import Data
from delibsim.analysis.figures.points import few
from delibsim.analysis.figures.style import number
from delibsim.analysis.figures.words import (
    NULL_WORDS,
    left_out,
    of_models,
    of_null,
    population,
    rows_of,
)
from delibsim.analysis.human.people import BENCHMARK
from delibsim.analysis.human.reference import human_value, of_topics
from delibsim.analysis.result import Result
from delibsim.analysis.study.sample import treatments_of
from delibsim.analysis.study.study_table import StudyTable

REASONS = {
    "another_instrument": "they answered another instrument",
    "another_survey": "they answered another survey",
    "instrument_unknown": "which instrument was used is not known",
    "no_people_on_this_topic": "no people are known on these topics",
    "not_measured_in_people": "it was not measured in people",
}
"""Reason codes in words."""


def people_of(study: StudyTable, measure: str) -> pd.DataFrame:
    """People's value of a measure before and after on every topic of a study.

    The columns are topic, pre, post, change and note; values are NaN where people are not known or
    answered another instrument, with the reason code as note.
    """
    surveys = study.rows["survey"] if "survey" in study.rows.columns else ""
    pairs = study.rows[["topic"]].assign(survey=surveys).fillna("").drop_duplicates("topic")
    found = []
    for topic, survey in pairs.itertuples(index=False):
        values = {}
        for phase in ("pre", "post", "change"):
            value, note = human_value(str(topic), measure, phase, str(survey))
            values[phase] = float("nan") if value is None else value
        found.append({"topic": str(topic), **values, "note": note})
    return pd.DataFrame(found, columns=["topic", "pre", "post", "change", "note"])


def known_people(study: StudyTable, measure: str) -> pd.DataFrame:
    """The topics of a study whose people have a value of this measure before and after."""
    return people_of(study, measure).dropna(subset=["pre", "post"])


def why_no_people(study: StudyTable, measure: str) -> str:
    """Why no people stand beside the sessions, in a sentence; empty where some do."""
    table = people_of(study, measure)
    if table.dropna(subset=["pre", "post"]).empty:
        codes = sorted(set(table["note"]) - {""})
        reasons = ", ".join(REASONS.get(code, code.replace("_", " ")) for code in codes)
        return f" No people beside: {reasons}." if codes else ""
    return ""


def of_benchmark(study: StudyTable, measure: str) -> pd.DataFrame:
    """People on the twelve topics of the benchmark, where they may stand beside this study.

    The columns are topic, pre and change; there are no rows where people of none of the study's
    topics have a value.
    """
    if known_people(study, measure).empty:
        return pd.DataFrame(columns=["topic", "pre", "change"])
    own = {phase: of_topics(BENCHMARK, measure, phase) for phase in ("pre", "change")}
    return pd.DataFrame({"topic": BENCHMARK, **own}).dropna()


Results = Mapping[str, Result]
Prepare = Callable[[StudyTable, Results], Data]
NOTHING = Data(pd.DataFrame())
REAL_PEOPLE = "people"


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
        groups[REAL_PEOPLE] = people.rename(columns=named)
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
