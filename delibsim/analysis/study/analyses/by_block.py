"""Contrasts model by model and topic by topic, and without each topic in turn."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from delibsim.analysis.study.analyses.effects import (
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
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.blocks import Compared, compared
from delibsim.analysis.study.sample.outcomes import (
    contrasts_of,
    outcomes_of,
    treatments_of,
    why_no_contrast,
)
from delibsim.analysis.study.sample.populations import (
    CITIZENS,
    MODELS,
    kinds_of_participants,
    main_population,
)
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import holm, mean_of_units

CONTRAST = {
    "outcome": "the measure whose change is compared",
    "scale": "absolute change, or change relative to the room there was for it",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
}
ESTIMATE = {"estimate": "mean of the differences, a less b"}
UNITS = {
    "unit": "what low, high, df and p rest on",
    "low": "lower end of the 95% interval by t over these units",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "p": "p by t over these units",
    "p_holm": "p after Holm's correction over the rows of one outcome, scale and contrast",
}
SPREAD = {
    "median": "median of the differences",
    "sd": "standard deviation of the differences",
    "share_positive": "share of the differences above 0",
    "n": "number of differences",
    "published_low": "lower end of the percentile bootstrap interval over the differences",
    "published_high": "upper end of this interval",
    "null_citizen": "the same difference for the null citizen",
    "note": "what was left out, or why there is no value",
}
BY_MODEL = (
    "For each model, the differences between the mean change under treatment a and that under b,"
    " topic by topic (settings averaged). The interval and p are by t over topics, with topics less"
    " one degrees of freedom: they speak of this model on topics like these. p_draws speaks of"
    " these topics: the differences of a draw have their signs flipped together."
)
BY_TOPIC = (
    "For each topic, the differences between the mean change under treatment a and that under b,"
    " model by model (settings averaged). The interval and p speak of this topic with these models:"
    " the unit is the draw (replicate), averaged over models, with draws less one degrees of"
    " freedom; where seeds are not shared it is the session. p_published is the published test, by"
    " t over models."
)
PUBLISHED = (
    " published_low and published_high are the percentile bootstrap, {resamples:,} resamples, and"
    " are not given for fewer than five {of}."
)
HOLM = " Holm's correction is over the rows of one outcome, scale and contrast."
LEFT_OUT = (
    "The estimate of the contrast, the mean over topics of the mean difference of their blocks,"
    " without one topic; the interval is by t over the means of the other topics."
)
SOURCE = "docs/analysis.md; Holm (1979), https://www.jstor.org/stable/4615733"


def by_block(study: StudyTable, draws: Draws) -> list[Result]:
    """Every contrast by model, by topic, and with each topic left out."""
    rows, notes = main_population(study)
    given, missing = outcomes_of(rows)
    code, detail = why_no_contrast(rows, given)
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    populations = kinds_of_participants(study)
    null = populations.get(CITIZENS) if MODELS in populations else None
    for outcome in [] if code else given:
        for a, b in contrasts_of(treatments_of(rows)):
            named = {"outcome": outcome.measure, "scale": outcome.scale, "a": a, "b": b}
            found = compared(rows, outcome.column, a, b)
            citizens = None if null is None else compared(null, outcome.column, a, b).blocks
            for name, of in TABLES.items():
                for row in of(named, found, study, draws):
                    tables[name].append(row | {"null_citizen": _of_null(citizens, row)})
    return [
        _result(name, table, draws, notes=[*notes, *missing], why=(code, detail))
        for name, table in tables.items()
    ]


def _of_null(blocks: pd.DataFrame | None, row: Mapping[str, Any]) -> float:
    """What the null citizen gives on the topics of a row; NaN where there is none."""
    if blocks is None:
        return NAN
    if "topic" in row:
        blocks = blocks[blocks["topic"] == row["topic"]]
    if "left_out" in row:
        blocks = blocks[blocks["topic"] != row["left_out"]]
    return float(blocks["difference"].mean()) if len(blocks) else NAN


def _by_model(
    named: Mapping[str, str], found: Compared, study: StudyTable, draws: Draws
) -> list[dict[str, Any]]:
    """One row a model: its differences, topic by topic."""
    rows: list[dict[str, Any]] = []
    for model, blocks in found.blocks.groupby("model", dropna=False, sort=True):
        differences = blocks.groupby("topic", dropna=False)["difference"].mean()
        summary, note = mean_of(differences, "topic", draws)
        row = {**named, "model": model, "unit": "topic", **summary, "note": note}
        own = found.part(blocks.index)
        if len(differences) == 1:
            row |= _of_draws(own, study.paired)
        if study.paired:
            row["p_draws"] = p_of_draws(own.pairs, draws)
        rows.append(row)
    return _corrected(rows, "model", named, found)


def _by_topic(
    named: Mapping[str, str], found: Compared, study: StudyTable, draws: Draws
) -> list[dict[str, Any]]:
    """One row a topic: the mean over its models, with the error of its draws."""
    rows: list[dict[str, Any]] = []
    for topic, blocks in found.blocks.groupby("topic", dropna=False, sort=True):
        differences = blocks.groupby("model", dropna=False)["difference"].mean()
        summary, _ = mean_of(differences, "model", draws)
        row = {**named, "topic": topic, **summary, "p_published": summary["p"]}
        rows.append(row | _of_draws(found.part(blocks.index), study.paired))
    return _corrected(rows, "topic", named, found)


def _of_draws(found: Compared, paired: bool) -> dict[str, Any]:
    """Interval and test on a topic held fixed: over its draws, or its sessions."""
    own = over_draws(found, paired)
    note = "" if own.df > 0 else "one_draw: one replicate alone gives no interval on a topic"
    if found.equal:
        note = EQUAL
    unit = "draw" if paired else "session"
    numbers = {"low": own.low, "high": own.high, "df": own.df, "p": own.p}
    return {"unit": unit, **numbers, "note": note}


def _corrected(
    rows: list[dict[str, Any]], column: str, named: Mapping[str, str], found: Compared
) -> list[dict[str, Any]]:
    """The rows with Holm's correction, or one that says why there is none."""
    corrected = holm([row["p"] for row in rows])
    left_out = note_of(found) if not found.equal else noted(*found.left_out)
    if not rows:
        rows = [{**named, column: "", "n": 0, "note": f"no_{column}: {_no_block(found)}"}]
        corrected = [NAN]
    for row, p in zip(rows, corrected, strict=True):
        row["p_holm"] = p
    rows[0]["note"] = noted(rows[0]["note"], left_out)
    return rows


def _without_each(
    named: Mapping[str, str], found: Compared, study: StudyTable, draws: Draws
) -> list[dict[str, Any]]:
    """One row a topic: the estimate without it."""
    rows: list[dict[str, Any]] = []
    for topic in sorted(found.blocks["topic"].unique()):
        others = found.blocks[found.blocks["topic"] != topic]
        means = others.groupby("topic")["difference"].mean()
        low, high = published_interval(others["difference"], others["topic"], "topic", draws)
        row = {**named, "left_out": topic, **told(mean_of_units(means))}
        row |= {"published_low": low, "published_high": high}
        rows.append(row | {"note": too_few("topic", len(means))})
    if not rows:
        rows = [{**named, "left_out": "", "note": f"no_topic: {_no_block(found)}"}]
    rows[0]["note"] = noted(rows[0]["note"], *found.left_out)
    return rows


Rows = Callable[[Mapping[str, str], Compared, StudyTable, Draws], list[dict[str, Any]]]
TABLES: Mapping[str, Rows] = {
    "by_model": _by_model,
    "by_topic": _by_topic,
    "leave_one_out": _without_each,
}


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
        title, definition, of = "Contrasts without each topic", LEFT_OUT, "topics"
        ends = {key: UNITS[key] for key in ("low", "high", "df")}
        own = ("published_low", "published_high", "null_citizen", "note")
        spread = {key: SPREAD[key] for key in own}
        meanings = {
            **CONTRAST,
            "left_out": "the topic that is left out",
            **ESTIMATE,
            **ends,
            **spread,
        }
    else:
        row = name.removeprefix("by_")
        test = {"p_draws": "p on these topics: signs flipped draw by draw"}
        if row == "topic":
            test = {"p_published": "p of the published test, by t over models"}
        title, of = f"Contrasts by {row}", "topics" if row == "model" else "models"
        definition = (BY_MODEL if row == "model" else BY_TOPIC) + HOLM
        meanings = {**CONTRAST, row: f"the {row}", **ESTIMATE, **UNITS, **test, **SPREAD}
    return Result(
        name=name,
        title=title,
        definition=definition + PUBLISHED.format(resamples=draws.resamples, of=of),
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(meanings)),
        meanings=meanings,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )
