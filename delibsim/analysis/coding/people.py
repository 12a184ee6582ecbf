"""The ensemble beside people: calibration of its certainty, and means corrected by their codes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, Draw
from delibsim.analysis.result import Result, make_table
from delibsim.domain.score import ENSEMBLE
from delibsim.domain.study import natural
from delibsim.measures.corrected import (
    FEWEST,
    Mean,
    bins,
    brier,
    calibration_error,
    corrected_mean,
    plain_mean,
    weighted_mean,
)
from delibsim.store.tables.codings import certainty

Array = NDArray[np.float64]
BY = ("stability", "margin")
"""What of the ensemble is compared with people: numbers between 0 and 1."""


def calibration(study: CodedStudy) -> tuple[Result, Result]:
    """The bins by dimension, person and measure of certainty; and what they come to."""
    found: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    for own in study.fair:
        if own.samples is None:
            continue
        sure = certainty(own.samples)
        for by in BY:
            confidence = pd.Series(sure[by], index=list(own.samples.texts))
            aligned = confidence.reindex(own.places.index).to_numpy(dtype=float)
            for person in own.people:
                agrees = _agrees(own, person)
                named = {"dimension": own.id, "person": person, "by": by}
                found += [{**named, **row} for row in _bins(aligned, agrees)]
                scores.append(named | _scores(aligned, agrees))
    in_bins = make_table("codes/calibration", found, why="" if scores else None)
    in_all = make_table("codes/calibration_scores", scores, fewest=FEWEST)
    return in_bins, in_all


def _agrees(own: DimensionCodes, person: str) -> Array:
    """1 where ensemble and person have one level, 0 where not, NaN without both; (texts,)."""
    first, second = own.columns[ENSEMBLE], own.columns[person]
    both = ~np.isnan(first) & ~np.isnan(second)
    return np.where(both, (first == second).astype(float), np.nan)


def _bins(confidence: Array, agrees: Array) -> Iterator[dict[str, Any]]:
    for one in bins(confidence, agrees):
        yield {
            "above": one.above,
            "to": one.to,
            "texts": one.n,
            "confidence": one.confidence,
            "agrees": one.agrees,
            "low": one.low,
            "high": one.high,
        }


def _scores(confidence: Array, agrees: Array) -> dict[str, Any]:
    known = ~np.isnan(confidence) & ~np.isnan(agrees)
    n = int(known.sum())
    return {
        "texts": n,
        "agrees": float(agrees[known].mean()) if n else np.nan,
        "brier": brier(confidence, agrees),
        "calibration_error": calibration_error(confidence, agrees),
        "note": "too_few_texts" if n < FEWEST else "",
    }


AT_RANDOM, WEIGHTED = "drawn at random", "weighted by chances"


def corrected(study: CodedStudy, columns: Sequence[str]) -> Result:
    """Corrected means over all texts and by part of each column, by dimension and draw."""
    rows: list[dict[str, Any]] = []
    for own in study.dimensions:
        if own.samples is None or not own.people:
            continue
        for draw, people in _read(own, study.draws):
            for by, part, chosen in _parts(study, own, columns):
                for of, values in _outcomes(own):
                    mean = _corrected(own, values, people, chosen, draw)
                    named = {"dimension": own.id, "of": of, "by": by, "part": part}
                    rows.append(named | {"draw": "" if draw is None else draw.name} | mean)
    return make_table("codes/corrected_means", rows, notes=unread(study))


def unread(study: CodedStudy) -> list[str]:
    """A warning for each draw with unequal chances of which people have not coded every text."""
    lines = []
    for own in study.dimensions:
        if own.samples is None:
            continue
        coded = {text for text, _ in own.packs}
        for draw in study.draws.values():
            missing = draw.chances.keys() - coded
            if draw.equal or len(missing) == len(draw.chances) or not missing:
                continue
            lines.append(
                f"{own.id}: people have no code of {len(missing)} of the"
                f" {len(draw.chances)} texts of pack {draw.name}; the mean that is weighted by its"
                " chances counts these texts as not drawn, and is biased towards the models"
            )
    return lines


def _read(
    own: DimensionCodes, draws: Mapping[str, Draw]
) -> Iterator[tuple[Draw | None, pd.DataFrame]]:
    """The codes of people by draw; those without a draw, or of one with equal chances, as one.

    Of a draw with unequal chances all codes on its texts count, by whatever pack they came: a text
    that was read before belongs to the draw with the chance 1.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    for (text, person), pack in own.packs.items():
        draw = draws.get(pack)
        unequal = draw is not None and not draw.equal
        groups.setdefault(pack if unequal else "", {}).setdefault(person, []).append(text)
    for pack, without_draw in groups.items():
        draw = draws[pack] if pack else None
        columns = {}
        for person, texts in (_on(own, draw) if draw else without_draw).items():
            columns[person] = own.places[person].loc[texts].reindex(own.places.index)
        yield draw, pd.DataFrame(columns)


def _on(own: DimensionCodes, draw: Draw) -> dict[str, list[str]]:
    """The texts of a draw that each person has coded."""
    found: dict[str, list[str]] = {}
    for text, person in own.packs:
        if text in draw.chances:
            found.setdefault(person, []).append(text)
    return found


def _parts(
    study: CodedStudy, own: DimensionCodes, columns: Sequence[str]
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """All texts, then those of each part of each column."""
    yield "", "", np.ones(len(own.places), dtype=bool)
    for column in columns:
        values = pd.Series(study.fact(column)).reindex(own.places.index)
        for part in sorted(values.dropna().unique(), key=natural):
            yield column, part, (values == part).to_numpy()


def _outcomes(own: DimensionCodes) -> Iterator[tuple[str, list[float]]]:
    """What is averaged: the level where it is a number, and the share of each level."""
    if own.ordered:
        yield "level", [float(value) for value in own.dimension.values]
    for place, level in enumerate(own.dimension.levels):
        yield f"share of {level.value}", [float(i == place) for i in range(own.q)]


def _corrected(
    own: DimensionCodes,
    values: Sequence[float],
    people: pd.DataFrame,
    chosen: NDArray[np.bool_],
    draw: Draw | None,
) -> dict[str, Any]:
    """One corrected mean: `values` are what is averaged, by place of the level."""
    models = _valued(own.columns[ENSEMBLE], values)
    given = people.apply(lambda column: pd.Series(_valued(column.to_numpy(float), values)))
    table = given.to_numpy(dtype=float)
    some = (~np.isnan(table)).any(axis=1)
    read = np.full(len(models), np.nan)
    read[some] = np.nanmean(table[some], axis=1)
    known = chosen & ~np.isnan(models)
    both = known & ~np.isnan(read)
    if draw is None:
        found = corrected_mean(read[both], models[both], models[known & ~both])
        method = AT_RANDOM
    else:
        found = _weighted(own, models, np.where(both, read, np.nan), known, draw)
        method = WEIGHTED
    return {
        "texts": int(known.sum()),
        "read": int(both.sum()),
        "models": plain_mean(models[known]).estimate,
        "people": plain_mean(read[both]).estimate,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "method": method,
        "note": _why_not(found, both, known, draw),
    }


def _weighted(
    own: DimensionCodes, models: Array, read: Array, known: NDArray[np.bool_], draw: Draw
) -> Mean:
    chances = np.array([draw.chances.get(text, np.nan) for text in own.texts])
    given = np.where(np.isnan(chances), np.nan, read)
    return weighted_mean(models[known], given[known], np.nan_to_num(chances[known], nan=1.0))


def _why_not(
    found: Mean, both: NDArray[np.bool_], known: NDArray[np.bool_], draw: Draw | None
) -> str:
    """Why a corrected mean is undefined: people read too few texts, or all."""
    if not np.isnan(found.estimate):
        return ""
    if draw is None and both.sum() > 1 and not (known & ~both).any():
        return "people_read_all"
    return "too_few_texts"


def _valued(places: Array, values: Sequence[float]) -> Array:
    """The values of the levels at these places; NaN at NaN."""
    of = np.asarray(values, dtype=float)
    return np.where(np.isnan(places), np.nan, of[np.nan_to_num(places).astype(int)])
