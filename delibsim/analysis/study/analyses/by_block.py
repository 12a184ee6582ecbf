"""Contrasts model by model and topic by topic, and without each topic in turn."""

from collections.abc import Generator, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.study.analyses.effects import (
    bootstrap_seed,
    mean_of,
    note_of,
    noted,
    too_few,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import Compared, compared
from delibsim.analysis.study.sample.outcomes import (
    Outcome,
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.multiplicity import holm
from delibsim.measures.inference.resampling import means_without_each

CONTRAST = {
    "outcome": "the measure whose change is compared",
    "scale": "absolute change, or change relative to the room there was for it",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
}
SPREAD = {
    "estimate": "mean of the differences, a less b",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "median": "median of the differences",
    "sd": "standard deviation of the differences",
    "share_positive": "share of the differences above 0",
    "n": "number of differences",
    "p": "p of a one-sample t test of the differences",
    "p_holm": "p after Holm's correction over the rows of one outcome, scale and contrast",
    "note": "what was left out, or why there is no value",
}
DEFINITION = (
    "For each {row} and each {unit}, the difference between the mean change under treatment a and"
    " that under b (settings of one {unit} averaged). A row has their mean, median, standard"
    " deviation and share above 0, the p of a one-sample t test, Holm's correction over {row}s, and"
    " the 95% percentile bootstrap interval over {unit}s, {resamples:,} resamples."
)
LEFT_OUT = (
    "The estimate of the contrast, the mean over blocks of the difference of means, without the"
    " blocks of one topic; the interval is the 95% percentile bootstrap interval over the other"
    " topics, {resamples:,} resamples."
)
SOURCE = "docs/analysis.md; Holm (1979), https://www.jstor.org/stable/4615733"


def by_block(study: StudyTable, draws: Draws) -> list[Result]:
    """Every contrast by model, by topic, and with each topic left out."""
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows)
    code, detail = why_no_contrast(rows, given)
    tables: dict[str, list[dict[str, Any]]] = {"by_model": [], "by_topic": [], "leave_one_out": []}
    if not code:
        for named, found in _comparisons(rows, given):
            tables["by_model"] += _by("model", named, found, draws)
            tables["by_topic"] += _by("topic", named, found, draws)
            tables["leave_one_out"] += _without_each(named, found, draws)
    return [
        _result(name, table, draws, notes=[*notes, *missing], why=(code, detail))
        for name, table in tables.items()
    ]


def _comparisons(
    rows: pd.DataFrame,
    outcomes: list[Outcome],
) -> Generator[tuple[dict[str, str], Compared]]:
    """Every outcome and contrast, with the columns that name it."""
    for outcome in outcomes:
        for a, b in contrasts_of(treatments_of(rows)):
            named = {"outcome": outcome.measure, "scale": outcome.scale, "a": a, "b": b}
            yield named, compared(rows, outcome.column, a, b)


def _by(
    column: str,
    named: Mapping[str, str],
    found: Compared,
    draws: Draws,
) -> list[dict[str, Any]]:
    """One row a model, over topics, or one row a topic, over models."""
    unit = "topic" if column == "model" else "model"
    rows: list[dict[str, Any]] = []
    for name, blocks in found.blocks.groupby(column, dropna=False, sort=True):
        differences = blocks.groupby(unit, dropna=False)["difference"].mean()
        summary, note = mean_of(differences, unit, draws)
        rows.append({**named, column: name, **summary, "note": note})
    corrected = holm([row["p"] for row in rows])
    left_out = note_of(found) if not found.equal else noted(*found.left_out)
    if not rows:
        rows = [{**named, column: "", "n": 0, "note": f"no_{column}: {_no_block(found)}"}]
        corrected = [float("nan")]
    for row, p in zip(rows, corrected, strict=True):
        row["p_holm"] = p
    rows[0]["note"] = noted(rows[0]["note"], left_out)
    return rows


def _without_each(
    named: Mapping[str, str],
    found: Compared,
    draws: Draws,
) -> list[dict[str, Any]]:
    """One row a topic: the estimate without it."""
    rows: list[dict[str, Any]] = []
    blocks, seed = found.blocks, bootstrap_seed(draws, "topic")
    topics = blocks["topic"].to_numpy()
    note = too_few("topic", len(set(topics)) - 1)
    for left in means_without_each(blocks["difference"], topics, draws.resamples, seed):
        values = {"estimate": left.mean, "low": left.low, "high": left.high}
        rows.append({**named, "left_out": left.cluster, **values, "note": note})
    if not rows:
        rows = [{**named, "left_out": "", "note": f"no_topic: {_no_block(found)}"}]
    rows[0]["note"] = noted(rows[0]["note"], *found.left_out)
    return rows


def _no_block(found: Compared) -> str:
    return f"no topic and model has values under both {found.a} and {found.b}"


def _result(
    name: str,
    rows: list[dict[str, Any]],
    draws: Draws,
    notes: list[str],
    why: tuple[str, str],
) -> Result:
    """One of the three tables."""
    code, detail = why
    if name == "leave_one_out":
        meanings = {
            **CONTRAST,
            "left_out": "the topic that is left out",
            "estimate": "the estimate of the contrast without this topic",
            "low": "lower end of the 95% interval over the other topics",
            "high": "upper end of the 95% interval over the other topics",
            "note": "what else was left out, or why there is no value",
        }
        title, definition = "Contrasts without each topic", LEFT_OUT
    else:
        row = name.removeprefix("by_")
        unit = "topic" if row == "model" else "model"
        meanings = {**CONTRAST, row: f"the {row}", **SPREAD}
        title = f"Contrasts by {row}"
        definition = DEFINITION.replace("{row}", row).replace("{unit}", unit)
    return Result(
        name=name,
        title=title,
        definition=definition.format(resamples=draws.resamples),
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(meanings)),
        meanings=meanings,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )
