"""Agreement of coders: of every pair, over time, with intervals over clusters of texts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.agreement.agreement import chance_shrunk
from delibsim.analysis.coding.codes import (
    CLUSTER,
    GROUP,
    TEXT,
    CodedStudy,
    DimensionCodes,
    both_given,
)
from delibsim.analysis.coding.equivalence import anchors_of, delta_of
from delibsim.analysis.result import Result, make_table, said
from delibsim.domain.errors import unknown
from delibsim.domain.score import ENSEMBLE
from delibsim.domain.seed import seed_of
from delibsim.domain.study import natural
from delibsim.measures.correlations import correlation_interval
from delibsim.measures.ensemble import ROUNDING
from delibsim.measures.inference.means import difference_over, t_quantile
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import bootstrap, resampled_differences
from delibsim.measures.reliability.clusters import ClusteredEstimate, over_clusters
from delibsim.measures.reliability.codes import CodeMatrix, codes_of
from delibsim.measures.reliability.coefficients import PERCENT, Estimate, coefficient
from delibsim.measures.reliability.ratings import word_of

Array = NDArray[np.float64]
Marks = NDArray[np.bool_]
Row = dict[str, Any]
RESAMPLES, FEW = 10_000, 2_000
"""Resamples of coders and parts; of texts."""


NORMAL = 1.6448536269514722
"""The quantile of the normal distribution at .95."""


def resting_on(found: Estimate) -> Row:
    """The interval of a coefficient, what it rests on, and why there is none."""
    low, high = found.interval()
    row: Row = {"low": low, "high": high, "note": found.reason}
    row["unit"] = CLUSTER if isinstance(found, ClusteredEstimate) else TEXT
    row["df"] = np.nan if found.reason else found.df
    if np.isnan(low) and not row["note"]:
        lone = "one_cluster" if row["unit"] == CLUSTER else "too_few_texts"
        row["note"] = lone if found.df < 1 else "no_variance"
    return row


def agreed(own: DimensionCodes, first: Array, second: Array) -> Row:
    """How far two coders agree whose places (texts,) are given: the texts that both coded, the
    coefficient, and the shares of texts on which they agree, are neighbours, or are further apart.

    Names have no neighbours: `adjacent` and `gross` are missing there.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    codes = codes_of(np.column_stack([first[both], second[both]]), list(range(own.q)))
    found = over_clusters(codes, "ac", own.weighting, own.clusters_of(both))
    row: Row = {"texts": int(both.sum()), "estimate": found.value, **resting_on(found)}
    if row["unit"] == CLUSTER and found.df > 0:  # few clusters say less than the normal has it
        row["word"] = word_of(found.value, found.error * t_quantile(found.df, 0.9) / NORMAL)
    else:
        row["word"] = word_of(found.value, found.error)
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
            named = {"dimension": own.id, "a": a, "b": b, "coefficient": name_of_coefficient(own)}
            yield named | row | _by_others(own, a, b)


def _by_others(own: DimensionCodes, a: str, b: str) -> Row:
    """The agreement of a pair by other coefficients, and with texts taken one by one."""
    both = both_given(own, (a, b))
    if not both.any():
        return {}
    codes, metric = _by_value(own, _table(own, (a, b), both)), own.dimension.scale
    clusters, seed = own.clusters_of(both), seed_of("pairs", own.id, a, b)
    kappa = over_clusters(codes, "kappa", own.weighting, clusters)
    alpha = over_clusters(codes, "alpha", metric, clusters)
    row: Row = {"kappa": kappa.value, "alpha": alpha.value}
    one_by_one = coefficient(codes, "ac", own.weighting)
    (boot,) = bootstrap(codes, [("ac", own.weighting)], FEW, seed)
    if clusters is None:
        (alpha,) = bootstrap(codes, [("alpha", metric)], FEW, seed)
    if own.ordered:
        shares = np.bincount(codes.places.ravel(), minlength=own.q) / codes.places.size
        observed = coefficient(codes, PERCENT, own.weighting).value
        row["published_form"] = chance_shrunk(observed, shares)
    named = {"texts": one_by_one, "boot": boot, "kappa": kappa, "alpha": alpha}
    for name, found in named.items():
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
        coded = np.zeros(len(table), dtype=bool)
        coded[codes.kept] = True
        clusters = own.clusters_of(coded)
        named = (
            (name_of_coefficient(own), codes, "ac", own.weighting),
            (f"alpha, {metric}", by_value, "alpha", metric),
        )
        for label, given, coefficient_id, weighting in named:
            found = over_clusters(given, coefficient_id, weighting, clusters)
            rests = resting_on(found)
            one_by_one = coefficient(given, coefficient_id, weighting)
            ends = one_by_one.interval()
            if np.isnan(one_by_one.error) and not found.reason:
                seed = seed_of("groups", own.id, name)
                (drawn,) = bootstrap(by_value, [("alpha", metric)], RESAMPLES, seed)
                ends = drawn.interval()
            if rests["unit"] == TEXT and not found.reason:
                rests |= {"low": ends[0], "high": ends[1], "note": ""}
            row: Row = {
                "dimension": own.id,
                "coders": name,
                "number": len(coders),
                "coefficient": label,
            }
            row |= {"texts": found.texts, "paired": found.paired, "estimate": found.value}
            yield row | rests | {"texts_low": ends[0], "texts_high": ends[1]}


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


def resampled(study: CodedStudy, by: str = "") -> Iterator[Row]:
    """A row for each delta against one other person, and for the ensemble and each pair of people.

    Texts are of one cluster that have one value of the column `by`, or of their group. WrongInput
    for a column that no text has.
    """
    for own in clustered_by(study, by).fair:
        seed = seed_of(study.study, study.coded.scheme.id, own.id, "resampled")
        for row, coders, drawn in _drawn(own, seed):
            both = both_given(own, coders)
            clusters, (low, high) = own.clusters_of(both), percentile_interval(drawn)
            row |= {"dimension": own.id, "texts": int(both.sum())}
            row |= {"texts_low": low, "texts_high": high}
            if clusters is None:
                row |= {"low": low, "high": high, "by": "", "note": row["note"] or "no_clusters"}
            else:
                row |= {"by": by or GROUP, "clusters": len(set(clusters))}
            yield row


def clustered_by(study: CodedStudy, column: str) -> CodedStudy:
    """The study with clusters by a column; itself without one. WrongInput for a column that no text
    has.
    """
    if column and column not in study.columns():
        raise unknown("column", column, study.columns())
    return study.clustered(column) if column else study


def _drawn(own: DimensionCodes, seed: int) -> Iterator[tuple[Row, tuple[str, ...], Array]]:
    """Every comparison: its columns with their interval over clusters, its coders, and what is
    found in resamples of its texts.
    """
    for anchor, other, others in anchors_of(own) if own.models else ():
        if len(others) == 1:
            found = delta_of(own, anchor, others)
            low, high = found.interval()
            row: Row = {"of": "delta", "a": anchor, "b": other, "estimate": found.value}
            coders = (ENSEMBLE, anchor, other)
            drawn = _deltas(own, anchor, other, seed, both_given(own, coders))
            yield row | {"low": low, "high": high, "note": found.note}, coders, drawn
    for a, b in combinations((ENSEMBLE, *own.people) if own.models else own.people, 2):
        given = agreed(own, own.columns[a], own.columns[b])
        row = {"of": "agreement", "a": a, "b": b}
        row |= {name: given[name] for name in ("estimate", "low", "high", "note")}
        codes = codes_of(_table(own, (a, b), both_given(own, (a, b))), list(range(own.q)))
        (found,) = bootstrap(codes, [("ac", own.weighting)], FEW, seed)
        yield row, (a, b), found.values


def _table(own: DimensionCodes, coders: Sequence[str], both: NDArray[np.bool_]) -> Array:
    return np.column_stack([own.columns[coder] for coder in coders])[both]


def _deltas(
    own: DimensionCodes, anchor: str, other: str, seed: int, both: NDArray[np.bool_]
) -> Array:
    first, second = (_table(own, (coder, anchor), both) for coder in (ENSEMBLE, other))
    return resampled_differences(first, second, list(range(own.q)), "ac", own.weighting, FEW, seed)


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
        first, second = own.columns[a], own.columns[b]
        same, both = first == second, both_given(own, (a, b))
        for number, (name, chosen) in enumerate(parts):
            row = agreed(own, np.where(chosen, first, np.nan), second)
            if number:
                row |= _difference(own, same, both & parts[0][1], both & chosen)
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


def _difference(own: DimensionCodes, same: Marks, first: Marks, second: Marks) -> Row:
    """Exact agreement in the second part less that in the first, with its interval by t, from what
    it is without each cluster of texts or, where no two are of one, without each text.
    """
    if not first.any() or not second.any():
        return {}
    either = first | second
    units = own.clusters_of(either)
    units = np.arange(either.sum()) if units is None else units
    found = difference_over(same[either], second[either], units)
    named = {"difference": found.estimate, "difference_low": found.low}
    return named | {"difference_high": found.high}


def trends(own: DimensionCodes, facts: pd.Series) -> Iterator[Row]:
    """The correlation of agreement with a column that holds numbers."""
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
            row |= _correlated(numbers[known], same, own.clusters_of(known))
        yield row


def _correlated(numbers: Array, same: Array, clusters: Any) -> Row:
    """Spearman's correlation and its p over clusters or, without them, over texts."""
    from scipy.stats import rankdata, spearmanr

    found: Any = spearmanr(numbers, same)
    if clusters is None:
        return {"rho": float(found.statistic), "p": float(found.pvalue)}
    over = correlation_interval(rankdata(numbers), rankdata(same), clusters)
    note = ""
    if over.p != over.p:
        note = "no_variance" if over.df else "one_cluster"
    return {"rho": float(found.statistic), "p": over.p, "note": note}
