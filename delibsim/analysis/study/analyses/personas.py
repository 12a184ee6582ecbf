"""What personas change: sessions with and without them compared by least squares."""

from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.ablations import between_levels
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.factors import levels_of, varied
from delibsim.analysis.study.sample.populations import main_population, why_no_value, without_value
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import cohens_d

OUTCOMES = (
    "diversity_pre",
    "diversity_change",
    "dri_pre",
    "dri_change",
    "dri_adjusted_change",
    "consideration_agreement_change",
    "preference_agreement_change",
)
DEFINITION = (
    "The mean of the outcome with personas minus the mean without. Interval and p are by t over"
    " topics, a topic's value being the mean over its models and treatments of the difference; p on"
    " these topics flips the signs of all differences of a draw together. d is Cohen's: the same"
    " difference divided by the pooled standard deviation. Other factors are held at one level"
    " each, and only combinations of topic, model and treatment enter that occur both with and"
    " without personas. The published columns are ordinary least squares with HC3 errors and N - 2"
    " degrees of freedom, which ignore topics."
)
MEANINGS = {
    "outcome": "column of the table of the study",
    "estimate": "mean with personas minus mean without",
    "unit": "what low, high, df and p rest on",
    "low": "lower end of the 95% interval by t over topics",
    "high": "upper end of this interval",
    "df": "its degrees of freedom",
    "p": "two-sided p of no difference, by t over topics",
    "p_draws": "p on these topics: signs flipped draw by draw",
    "published_se": "standard error, HC3, over sessions",
    "published_low": "lower end of the published 95% interval, by t over sessions",
    "published_high": "upper end of this interval",
    "p_published": "published p, by t over sessions",
    "d": "Cohen's d: the estimate in pooled standard deviations",
    "n_with": "sessions with personas",
    "n_without": "sessions without personas",
    "note": "why a value is missing",
}
PUBLISHED = (
    "Published for language models: diversity before +20.23; agreement on considerations d 0.55,"
    " p .039."
)
ALIKE = "All sessions of this study have personas, or none has: needed are both."


def personas(study: StudyTable, draws: Draws) -> Result:
    """The table `personas`."""
    rows, notes = main_population(study, copies=True)
    code, detail = _why_not(study, rows)
    table = []
    if not code:
        rows = rows.reset_index(drop=True)
        kinds = levels_of(rows)["persona"]
        told = rows.assign(persona=kinds.where(kinds == "none", "with"))
        factor = varied(told, "persona")
        notes += [*factor.notes, *_kinds(kinds)]
        for outcome in OUTCOMES:
            table.append(_of_outcome(factor.rows, outcome, factor.why_not, draws))
            notes += without_value(rows, (outcome,))
        notes.append(PUBLISHED)
    return Result(
        name="personas",
        title="Sessions with and without personas",
        definition=DEFINITION,
        source="MacKinnon and White 1985, doi:10.1016/0304-4076(85)90158-7; docs/personas.md",
        rows=pd.DataFrame(table, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )


def _why_not(study: StudyTable, rows: pd.DataFrame) -> tuple[str, str]:
    reasons = [why_no_value(study, (outcome,)) for outcome in OUTCOMES]
    if all(code for code, _ in reasons):
        return reasons[0]
    levels = levels_of(rows)
    if "persona" not in levels.columns or (levels["persona"] == "none").nunique() < 2:
        return "one_level", ALIKE
    return "", ""


def _kinds(kinds: pd.Series) -> list[str]:
    """Which personas are taken together, where there are several."""
    names = sorted(set(kinds) - {"none"})
    return (
        [f"Personas of several kinds are taken together: {', '.join(names)}."] if names[1:] else []
    )


def _of_outcome(rows: pd.DataFrame, outcome: str, why_not: str, draws: Draws) -> dict[str, Any]:
    values = rows[outcome] if outcome in rows.columns else pd.Series(np.nan, index=rows.index)
    known = values.notna()
    has = rows["level"][known] != "none"
    y = values[known].to_numpy(dtype=float)
    mark = has.to_numpy(dtype=float)
    counts = {"n_with": int(has.sum()), "n_without": int((~has).sum())}
    reason = why_not or _why_no_fit(y, mark, counts)
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
