"""Means over topics of what sessions and people show, with an interval by t over topics."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.human.reference import human_value, reference
from delibsim.analysis.study.analyses.effects import (
    ENOUGH,
    published_coverage,
    published_interval,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.populations import (
    PEOPLE,
    Population,
    complete,
    main_population,
    notes_of,
    populations,
    why_no_value,
    without_value,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import mean_of_units

BOOTSTRAP = (
    "published_low and published_high are the percentile bootstrap over topics of the published"
    " study ({n:,} draws), given from five topics on; it is too short: published_coverage says how"
    " often such an interval holds the truth with so many topics, that by t in 95 of 100 studies."
)
HOW = (
    "Each topic counts once: the mean over topics of the mean over a topic's sessions. The 95%"
    " interval is by t over topics, df being one less than topics. Rows with fewer than five topics"
    f" are marked few_topics. {BOOTSTRAP}"
)
MEANINGS = {
    "low": "lower end of the 95% interval, by t over topics",
    "high": "upper end of the 95% interval, by t over topics",
    "df": "degrees of freedom of t: topics less one",
    "published_low": "lower end of the published interval, percentile bootstrap over topics",
    "published_high": "upper end of the published interval, percentile bootstrap over topics",
    "published_coverage": "how often the published interval holds the truth with so many topics",
    "n": "sessions behind the mean; of people the persons",
    "topics": "topics behind the mean",
    "note": "why a value is missing, or what limits it",
}
INTERVAL = ("low", "high", "df", "published_low", "published_high", "published_coverage")
"""The members that describe how sure a mean is."""


def by_population(
    study: StudyTable, measures: Sequence[str], draws: Draws
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row a measure and population of the mean change, and notes on what has no value.

    A measure that no session has is one row a population without a value.
    """
    rows, notes = [], notes_of(study)
    for measure in measures:
        column = f"{measure}_change"
        own = [of_population(population, column, draws) for population in populations(study)]
        own.append(of_people(main_population(study)[0], measure, draws))
        rows += [{"measure": measure, **row} for row in own]
        notes += without_value(study.rows, (column,))
    return rows, notes


def why_none(study: StudyTable, measures: Sequence[str]) -> tuple[str, str]:
    """The reason code and the sentence if no session has any of these measures; else two empty
    texts.
    """
    reasons = [why_no_value(study, (f"{measure}_change",)) for measure in measures]
    return reasons[0] if all(code for code, _ in reasons) else ("", "")


def over_topics(values: pd.Series, topics: pd.Series, draws: Draws) -> dict[str, Any]:
    """The members mean, low, high, df, n, topics and so on of values that are all known."""
    if values.empty:
        return empty("no_value")
    means = values.groupby(topics.astype(str)).mean().to_numpy(dtype=float)
    return described(means, len(values), draws)


def described(means: np.ndarray, n: int, draws: Draws) -> dict[str, Any]:
    """The same from the means of topics, behind which `n` sessions or persons stand."""
    found, topics = mean_of_units(means), len(means)
    published = published_interval(means, np.arange(topics), "topic", draws)
    note = "few_topics" if topics < ENOUGH else ""
    if topics == 1:
        note = "one_topic"
    elif np.isnan(found.error):
        note = "no_variance"
    return {
        "mean": found.estimate,
        "low": found.low,
        "high": found.high,
        "df": found.df,
        "published_low": published[0],
        "published_high": published[1],
        "published_coverage": published_coverage(topics) if topics >= ENOUGH else np.nan,
        "n": n,
        "topics": topics,
        "note": note,
    }


def empty(reason: str) -> dict[str, Any]:
    """The members of a mean that does not exist."""
    nothing = dict.fromkeys(("mean", *INTERVAL), float("nan"))
    return {**nothing, "n": 0, "topics": 0, "note": reason}


def of_population(population: Population, column: str, draws: Draws) -> dict[str, Any]:
    """The mean of a column over the topics of a population."""
    rows = population.rows[complete(population.rows, (column,))]
    if rows.empty:
        return {"population": population.name, **empty("no_value")}
    return {"population": population.name, **over_topics(rows[column], rows["topic"], draws)}


def of_people(rows: pd.DataFrame, measure: str, draws: Draws) -> dict[str, Any]:
    """People's mean change of a measure over those topics of the study on which it is known.

    Where a study asks another instrument, a measure that is not comparable is withheld. The note
    is the reason that most topics have, where no topic has a value.
    """
    values, persons, reasons = [], 0, []
    pairs = rows[["topic"]].assign(survey=rows.get("survey", ""))
    for topic, surveys in pairs.fillna("").groupby("topic")["survey"]:
        found = [human_value(str(topic), measure, "change", str(own)) for own in surveys.unique()]
        known = [value for value, _ in found if value is not None]
        if known:
            values.append(known[0])
            persons += (reference(str(topic)) or {"n": 0})["n"]
        else:
            reasons.append(found[0][1])
    if not values:
        reason = max(sorted(set(reasons)), key=reasons.count) if reasons else "no_value"
        return {"population": PEOPLE, **empty(reason)}
    return {"population": PEOPLE, **described(np.array(values), persons, draws)}
