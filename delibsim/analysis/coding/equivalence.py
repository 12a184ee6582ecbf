"""Whether the ensemble agrees with a person as far as another person does, within a bound."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.coding.codes import DimensionCodes, both_given
from delibsim.analysis.result import Result, make_table
from delibsim.domain.score import ENSEMBLE
from delibsim.measures.ensemble import RULES
from delibsim.measures.inference.means import equivalence
from delibsim.measures.reliability.bootstrap import Difference, difference, verdicts
from delibsim.measures.reliability.codes import codes_of
from delibsim.measures.reliability.coefficients import Estimate, coefficient

Array = NDArray[np.float64]
AS_POOR = "as poor as people"
CURVE = tuple(round(0.01 * i, 2) for i in range(1, 41))
"""The bounds of the curve."""


@dataclass(frozen=True)
class Delta:
    """Delta with its standard error on `texts` texts; `people` is the agreement of people."""

    ensemble: float
    people: Estimate
    value: float
    error: float
    texts: int
    reason: str = ""

    @property
    def note(self) -> str:
        """Why there is no value, or none with an interval; "" where there are both."""
        if self.reason or self.error > 0:
            return self.reason
        return "too_few_texts" if self.texts < 2 else "no_variance"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval by t; it is not cut, for a difference may exceed 1."""
        return Difference(self.people, self.people, self.value, self.error, self.texts, 0).interval(
            level
        )


def delta_of(own: DimensionCodes, anchor: str, others: Sequence[str]) -> Delta:
    """Delta for one anchor; with several others the mean over them, on the texts all have."""
    both = both_given(own, (ENSEMBLE, anchor, *others))
    columns = {coder: own.columns[coder][both] for coder in (ENSEMBLE, anchor, *others)}
    levels = list(range(own.q))
    deltas = []
    for other in others:
        first = np.column_stack([columns[ENSEMBLE], columns[anchor]])
        second = np.column_stack([columns[other], columns[anchor]])
        deltas.append(difference(first, second, levels, "ac", own.weighting))
    people = deltas[0].second
    if len(others) > 1:
        people = _mean_estimate(own, columns, anchor, others)
    reason = next((one.reason for one in deltas if one.reason), "")
    value = float(np.mean([one.value for one in deltas]))
    error = deltas[0].error
    if len(others) > 1 and not reason:
        error = _error_of_mean(own, columns, anchor, others)
    return Delta(deltas[0].first.value, people, value, error, int(both.sum()), reason)


def _mean_estimate(
    own: DimensionCodes, columns: Mapping[str, Array], anchor: str, others: Sequence[str]
) -> Estimate:
    """The mean agreement of the anchor with others; its error is that of the mean, by text."""
    found, moved = [], []
    for other in others:
        estimate, by_text = _by_text(own, columns[other], columns[anchor])
        found.append(estimate)
        moved.append(by_text)
    first = found[0]
    value = float(np.mean([one.value for one in found]))
    error = _standard_error(np.mean(moved, axis=0))
    reason = next((one.reason for one in found if one.reason), "")
    return Estimate(
        first.coefficient, first.weighting, value, error, first.texts, first.paired, reason
    )


def _error_of_mean(
    own: DimensionCodes, columns: Mapping[str, Array], anchor: str, others: Sequence[str]
) -> float:
    """The standard error of the mean delta, from what each text adds to all coefficients."""
    ensemble = _by_text(own, columns[ENSEMBLE], columns[anchor])[1]
    people = [_by_text(own, columns[other], columns[anchor])[1] for other in others]
    return _standard_error(ensemble - np.mean(people, axis=0))


def _by_text(own: DimensionCodes, first: Array, second: Array) -> tuple[Estimate, Array]:
    """A coefficient and what each text adds to it, (texts,)."""
    from delibsim.measures.reliability.coefficients import influences, patterns_for

    codes = codes_of(np.column_stack([first, second]), list(range(own.q)))
    found = coefficient(codes, "ac", own.weighting)
    if found.reason:
        return found, np.full(len(first), np.nan)
    patterns = patterns_for(codes, ["ac"])
    moved = influences(patterns, "ac", own.weighting)
    if moved is None:
        return found, np.full(len(first), np.nan)
    return found, moved[patterns.which]


def _standard_error(moved: Array) -> float:
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


def equivalence_table(dimensions: Sequence[DimensionCodes], bound: float, least: float) -> Result:
    """A row an anchor and other person, by dimension."""
    rows = []
    for own in dimensions:
        if own.models:
            for anchor, name, others in anchors_of(own):
                found = delta_of(own, anchor, others)
                rows.append(_row(own, anchor, name, found, bound, least))
    why = "" if rows else _why_none(dimensions)
    return make_table("codes/equivalence", rows, why=why, least=least)


def _why_none(dimensions: Iterable[DimensionCodes]) -> str:
    """Why nothing can be said of equivalence."""
    return "one_coder" if any(own.models for own in dimensions) else "no_models"


def _row(
    own: DimensionCodes, anchor: str, name: str, found: Delta, bound: float, least: float
) -> dict[str, Any]:
    low, high = found.interval()
    low_90, high_90 = found.interval(0.90)
    people_low, people_high = found.people.interval()
    tested = found.error > 0
    p = equivalence(found.value, found.error, found.texts - 1, bound).p if tested else np.nan
    return {
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
        "low": low,
        "high": high,
        "low_90": low_90,
        "high_90": high_90,
        "p": p,
        "bound": bound,
        "verdict": verdict_of(low, high, bound, people_low, least),
        "note": found.note,
    }


def curve(table: Result) -> Result:
    """What equivalence says at every bound, from the table of `equivalence_table`."""
    rows: list[dict[str, Any]] = []
    for row in table.rows.to_dict("records"):
        if not row["se"] > 0:
            continue
        for bound in CURVE:
            p = equivalence(row["estimate"], row["se"], row["texts"] - 1, bound).p
            inside = -bound < row["low"] and row["high"] < bound
            named = {name: row[name] for name in ("dimension", "anchor", "other")}
            rows.append({**named, "bound": bound, "inside": bool(inside), "p": p})
    why, detail = (None, "") if table.given else (table.why_not, table.detail)
    return make_table("codes/equivalence_curve", rows, why=why, detail=detail)


def robustness(
    dimensions: Sequence[DimensionCodes],
    bound: float,
    worded: Mapping[str, Sequence[DimensionCodes]],
) -> Result:
    """Delta for ensembles that were made otherwise; `worded` are the codes in other wordings."""
    rows = []
    for own in dimensions:
        if own.samples is None or len(own.people) < 2:
            continue
        variants = list(_variants(own, worded))
        for anchor, name, others in anchors_of(own):
            for label, places in variants:
                found = delta_of(own.with_ensemble(places), anchor, others)
                changed = _changed(own.columns[ENSEMBLE], places)
                rows.append(_robust(own, (anchor, name, label), found, changed, bound))
    why = "" if rows else _why_none(dimensions)
    return make_table("codes/robustness", rows, why=why, bound=bound)


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


def _robust(
    own: DimensionCodes, names: tuple[str, str, str], found: Delta, changed: int, bound: float
) -> dict[str, Any]:
    anchor, other, variant = names
    low, high = found.interval()
    known = not np.isnan(low + high)
    return {
        "dimension": own.id,
        "anchor": anchor,
        "other": other,
        "variant": variant,
        "changed": changed,
        "estimate": found.value,
        "low": low,
        "high": high,
        "point_inside": bool(abs(found.value) < bound) if known else None,
        "inside": bool(-bound < low and high < bound) if known else None,
        "note": found.note,
    }
