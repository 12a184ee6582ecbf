"""Agreement of every pair of coders: coefficient, interval, distances, confusion."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, both_given
from delibsim.analysis.study.result import Result
from delibsim.domain.coding import ENSEMBLE
from delibsim.domain.seed import seed_of
from delibsim.measures.reliability.bootstrap import bootstrap
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import Estimate, coefficient
from delibsim.measures.reliability.ratings import word_of

Array = NDArray[np.float64]
SOURCE = "docs/coding.md#agreement-of-coders"
PAIRS = {
    "dimension": "the dimension",
    "a": "a coder",
    "b": "another coder",
    "texts": "texts that both coded",
    "coefficient": "the coefficient of agreement: AC2 with linear weights, AC1 for names",
    "estimate": "agreement corrected for chance",
    "low": "lower end of the 95% interval, by t over texts",
    "high": "upper end of the 95% interval, cut at 1",
    "word": "highest word of Landis and Koch whose probability is .95 or more",
    "exact": "share of texts with the same level",
    "adjacent": "share of texts with neighbouring levels",
    "gross": "share of texts two or more levels apart",
    "gross_of_disagreement": "gross as a share of all texts that are not exact",
    "note": "why there is no value",
}


def estimate_of(own: DimensionCodes, columns: Sequence[Array]) -> Estimate:
    """The coefficient of coders whose places (texts,) are given, at the declared levels."""
    codes = codes_of(np.column_stack(columns), list(range(own.q)))
    return coefficient(codes, "ac", own.weighting)


def name_of_coefficient(own: DimensionCodes) -> str:
    """What the coefficient of a dimension is called."""
    return "AC2, linear" if own.ordered else "AC1"


def distances(own: DimensionCodes, first: Array, second: Array) -> dict[str, float]:
    """Shares of texts on which two coders agree, are neighbours, or are further apart.

    Names have no neighbours: `adjacent` and `gross` are NaN there.
    """
    apart = np.abs(first - second)
    apart = apart[~np.isnan(apart)]
    n = len(apart)
    found = dict.fromkeys(("exact", "adjacent", "gross", "gross_of_disagreement"), np.nan)
    if not n:
        return found
    found["exact"] = float((apart == 0).mean())
    if own.ordered:
        found["adjacent"] = float((apart == 1).mean())
        found["gross"] = float((apart > 1).mean())
        if found["exact"] < 1:
            found["gross_of_disagreement"] = float((apart > 1).sum() / (apart > 0).sum())
    return found


def pairs(study: CodedStudy) -> Result:
    """A row a pair of coders and dimension."""
    rows = []
    alone = False
    for own in study.fair:
        # The ensemble of one model is that model: their agreement would look like a finding.
        itself = (ENSEMBLE, *own.models) if len(own.models) == 1 else ()
        alone = alone or bool(itself)
        rows += [_pair(own, a, b) for a, b in combinations(own.coders, 2) if (a, b) != itself]
    notes = []
    if alone:
        notes.append("One model coded, so the ensemble is that model; their pair is left out.")
    if study.by_doubt:
        notes.append(
            "Codes of people on texts that were drawn by doubt are left out: on these texts"
            " agreement is worse than on all. What was drawn at random counts."
        )
    return Result(
        name="pairs",
        title="Agreement of every pair of coders",
        definition="Gwet's coefficient at the declared levels of the scheme, on the texts that both"
        " coders coded: AC2 with linear weights where levels have an order, AC1 where they have"
        " none; the interval is by t from the closed standard error. Beside it raw shares of texts"
        " by distance.",
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(PAIRS)),
        meanings=PAIRS,
        notes=notes,
        why_not="" if rows else "one_coder",
        detail="" if rows else "two coders are needed",
    )


def _pair(own: DimensionCodes, a: str, b: str) -> dict[str, Any]:
    first, second = own.columns[a], own.columns[b]
    both = both_given(own, (a, b))
    row: dict[str, Any] = {"dimension": own.id, "a": a, "b": b, "texts": int(both.sum())}
    row |= {"coefficient": name_of_coefficient(own)}
    found = estimate_of(own, [first[both], second[both]])
    low, high = found.interval()
    lone = "too_few_texts" if np.isnan(low) else ""
    row |= {"estimate": found.value, "low": low, "high": high, "note": found.reason or lone}
    row["word"] = word_of(found.value, found.error)
    return row | distances(own, first, second)


ALL = {
    "dimension": "the dimension",
    "coders": "whose codes are compared with each other",
    "number": "how many coders they are",
    "texts": "texts that any of them coded",
    "paired": "texts that two or more of them coded",
    "coefficient": "the coefficient",
    "estimate": "the coefficient",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval, cut at 1",
    "note": "why there is no value",
}
RESAMPLES = 10_000


def groups(study: CodedStudy) -> Result:
    """Agreement of the models among themselves, and of the people among themselves."""
    rows = []
    for own in study.fair:
        for name, coders in (("models", own.models), ("people", own.people)):
            if len(coders) > 1:
                rows += list(_group(own, name, coders))
    return Result(
        name="groups",
        title="Agreement among models, and among people",
        definition="All coders of one kind at once: Gwet's coefficient as between two coders, and"
        " Krippendorff's alpha (ordinal, interval or nominal, as the scale is) beside it. Its"
        " interval is by t where it has a closed standard error, else from"
        f" {RESAMPLES:,} resamples of texts.",
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(ALL)),
        meanings=ALL,
        why_not="" if rows else "one_coder",
        detail="" if rows else "two models or two people are needed",
    )


def _group(own: DimensionCodes, name: str, coders: Sequence[str]) -> Iterator[dict[str, Any]]:
    table = np.column_stack([own.columns[coder] for coder in coders])
    levels = list(range(own.q))
    codes = codes_of(table, levels)
    metric = own.dimension.scale
    if metric == "interval":
        table = np.where(np.isnan(table), np.nan, _values(own, table))
        codes_by_value = codes_of(table, [float(value) for value in own.dimension.values])
    else:
        codes_by_value = codes
    named = (
        (name_of_coefficient(own), coefficient(codes, "ac", own.weighting)),
        (f"alpha, {metric}", coefficient(codes_by_value, "alpha", metric)),
    )
    for label, found in named:
        low, high = found.interval()
        if np.isnan(found.error) and not found.reason:
            seed = seed_of("groups", own.id, name)
            low, high = bootstrap(codes_by_value, [("alpha", metric)], RESAMPLES, seed)[
                0
            ].interval()
        yield {
            "dimension": own.id,
            "coders": name,
            "number": len(coders),
            "texts": found.texts,
            "paired": found.paired,
            "coefficient": label,
            "estimate": found.value,
            "low": low,
            "high": high,
            "note": found.reason,
        }


def _values(own: DimensionCodes, places: Array) -> Array:
    """The values of the levels at these places."""
    values = np.array([float(value) for value in own.dimension.values])
    return values[np.nan_to_num(places).astype(int)]


CONFUSION = {
    "dimension": "the dimension",
    "a": "a coder",
    "b": "another coder",
    "level_a": "the level that a gave",
    "level_b": "the level that b gave",
    "texts": "texts with these levels",
}


def confusion(study: CodedStudy) -> Result:
    """A row a pair of coders and pair of levels; every pair of levels, also where no text is."""
    rows: list[dict[str, Any]] = []
    for own in study.fair:
        for a, b in combinations(own.coders, 2):
            rows += _confused(own, a, b)
    return Result(
        name="confusion",
        title="Which levels are taken for which",
        definition="How many texts have which two levels, for every pair of coders.",
        source=SOURCE,
        rows=pd.DataFrame(rows, columns=list(CONFUSION)),
        meanings=CONFUSION,
        why_not="" if rows else "one_coder",
        detail="" if rows else "two coders are needed",
    )


def _confused(own: DimensionCodes, a: str, b: str) -> Iterator[dict[str, Any]]:
    both = both_given(own, (a, b))
    first, second = own.columns[a][both].astype(int), own.columns[b][both].astype(int)
    counts = np.bincount(first * own.q + second, minlength=own.q**2)
    for place, n in enumerate(counts):
        i, j = divmod(place, own.q)
        levels = {"level_a": own.level(i), "level_b": own.level(j)}
        yield {"dimension": own.id, "a": a, "b": b, **levels, "texts": int(n)}


WORDINGS = {
    "dimension": "the dimension",
    "coder": "the ensemble or a model",
    "a": "a wording",
    "b": "another wording",
    "texts": "texts that were coded in both",
    "estimate": "the coefficient, as between two coders",
    "low": "lower end of the 95% interval",
    "high": "upper end of the 95% interval",
    "exact": "share of texts with the same level",
    "note": "why there is no value",
}


def wordings(study: CodedStudy, by_wording: dict[str, list[DimensionCodes]]) -> Result:
    """Agreement of each coder with itself between wordings of the same question.

    `by_wording` are the codes of the models in each wording, the scored one among them.
    """
    rows = []
    for a, b in combinations(by_wording, 2):
        others = {own.id: own for own in by_wording[b]}
        for own in by_wording[a]:
            if own.id in others:
                rows += [_worded(own, others[own.id], a, b, coder) for coder in _machines(own)]
    return Result(
        name="wordings",
        title="Agreement between wordings of the question",
        definition="Each coder's codes in one wording against its own in another, on the texts"
        " that were coded in both; coefficients as between two coders.",
        source="docs/coding.md#wordings",
        rows=pd.DataFrame(rows, columns=list(WORDINGS)),
        meanings=WORDINGS,
        why_not="" if rows else "one_wording",
        detail="" if rows else "texts were coded in one wording only; ask with wordings=[A,B]",
    )


def _machines(own: DimensionCodes) -> list[str]:
    return [ENSEMBLE, *own.models]


def _worded(
    own: DimensionCodes, other: DimensionCodes, a: str, b: str, coder: str
) -> dict[str, Any]:
    first = own.places[coder]
    second = other.places[coder].reindex(first.index)
    both = (first.notna() & second.notna()).to_numpy()
    columns = [first.to_numpy(float)[both], second.to_numpy(float)[both]]
    found = estimate_of(own, columns)
    low, high = found.interval()
    return {
        "dimension": own.id,
        "coder": coder,
        "a": a,
        "b": b,
        "texts": int(both.sum()),
        "estimate": found.value,
        "low": low,
        "high": high,
        "exact": distances(own, *columns)["exact"],
        "note": found.reason,
    }
