"""People beside models: the change of each measure on the topics on which both are known."""

import numpy as np
import pandas as pd

from delibsim.analysis.human.reference import human_value
from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.sample.populations import kinds_of_participants
from delibsim.analysis.study.study_table import StudyTable
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
COLUMNS = (
    "population outcome phase treatment here people difference low high p topics note"
).split()


def people(study: StudyTable, draws: Draws) -> Result:
    """The table `people`."""
    rows = []
    for population, own in kinds_of_participants(study).items():
        for outcome in OUTCOMES if len(own) else ():
            for phase in PHASES:
                rows += _rows(own, population, outcome, phase)
    table = pd.DataFrame(rows, columns=COLUMNS)
    why_not, detail = "", ""
    if table.empty or table["topics"].max() == 0:
        reasons = _codes(table["note"]) or ["not_measured"]
        why_not = "no_people"
        detail = (
            "No topic of this study has people's values that may stand beside it"
            f" ({', '.join(reasons)}); docs/human-reference.md lists the twelve topics that have."
        )
    return make_table("study/people", table, why=why_not, detail=detail)


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


def _codes(notes: pd.Series) -> list[str]:
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
