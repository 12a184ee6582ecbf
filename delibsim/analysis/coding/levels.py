"""Levels by coder, how sure the ensemble is, what people say of it, and means that they correct."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import CLUSTER, TEXT, CodedStudy, DimensionCodes, both_given
from delibsim.analysis.coding.effect import in_words, mean_rows
from delibsim.analysis.coding.effect_files import chances_of, texts_of_dimension
from delibsim.domain.score import ENSEMBLE
from delibsim.domain.study import natural
from delibsim.measures.ensemble import (
    FEWEST,
    area_interval,
    area_under_curve,
    bins,
    brier,
    calibration_error,
    effective_votes,
    error_correlation,
)
from delibsim.measures.inference.means import t_quantile
from delibsim.store.coded import DimensionSamples
from delibsim.store.tables.scored import CERTAINTY, certainty

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
Row = dict[str, Any]


def levels(own: DimensionCodes) -> Iterator[Row]:
    """A row a coder and level; levels that nobody gave are there too."""
    for coder in own.coders:
        places = own.columns[coder]
        given = places[~np.isnan(places)]
        by: Row = {"dimension": own.id, "coder": coder, "kind": own.kind(coder)}
        by |= {"coded": len(given), "missing": len(places) - len(given)}
        for place, level in enumerate(own.dimension.levels):
            n = int((given == place).sum())
            row = {"level": level.value, "name": level.name, "texts": n}
            yield by | row | {"share": n / len(given) if len(given) else np.nan}


def shares(study: CodedStudy) -> pd.DataFrame:
    """The share of every level on every text: a row a text and level."""
    frames = [pd.DataFrame()]
    for own in study.dimensions:
        if own.samples is not None:
            n = len(own.samples.texts)
            columns = {
                "dimension": own.id,
                "text": np.repeat(np.array(own.samples.texts, dtype=object), own.q),
                "level": list(own.dimension.values) * n,
                "p": certainty(own.samples)["p"].reshape(-1),
            }
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames[1:] or frames, ignore_index=True)


BETWEEN_MODELS = ("unanimous", "entropy_between", "stability", "flips")
"""What compares models, and says nothing of one alone."""


def certainties(own: DimensionCodes) -> Iterator[Row]:
    """How sure the ensemble is on average."""
    if own.samples is None:
        return
    sure = certainty(own.samples)
    decided = ~np.isnan(own.samples.ensemble())
    given = own.samples.levels
    spread = np.full(len(given), np.nan)
    some = (~np.isnan(given)).any(axis=1)
    if some.any():
        spread[some] = np.nanmax(given[some], axis=1) - np.nanmin(given[some], axis=1)
    total = own.samples.counts.sum(axis=2)
    largest = own.samples.counts.max(axis=2)[total > 0] / total[total > 0]
    reasons = own.samples.undecided()
    row: Row = {"dimension": own.id, "texts": int(decided.sum())}
    row["without"] = ", ".join(f"{code} {n}" for code, n in sorted(reasons.items()))
    row["unanimous"] = _mean(spread[decided] == 0)
    row |= {"unanimous_samples": _mean(largest == 1), "modal_share": _mean(largest)}
    row["samples_sd"] = _median_sd(own.samples)
    row |= {name: _mean(sure[name]) for name in CERTAINTY[:-1]}
    flips = sure["flips"]
    row["flips"] = _mean(flips[~np.isnan(flips)] > 0)
    if len(own.models) == 1:
        row |= dict.fromkeys(BETWEEN_MODELS, np.nan)
    yield row


def _mean(values: np.ndarray) -> float:
    """The mean of the values that are there; NaN without one."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else np.nan


def _median_sd(samples: DimensionSamples) -> float:
    """The median over texts and models of the standard deviation of a model's samples, in levels;
    NaN where levels have no order, or nobody was asked twice.
    """
    values, counts = samples.values, samples.counts.reshape(-1, samples.counts.shape[2])
    several = counts[counts.sum(axis=1) > 1]
    if values is None or not len(several):
        return np.nan
    n = several.sum(axis=1)
    means = several @ np.array(values) / n
    squares = several @ np.array(values) ** 2
    return float(np.median(np.sqrt(np.clip(squares - n * means**2, 0, None) / (n - 1))))


def texts_sure(own: DimensionCodes) -> Iterator[Row]:
    """How sure the ensemble is of each text, and on which share of the pairs of people who coded it
    their levels differ.
    """
    if own.samples is None:
        return
    sure, split = certainty(own.samples), _splits(own)
    places = {text: place for place, text in enumerate(own.texts)}
    for i, text in enumerate(own.samples.texts):
        if text in places:
            row: Row = {"dimension": own.id, "text": text, "split": split[places[text]]}
            yield row | {name: float(sure[name][i]) for name in CERTAINTY}


def _splits(own: DimensionCodes) -> Array:
    """Of each text (texts,) the share of pairs of people who disagree; NaN without a pair."""
    pairs = [1 - _agrees(own, a, b) for a, b in combinations(own.people, 2)]
    if not pairs:
        return np.full(len(own.places), np.nan)
    return pd.DataFrame(pairs).mean().to_numpy(dtype=float)


TOLD_BY = ("entropy", "entropy_within", "entropy_between")
"""What of the ensemble may tell where people disagree."""


def foretold(own: DimensionCodes) -> Iterator[Row]:
    """Whether the doubt of the models tells on which texts people disagree."""
    if own.samples is None or len(own.people) < 2:
        return
    texts = pd.DataFrame(texts_sure(own)).dropna(subset=["split"])
    for name in TOLD_BY if len(own.models) > 1 else TOLD_BY[:2]:
        known = texts.dropna(subset=[name])
        apart, doubt = known["split"].to_numpy() > 0, known[name].to_numpy(dtype=float)
        row: Row = {"dimension": own.id, "by": name, "texts": len(known), "split": apart.sum()}
        area, error = area_under_curve(doubt, apart)
        clusters = own.clusters_of(own.places.index.isin(known["text"]))
        units = np.arange(len(known)) if clusters is None else clusters
        row["unit"] = TEXT if clusters is None else CLUSTER
        low, high = area_interval(doubt, apart, units)
        row |= {"area": area, "low": low, "high": high}
        half = t_quantile(np.inf) * error
        row |= {"texts_low": max(area - half, 0.0), "texts_high": min(area + half, 1.0)}
        why = "no_variance" if np.isnan(area) else "too_few_texts"
        yield row | {"note": why if np.isnan(low) else ""}


def votes(own: DimensionCodes) -> Iterator[Row]:
    """How many independent votes the models are worth, against each person."""
    for person in own.people if len(own.models) > 1 else ():
        errors = 1 - np.array([_agrees(own, model, person) for model in own.models])
        found = effective_votes(errors)
        texts = int(((~np.isnan(errors)).sum(axis=0) > 1).sum())
        row: Row = {"dimension": own.id, "person": person, "models": len(own.models)}
        row |= {"texts": texts, "correlation": error_correlation(errors), "votes": found}
        yield row | {"note": "no_variance" if np.isnan(found) else ""}


def _agrees(own: DimensionCodes, one: str, other: str) -> Array:
    """1 where two coders have one level, 0 where not, NaN without both; (texts,)."""
    same = (own.columns[one] == own.columns[other]).astype(float)
    return np.where(both_given(own, (one, other)), same, np.nan)


DISAGREEMENT = 0.20
LONGEST = 200
"""Characters of a text that a table shows."""


def weak(own: DimensionCodes) -> Iterator[Row]:
    """How often two people disagree: a row a pair; flagged where on more than a fifth of texts."""
    for a, b in combinations(own.people, 2):
        same = _agrees(own, a, b)
        known = same[~np.isnan(same)]
        share = float((known == 0).sum() / len(known)) if len(known) else np.nan
        row = {"dimension": own.id, "a": a, "b": b, "texts": len(known), "disagreement": share}
        yield row | {"flagged": share > DISAGREEMENT if len(known) else None}


def split_texts(study: CodedStudy) -> list[Row]:
    """The texts to which two people gave different levels, those furthest apart first."""
    rows = [row for own in study.fair for row in _split(study, own)]
    return sorted(rows, key=lambda row: (row["dimension"], -np.nan_to_num(row["distance"])))


def _split(study: CodedStudy, own: DimensionCodes) -> Iterator[Row]:
    ensemble = own.columns.get(ENSEMBLE)
    for a, b in combinations(own.people, 2):
        first, second = own.columns[a], own.columns[b]
        for i in np.flatnonzero(_agrees(own, a, b) == 0):
            known = study.texts.get(own.texts[i])
            yield {
                "dimension": own.id,
                "text": own.texts[i],
                "a": a,
                "level_a": own.level(first[i]),
                "b": b,
                "level_b": own.level(second[i]),
                "distance": abs(first[i] - second[i]) if own.ordered else np.nan,
                "ensemble": None if ensemble is None else own.level(ensemble[i]),
                "words": "" if known is None else _cut(known.text),
            }


def _cut(text: str) -> str:
    """A text on one line, cut where it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


BY = ("stability", "margin")
"""What of the ensemble is compared with people: numbers between 0 and 1."""


def _beside(own: DimensionCodes) -> Iterator[tuple[Row, Array, Array]]:
    """For each person and number: the columns of both, the numbers, and the agreement (texts,)."""
    if own.samples is None:
        return
    sure = certainty(own.samples)
    for by in BY:
        confidence = pd.Series(sure[by], index=list(own.samples.texts)).reindex(own.places.index)
        for person in own.people:
            named = {"dimension": own.id, "person": person, "by": by}
            yield named, confidence.to_numpy(dtype=float), _agrees(own, ENSEMBLE, person)


def calibration(own: DimensionCodes) -> Iterator[Row]:
    """The bins by person and measure of certainty."""
    clusters = own.clusters_of(np.ones(len(own.texts), dtype=bool))
    for named, confidence, agrees in _beside(own):
        for one in bins(confidence, agrees, clusters=clusters):
            yield {**named, **vars(one), "texts": one.n}


def calibration_scores(own: DimensionCodes) -> Iterator[Row]:
    """What the bins come to."""
    for named, confidence, agrees in _beside(own):
        known = agrees[~np.isnan(confidence) & ~np.isnan(agrees)]
        row: Row = {**named, "texts": len(known), "agrees": _mean(known)}
        row["brier"] = brier(confidence, agrees)
        row["calibration_error"] = calibration_error(confidence, agrees)
        yield row | {"note": "too_few_texts" if len(known) < FEWEST else ""}


def corrected(study: CodedStudy, columns: Sequence[str], notes: list[str]) -> Iterator[Row]:
    """Means by people, by models and corrected, of all texts and of each part of each column.

    What must be known of draws is added to the notes. WrongInput where people chose their texts.
    """
    for own in study.dimensions:
        if own.samples is None or not own.people:
            continue
        chances = chances_of(study, own, notes)
        for of, values in _averaged(own):
            texts = texts_of_dimension(study, own, own.id, values, chances)
            for by, part, ids in _parts(study, own, columns):
                for row in mean_rows(texts.chosen(np.isin(texts.text, ids))):
                    weights = {"lambda": in_words(row["lambda"])} if "lambda" in row else {}
                    yield {"dimension": own.id, "of": of, "by": by, "part": part} | row | weights


def _parts(
    study: CodedStudy, own: DimensionCodes, columns: Sequence[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """The ids of all texts, then of those of each part of each column."""
    yield "", "", own.texts
    for column in columns:
        values = study.fact(column)
        known = {text: values[text] for text in own.texts if text in values}
        for part in sorted(set(known.values()), key=natural):
            yield column, part, [text for text, value in known.items() if value == part]


def _averaged(own: DimensionCodes) -> Iterator[tuple[str, Array]]:
    """What is averaged: the level where it is a number, and the share of each level."""
    if own.ordered:
        yield "level", np.array([float(value) for value in own.dimension.values])
    for place, level in enumerate(own.dimension.levels):
        yield f"share of {level.value}", np.eye(own.q)[place]
