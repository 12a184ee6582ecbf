"""Agreement and delta with intervals by the bootstrap: over texts, and over clusters of texts."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.coding.agreement import estimate_of
from delibsim.analysis.coding.codes import CodedStudy, DimensionCodes, both_given
from delibsim.analysis.coding.equivalence import anchors_of, delta_of
from delibsim.analysis.study.result import Result
from delibsim.domain.coding import ENSEMBLE
from delibsim.domain.errors import unknown
from delibsim.domain.seed import seed_of
from delibsim.measures.inference.resampling import percentile_interval
from delibsim.measures.reliability.bootstrap import bootstrap, resampled_differences
from delibsim.measures.reliability.codes import codes_of

Array = NDArray[np.float64]
GROUP = "group"
"""The column by which texts are clustered unless another is named."""
RESAMPLES = 2_000
ROWS = {
    "dimension": "the dimension",
    "of": "delta of the ensemble, or the agreement of two coders",
    "a": "the anchor of delta, or a coder",
    "b": "the other person of delta, or another coder",
    "texts": "texts that all of them coded",
    "estimate": "delta, or the agreement",
    "low": "lower end of the 95% interval, texts being drawn",
    "high": "upper end of the same interval",
    "by": "the column whose values are the clusters; empty where there are none",
    "clusters": "clusters among these texts",
    "cluster_low": "lower end of the 95% interval, clusters being drawn with all their texts",
    "cluster_high": "upper end of the same interval",
    "note": "why there is no interval over clusters",
}


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
    return Result(
        name="resampled",
        title="Delta and agreement by the bootstrap",
        definition=f"Percentile intervals of {RESAMPLES:,} resamples, the same texts or clusters"
        " for both coefficients of a delta. Where texts of one cluster are alike, the interval over"
        " clusters is the one to go by; with few clusters it is too narrow.",
        source="docs/coding.md#equivalence",
        rows=pd.DataFrame(rows, columns=list(ROWS)),
        meanings=ROWS,
        why_not="" if rows else "one_coder",
        detail="" if rows else "two coders are needed, one of them a person",
    )


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
                settings = ("ac", own.weighting, RESAMPLES, seed, among)
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
            (one,) = bootstrap(codes, [("ac", own.weighting)], RESAMPLES, seed, among)
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
