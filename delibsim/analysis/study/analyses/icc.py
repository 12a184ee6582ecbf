"""The intraclass correlation by topic: how alike sessions on one topic are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import noted
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import missing_note
from delibsim.analysis.study.sample.outcomes import NONE, OUTCOMES, outcomes_of, why_no_outcome
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.components import intraclass

AQUA = "aqua.score"
"""The column of the AQuA score of a session."""
NOTHING, FIXED = "nothing", "model and treatment"
MEANINGS = {
    "outcome": "the measure whose change, or AQuA whose value, is described",
    "adjusted_for": "what is taken out first: nothing, or fixed effects of model and treatment",
    "icc": "intraclass correlation by topic",
    "low": "lower end of the 95% interval, from the F distribution",
    "high": "upper end of the 95% interval, from the F distribution",
    "topics": "number of topics",
    "n": "number of sessions",
    "note": "what was left out, or why there is no value",
}
DEFINITION = (
    "The share of the variance between sessions that lies between topics, by the analysis of"
    " variance with sizes of topics as they are: the correlation of two sessions of one topic,"
    " taken from the models, treatments and replicates that this design has, some of which share a"
    " block. It can be negative, where topics differ less than chance would make them. Once as it"
    " is, once after fixed effects of model and treatment. The 95% interval inverts the F test of"
    " topics; where topics have unequal sizes, with n0, the mean size of a topic that the analysis"
    " of variance takes. Below five topics none is printed."
)
SOURCE = (
    "Donner (1986), https://doi.org/10.2307/1403259; Searle (1971), Linear Models, 9.9; Searle,"
    " Casella and McCulloch (1992), 5.5"
)
FEW = 5
"""Topics below which no interval is printed."""
FEW_TOPICS = "few_topics: an interval needs five topics or more"
WHY = {
    "one_cluster": "one_topic: it needs two topics or more",
    "no_replication": "no_replication: no topic has more sessions than there are fixed effects",
    "no_variance": "no_variance: the values do not differ",
}


def icc(study: StudyTable, draws: Draws) -> Result:
    """The intraclass correlation of each outcome by topic, raw and after fixed effects.

    Nothing in it is drawn at random, and `draws` is not used.
    """
    rows, notes = main_population(study)
    absolute = [outcome for outcome in OUTCOMES if outcome.scale == "absolute"]
    given, missing = outcomes_of(rows, absolute)
    columns = {outcome.measure: outcome.column for outcome in given}
    if AQUA in rows.columns and rows[AQUA].notna().any():
        columns[AQUA] = AQUA
    found = []
    for measure, column in columns.items():
        for adjusted_for in (NOTHING, FIXED):
            found.append(_row(rows, measure, column, adjusted_for))
    code, detail = ("", "") if found else why_no_outcome(rows, given)
    return Result(
        name="icc",
        title="Intraclass correlation by topic",
        definition=DEFINITION,
        source=SOURCE,
        rows=pd.DataFrame(found, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else [*notes, *missing],
        why_not=code,
        detail=detail,
    )


def _row(rows: pd.DataFrame, measure: str, column: str, adjusted_for: str) -> dict[str, Any]:
    """One outcome, raw or after fixed effects."""
    if column == AQUA:
        rows = rows[rows["treatment"] != NONE]  # where nobody speaks, nothing can be scored
    known = rows[rows[column].notna()]
    lost = missing_note(rows, column)
    named: dict[str, Any] = {"outcome": measure, "adjusted_for": adjusted_for}
    if not len(known):
        return named | {"topics": 0, "n": 0, "note": noted("no_value", lost)}
    fixed = None if adjusted_for == NOTHING else indicators(known, ["model", "treatment"])
    found = intraclass(known[column].astype(float), known["topic"], fixed)
    few = not found.note and found.clusters < FEW
    return named | {
        "icc": found.icc,
        "low": np.nan if few else found.low,
        "high": np.nan if few else found.high,
        "topics": found.clusters,
        "n": found.n,
        "note": noted(FEW_TOPICS if few else WHY.get(found.note, ""), lost),
    }


def indicators(rows: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Columns of 0 and 1 for every value of these columns but the first of each."""
    parts = [pd.get_dummies(rows[name], drop_first=True, dtype=float) for name in columns]
    return pd.concat(parts, axis=1).to_numpy()
