"""Which summariser is better, by how much: overall, by dimension, size, kind and topic."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table, said, with_holm
from delibsim.analysis.summaries.judged import OVERALL, SCORED, by_topic, cells_of, finite, ranked
from delibsim.domain.summary import FLOORS
from delibsim.measures.correlations import partial_spearman, spearman
from delibsim.measures.summaries.gaps import sign_flip_p, t_mean

Intervals = Literal["topics", "cells"]
Row = dict[str, Any]
FLOOR = FLOORS[0]
NAN = float("nan")


def overall(scores: pd.DataFrame, intervals: Intervals = "topics") -> Iterator[Row]:
    """The score of each model on each dimension, with its interval and what it is above the
    extractive floor.
    """
    cells = cells_of(scores)
    for name in SCORED:
        topics = by_topic(scores, name)
        for model in ranked(cells):
            own = cells[cells["model"] == model]
            values = finite(own[name])
            row: Row = {"dimension": name, "model": model, "n": len(values)}
            if intervals == "cells":
                row |= _of_cells(values)
            else:
                found = t_mean(topics.get(model, pd.Series(dtype=float)))
                row |= {"score": found.mean, "low": found.low, "high": found.high}
                row["note"] = found.note
            row |= {"topics": int(own["topic"].nunique()), "above_floor": NAN}
            if FLOOR in topics and model in topics and model != FLOOR:
                row["above_floor"] = float((topics[model] - topics[FLOOR]).mean())
            yield row


def _of_cells(values: np.ndarray) -> Row:
    """Mean and published interval of cells."""
    mean = float(values.mean()) if len(values) else NAN
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else NAN
    note = "" if len(values) > 1 else "too_few_ratings"
    return {"score": mean, "low": mean - half, "high": mean + half, "note": note}


def pairs(scores: pd.DataFrame) -> Result:
    """Differences of models, paired within topic, with Holm's correction over all pairs."""
    topics = by_topic(scores, OVERALL)
    rows = []
    for a, b in combinations([one for one in ranked(cells_of(scores)) if one in topics], 2):
        difference = finite(topics[a] - topics[b])
        found = t_mean(difference)
        row = {"a": a, "b": b, "topics": found.n, "estimate": found.mean, **vars(found)}
        rows.append(row | {"p_sign": sign_flip_p(difference)})
    notes = () if topics.shape[0] > 1 else (said("summaries/one_topic"),)
    return make_table("summaries/pairs", with_holm(rows), notes=notes)


def sizes(scores: pd.DataFrame) -> Iterator[Row]:
    """Scores by size and model, and over all models."""
    models = ranked(cells_of(scores))
    for size, own in scores.groupby("size"):
        for model in ["all", *models]:
            chosen = own if model == "all" else own[own["model"] == model]
            if len(chosen):
                row: Row = {"size": int(str(size)), "model": model}
                row["n"] = len(finite(chosen[OVERALL]))
                yield row | {name: float(chosen[name].mean()) for name in SCORED}


def kinds(scores: pd.DataFrame) -> Iterator[Row]:
    """Scores by the kind of question."""
    cells = cells_of(scores)
    means = cells.pivot_table(index="model", columns="kind", values=OVERALL)
    for model in ranked(cells):
        own = {kind: means.get(kind, pd.Series(dtype=float)) for kind in ("open", "stance")}
        row = {kind: float(one.get(model, NAN)) for kind, one in own.items()}
        yield {"model": model, "difference": row["stance"] - row["open"]} | row


def topics(scores: pd.DataFrame) -> Iterator[Row]:
    """How each model does on each topic, relative to its mean over topics."""
    found = by_topic(scores, OVERALL)
    for model in [one for one in ranked(cells_of(scores)) if one in found]:
        mean = float(found[model].mean())
        for topic, value in found[model].items():
            relative = float(value) - mean
            yield {"model": model, "topic": topic, "score": value, "relative": relative}


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
    first, second = (np.ptp(list(one.values() or [NAN])) for one in (plain, held))
    notes = [said("summaries/spans", first=first, second=second)] if held else []
    return make_table("summaries/equal_length", rows, notes=notes)


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


def length(scores: pd.DataFrame) -> Iterator[Row]:
    """How far judges reward length: within topic and size, and between models."""
    models = scores.groupby("model")[["characters", *SCORED]].mean()
    cells = [own for _, own in scores.groupby(["topic", "size"])]
    for name in SCORED:
        found = finite([spearman(own["characters"], own[name]).value for own in cells])
        between = spearman(models["characters"], models[name])
        size = partial_spearman(scores["characters"], scores[name], scores["size"])
        within = float(found.mean()) if len(found) else NAN
        row = {"dimension": name, "within": within, "cells": len(found)}
        row |= {"between_models": between.value, "models": between.n, "given_size": size.value}
        yield row | {"note": "" if len(found) else "too_few_ratings"}
