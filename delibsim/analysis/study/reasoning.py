"""Models that reason against those that do not, within their family, under normative instructions.

A family of models counts if it has models of both kinds, so that makers are not compared.
"""

from dataclasses import replace
from math import isnan
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.blocks import missing_note
from delibsim.analysis.study.effects import (
    NAN,
    NO_VARIANCE,
    mean_of,
    noted,
    p_of_draws,
    published_interval,
    told,
    too_few,
)
from delibsim.analysis.study.sample import (
    ABSOLUTE,
    NORMATIVE,
    Outcome,
    taken,
)
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.measures.inference.means import mean_of_units

ALL = "all"


def reasoning(study: StudyTable, draws: Draws) -> Result:
    """What reasoning adds, by family and pooled, on the absolute change of each outcome."""
    own = taken(study, ABSOLUTE, contrast=False)
    if not own.why:
        own = replace(own, why=_why_not(own.rows))
    if own.why:
        return own.result("study/reasoning", (), resamples=draws.resamples)
    sessions = _of_both_kinds(own.rows)
    rows: list[dict[str, Any]] = []
    for outcome in own.outcomes:
        rows += _of_outcome(study, sessions, outcome, draws)
    left_out = _families_left_out(own.rows, sessions)
    return own.result("study/reasoning", rows, left_out, resamples=draws.resamples)


def _why_not(rows: pd.DataFrame) -> str:
    """The reason code of a study without a comparison; "" where there is one."""
    if not {"family", "reasoning"} <= set(rows.columns):
        return "not_known"
    if NORMATIVE not in set(rows["treatment"]):
        return "no_normative"
    return "" if len(_of_both_kinds(rows)) else "no_family"


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
    study: StudyTable, sessions: pd.DataFrame, outcome: Outcome, draws: Draws
) -> list[dict[str, Any]]:
    """One row a family, and the pooled one."""
    cells = _differences(sessions, outcome.column, ["family", "topic"])
    drawn = _differences(sessions, outcome.column, ["family", "topic", "replicate"])
    lost = missing_note(sessions, outcome.column)
    rows = []
    for family in sorted(set(sessions["family"])):
        summary, note = mean_of(cells[cells["family"] == family]["difference"], "topic", draws)
        row = {"outcome": outcome.measure, "family": family, "unit": "topic", **summary}
        p_draws = _p_of_draws(study, drawn[drawn["family"] == family], draws)
        rows.append(row | {"p_draws": p_draws, "note": note})
    pooled: dict[str, Any] = {
        "outcome": outcome.measure,
        "family": ALL,
        "unit": "topic",
        "n": len(cells),
    }
    by_topic = cells.groupby("topic")["difference"].mean()
    notes = [lost, too_few("topic", len(by_topic))]
    if len(cells):
        mean = mean_of_units(by_topic)
        ends = published_interval(cells["difference"], cells["topic"], "topic", draws)
        pooled |= {**told(mean), "p": mean.p}
        pooled |= {"published_low": ends[0], "published_high": ends[1]}
        pooled["p_draws"] = _p_of_draws(study, drawn, draws)
        if len(by_topic) > 1 and isnan(mean.error):
            notes.append(NO_VARIANCE.format("topic"))
    return [*rows, pooled | {"note": noted(*notes)}]


def _p_of_draws(study: StudyTable, drawn: pd.DataFrame, draws: Draws) -> float:
    """The p of the mean over cells, the signs of all differences of a draw flipped together."""
    if not study.paired:
        return NAN
    block = drawn.groupby(["family", "topic"]).ngroup()
    draw = drawn.groupby(["topic", "replicate"]).ngroup()
    return p_of_draws(drawn.assign(block=block, draw=draw), draws)


def _differences(sessions: pd.DataFrame, column: str, by: list[str]) -> pd.DataFrame:
    """The difference in each cell `by`, settings averaged: its columns, and `difference`."""
    known = sessions[sessions[column].notna()]
    kind = known["reasoning"].astype(bool).map({True: "with", False: "without"})
    means = known.assign(kind=kind).groupby([*by, "setting", "kind"], dropna=False)[column].mean()
    sides = means.unstack("kind").reindex(columns=["with", "without"]).dropna()
    found = (sides["with"] - sides["without"]).rename("difference").reset_index()
    return found.groupby(by, as_index=False)["difference"].mean()
