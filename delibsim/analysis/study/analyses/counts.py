"""Counts of a study: planned, held, valid and analysed sessions by condition, and why not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pandas as pd

from delibsim.analysis.result import Result, entry, make_table
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.study_table import DESIGN, StudyTable

OUTCOME = "dri_change"
CONDITION = ("model", "setting", "treatment")
NOT_PLANNED = "not planned"
SHOWN = 5
"""Of so many sessions a note gives the names; of more, their number."""
MEANINGS = {
    "topic": "id of the topic",
    "model": "models of the group, joined by +",
    "setting": "every other setting in which sessions of the study differ",
    "treatment": "name of the treatment",
    "planned": "sessions that the study plans",
    "held": "of these, sessions that have a run, damaged ones among them",
    "valid": "of these, runs that can be read",
    "analysed": "of these, runs that have a value of the outcome",
    "missing": "why planned sessions are not analysed: each reason with its number of sessions",
}


def counts(study: StudyTable, draws: Draws) -> Result:
    """Sessions by topic and condition: planned, held, valid, analysed, and why others are not."""
    outcome = outcome_of(study)
    rows = entry("study/counts").frame(_rows(study.rows, outcome))
    notes = [*_absent_topics(rows), *_unmeasured(rows), *_duplicates(study)]
    if outcome != OUTCOME:
        told = outcome or "none, because the table holds no change of any measure"
        notes.append(f"The table has no {OUTCOME}; the outcome is {told}.")
    formats = study.rows.get("format", pd.Series(dtype="object")).dropna().unique()
    if "debate" in formats:
        notes.append("The study has debates, which have no survey of participants and no index.")
    return make_table("study/counts", rows, tuple(notes), outcome=outcome or "an outcome")


def outcome_of(study: StudyTable) -> str:
    """The outcome that counts: the change of the index, else the first change; "" for none."""
    if OUTCOME in study.rows:
        return OUTCOME
    changes = [str(name) for name in study.rows.columns if str(name).endswith("_change")]
    given = [name for name in changes if study.rows[name].notna().any()]
    return next(iter(given), "")


def _rows(rows: pd.DataFrame, outcome: str) -> Iterator[dict[str, Any]]:
    by = ["topic", *CONDITION]
    keys = rows[by].astype(object)
    needed = ["status", outcome, f"{outcome.rpartition('_')[0]}_note"]
    whole = rows[[name for name in needed if name in rows]]
    whole = whole.assign(**keys.where(keys.notna(), "").to_dict("series"))
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for named, own in whole.groupby(by, sort=False):
        key = cast("tuple[Any, ...]", named)
        found[key] = dict(zip(by, key, strict=True)) | _counted(own, outcome)
    topics = list(dict.fromkeys(whole["topic"]))
    conditions = dict.fromkeys(key[1:] for key in found)
    for topic in topics:
        for condition in conditions:
            absent = dict(zip(by, (topic, *condition), strict=True))
            absent |= dict.fromkeys(("planned", "held", "valid", "analysed"), 0)
            yield found.get((topic, *condition), absent | {"missing": NOT_PLANNED})


def _counted(own: pd.DataFrame, outcome: str) -> dict[str, Any]:
    status = own["status"]
    valid = status.isin(["complete", "partial"])
    analysed = valid & own[outcome].notna() if outcome else valid & False
    reasons = Counter(status[~valid])
    if outcome:
        lost = own[valid & ~analysed]
        name = f"{outcome.rpartition('_')[0]}_note"
        notes = lost[name] if name in lost else pd.Series([None] * len(lost))
        reasons.update(notes.fillna("no reason recorded"))
    else:
        reasons["no outcome"] += int(valid.sum())
    told = [f"{reason} {n}" for reason, n in sorted(reasons.items()) if n]
    return {
        "planned": len(own),
        "held": int((valid | (status == "damaged")).sum()),
        "valid": int(valid.sum()),
        "analysed": int(analysed.sum()),
        "missing": "; ".join(told),
    }


def _absent_topics(rows: pd.DataFrame) -> Iterator[str]:
    """That conditions were not planned on all topics, or have no analysed run on some."""
    for kind, problem in (("planned", "no session is planned"), ("analysed", "no run is analysed")):
        empty = rows[rows[kind] == 0]
        if kind == "analysed":
            empty = empty[empty["planned"] > 0]
        for condition, own in empty.groupby(list(CONDITION), sort=False):
            named = ", ".join(str(part) for part in condition if part)
            yield f"{named}: {problem} on {_named(list(own['topic']))}."


def _unmeasured(rows: pd.DataFrame) -> Iterator[str]:
    """How many planned sessions are not analysed, over all conditions."""
    planned, analysed = int(rows["planned"].sum()), int(rows["analysed"].sum())
    if analysed < planned:
        yield f"{planned - analysed} of {planned} planned sessions are not analysed."


def _duplicates(study: StudyTable) -> Iterator[str]:
    """The runs that seem to be in the study twice."""
    rows = study.rows
    names = rows["session"] if "session" in rows else pd.Series(rows.index.astype(str))
    design = rows[list(DESIGN)].astype(object)
    twice = design.where(design.notna(), "").duplicated(keep=False)
    if twice.any():
        yield f"Sessions of one topic, condition and replicate: {_named(list(names[twice]))}."
    measures = [str(name) for name in rows if str(name).endswith(("_pre", "_post", "_change"))]
    if OUTCOME not in rows:
        return
    analysed = rows[rows[OUTCOME].notna()]
    same = analysed.duplicated(["topic", *CONDITION, *measures], keep=False)
    same &= ~twice[analysed.index]
    if same.any():
        yield (
            "Replicates of one condition that are equal in every measure, as the copy of a run is:"
            f" {_named(list(names[analysed.index][same]))}."
        )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(str, names[:SHOWN])) + more
