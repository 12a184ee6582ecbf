"""Models that reason against those that do not, within their family, under normative instructions.

A family of models counts if it has models of both kinds, so that makers are not compared.
"""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import (
    bootstrap_seed,
    mean_of,
    noted,
    one_sample_p,
    too_few,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import missing_note
from delibsim.analysis.study.sample.outcomes import (
    NORMATIVE,
    OUTCOMES,
    Outcome,
    outcomes_of,
    why_no_outcome,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.contrasts import block_differences
from delibsim.measures.inference.resampling import cluster_interval

ALL = "all"
MEANINGS = {
    "outcome": "the measure whose change is compared",
    "family": "the family of models, or all of them",
    "estimate": "mean of the differences, reasoning less not reasoning",
    "low": "lower end of the 95% interval over topics",
    "high": "upper end of the 95% interval over topics",
    "n": "number of differences: topics, and for all families topics of each",
    "p": "p of a one-sample t test over topics",
    "note": "what was left out, or why there is no value",
}
DEFINITION = (
    "Under normative instructions, within each family of models and topic by topic, the difference"
    " between the mean change of models that reason and that of models that do not. The pooled row"
    " is the unweighted mean over families and topics; its test is over the means of topics. The"
    " interval is the 95% percentile bootstrap interval over topics, {resamples:,} resamples."
)
CELL = ["family", "topic", "setting"]


def reasoning(study: StudyTable, draws: Draws) -> Result:
    """What reasoning adds, by family and pooled, on the absolute change of each outcome."""
    rows, notes = main_population(study)
    absolute = [outcome for outcome in OUTCOMES if outcome.scale == "absolute"]
    given, missing = outcomes_of(rows, absolute)
    code, detail = _why_not(rows, given)
    found: list[dict[str, Any]] = []
    if not code:
        sessions = _of_both_kinds(rows)
        notes += _families_left_out(rows, sessions)
        for outcome in given:
            found += _of_outcome(sessions, outcome, draws)
    return Result(
        name="reasoning",
        title="Reasoning models against others of their family",
        definition=DEFINITION.format(resamples=draws.resamples),
        source="docs/analysis.md",
        rows=pd.DataFrame(found, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else [*notes, *missing],
        why_not=code,
        detail=detail,
    )


def _why_not(rows: pd.DataFrame, outcomes: list[Outcome]) -> tuple[str, str]:
    """Why there is no comparison, as a code and a sentence; "" twice where there is one."""
    code, detail = why_no_outcome(rows, outcomes)
    if code:
        return code, detail
    if not {"family", "reasoning"} <= set(rows.columns):
        detail = "The table of the study does not say which models reason, and of which family."
        return "not_known", detail
    if NORMATIVE not in set(rows["treatment"]):
        return "no_normative", f"The study has no sessions under the treatment {NORMATIVE}."
    if not len(_of_both_kinds(rows)):
        detail = "No family of models in the study has one that reasons and one that does not."
        return "no_family", detail
    return "", ""


def _of_both_kinds(rows: pd.DataFrame) -> pd.DataFrame:
    """The normative sessions of families that have models of both kinds."""
    known = rows["family"].notna() & rows["reasoning"].notna()
    sessions = rows[(rows["treatment"] == NORMATIVE) & known]
    reasons = sessions["reasoning"].astype(bool)
    both = set(sessions.loc[reasons, "family"]) & set(sessions.loc[~reasons, "family"])
    return sessions[sessions["family"].isin(both)]


def _families_left_out(rows: pd.DataFrame, sessions: pd.DataFrame) -> list[str]:
    """Sentences on families without models of both kinds, and on models of unknown kind."""
    sentences = []
    left = sorted(set(rows["family"].dropna().astype(str)) - set(sessions["family"].astype(str)))
    if left:
        named = ", ".join(left)
        sentences.append(f"Families without models of both kinds are left out: {named}.")
    unknown = sorted(set(rows.loc[rows["reasoning"].isna(), "model"].astype(str)))
    if unknown:
        named = ", ".join(unknown)
        sentences.append(f"Of these models it is not known whether they reason: {named}.")
    return sentences


def _of_outcome(
    sessions: pd.DataFrame,
    outcome: Outcome,
    draws: Draws,
) -> list[dict[str, Any]]:
    """One row a family, and the pooled one."""
    cells = _differences(sessions, outcome.column)
    lost = missing_note(sessions, outcome.column)
    rows = []
    for family in sorted(set(sessions["family"])):
        own = cells[cells["family"] == family]["difference"]
        summary, note = mean_of(own, "topic", draws)
        rows.append({"outcome": outcome.measure, "family": family, **summary, "note": note})
    pooled = {"outcome": outcome.measure, "family": ALL, "n": len(cells), "note": lost}
    if len(cells):
        seed = bootstrap_seed(draws, "topic")
        by_topic = cells.groupby("topic")["difference"].mean()
        low, high = cluster_interval(cells["difference"], cells["topic"], draws.resamples, seed)
        pooled |= {
            "estimate": float(cells["difference"].mean()),
            "low": low,
            "high": high,
            "p": one_sample_p(by_topic.to_numpy()),
            "note": noted(lost, too_few("topic", len(by_topic))),
        }
    return [*rows, pooled]


def _differences(sessions: pd.DataFrame, column: str) -> pd.DataFrame:
    """The difference of each family and topic: columns family, topic, difference."""
    known = sessions[sessions[column].notna()]
    reasons = known["reasoning"].astype(bool)
    cells = known.groupby(CELL, dropna=False).ngroup()
    both = set(cells[reasons]) & set(cells[~reasons])
    entering = cells.isin(both)
    if not entering.any():
        return pd.DataFrame({"family": [], "topic": [], "difference": []})
    codes = np.unique(cells[entering], return_inverse=True)[1]
    differences = block_differences(known.loc[entering, column], reasons[entering], codes)
    named = known[entering].assign(code=codes).drop_duplicates("code").sort_values("code")
    found = named[["family", "topic"]].assign(difference=differences)
    return found.groupby(["family", "topic"], as_index=False)["difference"].mean()
