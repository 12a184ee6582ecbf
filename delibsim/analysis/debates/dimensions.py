"""The eleven dimensions: paired tests with Holm's correction, and correlations."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.kinds import MODELS_AND_PEOPLE, Focus, views_by_kind
from delibsim.analysis.debates.ratings import by_debater, debaters_of
from delibsim.analysis.debates.units import FEWEST, mean_over
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.inference.means import holm

FEWEST_FOR_A_TEST = 4
"""Ratings that a correlation with an interval by Fisher's z needs."""


def paired_tests(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Paired differences on every dimension, with Holm's correction within each contrast.

    Contrasts: proposition against opposition, every debater against its opponents and, where two
    kinds of debater met, the one in focus against the other; a pair are the two values that one
    rater gave in one debate. Columns: contrast, dimension, n, difference, low, high, unit, df,
    p_units, p_units_holm (over the eleven dimensions), t, p, p_holm (over the eleven), p_holm_ten
    (over the ten without performance, as published; NaN there), note.

    low, high and p_units are by t over motions or, with fewer than five of them, over debates: then
    they speak of these motions, and the note says "few_motions". With fewer than five debates too
    there is none. t, p, p_holm and p_holm_ten take ratings one by one, as published. Where there
    are fewer than two pairs, or all differences are equal, the test is NaN with the reason.
    """
    view = by_debater(table)
    found = _paired("proposition - opposition", view[view["side"] == "proposition"])
    debaters = debaters_of(table)
    for name in debaters:
        pairs = view[(view["debater"] == name) & (view["opponent"] != name)]
        found += _paired(f"{name} - opponents", pairs)
    pairs = view[(view["kind"] == focus.kind) & (view["other_kind"] == focus.rest)]
    if len(pairs) and focus.kind not in debaters:
        found += _paired(focus.contrast, pairs)
    return pd.DataFrame(found)


def _paired(contrast: str, pairs: pd.DataFrame) -> list[dict[str, Any]]:
    from scipy.stats import ttest_1samp

    rows = []
    kind = "motion" if pairs["motion"].nunique() >= FEWEST else "debate"
    for dimension in DIMENSIONS:
        differences = pairs[f"own.{dimension}"] - pairs[f"other.{dimension}"]
        d = differences.dropna().to_numpy()
        over = mean_over(differences, **{kind: pairs[kind]})
        note = _why_untested(d)
        t, p = (np.nan, np.nan) if note else ttest_1samp(d, 0)
        row: dict[str, Any] = {"contrast": contrast, "dimension": dimension, "n": len(d)}
        row |= {"difference": over.mean, "low": over.low, "high": over.high, "unit": kind}
        row |= {"df": over.df, "p_units": over.p, "t": t, "p": p}
        few = "few_motions" if kind == "debate" and not note else ""
        notes = [note] if note else [few, over.note]
        rows.append(row | {"note": " ".join(filter(None, notes))})
    over_units = holm([float(row["p_units"]) for row in rows])
    p = [float(row["p"]) for row in rows]
    eleven = holm(p)
    ten = [*holm(p[:-1]), np.nan]
    ordered = []
    for row, of_units, own, published in zip(rows, over_units, eleven, ten, strict=True):
        t, p_one, note = row.pop("t"), row.pop("p"), row.pop("note")
        row |= {"p_units_holm": of_units, "t": t, "p": p_one, "p_holm": own}
        ordered.append(row | {"p_holm_ten": published, "note": note})
    return ordered


def _why_untested(differences: np.ndarray) -> str:
    if len(differences) < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(differences) == 0 else ""


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Pearson correlations of the eleven dimensions over the ratings of a side, by kind of debater.

    Columns: debaters ("all" and, where two kinds debate, each kind), dimension, n (ratings of a
    side with all eleven), the eleven dimensions, note. NaN with fewer than two ratings, or where a
    dimension does not vary.
    """
    rows = []
    for debaters, view in views_by_kind(table):
        data = _dimensions(view)
        matrix = data.corr().to_numpy()
        for i, dimension in enumerate(DIMENSIONS):
            own = dict(zip(DIMENSIONS, matrix[i], strict=True))
            row = {"debaters": debaters, "dimension": dimension, "n": len(data), **own}
            rows.append(row | {"note": _why_uncorrelated(data, dimension)})
    return pd.DataFrame(rows)


def correlation_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Each two dimensions with the p of their correlation, by kind of debater.

    Columns: debaters, first, second, n, r, low, high (by Fisher's z), p (by t, n - 2 degrees of
    freedom), p_holm (over the 55 pairs of one kind), note. Ratings are taken one by one, as
    published; those of one debate or rater are not independent, so that p is too small.
    """
    found = []
    for debaters, view in views_by_kind(table):
        data = _dimensions(view)
        rows = [_tested(data, *pair) for pair in combinations(DIMENSIONS, 2)]
        own = pd.DataFrame(rows)
        own.insert(0, "debaters", debaters)
        own.insert(list(own.columns).index("note"), "p_holm", holm(own["p"].tolist()))
        found.append(own)
    return pd.concat(found, ignore_index=True)


def _tested(data: pd.DataFrame, first: str, second: str) -> dict[str, Any]:
    from scipy.stats import pearsonr

    row: dict[str, Any] = {"first": first, "second": second, "n": len(data)}
    note = _why_uncorrelated(data, first) or _why_uncorrelated(data, second)
    note = note or ("too_few_ratings" if len(data) < FEWEST_FOR_A_TEST else "")
    if note:
        return row | dict.fromkeys(("r", "low", "high", "p"), np.nan) | {"note": note}
    result = pearsonr(data[first], data[second])
    low, high = result.confidence_interval(0.95)
    return row | {"r": result.statistic, "low": low, "high": high, "p": result.pvalue, "note": ""}


def _dimensions(view: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a side that have all eleven dimensions, a column each."""
    columns = {f"own.{dimension}": dimension for dimension in DIMENSIONS}
    return view[list(columns)].rename(columns=columns).dropna().astype(float)


def _why_uncorrelated(data: pd.DataFrame, dimension: str) -> str:
    if len(data) < 2:
        return "too_few_ratings"
    return "" if np.ptp(data[dimension]) > 0 else "no_variance"
