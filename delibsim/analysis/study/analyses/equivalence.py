"""Equivalence of treatments: whether their difference is smaller than one of interest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import EQUAL, noted, too_few
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.blocks import compared
from delibsim.analysis.study.sample.outcomes import (
    Outcome,
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import UNDEFINED, equivalence_of_mean

MARGINS: Mapping[Outcome, float] = {
    Outcome("dri"): 0.02,
    Outcome("dri", "relative"): 0.03,
    Outcome("dri_adjusted"): 0.02,
    Outcome("dri_adjusted", "relative"): 0.03,
    Outcome("diversity"): 0.25,
}
"""The smallest effects of interest; they are ours, and no published study declares one.

Each is a fifth, rounded, of the mean change of the twelve real assemblies: .099 of the index, .109
of the adjusted one, .138 of the relative one, -1.213 of diversity (`delibsim list people`).
"""
LEVEL = 0.05
UNDECIDED = "undecided: no variance, because all topics have the same difference"


def equivalence(
    study: StudyTable,
    draws: Draws,
    margins: Mapping[Outcome, float] = MARGINS,
) -> Result:
    """Whether treatments are equivalent, for every contrast of the outcomes that have a margin.

    It draws nothing at random; `draws` is there because every analysis takes it.
    """
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows, list(margins))
    code, detail = why_no_contrast(rows, given)
    found = []
    if not code:
        for outcome in given:
            for a, b in contrasts_of(treatments_of(rows)):
                found.append(_row(rows, outcome, a, b, margins[outcome]))
    return make_table(
        "study/equivalence",
        found,
        notes=[*notes, *missing],
        why=code,
        detail=detail,
    )


def _row(rows: pd.DataFrame, outcome: Outcome, a: str, b: str, margin: float) -> dict[str, Any]:
    """One contrast of one outcome."""
    comparison = compared(rows, outcome.column, a, b)
    topics = comparison.blocks.groupby("topic")["difference"].mean().to_numpy()
    found = equivalence_of_mean(topics, margin)
    why = too_few("topic", len(topics))
    if len(topics) > 1 and found is UNDEFINED:
        why = noted(EQUAL if comparison.equal else "", UNDECIDED, why)
    return {
        "outcome": outcome.measure,
        "scale": outcome.scale,
        "a": a,
        "b": b,
        "margin": margin,
        "estimate": float(topics.mean()) if len(topics) else np.nan,
        "low_90": found.low,
        "high_90": found.high,
        "p_lower": found.p_lower,
        "p_upper": found.p_upper,
        "p": found.p,
        "df": len(topics) - 1 if found is not UNDEFINED else np.nan,
        "equivalent": None if found is UNDEFINED else found.p < LEVEL,
        "note": noted(why, *comparison.left_out),
    }
