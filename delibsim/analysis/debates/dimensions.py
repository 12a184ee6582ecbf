"""The eleven dimensions: paired tests with Holm's correction, and correlations."""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.kinds import MODELS_AND_PEOPLE, Focus
from delibsim.analysis.debates.ratings import by_debater, debaters_of
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.inference.multiplicity import holm


def paired_tests(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Paired t tests on every dimension, with Holm's correction within each contrast.

    Contrasts: proposition against opposition, every debater against its opponents and, where two
    kinds of debater met, the one in focus against the other; a pair are the two values that one
    rater gave in one debate. Columns: contrast, dimension, n, difference, t, p, p_holm (over the
    eleven dimensions), p_holm_ten (over the ten without performance, as published; NaN there),
    note. Where there are fewer than two pairs, or all differences are equal, the test is NaN with
    the reason.
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
    for dimension in DIMENSIONS:
        d = (pairs[f"own.{dimension}"] - pairs[f"other.{dimension}"]).dropna().to_numpy()
        note = _why_untested(d)
        t, p = (np.nan, np.nan) if note else ttest_1samp(d, 0)
        row: dict[str, Any] = {"contrast": contrast, "dimension": dimension, "n": len(d)}
        row |= {"difference": d.mean() if len(d) else np.nan, "t": t, "p": p, "note": note}
        rows.append(row)
    p = [float(row["p"]) for row in rows]
    eleven = holm(p)
    ten = [*holm(p[:-1]), np.nan]
    ordered = []
    for row, own, published in zip(rows, eleven, ten, strict=True):
        note = row.pop("note")
        ordered.append(row | {"p_holm": own, "p_holm_ten": published, "note": note})
    return ordered


def _why_untested(differences: np.ndarray) -> str:
    if len(differences) < 2:
        return "too_few_ratings"
    return "no_variance" if np.ptp(differences) == 0 else ""


def correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Pearson correlations of the eleven dimensions over the ratings of both sides.

    Columns: dimension, n (ratings of a side with all eleven), the eleven dimensions, note. NaN
    with fewer than two ratings, or where a dimension does not vary.
    """
    columns = [f"own.{dimension}" for dimension in DIMENSIONS]
    data = by_debater(table)[columns].dropna().astype(float)
    matrix = data.corr().to_numpy()
    varies = [np.ptp(data[column]) > 0 if len(data) else False for column in columns]
    rows = []
    for i, dimension in enumerate(DIMENSIONS):
        own = dict(zip(DIMENSIONS, matrix[i], strict=True))
        row = {"dimension": dimension, "n": len(data), **own}
        note = "" if varies[i] else "no_variance"
        rows.append(row | {"note": "too_few_ratings" if len(data) < 2 else note})
    return pd.DataFrame(rows)
