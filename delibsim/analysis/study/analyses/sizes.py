"""How large effects are: in the noise of a session, beside people's change, beside what could be
found.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.human.reference import human_value
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import ENOUGH, note_of, noted, over_topics, too_few
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.blocks import Compared, compared
from delibsim.analysis.study.sample.outcomes import (
    NONE,
    OUTCOMES,
    Outcome,
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import BLOCK, StudyTable
from delibsim.measures.inference.resampling import ratio

WITHIN = "within conditions"
POWER = 0.8
ROUNDING = 1e-12
"""A standard deviation below which values do not differ."""


def sizes(study: StudyTable, draws: Draws) -> Result:
    """The table `sizes`; nothing in it is drawn at random, and `draws` is not used."""
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows, OUTCOMES)
    code, detail = why_no_contrast(rows, given)
    found: list[dict[str, Any]] = []
    for outcome in () if code else given:
        people = _people(rows, outcome)
        for a, b in contrasts_of(treatments_of(rows)):
            named = {"outcome": outcome.measure, "scale": outcome.scale, "a": a, "b": b}
            comparison = compared(rows, outcome.column, a, b)
            found.append(named | _sized(comparison, _noise(rows, outcome), people))
    return make_table("study/sizes", found, notes=[*notes, *missing], why=code, detail=detail)


def _sized(
    found: Compared, noise: tuple[float, str], people: Mapping[str, float]
) -> dict[str, Any]:
    """The columns of the table from estimate on."""
    topics = found.blocks.groupby("topic")["difference"].mean()
    mean, (sd, of) = over_topics(found.blocks), noise
    row = {"estimate": mean.estimate, "noise_sd": sd, "noise_of": of, "topics": len(topics)}
    notes = [note_of(found), too_few("topic", len(topics))]
    if sd > ROUNDING:
        row["in_noise_sd"] = mean.estimate / sd
    else:
        notes.append("no_noise: sessions of one condition do not differ, or there is one each")
    if mean.error > 0:
        row["smallest_effect"] = smallest(len(topics)) * mean.error * len(topics) ** 0.5
    elif len(topics) > 1:
        notes.append("no_variance: all topics have the same difference")
    both = [str(name) for name in topics.index if str(name) in people]
    row["topics_of_people"] = len(both)
    own, theirs = topics[both].to_numpy(dtype=float), np.array([people[name] for name in both])
    if both:
        row["people"] = float(theirs.mean())
    if len(both) < ENOUGH:
        notes.append(f"no_share: people's change is known on {len(both)} topics, of five needed")
        return row | {"note": noted(*notes)}
    share = ratio(own.mean(), theirs.mean(), np.cov(own, theirs) / len(both), len(both) - 1)
    if share.note == "denominator_may_be_0":
        notes.append("no_share: not defined, because people's own change may be 0")
    elif not share.note:
        row["share_of_people"] = share.estimate
        row |= {"share_low": share.low, "share_high": share.high}
    return row | {"note": noted(*notes)}


def _noise(rows: pd.DataFrame, outcome: Outcome) -> tuple[float, str]:
    """The standard deviation of the noise, and whose it is."""
    known = rows[rows[outcome.column].notna()]
    silent = known.loc[known["treatment"] == NONE, outcome.column].astype(float)
    if len(silent) > 1:
        return float(silent.std(ddof=1)), NONE
    values = known[outcome.column].astype(float)
    held = values.groupby([known[name] for name in (*BLOCK, "treatment")], dropna=False)
    df = len(values) - held.ngroups
    about = values - held.transform("mean")
    return (float(np.sqrt(about @ about / df)) if df > 0 else np.nan), WITHIN


def _people(rows: pd.DataFrame, outcome: Outcome) -> dict[str, float]:
    """People's change on those topics of the study on which it is known."""
    measure = outcome.column.removesuffix("_change")
    found = {}
    surveys = rows[["topic"]].assign(survey=rows.get("survey", "")).fillna("").drop_duplicates()
    for topic, survey in zip(surveys["topic"], surveys["survey"], strict=True):
        value = human_value(str(topic), measure, "change", str(survey))[0]
        if value is not None:
            found[str(topic)] = value
    return found


@cache
def smallest(topics: int) -> float:
    """The smallest effect that is found with a power of .8, in standard deviations over topics.

    It is that of a two-sided one-sample t test at .05, by the noncentral t distribution.

    >>> round(smallest(34), 3)  # G*Power: 34 for an effect of .5
    0.495
    """
    from statsmodels.stats.power import TTestPower

    return float(TTestPower().solve_power(nobs=topics, alpha=0.05, power=POWER))
