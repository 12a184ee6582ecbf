"""How far raters agree: on the winner, on every dimension, and by kind of debater."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.kinds import ALL, kinds_of, meetings, views_by_kind
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.inference.components import Components, crossed_components
from delibsim.measures.reliability.ratings import (
    cronbach_alpha,
    gwet_ac1,
    krippendorff_alpha,
    krippendorff_alpha_interval,
    majority_agreement,
    raw_agreement,
    why_inconsistent,
    why_undefined,
)

OPPOSITION, PROPOSITION = 0.0, 1.0
"""The two winners that a ballot can name, as numbers: whoever won, both count for AC1."""


def _ac1(winners: np.ndarray) -> float:
    return gwet_ac1(winners, [OPPOSITION, PROPOSITION])


WINNER: tuple[tuple[str, Callable[[Any], float]], ...] = (
    ("winner_alpha", krippendorff_alpha),
    ("winner_majority", majority_agreement),
    ("winner_agreement", raw_agreement),
    ("winner_ac1", _ac1),
)
NO_INTERVAL = dict.fromkeys(("low", "high"), float("nan"))
DEFINED_ALONE = ("winner_majority", "winner_agreement", "winner_ac1")
"""Measures that are defined where only one winner was ever named."""


def reliability(table: pd.DataFrame) -> pd.DataFrame:
    """How far raters agree. Columns: measure, debaters, value, low, high, units, raters, note.

    On the winner: Krippendorff's alpha, the mean share of the majority in a debate, the mean share
    of agreeing pairs of raters, Gwet's AC1. On performance: ICC(2,k) over the sides of debates,
    from variance components, so that not every rater need rate every debate. Of the scale:
    Cronbach's alpha of the eleven dimensions. `low` and `high` are the 95% interval of the ICC; the
    other measures have none. `debaters` is "all"; where two kinds debate, further rows hold the
    debates of each two kinds that met ("human v model"; on the winner) or the sides of one kind
    ("human"). `note` is the reason of a value that is NaN, or what is at a boundary.
    """
    rows = []
    for debaters, own in _by_meeting(table):
        winners = _winners(own)
        note = why_undefined(winners)
        for measure, compute in WINNER:
            alone = measure in DEFINED_ALONE and note == "one_category"
            found = {"measure": measure, "debaters": debaters, "value": compute(winners)}
            rows.append(found | NO_INTERVAL | _size(winners, "" if alone else note))
    for debaters, view in views_by_kind(table):
        ratings = _values(view, "performance")
        found = crossed_components(ratings)
        low, high = found.interval_2k
        row = {"measure": "performance_icc_2k", "debaters": debaters, "value": found.icc_2k}
        rows.append(row | {"low": low, "high": high} | _size(ratings, _note(found)))
    for debaters, view in views_by_kind(table):
        columns = [f"own.{dimension}" for dimension in DIMENSIONS]
        scale = view[columns].dropna().to_numpy(dtype=float)
        value = cronbach_alpha(scale)
        row: dict[str, Any] = {"measure": "scale_alpha", "debaters": debaters, "value": value}
        row |= NO_INTERVAL | {"units": len(scale), "raters": view["rater"].nunique()}
        rows.append(row | {"note": why_inconsistent(scale)})
    return pd.DataFrame(rows)


def dimension_reliability(table: pd.DataFrame) -> pd.DataFrame:
    """How far raters agree on each dimension, by kind of debater; a target is a side of a debate.

    Columns: dimension, debaters, icc_21, icc_2k, low, high (the 95% interval of icc_2k), k (the
    harmonic mean of the number of ratings of a target), target_sd, rater_sd, residual_sd (points),
    within_sd (the standard deviation of the raters of one target, averaged over targets),
    within_sd_pooled (the root of their mean variance, each with its degrees of freedom), alpha
    (Krippendorff's, interval scale), targets, raters, ratings, note. Variances are those of
    `crossed_components`.
    """
    rows = []
    for dimension in DIMENSIONS:
        for debaters, view in views_by_kind(table):
            ratings = _values(view, dimension)
            found = crossed_components(ratings)
            row: dict[str, Any] = {"dimension": dimension, "debaters": debaters}
            low, high = found.interval_2k
            row |= {"icc_21": found.icc_21, "icc_2k": found.icc_2k, "low": low, "high": high}
            row["k"] = found.k
            for name in ("target", "rater", "residual"):
                row[f"{name}_sd"] = float(np.sqrt(getattr(found, name)))
            row["within_sd"], row["within_sd_pooled"] = _within(ratings)
            row["alpha"] = krippendorff_alpha_interval(ratings)
            row |= {"targets": ratings.shape[0], "raters": ratings.shape[1]}
            row |= {"ratings": int((~np.isnan(ratings)).sum()), "note": _note(found)}
            rows.append(row)
    return pd.DataFrame(rows)


def _by_meeting(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The table, and where two kinds debate, its parts by who met."""
    yield ALL, table
    if len(kinds_of(table)) > 1:
        for met, own in table.groupby(meetings(table)):
            yield str(met), own


def _winners(table: pd.DataFrame) -> np.ndarray:
    """Debates by raters: 1 where the rater named the proposition, 0 the opposition, else NaN."""
    named = (table["winner"] == "proposition").astype(float).where(table["winner"].notna())
    return _wide(table.assign(named=named), "debate", "named")


def _values(view: pd.DataFrame, dimension: str) -> np.ndarray:
    """Sides of debates by raters: what the rater gave on a dimension, NaN where nothing."""
    return _wide(view, "unit", f"own.{dimension}")


def _wide(table: pd.DataFrame, index: str, values: str) -> np.ndarray:
    wide = table.pivot_table(index=index, columns="rater", values=values, dropna=False)
    array = wide.to_numpy(dtype=float)
    given = ~np.isnan(array)
    return array[given.any(axis=1)][:, given.any(axis=0)]


def _within(ratings: np.ndarray) -> tuple[float, float]:
    """How far the raters of one target lie apart: the mean of their standard deviations, and the
    root of the variance within targets.

    Targets with one rating have no part in it; NaN without others.
    """
    several = ratings[(~np.isnan(ratings)).sum(axis=1) > 1]
    if not len(several):
        return float("nan"), float("nan")
    variances = np.nanvar(several, axis=1, ddof=1)
    freedom = (~np.isnan(several)).sum(axis=1) - 1
    return float(np.sqrt(variances).mean()), float(np.sqrt(np.average(variances, weights=freedom)))


def _size(ratings: np.ndarray, note: str) -> dict[str, Any]:
    return {"units": ratings.shape[0], "raters": ratings.shape[1], "note": note}


def _note(found: Components) -> str:
    """The reason of an ICC that is NaN, or which variance is at the boundary."""
    if not found.note and np.isnan(found.icc_2k):
        return "no_variance"
    return found.note
