"""Ablations: differences between the levels of every factor that varies beside the treatments."""

from functools import lru_cache
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import (
    EQUAL,
    NAN,
    NO_VARIANCE,
    noted,
    p_of_draws,
    too_few,
)
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.factors import Factor, factors
from delibsim.analysis.study.sample.populations import main_population, why_no_value, without_value
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import holm, mean_of_units

OUTCOMES = ("dri_change", "dri_adjusted_change", "diversity_pre", "diversity_change")
"""The three of the published study, and the adjusted index beside the plain one."""
DEFINITION = (
    "For every factor that varies beside topic, model, treatment and replicate: the difference of"
    " two of its levels, a less b. One factor varies at a time: the others are held at one level"
    " each, and only combinations of topic, model and treatment enter that occur at every level."
    " The interval and p are by t over topics, a topic's value being the mean over its models and"
    " treatments of the difference between the levels, with topics less one degrees of freedom;"
    " p_holm is corrected for the pairs of levels of one factor and one outcome. p_draws speaks of"
    " these topics: all differences of one draw (topic and replicate) have their signs flipped at"
    " once. published_low, published_high and p_tukey are Tukey's honestly significant difference"
    " (Tukey-Kramer where levels have different numbers of sessions), as published studies print"
    " it: it takes sessions as independent and ignores topics. Levels with fewer than two values"
    " are in no such test."
)
MEANINGS = {
    "factor": "the setting that varies; paraphrases of a treatment are named wording of it",
    "outcome": "column of the table of the study",
    "a": "level whose mean comes first",
    "b": "level whose mean is subtracted",
    "difference": "mean at level a minus mean at level b",
    "unit": "what low, high, df and p rest on",
    "low": "lower end of the 95% interval by t over topics",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "p": "p by t over topics",
    "p_holm": "p after Holm's correction over the pairs of levels of one factor and outcome",
    "p_draws": "p on these topics: signs flipped draw by draw",
    "published_low": "lower end of Tukey's simultaneous 95% interval over sessions",
    "published_high": "upper end of this interval",
    "p_tukey": "Tukey's p over sessions, corrected for all pairs of levels",
    "n_a": "sessions at level a",
    "n_b": "sessions at level b",
    "note": "why a value is missing, or that both levels have the same values",
}
NONE_VARIES = (
    "Besides topic, model, treatment and replicate nothing varies in this study: group size,"
    " rounds, temperature, wording and personas have one level each."
)


def ablations(study: StudyTable, draws: Draws) -> Result:
    """The table `ablations`."""
    rows, notes = main_population(study, copies=True)
    found = factors(rows)
    code, detail = _why_not(study, found)
    table = []
    if not code:
        for factor in found:
            notes += factor.notes
            for outcome in OUTCOMES:
                table += _of_outcome(factor, outcome, draws)
        for outcome in OUTCOMES:
            notes += without_value(rows, (outcome,))
    return Result(
        name="ablations",
        title="Ablations: differences between levels",
        definition=DEFINITION,
        source="Tukey 1949, doi:10.2307/3001913; Kramer 1956, doi:10.2307/3001469",
        rows=pd.DataFrame(table, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )


def _why_not(study: StudyTable, found: list[Factor]) -> tuple[str, str]:
    reasons = [why_no_value(study, (outcome,)) for outcome in OUTCOMES]
    if all(code for code, _ in reasons):
        return reasons[0]
    return ("", "") if found else ("nothing_varies", NONE_VARIES)


def _of_outcome(factor: Factor, outcome: str, draws: Draws) -> list[dict[str, Any]]:
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
    for row, p in zip(rows, holm([row.get("p", NAN) for row in rows]), strict=True):
        row["p_holm"] = p
    return rows


def between_levels(
    known: pd.DataFrame, outcome: str, a: str, b: str, draws: Draws
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
    found = dict.fromkeys(("difference", "published_low", "published_high", "p_tukey"), NAN)
    if len(a) and len(b):
        found["difference"] = float(a.mean() - b.mean())
    return found


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
    half = _half_widths(list(groups.values()))
    place = {level: k for k, level in enumerate(groups)}
    found = {}
    for a, i in place.items():
        for b, j in place.items():
            found[a, b] = {
                "difference": float(fit.statistic[i, j]),
                "published_low": float(fit.statistic[i, j] - half[i, j]),
                "published_high": float(fit.statistic[i, j] + half[i, j]),
                "p_tukey": float(fit.pvalue[i, j]),
            }
    return found


def _half_widths(groups: list[np.ndarray]) -> np.ndarray:
    """Half the width of the 95% interval of each pair of levels, by Kramer's formula.

    It is that of scipy's result, whose quantile takes as long as all the rest and is found once
    here for outcomes with equal numbers of sessions.
    """
    sizes = np.array([len(values) for values in groups])
    free = int(sizes.sum()) - len(groups)
    within = sum(float(np.sum((values - values.mean()) ** 2)) for values in groups) / free
    error = np.sqrt(within / 2 * (1 / sizes[:, None] + 1 / sizes[None, :]))
    return _quantile(len(groups), free) * error


@lru_cache(maxsize=256)
def _quantile(levels: int, free: int) -> float:
    """The 95% point of the studentized range of so many levels, with so many degrees of freedom."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(0.95, levels, free))
