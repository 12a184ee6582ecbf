"""Agreement over time, or over any other column of the texts."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.agreement import distances, estimate_of
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, both_given
from delibsim.analysis.result import Result, make_table
from delibsim.domain.coding import ENSEMBLE
from delibsim.domain.errors import unknown
from delibsim.domain.seed import seed_of
from delibsim.domain.study import natural
from delibsim.measures.inference.resampling import percentile_interval

MOST_PARTS = 12
"""Parts that a column may have; a column of more numbers is cut at its quartiles."""
RESAMPLES = 10_000


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
        for a, b in combinations(_compared(own), 2):
            rows += _within(own, a, b, parts)
            if numeric:
                trends.append(_trend(own, a, b, values))
    within = make_table("codes/against", rows, column=column, resamples=RESAMPLES)
    trend = make_table("codes/against_trend", trends, column=column)
    return within, trend


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
