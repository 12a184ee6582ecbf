"""Mixed models of a study: over topics and models, as published, and variance components.

The published model has no slopes of treatments by topic: its errors do not contain how much effects
differ between topics.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.analyses.effects import noted
from delibsim.analysis.study.analyses.topics_and_models import mixed_table
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.sample.mixed_design import Design, column, design_of
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.mixed import MixedFit, Simulated, mixed_fit, simulated_fits

Array = NDArray[np.float64]
OUTCOMES = ("dri", "dri_adjusted")
ROUNDING = 1e-12
"""The share of the largest value up to which what a regression leaves is rounding."""
REML, CLUSTERED = "mixed model, REML", "OLS, clustered by topic"
NO_DRAWS = "no_draws: no bootstrap sample was asked for, so no interval"
LEFT_OUT = {
    "one_level": "the study has only one of them",
    "not_identified": "this design does not tell it from the other terms",
}


def mixed(study: StudyTable, draws: Draws) -> list[Result]:
    """The tables `mixed`, `mixed_published` and `variance_components` of a study."""
    sessions, notes = main_population(study)
    population = replace(study, rows=sessions)
    rows: list[dict[str, object]] = []
    parts: list[dict[str, object]] = []
    reasons = []
    for outcome in OUTCOMES:
        data = population.analysed(f"{outcome}_change")
        why_not = _why_not(data)
        if why_not:
            reasons.append((outcome, *why_not))
            continue
        design = design_of(data, study.paired)
        notes += [one for one in _said(data, design) if one not in notes]
        found, components, said = _outcome(data, outcome, design, draws)
        if not draws.parametric:
            for one in (*found, *components):
                one["note"] = noted(str(one["note"]), NO_DRAWS)
        rows += found
        parts += components
        notes += said
    why, detail = ("", "") if rows else reasons[0][1:]
    if rows:
        notes += [f"{outcome}: {sentence}" for outcome, _, sentence in reasons]
    table = make_table("study/mixed_published", rows, notes=notes, why=why, detail=detail)
    if rows and not parts:
        why, detail = (
            "no_mixed_model",
            "No mixed model could be fitted; see the table of that name.",
        )
    shares = make_table("study/variance_components", parts, notes=notes, why=why, detail=detail)
    return [mixed_table(study), table, shares]


def _why_not(data: pd.DataFrame) -> tuple[str, str] | None:
    """Why there is no model of an outcome: a code and a sentence."""
    if data.empty:
        return "no_value", "No session has a value of the change."
    return None


def _said(data: pd.DataFrame, design: Design) -> list[str]:
    """What the model rests on, and what it leaves out, in sentences."""
    topics = counted(data["topic"].nunique(), "topic")
    models = counted(data["model"].nunique(), "model")
    said = [f"The first treatment is {design.treatments[0]}; {topics} and {models}."]
    if len(design.treatments) < 2:
        said.append("There is one treatment, so that nothing is compared.")
    if data["topic"].nunique() < 2:
        said.append("There is one topic: errors and intervals hold for this topic alone.")
    if data["setting"].nunique() > 1:
        said.append(
            "Settings are fixed effects that are not shown: treatments stand at the mean of their"
            " settings."
        )
    for name, reason in design.left_out.items():
        said.append(f"Left out, {name}: {LEFT_OUT[reason]}.")
    return said


def _outcome(
    data: pd.DataFrame,
    outcome: str,
    design: Design,
    draws: Draws,
) -> tuple[list[dict[str, object]], list[dict[str, object]], list[str]]:
    """The rows of both tables for one outcome, and what is to be said of it."""
    values = column(data[f"{outcome}_change"])
    left_out = [f"left_out:{name}" for name in design.left_out]
    if not design.terms:
        return _clustered(data, outcome, design, ["no_random_term"]), [], []
    fit = mixed_fit(values, design.fixed, design.terms)
    if not fit.converged:
        said = f"{outcome}: the mixed model did not converge; least squares, clustered by topic."
        return _clustered(data, outcome, design, [fit.note, *left_out]), [], [said]
    seed = seed_of("mixed", outcome, draws.seed)
    again = simulated_fits(fit, design.fixed, design.terms, draws.parametric, seed)
    said = []
    if again.failed:
        said.append(f"{outcome}: {again.failed} of {draws.parametric} refits did not converge.")
    zeros = [f"variance_zero:{name}" for name, one in fit.variances.items() if one == 0]
    note = "; ".join([*zeros, *left_out])
    rows = []
    low, high = _limits(again.effects, len(fit.effects))
    for i, name in enumerate(design.named):
        rows.append(
            {
                "outcome": outcome,
                "term": name,
                "estimate": fit.effects[i],
                "se": fit.errors[i],
                "z": fit.z[i],
                "published_p": fit.p[i],
                "published_low": low[i],
                "published_high": high[i],
                "n": fit.n,
                "method": REML,
                "converged": True,
                "note": note,
            }
        )
    return rows, _components(outcome, design, fit, again), said


def _limits(draws: Array, width: int) -> tuple[Array, Array]:
    """The middle 95% of each column; NaN where there are no draws."""
    if not len(draws):
        return np.full(width, np.nan), np.full(width, np.nan)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return low, high


def _components(
    outcome: str,
    design: Design,
    fit: MixedFit,
    again: Simulated,
) -> list[dict[str, object]]:
    """The variances as rows, and the terms that were left out as rows without a value."""
    names = [*[one.name for one in design.terms], "residual"]
    variances = np.array([fit.variances[name] for name in names])
    weights = design.weights()
    shares = variances * weights / (variances * weights).sum()
    weighted = again.variances * weights
    low, high = _limits(weighted / weighted.sum(axis=1, keepdims=True), len(names))
    rows: list[dict[str, object]] = []
    for i, name in enumerate(names):
        rows.append(
            {
                "outcome": outcome,
                "component": name,
                "variance": variances[i],
                "sd": np.sqrt(variances[i]),
                "share": shares[i],
                "low": low[i],
                "high": high[i],
                "note": "variance_zero" if variances[i] == 0 else "",
            }
        )
    nothing = dict.fromkeys(["variance", "sd", "share", "low", "high"], np.nan)
    for name, reason in design.left_out.items():
        rows.append({"outcome": outcome, "component": name, **nothing, "note": reason})
    return rows


def _clustered(
    data: pd.DataFrame,
    outcome: str,
    design: Design,
    notes: Sequence[str],
) -> list[dict[str, object]]:
    """Least squares with errors clustered by topic, where the mixed model cannot be fitted."""
    import statsmodels.api as sm

    values = column(data[f"{outcome}_change"])
    codes = pd.factorize(data["topic"])[0]
    clusters = data["topic"].nunique()
    reason = []
    if clusters < 2:
        reason.append("one_topic")
    if len(values) <= design.fixed.shape[1]:
        reason.append("too_few_sessions")
    estimates = np.linalg.lstsq(design.fixed, values, rcond=None)[0]
    about = np.abs(values - design.fixed @ estimates).max(initial=0)
    if not reason and about <= ROUNDING * np.abs(values).max(initial=0):
        reason.append("no_variance")
    inference = np.full((len(estimates), 5), np.nan)
    if not reason:
        fit = sm.OLS(values, design.fixed).fit()
        robust = fit.get_robustcov_results("cluster", groups=codes, use_t=False)
        limits = np.asarray(robust.conf_int())
        inference = np.column_stack([robust.bse, robust.tvalues, robust.pvalues, limits])
    rows = []
    for i, name in enumerate(design.named):
        se, z, p, low, high = inference[i]
        rows.append(
            {
                "outcome": outcome,
                "term": name,
                "estimate": estimates[i],
                "se": se,
                "z": z,
                "published_p": p,
                "published_low": low,
                "published_high": high,
                "n": len(values),
                "method": CLUSTERED,
                "converged": False,
                "note": "; ".join([*notes, *reason]),
            }
        )
    return rows
