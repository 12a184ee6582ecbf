"""People beside models: the change of each measure on the topics on which both are known."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from delibsim.analysis.human.reference import human_value
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.sample import kinds_of_participants, treatments_of
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.domain.measure import MEASURES

OUTCOMES = (
    "dri",
    "dri_adjusted",
    "consideration_agreement",
    "preference_agreement",
    "diversity",
)
"""The measures that are set beside people's, as far as their instruments allow it."""
PHASES = ("pre", "post", "change")


def people(study: StudyTable, draws: Draws) -> Result:
    """The table `people`."""
    rows = []
    for population, own in kinds_of_participants(study).items():
        for outcome in OUTCOMES if len(own) else ():
            for phase in PHASES:
                rows += _rows(own, population, outcome, phase)
    if not any(row["topics"] for row in rows):
        reasons = ", ".join(_codes(row["note"] for row in rows) or ["not_measured"])
        return make_table("study/people", (), why="no_people", reasons=reasons)
    return make_table("study/people", rows, why="")


def _rows(own: pd.DataFrame, population: str, outcome: str, phase: str) -> list[dict[str, object]]:
    """A row for each treatment."""
    column = f"{outcome}_{phase}"
    if outcome not in MEASURES or column not in own.columns:
        return []
    rows = []
    for treatment in treatments_of(own):
        sessions = own[own["treatment"].astype(str) == treatment]
        valid = sessions[sessions[column].notna()]
        blocks = valid.groupby(["topic", "model", "setting"])[column].mean()
        means = blocks.groupby("topic").mean()
        known, notes = _people(valid, means.index, outcome, phase)
        both = [topic for topic in means.index if topic in known]
        row: dict[str, object] = {"population": population, "outcome": outcome, "phase": phase}
        row |= {"treatment": treatment, "topics": len(both)}
        row |= compared(np.array([means[t] for t in both]), np.array([known[t] for t in both]))
        if not len(means):
            notes = ["no value in this treatment"]
        row["note"] = "; ".join(notes)
        rows.append(row)
    return rows


def _people(
    sessions: pd.DataFrame, topics: pd.Index, outcome: str, phase: str
) -> tuple[dict[str, float], list[str]]:
    """People's values by topic, and why other topics have none, with their number."""
    surveys = sessions.groupby("topic")["survey"].first() if "survey" in sessions else {}
    known: dict[str, float] = {}
    reasons: dict[str, int] = {}
    for topic in topics:
        survey = surveys.get(topic, "")
        value, why = human_value(str(topic), outcome, phase, str(survey or ""))
        if value is None:
            reasons[why] = reasons.get(why, 0) + 1
        else:
            known[topic] = value
    return known, [f"{why} ({n} of {len(topics)} topics)" for why, n in sorted(reasons.items())]


def _codes(notes: Iterable[object]) -> list[str]:
    """Why topics have no people, without their numbers, which are those of one row."""
    parts = [part for note in notes for part in str(note).split("; ")]
    return sorted({part.partition(" (")[0] for part in parts})


def compared(here: np.ndarray, there: np.ndarray) -> dict[str, float]:
    """Both means and their difference with its interval; NaN where topics do not suffice."""
    from scipy.stats import ttest_1samp

    nothing = float("nan")
    found = dict.fromkeys(("here", "people", "difference", "low", "high", "p"), nothing)
    if len(here):
        found |= {"here": here.mean(), "people": there.mean()}
        found["difference"] = (here - there).mean()
    if len(here) > 1 and np.ptp(here - there) > 0:
        test = ttest_1samp(here - there, 0.0)
        ends = test.confidence_interval()
        found |= {"low": float(ends.low), "high": float(ends.high), "p": float(test.pvalue)}
    return found
