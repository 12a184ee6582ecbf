"""The noise floor: how far the outcomes move where nobody deliberates."""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import noted, too_few
from delibsim.analysis.study.analyses.topic_means import INTERVAL, over_topics
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.blocks import missing_note
from delibsim.analysis.study.sample.outcomes import (
    NONE,
    OUTCOMES,
    Outcome,
    outcomes_of,
    why_no_outcome,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import BLOCK, StudyTable

ABSOLUTE = [outcome for outcome in OUTCOMES if outcome.scale == "absolute"]


def noise_floor(study: StudyTable, draws: Draws) -> Result:
    """How far each outcome changed under the treatment none."""
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows, ABSOLUTE)
    sessions = rows[rows["treatment"] == NONE]
    code, detail = _why_not(rows, given)
    found = [] if code else [_row(sessions, outcome, draws) for outcome in given]
    return make_table(
        "study/noise_floor",
        found,
        notes=[*notes, *missing],
        why=code,
        detail=detail,
        n=draws.resamples,
    )


def _why_not(rows: pd.DataFrame, outcomes: list[Outcome]) -> tuple[str, str]:
    code, detail = why_no_outcome(rows, outcomes)
    if code or (rows["treatment"] == NONE).any():
        return code, detail
    return "no_control", f"The study has no sessions under the treatment {NONE}."


def _row(sessions: pd.DataFrame, outcome: Outcome, draws: Draws) -> dict[str, Any]:
    """The noise floor of one outcome."""
    known = sessions[sessions[outcome.column].notna()]
    values = known[outcome.column].astype(float)
    row: dict[str, Any] = {"outcome": outcome.measure, "treatment": NONE, "n": len(values)}
    notes = [missing_note(sessions, outcome.column)]
    if not len(values):
        return row | {"note": noted(*notes)}
    found = over_topics(values, known["topic"], draws)
    within = values.groupby([known[name] for name in BLOCK], dropna=False).std(ddof=1)
    single = int(within.isna().sum())
    if single:
        blocks = f"{single} of {len(within)} blocks have one session only"
        notes.append(f"no_replication: {blocks} and no standard deviation of their own")
    if found["note"] == "one_topic":
        notes.append(too_few("topic", 1))
    elif found["note"]:
        notes.append(found["note"])
    return row | {
        "mean": found["mean"],
        "sd": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
        "mean_absolute": float(values.abs().mean()),
        **{name: found[name] for name in INTERVAL},
        "within_block_sd": float(within.mean()),
        "note": noted(*notes),
    }
