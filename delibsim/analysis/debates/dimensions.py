"""The eleven dimensions of ratings, and how far raters agree."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import (
    ALL,
    FEWEST,
    MODELS_AND_PEOPLE,
    Focus,
    by_debater,
    debaters_of,
    kinds_of,
    mean_over,
    meetings,
    of_t,
    views_by_kind,
)
from delibsim.analysis.result import entry, with_holm
from delibsim.domain.annotation import DIMENSIONS
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

Row = dict[str, Any]
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
    return entry("debates/paired_tests").frame(found)


def _paired(contrast: str, pairs: pd.DataFrame) -> list[Row]:
    from scipy.stats import ttest_1samp

    rows: list[Row] = []
    kind = "motion" if pairs["motion"].nunique() >= FEWEST else "debate"
    for dimension in DIMENSIONS:
        differences = pairs[f"own.{dimension}"] - pairs[f"other.{dimension}"]
        d = differences.dropna().to_numpy()
        over = mean_over(differences, **{kind: pairs[kind]})
        note = _why_untested(d)
        t, p = (np.nan, np.nan) if note else ttest_1samp(d, 0)
        few = "few_motions" if kind == "debate" else ""
        notes = [note] if note else [few, over.note]
        row: Row = {"contrast": contrast, "dimension": dimension, "n": len(d)} | vars(over)
        row |= {"difference": over.mean, "p_units": over.p, "t": t, "p": float(p)}
        rows.append(row | {"note": " ".join(filter(None, notes))})
    for row in with_holm(rows[:-1]):
        row["p_holm_ten"] = row["p_holm"]
    return with_holm(with_holm(rows), p="p_units")


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
            rows.append(row | {"note": _why_uncorrelated(data[dimension])})
    return entry("debates/dimension_correlations").frame(rows)


def correlation_tests(table: pd.DataFrame) -> pd.DataFrame:
    """Each two dimensions with the p of their correlation, by kind of debater.

    Columns: debaters, first, second, n, r, low, high and p (errors added up by debate, on the scale
    of Fisher's z, by t on `df` degrees of freedom), df, p_holm (over the 55 pairs of one kind),
    ratings_p, ratings_p_holm (by t, n - 2 degrees of freedom, ratings one by one, as published),
    note.
    """
    rows = []
    for debaters, view in views_by_kind(table):
        data = _dimensions(view)
        for first, second in combinations(DIMENSIONS, 2):
            row = {"debaters": debaters, "first": first, "second": second, "n": len(data)}
            rows.append(row | _tested(data[first], data[second], view.loc[data.index, "debate"]))
    rows = with_holm(with_holm(rows, "debaters"), "debaters", p="ratings_p")
    return entry("debates/dimension_correlation_tests").frame(rows)


def _tested(first: pd.Series, second: pd.Series, debates: pd.Series) -> Row:
    """A correlation with its interval and p; its error is that of the mean of what each rating adds
    to it, added up by debate.
    """
    from scipy.stats import pearsonr

    note = _why_uncorrelated(first) or _why_uncorrelated(second)
    note = note or ("too_few_ratings" if len(first) < FEWEST_FOR_A_TEST else "")
    if note:
        return {"p": np.nan, "ratings_p": np.nan, "note": note}
    alone = pearsonr(first, second)
    r = float(alone.statistic)
    x, y = ((own - own.mean()) / own.std(ddof=0) for own in (first, second))
    found = mean_over(x * y + r * (1 - (x**2 + y**2) / 2), debate=debates)
    row: Row = {"r": r, "df": found.df, "p": np.nan, "ratings_p": float(alone.pvalue)}
    if found.note:
        return row | {"note": found.note}
    z = float(np.arctanh(r))
    half, p = of_t(z, found.se / (1 - r**2), found.df)
    return row | {"low": np.tanh(z - half), "high": np.tanh(z + half), "p": p, "note": ""}


def _dimensions(view: pd.DataFrame) -> pd.DataFrame:
    """The ratings of a side that have all eleven dimensions, a column each."""
    columns = {f"own.{dimension}": dimension for dimension in DIMENSIONS}
    return view[list(columns)].rename(columns=columns).dropna().astype(float)


def _why_uncorrelated(values: pd.Series) -> str:
    if len(values) < 2:
        return "too_few_ratings"
    return "" if np.ptp(values) > 0 else "no_variance"


WINNER: tuple[tuple[str, Callable[[Any], float]], ...] = (
    ("winner_alpha", krippendorff_alpha),
    ("winner_majority", majority_agreement),
    ("winner_agreement", raw_agreement),
    ("winner_ac1", partial(gwet_ac1, levels=[0.0, 1.0])),
)
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
    rows: list[Row] = []
    for debaters, own in _by_meeting(table):
        winners = _winners(own)
        note = why_undefined(winners)
        for measure, compute in WINNER:
            alone = measure in DEFINED_ALONE and note == "one_category"
            row: Row = {"measure": measure, "debaters": debaters, "value": compute(winners)}
            rows.append(row | _size(winners) | {"note": "" if alone else note})
    for debaters, view in views_by_kind(table):
        ratings = _values(view, "performance")
        found = crossed_components(ratings)
        low, high = found.interval_2k
        row = {"measure": "performance_icc_2k", "debaters": debaters, "value": found.icc_2k}
        rows.append(row | {"low": low, "high": high, "note": _note(found)} | _size(ratings))
    for debaters, view in views_by_kind(table):
        scale = view[[f"own.{dimension}" for dimension in DIMENSIONS]].dropna().to_numpy(float)
        row = {"measure": "scale_alpha", "debaters": debaters, "value": cronbach_alpha(scale)}
        row |= {"units": len(scale), "raters": view["rater"].nunique()}
        rows.append(row | {"note": why_inconsistent(scale)})
    return entry("debates/reliability").frame(rows)


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
            row: Row = {"dimension": dimension, "debaters": debaters, "k": found.k}
            low, high = found.interval_2k
            row |= {"icc_21": found.icc_21, "icc_2k": found.icc_2k, "low": low, "high": high}
            for name in ("target", "rater", "residual"):
                row[f"{name}_sd"] = float(np.sqrt(getattr(found, name)))
            row["within_sd"], row["within_sd_pooled"] = _within(ratings)
            row["alpha"] = krippendorff_alpha_interval(ratings)
            row |= {"targets": ratings.shape[0], "raters": ratings.shape[1]}
            row |= {"ratings": int((~np.isnan(ratings)).sum()), "note": _note(found)}
            rows.append(row)
    return entry("debates/dimension_reliability").frame(rows)


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


def _size(ratings: np.ndarray) -> Row:
    return {"units": ratings.shape[0], "raters": ratings.shape[1]}


def _note(found: Components) -> str:
    """The reason of an ICC that is NaN, or which variance is at the boundary."""
    if not found.note and np.isnan(found.icc_2k):
        return "no_variance"
    return found.note
