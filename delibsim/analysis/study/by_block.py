"""Contrasts model by model and topic by topic, and without each topic in turn."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result
from delibsim.analysis.study.blocks import Compared, compared
from delibsim.analysis.study.effects import (
    EQUAL,
    NAN,
    mean_of,
    note_of,
    noted,
    over_draws,
    p_of_draws,
    published_interval,
    told,
    too_few,
)
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    Outcome,
    kinds_of_participants,
    taken,
)
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.measures.inference.means import holm, mean_of_units


def by_block(study: StudyTable, draws: Draws) -> list[Result]:
    """Every contrast by model, by topic, and with each topic left out."""
    own = taken(study)
    populations = kinds_of_participants(study)
    null = populations.get(CITIZENS) if MODELS in populations else None

    def rows_by(outcome: Outcome, found: Compared, of: Rows) -> list[dict[str, Any]]:
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


def _by_model(found: Compared, study: StudyTable, draws: Draws) -> list[dict[str, Any]]:
    """One row a model: its differences, topic by topic."""
    rows: list[dict[str, Any]] = []
    for model, blocks in found.blocks.groupby("model", dropna=False, sort=True):
        differences = blocks.groupby("topic", dropna=False)["difference"].mean()
        summary, note = mean_of(differences, "topic", draws)
        row = {"model": model, "unit": "topic", **summary, "note": note}
        own = found.part(blocks.index)
        if len(differences) == 1:
            row |= _of_draws(own, study.paired)
        if study.paired:
            row["p_draws"] = p_of_draws(own.pairs, draws)
        rows.append(row)
    return _corrected(rows, "model", found)


def _by_topic(found: Compared, study: StudyTable, draws: Draws) -> list[dict[str, Any]]:
    """One row a topic: the mean over its models, with the error of its draws."""
    rows: list[dict[str, Any]] = []
    for topic, blocks in found.blocks.groupby("topic", dropna=False, sort=True):
        differences = blocks.groupby("model", dropna=False)["difference"].mean()
        summary, _ = mean_of(differences, "model", draws)
        row = {"topic": topic, **summary, "p_published": summary["p"]}
        rows.append(row | _of_draws(found.part(blocks.index), study.paired))
    return _corrected(rows, "topic", found)


def _of_draws(found: Compared, paired: bool) -> dict[str, Any]:
    """Interval and test on a topic held fixed: over its draws, or its sessions."""
    own = over_draws(found, paired)
    note = "" if own.df > 0 else "one_draw: one replicate alone gives no interval on a topic"
    if found.equal:
        note = EQUAL
    unit = "draw" if paired else "session"
    numbers = {"low": own.low, "high": own.high, "df": own.df, "p": own.p}
    return {"unit": unit, **numbers, "note": note}


def _corrected(rows: list[dict[str, Any]], column: str, found: Compared) -> list[dict[str, Any]]:
    """The rows with Holm's correction, or one that says why there is none."""
    corrected = holm([row["p"] for row in rows])
    left_out = note_of(found) if not found.equal else noted(*found.left_out)
    if not rows:
        rows = [{column: "", "n": 0, "note": f"no_{column}: {_no_block(found)}"}]
        corrected = [NAN]
    for row, p in zip(rows, corrected, strict=True):
        row["p_holm"] = p
    rows[0]["note"] = noted(rows[0]["note"], left_out)
    return rows


def _without_each(found: Compared, study: StudyTable, draws: Draws) -> list[dict[str, Any]]:
    """One row a topic: the estimate without it."""
    rows: list[dict[str, Any]] = []
    for topic in sorted(found.blocks["topic"].unique()):
        others = found.blocks[found.blocks["topic"] != topic]
        means = others.groupby("topic")["difference"].mean()
        low, high = published_interval(others["difference"], others["topic"], "topic", draws)
        row = {"left_out": topic, **told(mean_of_units(means))}
        row |= {"published_low": low, "published_high": high}
        rows.append(row | {"note": too_few("topic", len(means))})
    if not rows:
        rows = [{"left_out": "", "note": f"no_topic: {_no_block(found)}"}]
    rows[0]["note"] = noted(rows[0]["note"], *found.left_out)
    return rows


Rows = Callable[[Compared, StudyTable, Draws], list[dict[str, Any]]]
TABLES: Mapping[str, Rows] = {
    "by_model": _by_model,
    "by_topic": _by_topic,
    "leave_one_out": _without_each,
}


def _no_block(found: Compared) -> str:
    return f"no topic and model has values under both {found.a} and {found.b}"
