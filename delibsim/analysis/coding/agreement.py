"""Agreement of coders: of every pair, over time, with intervals by the bootstrap."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, both_given
from delibsim.analysis.coding.equivalence import anchors_of, delta_of
from delibsim.analysis.result import Result, make_table
from delibsim.domain.errors import unknown
from delibsim.domain.score import ENSEMBLE
from delibsim.domain.seed import seed_of
from delibsim.domain.study import natural
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import bootstrap, resampled_differences
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import Estimate, coefficient
from delibsim.measures.reliability.ratings import word_of

Array = NDArray[np.float64]
GROUP = "group"
"""The column by which texts are clustered unless another is named."""
FEW = 2_000
"""Resamples of texts and of clusters."""


def resampled(study: CodedStudy, by: str = "") -> Result:
    """A row for each delta against one other person, and for the ensemble and each pair of people.

    Texts are clustered by the column `by`, or by their group. WrongInput for a column that no text
    has.
    """
    if by and by not in study.columns():
        raise unknown("column", by, study.columns())
    column = by or GROUP
    cluster_of = study.fact(column)
    rows = []
    for own in study.fair:
        names = [cluster_of.get(text, "") for text in own.texts]
        clusters = np.array(names, dtype=object)
        seed = seed_of(study.study, study.coded.scheme.id, own.id, "resampled")
        for row, both, draws in _compared(own, clusters, seed):
            rows.append({"dimension": own.id, **row, **_ends(draws, clusters[both], column)})
    return make_table("codes/resampled", rows, resamples=FEW)


Draws = tuple[Array, Array | None]
"""What was found in resamples of texts, and of clusters, None where there are no clusters."""


def _compared(
    own: DimensionCodes, clusters: NDArray[Any], seed: int
) -> Iterator[tuple[dict[str, Any], NDArray[np.bool_], Draws]]:
    """Every comparison: its columns, the texts that count, and its resamples."""
    levels = list(range(own.q))
    if own.models:
        for anchor, other, others in anchors_of(own):
            if len(others) > 1:
                continue
            both = both_given(own, (ENSEMBLE, anchor, other))
            pairs = []
            for coder in (ENSEMBLE, other):
                pairs.append(np.column_stack([own.columns[coder], own.columns[anchor]])[both])
            drawn = []
            for among in _levels_of_drawing(clusters[both]):
                settings = ("ac", own.weighting, FEW, seed, among)
                drawn.append(resampled_differences(*pairs, levels, *settings))
            found = delta_of(own, anchor, others).value
            row = {"of": "delta", "a": anchor, "b": other, "estimate": found}
            yield row, both, (drawn[0], drawn[1] if len(drawn) > 1 else None)
    coders = (ENSEMBLE, *own.people) if own.models else own.people
    for pair in combinations(coders, 2):
        both = both_given(own, pair)
        columns = [own.columns[coder][both] for coder in pair]
        codes, drawn = codes_of(np.column_stack(columns), levels), []
        for among in _levels_of_drawing(clusters[both]):
            (one,) = bootstrap(codes, [("ac", own.weighting)], FEW, seed, among)
            drawn.append(one.values)
        found = estimate_of(own, columns).value
        row = {"of": "agreement", "a": pair[0], "b": pair[1], "estimate": found}
        yield row, both, (drawn[0], drawn[1] if len(drawn) > 1 else None)


def _levels_of_drawing(clusters: NDArray[Any]) -> Sequence[NDArray[Any] | None]:
    """What is drawn: texts, and clusters too where there are any."""
    return [None] if _why_no_clusters(clusters) else [None, clusters]


def _why_no_clusters(clusters: NDArray[Any]) -> str:
    """Why texts cannot be drawn by cluster: one has none, or all are in one or in one each."""
    number = len(set(clusters))
    if "" in set(clusters) or number == len(clusters):
        return "no_clusters"
    return "one_cluster" if number < 2 else ""


def _ends(draws: Draws, clusters: NDArray[Any], column: str) -> dict[str, Any]:
    """The ends of both intervals, and what was drawn."""
    low, high = percentile_interval(draws[0])
    found = {"texts": len(clusters), "low": low, "high": high}
    note, over = _why_no_clusters(clusters), draws[1]
    if over is None:
        return found | {"by": "", "cluster_low": np.nan, "cluster_high": np.nan, "note": note}
    low, high = percentile_interval(over)
    named = {"by": column, "clusters": len(set(clusters)), "note": note}
    return found | named | {"cluster_low": low, "cluster_high": high}


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
    return make_table("codes/pairs", rows, notes=notes)


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


RESAMPLES = 10_000


def groups(study: CodedStudy) -> Result:
    """Agreement of the models among themselves, and of the people among themselves."""
    rows = []
    for own in study.fair:
        for name, coders in (("models", own.models), ("people", own.people)):
            if len(coders) > 1:
                rows += list(_group(own, name, coders))
    return make_table("codes/groups", rows, resamples=RESAMPLES)


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


def confusion(study: CodedStudy) -> Result:
    """A row a pair of coders and pair of levels; every pair of levels, also where no text is."""
    rows: list[dict[str, Any]] = []
    for own in study.fair:
        for a, b in combinations(own.coders, 2):
            rows += _confused(own, a, b)
    return make_table("codes/confusion", rows)


def _confused(own: DimensionCodes, a: str, b: str) -> Iterator[dict[str, Any]]:
    both = both_given(own, (a, b))
    first, second = own.columns[a][both].astype(int), own.columns[b][both].astype(int)
    counts = np.bincount(first * own.q + second, minlength=own.q**2)
    for place, n in enumerate(counts):
        i, j = divmod(place, own.q)
        levels = {"level_a": own.level(i), "level_b": own.level(j)}
        yield {"dimension": own.id, "a": a, "b": b, **levels, "texts": int(n)}


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
    return make_table("codes/wordings", rows)


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


MOST_PARTS = 12
"""Parts that a column may have; a column of more numbers is cut at its quartiles."""


def against(study: CodedStudy, column: str) -> tuple[Result, Result]:
    """Agreement within each part of a column, and its correlation with the column.

    WrongInput for a column that no text has.
    """
    facts = study.fact(column)
    if not facts:
        raise unknown("column", column, study.columns())
    rows: list[dict[str, Any]] = []
    trends: list[dict[str, Any]] = []
    numeric = pd.to_numeric(pd.Series(facts), errors="coerce").notna().any()
    for own in study.fair:
        values = pd.Series(facts).reindex(own.places.index)
        parts = _parts(values)
        for a, b in combinations(_against_compared(own), 2):
            rows += _within(own, a, b, parts)
            if numeric:
                trends.append(_trend(own, a, b, values))
    within = make_table("codes/against", rows, column=column, resamples=RESAMPLES)
    trend = make_table("codes/against_trend", trends, column=column)
    return within, trend


def _against_compared(own: DimensionCodes) -> list[str]:
    """The ensemble and people; without people the ensemble and its models."""
    ensemble = [ENSEMBLE] if own.models else []
    return [*ensemble, *(own.people or own.models)]


def _parts(values: pd.Series) -> list[tuple[str, NDArray[np.bool_]]]:
    """The parts of a column by name, in order: its values, or quarters of its numbers."""
    numbers = pd.to_numeric(values, errors="coerce")
    numeric = bool(numbers.notna().any()) and bool((numbers.notna() == values.notna()).all())
    own = numbers if numeric else values
    distinct = sorted(own.dropna().unique())
    if numeric and len(distinct) > MOST_PARTS:
        quarters = pd.qcut(numbers, 4, duplicates="drop")
        kinds = quarters.cat.categories
        return [
            (f"{kind.left:g} to {kind.right:g}", (quarters == kind).to_numpy()) for kind in kinds
        ]
    if numeric:
        return [(f"{value:g}", (own == value).to_numpy()) for value in distinct]
    return [(str(one), (own == one).to_numpy()) for one in sorted(distinct, key=natural)]


def _within(
    own: DimensionCodes, a: str, b: str, parts: Sequence[tuple[str, NDArray[np.bool_]]]
) -> Iterator[dict[str, Any]]:
    both = both_given(own, (a, b))
    first: NDArray[np.bool_] | None = None
    same = own.columns[a] == own.columns[b]
    for name, chosen in parts:
        here = both & chosen
        columns = [own.columns[a][here], own.columns[b][here]]
        found = estimate_of(own, columns)
        low, high = found.interval()
        row: dict[str, Any] = {"dimension": own.id, "a": a, "b": b, "part": name}
        row |= {"texts": int(here.sum())}
        row |= {"estimate": found.value, "low": low, "high": high, "note": found.reason}
        row["exact"] = distances(own, *columns)["exact"]
        compared = first if first is not None else here
        if first is not None:
            row |= _difference(same[compared], same[here], (own.id, a, b, name))
        first = compared
        yield row


def _difference(
    first: NDArray[np.bool_], second: NDArray[np.bool_], names: tuple[str, ...]
) -> dict[str, float]:
    """Exact agreement in the second part less that in the first, with its bootstrap interval."""
    n, m = len(first), len(second)
    if not n or not m:
        return {}
    rng = np.random.default_rng(seed_of("against", *names))
    shares = float(first.mean()), float(second.mean())
    # Drawing n texts with replacement draws so many that agree by a binomial distribution.
    drawn = rng.binomial(m, shares[1], RESAMPLES) / m - rng.binomial(n, shares[0], RESAMPLES) / n
    low, high = percentile_interval(drawn)
    found = {"difference": shares[1] - shares[0]}
    return found | {"difference_low": low, "difference_high": high}


def _trend(own: DimensionCodes, a: str, b: str, values: pd.Series) -> dict[str, Any]:
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    known = both_given(own, (a, b)) & ~np.isnan(numbers)
    same = (own.columns[a] == own.columns[b])[known].astype(float)
    row: dict[str, Any] = {"dimension": own.id, "a": a, "b": b, "texts": int(known.sum())}
    if len(same) < 3 or np.ptp(same) == 0 or np.ptp(numbers[known]) == 0:
        why = "too_few_texts" if len(same) < 3 else "no_variance"
        return row | {"rho": np.nan, "p": np.nan, "note": why}
    from scipy.stats import spearmanr

    found: Any = spearmanr(numbers[known], same)
    return row | {"rho": float(found.statistic), "p": float(found.pvalue), "note": ""}
