"""Sessions that differ in one factor compared: levels of any factor, and personas."""

from itertools import combinations, product
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, with_holm
from delibsim.analysis.study.effects import EQUAL, NAN, NO_VARIANCE, noted, p_of_draws, too_few
from delibsim.analysis.study.factors import Factor, factors, levels_of, varied
from delibsim.analysis.study.sample import (
    Taken,
    main_population,
    why_none,
    without_value,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.measures.inference.means import cohens_d, mean_of_units

OUTCOMES = ("dri_change", "dri_adjusted_change", "diversity_pre", "diversity_change")
"""The three of the published study, and the adjusted index beside the plain one."""
OF_PERSONAS = (
    "diversity_pre",
    "diversity_change",
    "dri_pre",
    "dri_change",
    "dri_adjusted_change",
    "consideration_agreement_change",
    "preference_agreement_change",
)


def ablations(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `ablations`."""
    rows, notes = main_population(study, copies=True)
    found = factors(rows)
    why, detail = why_none(study, OUTCOMES)
    if not why and not found:
        why = "nothing_varies"
    table = []
    for factor in () if why else found:
        notes += factor.notes
        for outcome in OUTCOMES:
            table += _of_outcome(factor, outcome, draws)
    for outcome in OUTCOMES:
        notes += without_value(rows, (outcome,))
    return Taken(rows, notes=notes, why=why, detail=detail).result("study/ablations", table)


def _of_outcome(factor: Factor, outcome: str, draws: DrawCounts) -> list[dict[str, Any]]:
    """A row a pair of levels; levels with fewer than two values are in no test of Tukey."""
    own = factor.rows
    own = own if outcome in own.columns else own.assign(**{outcome: NAN})
    known = own[own[outcome].notna()]
    groups: dict[str, np.ndarray] = {}
    for level in factor.levels:
        groups[level] = known.loc[known["level"] == level, outcome].to_numpy(dtype=float)
    several = {level: values for level, values in groups.items() if len(values) > 1}
    varies = any(np.ptp(values) > 0 for values in several.values())
    tested = _tukey(several) if len(several) > 1 and varies else {}
    rows: list[dict[str, Any]] = []
    for b, a in combinations(factor.levels, 2):
        notes = [factor.why_not or _note(groups[a], groups[b], varies)]
        row: dict[str, Any] = {"factor": factor.name, "outcome": outcome, "a": a, "b": b}
        row |= tested.get((a, b)) or _untested(groups[a], groups[b])
        if not factor.why_not and len(groups[a]) and len(groups[b]):
            numbers, note = between_levels(known, outcome, a, b, draws)
            row |= numbers
            notes.append(note)
        row |= {"n_a": len(groups[a]), "n_b": len(groups[b])}
        rows.append(row | {"note": noted(*dict.fromkeys(notes))})
    return with_holm(rows)


def between_levels(
    known: pd.DataFrame, outcome: str, a: str, b: str, draws: DrawCounts
) -> tuple[dict[str, Any], str]:
    """Two levels compared within topic, model and treatment: interval and tests, and a note."""
    own = known.assign(value=known[outcome].astype(float))
    cells = cells_of(own, ["topic", "model", "treatment"], a, b)
    topics = cells.groupby("topic")["difference"].mean()
    mean = mean_of_units(topics)
    drawn = cells_of(own, ["topic", "model", "treatment", "replicate"], a, b)
    block = drawn.groupby(["topic", "model", "treatment"]).ngroup()
    draw = drawn.groupby(["topic", "replicate"]).ngroup()
    p_draws = p_of_draws(drawn.assign(block=block, draw=draw), draws)
    ends = {"low": mean.low, "high": mean.high, "df": mean.df, "p": mean.p}
    note = too_few("topic", len(topics))
    if len(topics) > 1 and topics.any() and isnan(mean.error):
        note = noted(NO_VARIANCE.format("topic"), note)
    return {"unit": "topic", **ends, "p_draws": p_draws}, note


def cells_of(known: pd.DataFrame, by: list[str], a: str, b: str) -> pd.DataFrame:
    """The difference between two levels in each cell that has both."""
    means = known.groupby([*by, "level"], dropna=False)["value"].mean().unstack("level")
    found = (means[a] - means[b]).rename("difference")
    return found.dropna().reset_index()


def _untested(a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    """The difference of two levels without a test, where both have values."""
    return {"difference": float(a.mean() - b.mean())} if len(a) and len(b) else {}


def _note(a: np.ndarray, b: np.ndarray, varies: bool) -> str:
    """Why two levels have no test, or that they have the same values."""
    fewest = min(len(a), len(b))
    if fewest < 2:
        return "too_few_values" if fewest else "no_value"
    if not varies:
        return "no_variance"
    return EQUAL if np.array_equal(np.sort(a), np.sort(b)) else ""


def _tukey(groups: dict[str, np.ndarray]) -> dict[tuple[str, str], dict[str, float]]:
    """Difference, interval and p of each ordered pair of levels."""
    from scipy.stats import tukey_hsd  # scipy takes half a second to import

    fit = tukey_hsd(*groups.values())
    ends = fit.confidence_interval()
    parts = {"difference": fit.statistic, "published_low": ends.low}
    parts |= {"published_high": ends.high, "p_tukey": fit.pvalue}
    found = {}
    for (i, a), (j, b) in product(enumerate(groups), repeat=2):
        found[a, b] = {name: float(values[i, j]) for name, values in parts.items()}
    return found


def personas(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `personas`."""
    rows, notes = main_population(study, copies=True)
    rows = rows.reset_index(drop=True)
    levels = levels_of(rows)
    why, detail = why_none(study, OF_PERSONAS)
    if not why and ("persona" not in levels or (levels["persona"] == "none").nunique() < 2):
        why = "one_level"
    if why:
        return Taken(rows, notes=notes, why=why, detail=detail).result("study/personas", ())
    kinds = levels["persona"]
    factor = varied(rows.assign(persona=kinds.where(kinds == "none", "with")), "persona")
    notes += [*factor.notes, *_kinds(kinds)]
    table = []
    for outcome in OF_PERSONAS:
        table.append(_with_personas(factor, outcome, draws))
        notes += without_value(rows, (outcome,))
    return Taken(rows, notes=notes).result("study/personas", table)


def _kinds(kinds: pd.Series) -> list[str]:
    """Which personas are taken together, where there are several."""
    names = sorted(set(kinds) - {"none"})
    if len(names) < 2:
        return []
    return [f"Personas of several kinds are taken together: {', '.join(names)}."]


def _with_personas(factor: Factor, outcome: str, draws: DrawCounts) -> dict[str, Any]:
    rows = factor.rows
    values = rows[outcome] if outcome in rows.columns else pd.Series(np.nan, index=rows.index)
    known = values.notna()
    has = rows["level"][known] != "none"
    y = values[known].to_numpy(dtype=float)
    mark = has.to_numpy(dtype=float)
    counts = {"n_with": int(has.sum()), "n_without": int((~has).sum())}
    reason = factor.why_not or _why_no_fit(y, mark, counts)
    if reason:
        return {"outcome": outcome, **counts, "note": reason}
    kinds = np.where(has, "with", "without")
    own, note = between_levels(rows[known].assign(level=kinds), outcome, "with", "without", draws)
    return {"outcome": outcome, **_fitted(y, mark), **own, **counts, "note": note}


def _why_no_fit(y: np.ndarray, mark: np.ndarray, counts: dict[str, int]) -> str:
    if not len(y):
        return "no_value"
    if min(counts.values()) < 2:
        return "too_few_values"
    if np.ptp(y) == 0:
        return "constant_outcome"
    alike = np.ptp(y[mark == 1]) == 0 and np.ptp(y[mark == 0]) == 0
    return "no_variance" if alike else ""


def _fitted(y: np.ndarray, has: np.ndarray) -> dict[str, float]:
    """The difference of means with HC3 errors, and d."""
    import statsmodels.api as sm  # statsmodels takes a second to import

    fit = sm.OLS(y, sm.add_constant(has)).fit(cov_type="HC3", use_t=True)
    low, high = fit.conf_int()[1]
    return {
        "estimate": float(fit.params[1]),
        "published_se": float(fit.bse[1]),
        "published_low": float(low),
        "published_high": float(high),
        "p_published": float(fit.pvalues[1]),
        "d": cohens_d(y[has == 1], y[has == 0]),
    }
