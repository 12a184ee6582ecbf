"""Agreement of coders: of every pair, over time, with intervals by the bootstrap."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.agreement.agreement import chance_shrunk
from delibsim.analysis.coding.codes import (
    CodedStudy,
    DimensionCodes,
    anchors_of,
    both_given,
    delta_of,
)
from delibsim.analysis.result import Result, make_table, said
from delibsim.domain.errors import unknown
from delibsim.domain.score import ENSEMBLE
from delibsim.domain.seed import seed_of
from delibsim.domain.study import natural
from delibsim.measures.ensemble import ROUNDING
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import bootstrap, resampled_differences
from delibsim.measures.reliability.codes import CodeMatrix, codes_of
from delibsim.measures.reliability.coefficients import PERCENT, Estimate, coefficient
from delibsim.measures.reliability.ratings import word_of

Array = NDArray[np.float64]
Row = dict[str, Any]
GROUP = "group"
"""The column by which texts are clustered unless another is named."""
RESAMPLES, FEW = 10_000, 2_000
"""Resamples of coders and parts; of texts and of clusters."""


def estimate_of(own: DimensionCodes, columns: Sequence[Array]) -> Estimate:
    """The coefficient of coders whose places (texts,) are given, at the declared levels."""
    codes = codes_of(np.column_stack(columns), list(range(own.q)))
    return coefficient(codes, "ac", own.weighting)


def agreed(own: DimensionCodes, first: Array, second: Array) -> Row:
    """How far two coders agree whose places (texts,) are given: the texts that both coded, the
    coefficient, and the shares of texts on which they agree, are neighbours, or are further apart.

    Names have no neighbours: `adjacent` and `gross` are missing there.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    found = estimate_of(own, [first[both], second[both]])
    low, high = found.interval()
    row: Row = {"texts": int(both.sum()), "estimate": found.value, "low": low, "high": high}
    row |= {"word": word_of(found.value, found.error), "note": found.reason}
    apart = np.abs(first - second)[both]
    if len(apart):
        row["exact"] = float((apart == 0).mean())
    if len(apart) and own.ordered:
        row["adjacent"] = float((apart == 1).mean())
        row["gross"] = float((apart > 1).mean())
        if row["exact"] < 1:
            row["gross_of_disagreement"] = float((apart > 1).sum() / (apart > 0).sum())
    return row


def pairs(own: DimensionCodes) -> Iterator[Row]:
    """A row a pair of coders; one model is not compared with the ensemble that it is."""
    itself = (ENSEMBLE, *own.models) if len(own.models) == 1 else ()
    for a, b in combinations(own.coders, 2):
        if (a, b) != itself:
            row = agreed(own, own.columns[a], own.columns[b])
            lone = "too_few_texts" if np.isnan(row["low"]) else ""
            named = {"dimension": own.id, "a": a, "b": b, "coefficient": name_of_coefficient(own)}
            yield named | row | {"note": row["note"] or lone} | _by_others(own, a, b)


def _by_others(own: DimensionCodes, a: str, b: str) -> Row:
    """The agreement of a pair by other coefficients, and by the bootstrap."""
    both = both_given(own, (a, b))
    if not both.any():
        return {}
    codes, metric = _by_value(own, _table(own, (a, b), both)), own.dimension.scale
    kappa = coefficient(codes, "kappa", own.weighting)
    named = [("ac", own.weighting), ("alpha", metric)]
    ac, alpha = bootstrap(codes, named, FEW, seed_of("pairs", own.id, a, b))
    row: Row = {"kappa": kappa.value, "alpha": coefficient(codes, "alpha", metric).value}
    if own.ordered:
        shares = np.bincount(codes.places.ravel(), minlength=own.q) / codes.places.size
        observed = coefficient(codes, PERCENT, own.weighting).value
        row["published_form"] = chance_shrunk(observed, shares)
    for name, found in (("boot", ac), ("kappa", kappa), ("alpha", alpha)):
        low, high = found.interval()
        if high - low > ROUNDING:  # a coder of one level has a kappa of 0 in every sample
            row |= {f"{name}_low": low, f"{name}_high": high}
    return row


def _by_value(own: DimensionCodes, table: Array) -> CodeMatrix:
    """The codes of a table of places (texts, coders); on an interval scale those of their values,
    which alpha goes by, and whose places are the same.
    """
    if own.dimension.scale != "interval":
        return codes_of(table, list(range(own.q)))
    values = np.array([float(value) for value in own.dimension.values])
    given = values[np.nan_to_num(table).astype(int)]
    return codes_of(np.where(np.isnan(table), np.nan, given), list(values))


def name_of_coefficient(own: DimensionCodes) -> str:
    """What the coefficient of a dimension is called."""
    return "AC2, linear" if own.ordered else "AC1"


def notes_on_pairs(study: CodedStudy) -> list[str]:
    """What the table of pairs leaves out."""
    alone = any(len(own.models) == 1 for own in study.fair)
    return [said("codes/alone")] * alone + [said("codes/by_doubt")] * study.by_doubt


def groups(own: DimensionCodes) -> Iterator[Row]:
    """Agreement of the models among themselves, and of the people among themselves."""
    metric = own.dimension.scale
    for name, coders in (("models", own.models), ("people", own.people)):
        if len(coders) < 2:
            continue
        table = np.column_stack([own.columns[coder] for coder in coders])
        codes, by_value = codes_of(table, list(range(own.q))), _by_value(own, table)
        named = (
            (name_of_coefficient(own), coefficient(codes, "ac", own.weighting)),
            (f"alpha, {metric}", coefficient(by_value, "alpha", metric)),
        )
        for label, found in named:
            ends = found.interval()
            if np.isnan(found.error) and not found.reason:
                seed = seed_of("groups", own.id, name)
                (drawn,) = bootstrap(by_value, [("alpha", metric)], RESAMPLES, seed)
                ends = drawn.interval()
            row: Row = {
                "dimension": own.id,
                "coders": name,
                "number": len(coders),
                "coefficient": label,
            }
            row |= {"texts": found.texts, "paired": found.paired, "estimate": found.value}
            yield row | {"low": ends[0], "high": ends[1], "note": found.reason}


def agreement_of_people(dimensions: Iterable[DimensionCodes]) -> Result:
    """The table `gold`: how far the people agree among themselves by whom models are corrected."""
    rows = [row for own in dimensions for row in groups(own) if row["coders"] == "people"]
    return make_table("effects/gold", rows, resamples=RESAMPLES)


def confusion(own: DimensionCodes) -> Iterator[Row]:
    """A row a pair of coders and pair of levels; every pair of levels, also where no text is."""
    for a, b in combinations(own.coders, 2):
        both = both_given(own, (a, b))
        first, second = own.columns[a][both].astype(int), own.columns[b][both].astype(int)
        counts = np.bincount(first * own.q + second, minlength=own.q**2)
        for place, n in enumerate(counts):
            i, j = divmod(place, own.q)
            row = {"dimension": own.id, "a": a, "b": b, "level_a": own.level(i)}
            yield row | {"level_b": own.level(j), "texts": int(n)}


def wordings(by_wording: Mapping[str, Sequence[DimensionCodes]]) -> Iterator[Row]:
    """Agreement of each coder with itself between wordings of the same question.

    `by_wording` are the codes of the models in each wording, the scored one among them.
    """
    for a, b in combinations(by_wording, 2):
        others = {own.id: own for own in by_wording[b]}
        for own in by_wording[a]:
            if own.id not in others:
                continue
            for coder in (ENSEMBLE, *own.models):
                second = others[own.id].places[coder].reindex(own.places.index)
                row = agreed(own, own.columns[coder], second.to_numpy(float))
                yield {"dimension": own.id, "coder": coder, "a": a, "b": b} | row


Draw = Callable[[NDArray[np.bool_], NDArray[Any] | None], Array]
"""What is found in resamples of these texts, or of the clusters that they are of."""


def resampled(study: CodedStudy, by: str = "") -> Iterator[Row]:
    """A row for each delta against one other person, and for the ensemble and each pair of people.

    Texts are clustered by the column `by`, or by their group. WrongInput for a column that no text
    has.
    """
    if by and by not in study.columns():
        raise unknown("column", by, study.columns())
    cluster_of = study.fact(by or GROUP)
    for own in study.fair:
        names = np.array([cluster_of.get(text, "") for text in own.texts], dtype=object)
        for row, coders, draw in _drawn(
            own, seed_of(study.study, study.coded.scheme.id, own.id, "resampled")
        ):
            both = both_given(own, coders)
            clusters = names[both]
            low, high = percentile_interval(draw(both, None))
            row |= {"dimension": own.id, "texts": len(clusters), "low": low, "high": high}
            row |= {"by": "", "note": _why_no_clusters(clusters)}
            if not row["note"]:
                row |= {"by": by or GROUP, "clusters": len(set(clusters))}
                ends = percentile_interval(draw(both, clusters))
                row |= {"cluster_low": ends[0], "cluster_high": ends[1]}
            yield row


def _drawn(own: DimensionCodes, seed: int) -> Iterator[tuple[Row, tuple[str, ...], Draw]]:
    """Every comparison: its columns, its coders, and how it is drawn."""
    for anchor, other, others in anchors_of(own) if own.models else ():
        if len(others) == 1:
            row: Row = {"of": "delta", "a": anchor, "b": other}
            row["estimate"] = delta_of(own, anchor, others).value
            yield row, (ENSEMBLE, anchor, other), partial(_deltas, own, anchor, other, seed)
    for a, b in combinations((ENSEMBLE, *own.people) if own.models else own.people, 2):
        row = {"of": "agreement", "a": a, "b": b}
        row |= {"estimate": agreed(own, own.columns[a], own.columns[b])["estimate"]}
        yield row, (a, b), partial(_agreements, own, (a, b), seed)


def _table(own: DimensionCodes, coders: Sequence[str], both: NDArray[np.bool_]) -> Array:
    return np.column_stack([own.columns[coder] for coder in coders])[both]


def _deltas(
    own: DimensionCodes,
    anchor: str,
    other: str,
    seed: int,
    both: NDArray[np.bool_],
    clusters: NDArray[Any] | None,
) -> Array:
    first, second = (_table(own, (coder, anchor), both) for coder in (ENSEMBLE, other))
    levels = list(range(own.q))
    return resampled_differences(first, second, levels, "ac", own.weighting, FEW, seed, clusters)


def _agreements(
    own: DimensionCodes,
    coders: Sequence[str],
    seed: int,
    both: NDArray[np.bool_],
    clusters: NDArray[Any] | None,
) -> Array:
    codes = codes_of(_table(own, coders, both), list(range(own.q)))
    (found,) = bootstrap(codes, [("ac", own.weighting)], FEW, seed, clusters)
    return found.values


def _why_no_clusters(clusters: NDArray[Any]) -> str:
    """Why texts cannot be drawn by cluster: one has none, or all are in one or in one each."""
    number = len(set(clusters))
    if "" in set(clusters) or number == len(clusters):
        return "no_clusters"
    return "one_cluster" if number < 2 else ""


MOST_PARTS = 12
"""Parts that a column may have; a column of more numbers is cut at its quartiles."""


def facts_of(study: CodedStudy, column: str) -> pd.Series:
    """The values of a column by text; WrongInput for a column that no text has."""
    facts = study.fact(column)
    if not facts:
        raise unknown("column", column, study.columns())
    return pd.Series(facts)


def against(own: DimensionCodes, facts: pd.Series) -> Iterator[Row]:
    """Agreement within each part of a column, and its difference from that in the first part."""
    parts = _parts(facts.reindex(own.places.index))
    for a, b in combinations(_compared(own), 2):
        same = (own.columns[a] == own.columns[b])[both_given(own, (a, b))]
        first: NDArray[np.bool_] | None = None
        for name, chosen in parts:
            here = same[chosen[both_given(own, (a, b))]]
            row = agreed(own, own.columns[a][chosen], own.columns[b][chosen])
            if first is None:
                first = here
            else:
                row |= _difference(first, here, (own.id, a, b, name))
            yield {"dimension": own.id, "a": a, "b": b, "part": name} | row


def _compared(own: DimensionCodes) -> list[str]:
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
        own = pd.qcut(numbers, 4, duplicates="drop")
        named = {f"{kind.left:g} to {kind.right:g}": kind for kind in own.cat.categories}
    elif numeric:
        named = {f"{value:g}": value for value in distinct}
    else:
        named = {str(value): value for value in sorted(distinct, key=natural)}
    return [(name, (own == value).to_numpy()) for name, value in named.items()]


def _difference(first: NDArray[np.bool_], second: NDArray[np.bool_], names: Sequence[str]) -> Row:
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


def trends(own: DimensionCodes, facts: pd.Series) -> Iterator[Row]:
    """The correlation of agreement with a column that holds numbers."""
    from scipy.stats import spearmanr

    if not pd.to_numeric(facts, errors="coerce").notna().any():
        return
    values = facts.reindex(own.places.index)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    for a, b in combinations(_compared(own), 2):
        known = both_given(own, (a, b)) & ~np.isnan(numbers)
        same = (own.columns[a] == own.columns[b])[known].astype(float)
        row: Row = {"dimension": own.id, "a": a, "b": b, "texts": int(known.sum()), "note": ""}
        if len(same) < 3 or np.ptp(same) == 0 or np.ptp(numbers[known]) == 0:
            row["note"] = "too_few_texts" if len(same) < 3 else "no_variance"
        else:
            found: Any = spearmanr(numbers[known], same)
            row |= {"rho": float(found.statistic), "p": float(found.pvalue)}
        yield row
