"""Whether the ensemble agrees with a person as far as another person does, within a bound."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import DimensionCodes, both_given
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import RULES
from delibsim.measures.inference.means import equivalence, jackknifed
from delibsim.measures.reliability.bootstrap import verdicts
from delibsim.measures.reliability.clusters import ClusteredEstimate, over_clusters
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import (
    Estimate,
    influences,
    patterns_for,
    t_interval,
)

Array = NDArray[np.float64]
Row = dict[str, Any]
AS_POOR = "as poor as people"
CURVE = tuple(round(0.01 * i, 2) for i in range(1, 41))
"""The bounds of the curve."""


@dataclass(frozen=True)
class Delta:
    """Delta with its standard error and degrees of freedom, over clusters of the `texts` texts or,
    where no two are of one cluster, over texts; `people` is the agreement of people.
    """

    ensemble: float
    people: Estimate
    value: float
    error: float
    df: int
    texts: int
    reason: str = ""

    @property
    def note(self) -> str:
        """Why there is no value, or none with an interval; "" where there are both."""
        if self.reason or self.error > 0:
            return self.reason
        if self.texts < 2:
            return "too_few_texts"
        return "one_cluster" if self.df < 1 else "no_variance"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t; it is not cut, for a difference may exceed 1."""
        low, _ = t_interval(self.value, self.error, self.df, level)
        return low, 2 * self.value - low


def delta_of(own: DimensionCodes, anchor: str, others: Sequence[str], alone: bool = False) -> Delta:
    """Delta for one anchor; with several others the mean over them, on the texts all have. Texts
    are taken one by one if `alone`.
    """
    both = both_given(own, (ENSEMBLE, anchor, *others))
    clusters = None if alone else own.clusters_of(both)
    found, moved = [], []
    for coder in (ENSEMBLE, *others):
        columns = own.columns[coder][both], own.columns[anchor][both]
        estimate, by_unit = _by_unit(own, np.column_stack(columns), clusters)
        found.append(estimate)
        moved.append(by_unit)
    ensemble, *people = found
    reason = next((one.reason for one in found if one.reason), "")
    mean = people[0]
    if len(people) > 1:
        mean = _mean(people, np.mean(moved[1:], axis=0))
    value = float(np.mean([ensemble.value - one.value for one in people]))
    error = _standard_error(value, moved[0] - np.mean(moved[1:], axis=0), clusters is None)
    return Delta(ensemble.value, mean, value, error, mean.df, int(both.sum()), reason)


def _by_unit(own: DimensionCodes, table: Array, clusters: Any) -> tuple[Estimate, Array]:
    """A coefficient and what it is without each cluster or, without clusters, what each text adds
    to it (units,).
    """
    codes = codes_of(table, list(range(own.q)))
    found = over_clusters(codes, "ac", own.weighting, clusters)
    if isinstance(found, ClusteredEstimate):
        return found, found.others
    patterns = patterns_for(codes, ["ac"])
    moved = None if found.reason else influences(patterns, "ac", own.weighting)
    if moved is None:
        return found, np.full(len(table), np.nan)
    return found, moved[patterns.which]


def _mean(people: Sequence[Estimate], moved: Array) -> Estimate:
    """The mean of the agreement of several people, from what units do to it on average."""
    first = people[0]
    value = float(np.mean([one.value for one in people]))
    reason = next((one.reason for one in people if one.reason), "")
    clustered = isinstance(first, ClusteredEstimate)
    error = _standard_error(value, moved, not clustered)
    if clustered and value == 1 and (moved == 1).all():
        error = 0.0
    changed: dict[str, Any] = {"value": value, "error": error, "reason": reason}
    return replace(first, **changed, **({"others": moved} if clustered else {}))


def _standard_error(value: float, moved: Array, of_texts: bool) -> float:
    """From what each text adds to a value (texts,), or the value without each cluster."""
    if not of_texts:
        return jackknifed(value, moved).error
    n = len(moved)
    return float(np.sqrt((moved**2).sum() / (n * (n - 1)))) if n > 1 else float("nan")


def anchors_of(own: DimensionCodes) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every comparison: the anchor, what the others are called, who they are.

    With more than two people also the mean over the others, and each of them left out in turn.
    """
    for anchor, other in permutations(own.people, 2):
        yield anchor, other, (other,)
    if len(own.people) < 3:
        return
    for anchor in own.people:
        others = tuple(person for person in own.people if person != anchor)
        yield anchor, f"mean of {len(others)}", others
        if len(others) > 2:
            for left_out in others:
                kept = tuple(person for person in others if person != left_out)
                yield anchor, f"mean without {left_out}", kept


def verdict_of(low: float, high: float, bound: float, people_low: float, least: float) -> str:
    """What an interval of delta says, in the words of `verdicts`, joined by "and".

    Equivalence to people who hardly agree themselves is no praise, and is called so.
    """
    words = list(verdicts(low, high, bound))
    poor = not people_low >= least
    return " and ".join(AS_POOR if poor and word == "equivalent" else word for word in words)


def why_none(dimensions: Iterable[DimensionCodes]) -> str:
    """Why nothing can be said of equivalence."""
    return "one_coder" if any(own.models for own in dimensions) else "no_models"


def equivalences(own: DimensionCodes, bound: float, least: float) -> Iterator[Row]:
    """A row an anchor and other person."""
    for anchor, name, others in anchors_of(own) if own.models else ():
        found = delta_of(own, anchor, others)
        low, high = found.interval()
        low_90, high_90 = found.interval(0.90)
        people_low, people_high = found.people.interval()
        tested = found.error > 0
        one_by_one = delta_of(own, anchor, others, alone=True).interval()
        yield {
            "dimension": own.id,
            "anchor": anchor,
            "other": name,
            "texts": found.texts,
            "ensemble": found.ensemble,
            "people": found.people.value,
            "people_low": people_low,
            "people_high": people_high,
            "estimate": found.value,
            "se": found.error,
            "df": found.df,
            "low": low,
            "high": high,
            "low_90": low_90,
            "high_90": high_90,
            "p": _p(found.value, found.error, found.df, bound) if tested else np.nan,
            "texts_low": one_by_one[0],
            "texts_high": one_by_one[1],
            "bound": bound,
            "verdict": verdict_of(low, high, bound, people_low, least),
            "note": found.note,
        }


def _p(value: float, error: float, df: float, bound: float) -> float:
    return equivalence(value, error, df, bound).p


def curve(row: Mapping[str, Any]) -> Iterator[Row]:
    """What equivalence says at every bound, from a row of `equivalences`."""
    for bound in CURVE if row["se"] > 0 else ():
        p = _p(row["estimate"], row["se"], row["df"], bound)
        inside = bool(-bound < row["low"] and row["high"] < bound)
        yield {**row, "bound": bound, "inside": inside, "p": p}


def robustness(
    own: DimensionCodes, bound: float, worded: Mapping[str, Sequence[DimensionCodes]]
) -> Iterator[Row]:
    """Delta for ensembles that were made otherwise; `worded` are the codes in other wordings."""
    if own.samples is None or len(own.people) < 2:
        return
    variants = list(_variants(own, worded))
    for anchor, name, others in anchors_of(own):
        for variant, places in variants:
            found = delta_of(own.with_ensemble(places), anchor, others)
            low, high = found.interval()
            row: Row = {"dimension": own.id, "anchor": anchor, "other": name, "variant": variant}
            row |= {"changed": _changed(own.columns[ENSEMBLE], places), "estimate": found.value}
            row |= {"low": low, "high": high, "note": found.note}
            row |= {"point_inside": None, "inside": None}
            if not np.isnan(low + high):
                row["point_inside"] = bool(abs(found.value) < bound)
                row["inside"] = bool(-bound < low and high < bound)
            yield row


def _variants(
    own: DimensionCodes, worded: Mapping[str, Sequence[DimensionCodes]]
) -> Iterator[tuple[str, Array]]:
    """Ensembles as arrays of places (texts,), with what is done otherwise."""
    yield "as reported", own.columns[ENSEMBLE]
    if len(own.models) > 1:
        for model in own.models:
            yield f"without {model}", own.ensemble_of(without=model)
    if own.ordered and own.samples is not None:
        for rule in RULES:
            if rule != own.samples.rule:
                yield f"rule {rule}", own.ensemble_of(rule)
    for wording, codes in worded.items():
        for other in codes:
            if other.id == own.id:
                column = other.places[ENSEMBLE].reindex(own.places.index)
                yield f"wording {wording}", column.to_numpy(dtype=float)


def _changed(first: Array, second: Array) -> int:
    """How many texts have another level, of those that have one in both."""
    both = ~np.isnan(first) & ~np.isnan(second)
    return int((first[both] != second[both]).sum())
