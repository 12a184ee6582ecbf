"""Ablations: differences between the levels of every factor that varies beside the treatments."""

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.effects import EQUAL
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.factors import Factor, factors
from delibsim.analysis.study.sample.populations import main_population, why_no_value, without_value
from delibsim.analysis.study.study_table import StudyTable

OUTCOMES = ("dri_change", "dri_adjusted_change", "diversity_pre", "diversity_change")
"""The three of the published study, and the adjusted index beside the plain one."""
COLUMNS = (
    "factor",
    "outcome",
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p_tukey",
    "n_a",
    "n_b",
    "note",
)
DEFINITION = (
    "For every factor that varies beside topic, model, treatment and replicate: the difference of"
    " the means of two of its levels, a minus b, with p and 95% interval of Tukey's honestly"
    " significant difference (Tukey-Kramer where levels have different numbers of sessions), by the"
    " studentized range with N - k degrees of freedom, N sessions and k levels. The correction is"
    " for the pairs of levels of one factor and one outcome. One factor varies at a time: the"
    " others are held at one level each, and only combinations of topic, model and treatment enter"
    " that occur at every level. Tukey's test takes sessions as independent and ignores these"
    " blocks, as in the published study: what blocks differ by counts as error, and p tends to be"
    " too large where they differ much. Levels with fewer than two values are in no test."
)
MEANINGS = {
    "factor": "the setting that varies; paraphrases of a treatment are named wording of it",
    "outcome": "column of the table of the study",
    "a": "level whose mean comes first",
    "b": "level whose mean is subtracted",
    "difference": "mean at level a minus mean at level b",
    "low": "lower end of the 95% interval, simultaneous over the pairs of levels",
    "high": "upper end of the 95% interval, simultaneous over the pairs of levels",
    "p_tukey": "two-sided p, corrected for all pairs of levels",
    "n_a": "sessions at level a",
    "n_b": "sessions at level b",
    "note": "why a value is missing, or that both levels have the same values",
}
NONE_VARIES = (
    "Besides topic, model, treatment and replicate nothing varies in this study: group size,"
    " rounds, temperature, wording and personas have one level each."
)


def ablations(study: StudyTable, draws: Draws) -> Result:
    """The table `ablations`; nothing in it is drawn at random, and `draws` is not used."""
    rows, notes = main_population(study, copies=True)
    found = factors(rows)
    code, detail = _why_not(study, found)
    table = []
    if not code:
        for factor in found:
            notes += factor.notes
            for outcome in OUTCOMES:
                table += _of_outcome(factor, outcome)
        for outcome in OUTCOMES:
            notes += without_value(rows, (outcome,))
    return Result(
        name="ablations",
        title="Ablations: Tukey's differences between levels",
        definition=DEFINITION,
        source="Tukey 1949, doi:10.2307/3001913; Kramer 1956, doi:10.2307/3001469",
        rows=pd.DataFrame(table, columns=list(COLUMNS)),
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


def _of_outcome(factor: Factor, outcome: str) -> list[dict[str, Any]]:
    """A row a pair of levels; levels with fewer than two values are in no test."""
    known = factor.rows.reindex(columns=["level", outcome]).dropna()
    groups: dict[str, np.ndarray] = {}
    for level in factor.levels:
        groups[level] = known.loc[known["level"] == level, outcome].to_numpy(dtype=float)
    several = {level: values for level, values in groups.items() if len(values) > 1}
    varies = any(np.ptp(values) > 0 for values in several.values())
    tested = _tukey(several) if len(several) > 1 and varies else {}
    rows = []
    for b, a in combinations(factor.levels, 2):
        rows.append(
            {
                "factor": factor.name,
                "outcome": outcome,
                "a": a,
                "b": b,
                **(tested.get((a, b)) or _untested(groups[a], groups[b])),
                "n_a": len(groups[a]),
                "n_b": len(groups[b]),
                "note": factor.why_not or _note(groups[a], groups[b], varies),
            }
        )
    return rows


def _untested(a: np.ndarray, b: np.ndarray) -> dict[str, float]:
    """The difference of two levels without a test, where both have values."""
    found = dict.fromkeys(("difference", "low", "high", "p_tukey"), float("nan"))
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
                "low": float(fit.statistic[i, j] - half[i, j]),
                "high": float(fit.statistic[i, j] + half[i, j]),
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
