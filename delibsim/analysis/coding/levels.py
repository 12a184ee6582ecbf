"""Levels by coder, how sure the ensemble is, and how many votes its models are worth."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes
from delibsim.analysis.result import Result, entry, make_table
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import effective_votes, error_correlation
from delibsim.store.tables.codings import CERTAINTY, certainty


def levels(study: CodedStudy) -> Result:
    """A row a coder and level; levels that nobody gave are there too."""
    rows: list[dict[str, Any]] = []
    for own in study.dimensions:
        for coder in own.coders:
            rows += _levels(own, coder)
    return make_table("codes/levels", rows)


def _levels(own: DimensionCodes, coder: str) -> Iterator[dict[str, Any]]:
    places = own.columns[coder]
    given = places[~np.isnan(places)]
    for place, level in enumerate(own.dimension.levels):
        n = int((given == place).sum())
        yield {
            "dimension": own.id,
            "coder": coder,
            "kind": own.kind(coder),
            "level": level.value,
            "name": level.name,
            "texts": n,
            "share": n / len(given) if len(given) else np.nan,
            "coded": len(given),
            "missing": len(places) - len(given),
        }


def shares(study: CodedStudy) -> Result:
    """The share of every level on every text: a row a text and level."""
    frames = []
    for own in study.dimensions:
        if own.samples is not None:
            p = certainty(own.samples)["p"]
            n = len(own.samples.texts)
            columns = {
                "dimension": own.id,
                "text": np.repeat(np.array(own.samples.texts, dtype=object), own.q),
                "level": list(own.dimension.values) * n,
                "p": p.reshape(-1),
            }
            frames.append(pd.DataFrame(columns))
    rows = pd.concat(frames, ignore_index=True) if frames else []
    return make_table("codes/shares", rows)


BETWEEN_MODELS = ("unanimous", "entropy_between", "stability", "flips")
"""What compares models, and says nothing of one alone."""


def certainties(study: CodedStudy) -> Result:
    """How sure the ensemble is on average: a row a dimension."""
    rows = [_certainty(own) for own in study.dimensions if own.samples is not None]
    return make_table("codes/certainty", rows)


def _certainty(own: DimensionCodes) -> dict[str, Any]:
    assert own.samples is not None
    sure = certainty(own.samples)
    decided = ~np.isnan(own.samples.ensemble())
    given = own.samples.levels
    spread = np.full(len(given), np.nan)
    some = (~np.isnan(given)).any(axis=1)
    if some.any():
        spread[some] = np.nanmax(given[some], axis=1) - np.nanmin(given[some], axis=1)
    total = own.samples.counts.sum(axis=2)
    largest = own.samples.counts.max(axis=2)[total > 0] / total[total > 0]
    row: dict[str, Any] = {"dimension": own.id, "texts": int(decided.sum())}
    reasons = own.samples.undecided()
    row["without"] = ", ".join(f"{code} {n}" for code, n in sorted(reasons.items()))
    row["unanimous"] = _mean(spread[decided] == 0)
    row["unanimous_samples"] = _mean(largest == 1)
    row["modal_share"] = _mean(largest)
    for name in CERTAINTY[:-1]:
        row[name] = _mean(sure[name])
    flips = sure["flips"]
    row["flips"] = _mean(flips[~np.isnan(flips)] > 0)
    if len(own.models) == 1:
        row |= dict.fromkeys(BETWEEN_MODELS, np.nan)
    return row


def _mean(values: np.ndarray) -> float:
    """The mean of the values that are there; NaN without one."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else np.nan


def votes(study: CodedStudy) -> Result:
    """How many independent votes the models are worth, against each person."""
    rows = []
    for own in study.fair:
        if len(own.models) > 1:
            rows += [_votes(own, person) for person in own.people]
    return make_table("codes/votes", rows)


def _votes(own: DimensionCodes, person: str) -> dict[str, Any]:
    right = own.columns[person]
    errors = []
    for model in own.models:
        given = own.columns[model]
        known = ~np.isnan(given) & ~np.isnan(right)
        errors.append(np.where(known, (given != right).astype(float), np.nan))
    table = np.array(errors)
    found = effective_votes(table)
    return {
        "dimension": own.id,
        "person": person,
        "models": len(own.models),
        "texts": int(((~np.isnan(table)).sum(axis=0) > 1).sum()),
        "correlation": error_correlation(table),
        "votes": found,
        "note": "no_variance" if np.isnan(found) else "",
    }


DISAGREEMENT = 0.20
LONGEST = 200
"""Characters of a text that a table shows."""


def weak(study: CodedStudy) -> tuple[Result, Result]:
    """The dimensions on which two people disagree on more than a fifth of texts; these texts."""
    rows: list[dict[str, Any]] = []
    split: list[dict[str, Any]] = []
    for own in study.fair:
        for i, a in enumerate(own.people):
            for b in own.people[i + 1 :]:
                first, second = own.columns[a], own.columns[b]
                both = ~np.isnan(first) & ~np.isnan(second)
                apart = both & (first != second)
                share = float(apart.sum() / both.sum()) if both.any() else np.nan
                row = {"dimension": own.id, "a": a, "b": b, "texts": int(both.sum())}
                flagged = share > DISAGREEMENT if both.any() else None
                rows.append(row | {"disagreement": share, "flagged": flagged})
                split += _split(study, own, (a, b), np.flatnonzero(apart))
    why = "" if rows else "one_coder"
    dimensions = make_table("codes/weak_dimensions", rows, disagreement=DISAGREEMENT)
    table = entry("codes/split_texts").frame(split)
    if len(table):
        table = table.sort_values(["dimension", "distance"], ascending=[True, False], kind="stable")
    texts = make_table("codes/split_texts", table, why=why or None)
    return dimensions, texts


def _split(
    study: CodedStudy, own: DimensionCodes, people: tuple[str, str], places: np.ndarray
) -> Iterator[dict[str, Any]]:
    a, b = people
    first, second = own.columns[a], own.columns[b]
    ensemble = own.columns.get(ENSEMBLE)
    for i in places:
        id = own.texts[i]
        known = study.texts.get(id)
        yield {
            "dimension": own.id,
            "text": id,
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
