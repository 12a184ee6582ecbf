"""Contrasts model by model, topic by topic, and without each topic in turn; and models that reason
against those that do not, within their family, under normative instructions.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result, with_holm
from delibsim.analysis.study.blocks import BlockComparison, compared, missing_note
from delibsim.analysis.study.effects import (
    EQUAL,
    NAN,
    mean_of,
    means_by,
    note_of,
    noted,
    of_clusters,
    over_draws,
    p_of_draws,
    too_few,
)
from delibsim.analysis.study.outcomes import OutcomeMeasure
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    NORMATIVE,
    kinds_of_participants,
    taken,
    wanted_outcomes,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable

TableRows = list[dict[str, Any]]


def by_block(study: StudyTable, draws: DrawCounts) -> list[Result]:
    """Every contrast by model, by topic, and with each topic left out."""
    own = taken(study)
    populations = kinds_of_participants(study)
    null = populations.get(CITIZENS) if MODELS in populations else None

    def rows_by(outcome: OutcomeMeasure, found: BlockComparison, of: Rows) -> TableRows:
        citizens = None
        if null is not None:
            citizens = compared(null, outcome.column, found.a, found.b).blocks
        rows = of(found, study, draws)
        return [row | {"null_citizen": _of_null(citizens, row)} for row in rows]

    results = []
    for name, of in TABLES.items():
        rows = own.contrasts(partial(rows_by, of=of))
        results.append(own.result(f"study/{name}", rows, resamples=draws.resamples))
    return results


def _of_null(blocks: pd.DataFrame | None, row: Mapping[str, Any]) -> float:
    """What the null citizen gives on the topics of a row; NaN where there is none."""
    if blocks is None:
        return NAN
    if "topic" in row:
        blocks = blocks[blocks["topic"] == row["topic"]]
    if "left_out" in row:
        blocks = blocks[blocks["topic"] != row["left_out"]]
    return float(blocks["difference"].mean()) if len(blocks) else NAN


def _by_model(found: BlockComparison, study: StudyTable, draws: DrawCounts) -> TableRows:
    """One row a model: its differences, topic by topic."""
    rows = []
    for model, blocks in found.blocks.groupby("model", dropna=False, sort=True):
        differences = means_by(blocks["difference"], blocks["topic"])
        summary, note = mean_of(differences, "topic", draws)
        row = {"model": model, "unit": "topic", **summary, "note": note}
        own = found.part(blocks.index)
        if len(differences) == 1:
            row |= _of_draws(own, study.paired)
        if study.paired:
            row["p_draws"] = p_of_draws(own.pairs, draws)
        rows.append(row)
    return _corrected(rows, "model", found)


def _by_topic(found: BlockComparison, study: StudyTable, draws: DrawCounts) -> TableRows:
    """One row a topic: the mean over its models, with the error of its draws."""
    rows = []
    for topic, blocks in found.blocks.groupby("topic", dropna=False, sort=True):
        differences = means_by(blocks["difference"], blocks["model"])
        summary, _ = mean_of(differences, "model", draws)
        row = {"topic": topic, **summary, "p_published": summary["p"]}
        rows.append(row | _of_draws(found.part(blocks.index), study.paired))
    return _corrected(rows, "topic", found)


def _of_draws(found: BlockComparison, paired: bool) -> dict[str, Any]:
    """Interval and test on a topic held fixed: over its draws, or its sessions."""
    own = over_draws(found, paired)
    note = "" if own.df > 0 else "one_draw: one replicate alone gives no interval on a topic"
    if found.equal:
        note = EQUAL
    numbers = {"low": own.low, "high": own.high, "df": own.df, "p": own.p}
    return {"unit": "draw" if paired else "session", **numbers, "note": note}


def _corrected(rows: TableRows, column: str, found: BlockComparison) -> TableRows:
    """The rows with Holm's correction, or one that says why there is none."""
    left_out = note_of(found) if not found.equal else noted(*found.left_out)
    if not rows:
        rows = [{column: "", "n": 0, "note": f"no_{column}: {found.no_block}"}]
    rows = with_holm(rows)
    rows[0]["note"] = noted(rows[0]["note"], left_out)
    return rows


def _without_each(found: BlockComparison, study: StudyTable, draws: DrawCounts) -> TableRows:
    """One row a topic: the estimate without it."""
    rows = []
    for topic in sorted(found.blocks["topic"].unique()):
        others = found.blocks[found.blocks["topic"] != topic]
        row, _ = of_clusters(others["difference"], others["topic"], "topic", draws)
        del row["p"]
        row["note"] = too_few("topic", others["topic"].nunique())
        rows.append({"left_out": topic, **row})
    if not rows:
        rows = [{"left_out": "", "note": f"no_topic: {found.no_block}"}]
    rows[0]["note"] = noted(rows[0]["note"], *found.left_out)
    return rows


Rows = Callable[[BlockComparison, StudyTable, DrawCounts], TableRows]
TABLES: Mapping[str, Rows] = {
    "by_model": _by_model,
    "by_topic": _by_topic,
    "leave_one_out": _without_each,
}
ALL = "all"


def reasoning(study: StudyTable, draws: DrawCounts) -> Result:
    """What reasoning adds, by family and pooled, on the absolute change of each outcome.

    A family of models counts if it has models of both kinds, so that makers are not compared.
    """
    own = taken(study, wanted_outcomes(study, relative=False), contrast=False)
    if not own.why:
        own = replace(own, why=_why_not(own.rows))
    if own.why:
        return own.result("study/reasoning", (), resamples=draws.resamples)
    sessions = _of_both_kinds(own.rows)
    rows: TableRows = []
    for outcome in own.outcomes:
        rows += _of_families(study, sessions, outcome, draws)
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
    kinds = sessions["reasoning"].astype(bool).groupby(sessions["family"]).transform("nunique")
    return sessions[kinds > 1]


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


def _of_families(
    study: StudyTable, sessions: pd.DataFrame, outcome: OutcomeMeasure, draws: DrawCounts
) -> TableRows:
    """One row a family, and the pooled one."""
    cells = _differences(sessions, outcome.column, ["family", "topic"])
    drawn = _differences(sessions, outcome.column, ["family", "topic", "replicate"])
    drawn["block"] = drawn.groupby(["family", "topic"]).ngroup()
    drawn["draw"] = drawn.groupby(["topic", "replicate"]).ngroup()
    named = {"outcome": outcome.measure, "unit": "topic"}
    rows = []
    for family in sorted(set(sessions["family"])):
        own = cells[cells["family"] == family]["difference"]
        summary, note = mean_of(own, "topic", draws)
        row = named | {"family": family, **summary, "note": note}
        if study.paired:
            row["p_draws"] = p_of_draws(drawn[drawn["family"] == family], draws)
        rows.append(row)
    pooled: dict[str, Any] = named | {"family": ALL, "n": len(cells)}
    note = too_few("topic", 0)
    if len(cells):
        found, note = of_clusters(cells["difference"], cells["topic"], "topic", draws)
        pooled |= found
        if study.paired:
            pooled["p_draws"] = p_of_draws(drawn, draws)
    lost = missing_note(sessions, outcome.column)
    return [*rows, pooled | {"note": noted(lost, note)}]


def _differences(sessions: pd.DataFrame, column: str, by: list[str]) -> pd.DataFrame:
    """The difference in each cell `by`, settings averaged: its columns, and `difference`."""
    known = sessions[sessions[column].notna()]
    kind = known["reasoning"].astype(bool).map({True: "with", False: "without"})
    means = known.assign(kind=kind).groupby([*by, "setting", "kind"], dropna=False)[column].mean()
    sides = means.unstack("kind").reindex(columns=["with", "without"]).dropna()
    found = (sides["with"] - sides["without"]).rename("difference").reset_index()
    return found.groupby(by, as_index=False)["difference"].mean()
