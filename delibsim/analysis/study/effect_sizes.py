"""Contrasts under other lights: adjusted for values before, equivalence, sizes."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.human.people import human_value
from delibsim.analysis.result import Result
from delibsim.analysis.study.blocks import NONE, BlockComparison, TableKey, compared
from delibsim.analysis.study.effects import (
    ENOUGH,
    EQUAL,
    LEVEL,
    means_by,
    note_of,
    noted,
    over_topics,
    told,
    too_few,
)
from delibsim.analysis.study.outcomes import RELATIVE, OutcomeMeasure
from delibsim.analysis.study.sample import changes_of, taken, wanted_outcomes
from delibsim.analysis.study.study_table import BLOCK, DrawCounts, StudyTable
from delibsim.measures.inference.means import (
    UNDEFINED,
    MeanEstimate,
    equivalence_of_mean,
    jackknifed,
)
from delibsim.measures.inference.resampling import ratio


def covariance(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `covariance`; nothing in it is drawn at random, and `draws` is not used."""
    own = taken(study, changes_of(study))

    def row(outcome: OutcomeMeasure, found: BlockComparison) -> dict[str, Any]:
        return adjusted(own.rows, outcome, found.a, found.b)

    return own.result("study/covariance", own.contrasts(row))


def adjusted(rows: pd.DataFrame, outcome: OutcomeMeasure, a: str, b: str) -> dict[str, Any]:
    """A contrast adjusted for the values before: the columns of the table from estimate on."""
    return _adjusted(TableKey(rows), outcome, a, b)


@lru_cache(maxsize=64)  # the specification curve asks for the contrasts of the table too
def _adjusted(table: TableKey, outcome: OutcomeMeasure, a: str, b: str) -> dict[str, Any]:
    blocks, runs, left_out = _sides(table.rows, outcome, a, b)
    names = list(dict.fromkeys(blocks["topic"]))
    mean, slope = MeanEstimate(np.nan), np.nan
    if names:
        estimate, slope = _estimate(blocks, runs)
        without = []
        for name in names if len(names) > 1 else ():
            kept = blocks["topic"] != name
            own = runs["block"].isin(blocks.index[kept])
            without.append(_estimate(blocks[kept], runs[own])[0])
        mean = jackknifed(estimate, without)
    notes = [too_few("topic", len(names)), *left_out]
    if len(names) > 1 and np.isnan(mean.error):
        notes.insert(0, "no_variance: all topics have the same difference, and nothing is tested")
    row = told(mean) | {"error": mean.error, "p": mean.p, "slope": slope}
    return row | {"topics": len(names), "n": len(runs), "note": noted(*notes)}


def before_of(outcome: OutcomeMeasure) -> str:
    """The column of the values before of an outcome."""
    return f"{outcome.measure}_pre"


def _sides(
    rows: pd.DataFrame, outcome: OutcomeMeasure, a: str, b: str
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Blocks with the differences `after` and `before`, and sessions about the means of their block
    and treatment, as `after` and `before`.
    """
    before = before_of(outcome)
    known = rows[outcome.column].notna()
    if before not in rows.columns:
        empty = pd.DataFrame(columns=["topic", "block", "after", "before"])
        return empty, empty, (f"missing: the study has no column {before}",)
    values = rows.assign(
        after=rows[outcome.column] + rows[before], before=rows[before].where(known)
    )
    of_after, of_before = (compared(values, name, a, b) for name in ("after", "before"))
    blocks = of_after.blocks[["topic"]].assign(
        after=of_after.blocks["difference"], before=of_before.blocks["difference"]
    )
    runs = of_after.runs[["block", "treatment"]].assign(
        after=of_after.runs["value"], before=of_before.runs["value"]
    )
    means = runs.groupby(["block", "treatment"])[["after", "before"]].transform("mean")
    about = runs[["after", "before"]] - means
    return blocks, about.assign(block=runs["block"]), of_after.left_out


def _estimate(blocks: pd.DataFrame, runs: pd.DataFrame) -> tuple[float, float]:
    """The adjusted mean over topics and the common slope; 0 where nothing varies before."""
    spread = float(runs["before"] @ runs["before"])
    slope = float(runs["before"] @ runs["after"]) / spread if spread > 0 else 0.0
    adjusted = blocks["after"] - slope * blocks["before"]
    return float(adjusted.groupby(blocks["topic"]).mean().mean()), slope


MARGINS: Mapping[OutcomeMeasure, float] = {
    OutcomeMeasure("dri"): 0.02,
    OutcomeMeasure("dri", RELATIVE): 0.03,
    OutcomeMeasure("dri_adjusted"): 0.02,
    OutcomeMeasure("dri_adjusted", RELATIVE): 0.03,
    OutcomeMeasure("diversity"): 0.25,
}
"""The smallest effects of interest; they are ours, and no published study declares one.

Each is a fifth, rounded, of the mean change of the twelve real assemblies: .099 of the index, .109
of the adjusted one, .138 of the relative one, -1.213 of diversity (`delibsim list people`).
"""
UNDECIDED = "undecided: no variance, because all topics have the same difference"


def equivalence(
    study: StudyTable, draws: DrawCounts, margins: Mapping[OutcomeMeasure, float] = MARGINS
) -> Result:
    """Whether treatments are equivalent, for every contrast of the outcomes that have a margin.

    It draws nothing at random; `draws` is there because every analysis takes it.
    """
    own = taken(study, [one for one in wanted_outcomes(study) if one in margins])
    rows = own.contrasts(lambda outcome, found: _equivalence_row(found, margins[outcome]))
    return own.result("study/equivalence", rows)


def _equivalence_row(comparison: BlockComparison, margin: float) -> dict[str, Any]:
    """Two one-sided tests of a contrast."""
    topics = means_by(comparison.blocks["difference"], comparison.blocks["topic"])
    found = equivalence_of_mean(topics, margin)
    why = too_few("topic", len(topics))
    if len(topics) > 1 and found is UNDEFINED:
        why = noted(EQUAL if comparison.equal else "", UNDECIDED, why)
    row = {"margin": margin, "estimate": topics.mean() if len(topics) else np.nan}
    row |= {"low_90": found.low, "high_90": found.high}
    row |= {"p_lower": found.p_lower, "p_upper": found.p_upper, "p": found.p}
    row |= {"equivalent": None, "note": noted(why, *comparison.left_out)}
    if found is UNDEFINED:
        return row
    return row | {"df": len(topics) - 1, "equivalent": found.p < LEVEL}


WITHIN = "within conditions"
POWER = 0.8
ROUNDING = 1e-12
"""A standard deviation below which values do not differ."""


def sizes(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `sizes`; nothing in it is drawn at random, and `draws` is not used."""
    own = taken(study)
    people = {outcome: _people(own.rows, outcome) for outcome in own.outcomes}
    noise = {outcome: _noise(own.rows, outcome) for outcome in own.outcomes}
    rows = own.contrasts(lambda outcome, found: _sized(found, noise[outcome], people[outcome]))
    return own.result("study/sizes", rows)


def _sized(
    found: BlockComparison, noise: tuple[float, str], people: Mapping[str, float]
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


def _noise(rows: pd.DataFrame, outcome: OutcomeMeasure) -> tuple[float, str]:
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


def _people(rows: pd.DataFrame, outcome: OutcomeMeasure) -> dict[str, float]:
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
