"""The design of a study's mixed model: its fixed effects, and its random terms."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from delibsim.analysis.result import Result, entry, make_table, said
from delibsim.analysis.study.blocks import BlockComparison, shares
from delibsim.analysis.study.effects import note_of, noted
from delibsim.analysis.study.sample import (
    each_contrast,
    kinds_of_participants,
    main_population,
    outcomes_of,
    treatments_of,
    wanted_outcomes,
    why_no_contrast,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.means import MeanEstimate
from delibsim.measures.inference.mixed import (
    Crossed,
    MixedFit,
    Simulated,
    crossed_mean,
    mixed_fit,
    simulated_fits,
)
from delibsim.measures.inference.reml import Term, estimable, independent, term

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """The design of a model: `treatments` with the reference first, the columns of the fixed
    effects (intercept, treatments, then settings), the random terms, and why terms were left out.
    """

    treatments: Sequence[str]
    fixed: Array
    terms: Sequence[Term]
    left_out: dict[str, str]

    @property
    def named(self) -> list[str]:
        """The terms of the table: the intercept and every treatment but the reference."""
        return ["intercept", *self.treatments[1:]]

    def weights(self) -> Array:
        """What a unit of each variance adds to that of a session, on average; the residual last."""
        return np.array([*[float(np.mean(one.values**2)) for one in self.terms], 1.0])


def design_of(data: pd.DataFrame, paired: bool) -> Design:
    """The design of the mixed model of these rows; terms that it cannot tell apart are left out."""
    treatments = treatments_of(data)
    dummies = [column(data["treatment"] == name) for name in treatments[1:]]
    fixed = np.column_stack([np.ones(len(data)), *dummies, settings_of(data)])
    fixed = fixed[:, independent(fixed)]
    terms = [term("topic", data["topic"].astype(str)), term("model", data["model"].astype(str))]
    for name, dummy in zip(treatments[1:], dummies, strict=True):
        terms.append(term(f"slope of {name} by model", data["model"].astype(str), dummy))
    if paired:
        pairs = data["topic"].astype(str) + "\n" + data["replicate"].astype(str)
        terms.append(term("topic x replicate", pairs))
    kept, left_out = estimable(fixed, terms)
    return Design(treatments, fixed, kept, left_out)


def settings_of(data: pd.DataFrame) -> Array:
    """The settings of the sessions as columns (n, settings) about their mean.

    At 0 in all of them a session stands at the mean of the settings, and so does one without
    interaction that is compared with all of them. Columns may depend on each other.
    """
    found = shares(data, list(dict.fromkeys(data["setting"]))).to_numpy()
    held = found[:, found.any(axis=0)]
    return held - 1 / held.shape[1]


def column(values: pd.Series) -> Array:
    """A column as numbers."""
    return values.to_numpy(dtype=float)


KINDS = ("topic", "model")
WHY = {
    "few_units": "few_topics: fewer than five topics and fewer than five models",
    "no_variance": "no_variance: the differences do not vary, and so the test is undecided",
    "not_fitted": "not_fitted: the mixed model could not be fitted",
}


@lru_cache(maxsize=64)  # the specification curve asks for the contrasts of the table too
def over_topics_and_models(found: BlockComparison) -> Mapping[str, Any]:
    """The answer to the third question of a comparison: estimate, error, df, low, high, p, unit,
    topics, models and note. What is undefined is NaN.
    """
    cells = found.blocks.groupby(list(KINDS), dropna=False)["difference"].mean().reset_index()
    first, second = (cells[name].astype(str) for name in KINDS)
    drawn = crossed_mean(cells["difference"], first, second)
    held = [f"few_{KINDS[kind]}s" for kind in (0, 1) if kind not in drawn.kinds]
    notes = [WHY[drawn.note]] if drawn.note else [f"{code}: held as they are" for code in held]
    if drawn.kinds == (1,):  # what all models share in a draw is in no error over models
        drawn, notes = Crossed(MeanEstimate(drawn.mean.estimate), (), "few_units"), ["few_topics"]
    if not len(cells):
        notes = [f"no_block: {found.no_block}"]
    return {
        **vars(drawn.mean),
        "unit": " and ".join(KINDS[kind] for kind in drawn.kinds),
        "topics": first.nunique(),
        "models": second.nunique(),
        "note": noted(note_of(found), *notes),
    }


def mixed_table(study: StudyTable) -> Result:
    """The table `mixed`: the third question for every contrast, outcome and population."""
    given, missing = outcomes_of(study.rows, wanted_outcomes(study))
    code, detail = why_no_contrast(study.rows, given)
    rows = [] if code else list(_rows(study))
    return make_table("study/mixed", rows, notes=missing, why=code, detail=detail)


def _rows(study: StudyTable) -> Iterator[dict[str, Any]]:
    for population, sessions in kinds_of_participants(study).items():
        outcomes = outcomes_of(sessions, wanted_outcomes(study))[0]
        for named, _, _, found in each_contrast(sessions, outcomes):
            yield {"population": population, **named, **over_topics_and_models(found)}


MEASURES = ("dri", "dri_adjusted")
ROUNDING = 1e-12
"""The share of the largest value up to which what a regression leaves is rounding."""
REML, CLUSTERED = "mixed model, REML", "OLS, clustered by topic"
NO_DRAWS = "no_draws: no bootstrap sample was asked for, so no interval"
INFERENCE = ("estimate", "se", "z", "published_p", "published_low", "published_high")
Rows = list[dict[str, object]]
LEFT_OUT = {
    "one_level": "the study has only one of them",
    "not_identified": "this design does not tell it from the other terms",
}


def mixed(study: StudyTable, draws: DrawCounts) -> list[Result]:
    """The tables `mixed`, `mixed_published` and `variance_components` of a study."""
    sessions, notes = main_population(study)
    population = replace(study, rows=sessions)
    rows: Rows = []
    parts: Rows = []
    lacking = []
    for outcome in MEASURES:
        data = population.analysed(f"{outcome}_change")
        if data.empty:
            lacking.append(outcome)
            continue
        design = design_of(data, study.paired)
        notes += [one for one in _said(data, design) if one not in notes]
        found, components, told = _outcome(data, outcome, design, draws)
        if not draws.parametric:
            for one in (*found, *components):
                one["note"] = noted(str(one["note"]), NO_DRAWS)
        rows += found
        parts += components
        notes += told
    why = "" if rows else "no_value"
    if rows:
        empty = entry("study/mixed_published").empty["no_value"]
        notes += [f"{outcome}: {empty}" for outcome in lacking]
    table = make_table("study/mixed_published", rows, notes, why)
    if rows and not parts:
        why = "no_mixed_model"
    shares = make_table("study/variance_components", parts, notes, why)
    return [mixed_table(study), table, shares]


def _said(data: pd.DataFrame, design: Design) -> list[str]:
    """What the model rests on, and what it leaves out, in sentences."""
    topics = counted(data["topic"].nunique(), "topic")
    models = counted(data["model"].nunique(), "model")
    notes = [f"The first treatment is {design.treatments[0]}; {topics} and {models}."]
    if len(design.treatments) < 2:
        notes.append("There is one treatment, so that nothing is compared.")
    if data["topic"].nunique() < 2:
        notes.append("There is one topic: errors and intervals hold for this topic alone.")
    if data["setting"].nunique() > 1:
        notes.append(said("study/settings_fixed"))
    for name, reason in design.left_out.items():
        notes.append(f"Left out, {name}: {LEFT_OUT[reason]}.")
    return notes


def _outcome(
    data: pd.DataFrame, outcome: str, design: Design, draws: DrawCounts
) -> tuple[Rows, Rows, list[str]]:
    """The rows of both tables for one outcome, and what is to be said of it."""
    values = column(data[f"{outcome}_change"])
    left_out = [f"left_out:{name}" for name in design.left_out]
    if not design.terms:
        return _clustered(data, outcome, design, ["no_random_term"]), [], []
    fit = mixed_fit(values, design.fixed, design.terms)
    if not fit.converged:
        told = f"{outcome}: the mixed model did not converge; least squares, clustered by topic."
        return _clustered(data, outcome, design, [fit.note, *left_out]), [], [told]
    seed = seed_of("mixed", outcome, draws.seed)
    again = simulated_fits(fit, design.fixed, design.terms, draws.parametric, seed)
    failed = f"{outcome}: {again.failed} of {draws.parametric} refits did not converge."
    zeros = [f"variance_zero:{name}" for name, one in fit.variances.items() if one == 0]
    limits = _limits(again.effects, len(fit.effects))
    found = (fit.effects, fit.errors, fit.z, fit.p, *limits)
    told_of_all = {"n": fit.n, "method": REML, "converged": True}
    told_of_all["note"] = "; ".join([*zeros, *left_out])
    rows = _terms(outcome, design, found, told_of_all)
    return rows, _components(outcome, design, fit, again), [failed] if again.failed else []


def _terms(
    outcome: str, design: Design, found: Sequence[ArrayLike], told: Mapping[str, object]
) -> Rows:
    """A row a term of the table, with the numbers of INFERENCE; `told` holds of all of them."""
    rows: Rows = []
    for name, *values in zip(design.named, *found, strict=False):  # settings are not shown
        numbers = dict(zip(INFERENCE, values, strict=True))
        rows.append({"outcome": outcome, "term": name, **numbers, **told})
    return rows


def _limits(draws: Array, width: int) -> tuple[Array, Array]:
    """The middle 95% of each column; NaN where there are no draws."""
    if not len(draws):
        return np.full(width, np.nan), np.full(width, np.nan)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    return low, high


def _components(outcome: str, design: Design, fit: MixedFit, again: Simulated) -> Rows:
    """The variances as rows, and the terms that were left out as rows without a value."""
    names = [*[one.name for one in design.terms], "residual"]
    variances = np.array([fit.variances[name] for name in names])
    weights = design.weights()
    shares = variances * weights / (variances * weights).sum()
    weighted = again.variances * weights
    limits = _limits(weighted / weighted.sum(axis=1, keepdims=True), len(names))
    rows: Rows = []
    for row in zip(names, variances, np.sqrt(variances), shares, *limits, strict=True):
        named = dict(zip(("component", "variance", "sd", "share", "low", "high"), row, strict=True))
        note = "variance_zero" if named["variance"] == 0 else ""
        rows.append({"outcome": outcome, **named, "note": note})
    for name, reason in design.left_out.items():
        rows.append({"outcome": outcome, "component": name, "note": reason})
    return rows


def _clustered(data: pd.DataFrame, outcome: str, design: Design, notes: Sequence[str]) -> Rows:
    """Least squares with errors clustered by topic, where the mixed model cannot be fitted."""
    import statsmodels.api as sm

    values = column(data[f"{outcome}_change"])
    reason = []
    if data["topic"].nunique() < 2:
        reason.append("one_topic")
    if len(values) <= design.fixed.shape[1]:
        reason.append("too_few_sessions")
    estimates = np.linalg.lstsq(design.fixed, values, rcond=None)[0]
    about = np.abs(values - design.fixed @ estimates).max(initial=0)
    if not reason and about <= ROUNDING * np.abs(values).max(initial=0):
        reason.append("no_variance")
    inference = np.full((5, len(estimates)), np.nan)
    if not reason:
        codes = pd.factorize(data["topic"])[0]
        fit = sm.OLS(values, design.fixed).fit()
        robust = fit.get_robustcov_results("cluster", groups=codes, use_t=False)
        ends = np.asarray(robust.conf_int()).T
        inference = np.array([robust.bse, robust.tvalues, robust.pvalues, *ends])
    told = {"n": len(values), "method": CLUSTERED, "converged": False}
    told["note"] = "; ".join([*notes, *reason])
    return _terms(outcome, design, [estimates, *inference], told)
