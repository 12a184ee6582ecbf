"""Which summariser is better, by how much: overall, by dimension, size, kind and topic."""

from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, entry, make_table
from delibsim.analysis.summaries.judged import OVERALL, SCORED, by_topic, cells_of, finite, ranked
from delibsim.domain.summary import FLOORS
from delibsim.measures.correlations import partial_spearman, spearman
from delibsim.measures.inference.means import holm
from delibsim.measures.summaries.gaps import sign_flip_p, t_mean

Intervals = Literal["topics", "cells"]
FLOOR = FLOORS[0]


def overall(scores: pd.DataFrame, intervals: Intervals = "topics") -> Result:
    """The score of each model on each dimension, with its interval and what it is above the
    extractive floor.
    """
    cells = cells_of(scores)
    rows = []
    for name in SCORED:
        topics = by_topic(scores, name)
        for model in ranked(cells):
            own = cells[cells["model"] == model]
            values = finite(own[name])
            row: dict[str, Any] = {"dimension": name, "model": model, "n": len(values)}
            if intervals == "cells":
                row |= _of_cells(values)
            else:
                found = t_mean(topics.get(model, pd.Series(dtype=float)))
                row |= {"score": found.mean, "low": found.low, "high": found.high}
                row["note"] = found.note
            row["topics"] = int(own["topic"].nunique())
            row["above_floor"] = _above(topics, model)
            rows.append(row)
    how = (
        "Runs are averaged into cells (topic and size), cells into the score. Intervals say how"
        " cells scatter: 1.96 SD / sqrt(cells), as published; they take the sizes of one topic for"
        " independent."
        if intervals == "cells"
        else "Summaries are averaged into topics, topics into the score. Intervals are by t over"
        " topics; with one topic there is none."
    )

    return make_table("summaries/overall", rows, how=how)


def _of_cells(values: np.ndarray) -> dict[str, float | str]:
    """Mean and published interval of cells."""
    nan = float("nan")
    mean = float(values.mean()) if len(values) else nan
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else nan
    note = "" if len(values) > 1 else "too_few_ratings"
    return {"score": mean, "low": mean - half, "high": mean + half, "note": note}


def _above(topics: pd.DataFrame, model: str) -> float:
    if FLOOR not in topics or model not in topics or model == FLOOR:
        return float("nan")
    return float((topics[model] - topics[FLOOR]).mean())


def pairs(scores: pd.DataFrame) -> Result:
    """Differences of models, paired within topic, with Holm's correction over all pairs."""
    cells = cells_of(scores)
    topics = by_topic(scores, OVERALL)
    rows = []
    for a, b in combinations([one for one in ranked(cells) if one in topics], 2):
        difference = finite(topics[a] - topics[b])
        found = t_mean(difference)
        row = {"a": a, "b": b, "topics": found.n, "estimate": found.mean}
        row |= {"low": found.low, "high": found.high, "p": found.p}
        row |= {"p_sign": sign_flip_p(difference), "note": found.note}
        rows.append(row)
    table = entry("summaries/pairs").frame(rows)
    table["p_holm"] = holm(table["p"].astype(float).tolist())
    return make_table("summaries/pairs", table, notes=() if topics.shape[0] > 1 else (ONE_TOPIC,))


ONE_TOPIC = (
    "With one topic nothing can be said of others: report several sets together, such as delibsim"
    " summarise report SET1 SET2."
)


def sizes(scores: pd.DataFrame) -> Result:
    """Scores by size and model, and over all models."""
    cells = cells_of(scores)
    rows = []
    for size, own in scores.groupby("size"):
        for model in ["all", *ranked(cells)]:
            chosen = own if model == "all" else own[own["model"] == model]
            if not len(chosen):
                continue
            row = {"size": int(str(size)), "model": model, "n": len(finite(chosen[OVERALL]))}
            rows.append(row | {name: float(chosen[name].mean()) for name in SCORED})
    return make_table("summaries/sizes", rows)


def kinds(scores: pd.DataFrame) -> Result:
    """Scores by the kind of question."""
    cells = cells_of(scores)
    rows = []
    for model in ranked(cells):
        own = cells[cells["model"] == model]
        row: dict[str, object] = {"model": model}
        for kind in ("open", "stance"):
            row[kind] = float(own.loc[own["kind"] == kind, OVERALL].mean())
        rows.append(row)
    return make_table("summaries/kinds", rows)


def topics(scores: pd.DataFrame) -> Result:
    """How each model does on each topic, relative to its mean over topics."""
    cells = cells_of(scores)
    found = by_topic(scores, OVERALL)
    rows = []
    for model in [one for one in ranked(cells) if one in found]:
        mean = float(found[model].mean())
        for topic, value in found[model].items():
            relative = float(value) - mean
            rows.append({"model": model, "topic": topic, "score": value, "relative": relative})
    return make_table("summaries/topics", rows)


def equal_length(scores: pd.DataFrame) -> Result:
    """What is left of the differences of models at equal length."""
    rows = []
    known = scores.dropna(subset=[OVERALL])
    models = ranked(cells_of(scores))
    plain, held = (_effects(known, models, with_length) for with_length in (False, True))
    for model in models:
        row = {"model": model, "effect": plain.get(model), "at_equal_length": held.get(model)}
        row["characters"] = np.round(known.loc[known["model"] == model, "characters"].mean())
        rows.append(row)
    spans = [_span(one) for one in (plain, held)]
    notes = [f"The effects span {spans[0]:.4f}, at equal length {spans[1]:.4f}."] if held else []
    return make_table("summaries/equal_length", rows, notes=notes)


def _span(effects: dict[str, float]) -> float:
    return max(effects.values()) - min(effects.values()) if effects else float("nan")


def _effects(scores: pd.DataFrame, models: list[str], length: bool) -> dict[str, float]:
    """The effect of each model about the mean of all; nothing where the rest leaves none over."""
    present = [model for model in models if (scores["model"] == model).any()]
    if len(present) < 2:
        return {}
    columns = [(scores["model"] == model).to_numpy(dtype=float) for model in present]
    for name in ("topic", "size"):
        for value in sorted(scores[name].unique())[1:]:
            columns.append((scores[name] == value).to_numpy(dtype=float))
    if length:
        logs = np.log(scores["characters"].clip(lower=1).to_numpy(dtype=float))
        columns.append(logs - logs.mean())
    x = np.column_stack(columns)
    if len(x) <= x.shape[1] or np.linalg.matrix_rank(x) < x.shape[1]:
        return {}
    slopes = np.linalg.lstsq(x, scores[OVERALL].to_numpy(dtype=float), rcond=None)[0]
    own = slopes[: len(present)]
    return dict(zip(present, (own - own.mean()).tolist(), strict=True))


def length(scores: pd.DataFrame) -> Result:
    """How far judges reward length: within topic and size, and between models."""
    rows = []
    models = scores.groupby("model")[["characters", *SCORED]].mean()
    for name in SCORED:
        found = []
        for _, own in scores.groupby(["topic", "size"]):
            value = spearman(own["characters"], own[name]).value
            found.append(value)
        between = spearman(models["characters"], models[name])
        size = partial_spearman(scores["characters"], scores[name], scores["size"])
        row = {"dimension": name, "within": float(np.nanmean(found)) if _any(found) else np.nan}
        row |= {"cells": len(finite(found)), "between_models": between.value, "models": between.n}
        row |= {"given_size": size.value, "note": "" if _any(found) else "too_few_ratings"}
        rows.append(row)

    return make_table("summaries/length", rows)


def _any(values: list[float]) -> bool:
    return len(finite(values)) > 0
