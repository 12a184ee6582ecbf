"""What moves a stance, and mixed models of ratings with an intercept for each rater."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.contrasts import MODELS_AND_PEOPLE, Focus, kinds_of, sign_of
from delibsim.analysis.debates.fits import (
    LOGIT_FIT,
    OLS_FIT,
    Inestimable,
    empty,
    inference,
    ols,
    ols_fit,
    predictors_of,
    refuse_collinear,
    signs,
    strictly,
    terms,
    together,
    with_constant,
    won,
)
from delibsim.analysis.debates.ratings import by_debater, debaters_of
from delibsim.analysis.debates.winner import debaters_expertise
from delibsim.store.instruments.own_answers import Covariates

WITH_WINNER = "stance before, side and winner (ours)"
"""The beta regression that is ours."""
MORE = (*OLS_FIT, "f", "f_p")


def stance_models(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """OLS of the change of stance on the winner, alone and beside who debates, with HC2 errors.

    The winner is +1 where the proposition won and -1 where the opposition did. Beside it stand, in
    two further models, the debaters (+1 as proposition, -1 as opposition, the first by name left
    out), and `proposition_is_KIND`: 1 where the kind in focus proposes and the other opposes, 0
    where it is the other way round. The latter stands on the debates in which both kinds met.

    Columns: model, term, n, coefficient, se, z, p, low, high, r2, r2_adjusted, f, f_p, note; `f`
    (classical, nested, on the same ratings) compares a larger model with that of the winner alone.
    """
    change = table["after"].astype(float) - table["before"].astype(float)
    data = signs(table).assign(change=change, winner=won(table) * 2 - 1).dropna().astype(float)
    try:
        fit = ols(data["change"], with_constant(data[["winner"]]), cov_type="HC2")
        small = terms(fit, len(data)).assign(**ols_fit(fit), f=np.nan, f_p=np.nan)
    except Inestimable as reason:
        return together([empty(MORE, len(data), str(reason)).assign(model="winner")])
    found = [small.assign(model="winner")]
    found.append(_larger(data, debaters_of(table)[1:]).assign(model="winner and debaters"))
    indicator = f"proposition_is_{focus.kind}"
    data[indicator] = _proposes(sign_of(table, focus)).reindex(data.index)
    met = data.dropna(subset=[indicator])
    if len(met):
        found.append(_larger(met, [indicator]).assign(model=f"winner and {indicator}"))
    return together(found)


def _larger(data: pd.DataFrame, more: Sequence[str]) -> pd.DataFrame:
    """The change of stance on the winner and `more`, compared with the winner alone."""
    try:
        x = with_constant(data[["winner", *more]])
        fit = ols(data["change"], x, cov_type="HC2")
        winner = ols(data["change"], x[["constant", "winner"]])
        f, p, _ = ols(data["change"], x).compare_f_test(winner)
    except Inestimable as reason:
        return empty(MORE, len(data), str(reason))
    return terms(fit, len(data)).assign(**ols_fit(fit), f=float(f), f_p=float(p))


def _proposes(sign: pd.Series) -> pd.Series:
    """1 for +1, 0 for -1, NaN for NaN."""
    return (sign + 1) / 2


def stance_after(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Beta regressions of the stance after, with logit link and constant precision.

    After Ferrari and Cribari-Neto (2004). Stances are shares of the scale (0 to 1); that after is
    put inside the interval as (y (n - 1) + 1/2) / n (Smithson and Verkuilen 2006). The model
    "stance before and side" has the stance before and `proposition_is_KIND` as in `stance_models`;
    "stance before, side and winner (ours)" also has the winner (1 the proposition, 0 the
    opposition). Where no two kinds of debater met the side is left out, and the note says so.

    Columns: model, term, n, coefficient, se, z, p, low, high, pseudo_r2 (the squared correlation of
    the linear predictor with the logit of the outcome), log_likelihood, log_likelihood_null (a
    constant and the precision alone), note. The term `log_precision` is the logarithm of the
    precision.
    """
    indicator = f"proposition_is_{focus.kind}"
    columns = {
        "after": table["after"].astype(float) / 100,
        "winner": won(table),
        "before": table["before"].astype(float) / 100,
        indicator: _proposes(sign_of(table, focus)),
    }
    data = pd.DataFrame(columns)
    note = "" if data[indicator].notna().any() else "kind_left_out"
    data = data.drop(columns=indicator) if note else data
    found = []
    for model, left_out in (("stance before and side", ["winner"]), (WITH_WINNER, [])):
        own = data.drop(columns=left_out).dropna()
        try:
            fitted, fit = _beta(own["after"], with_constant(own.drop(columns="after")))
            found.append(fitted.assign(**fit, note=note, model=model))
        except Inestimable as reason:
            found.append(empty(LOGIT_FIT, len(own), str(reason)).assign(model=model))
    return together(found)


def _beta(y: pd.Series, x: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, float]]:
    """The terms of a beta regression of shares that may be 0 or 1, and how well it fits."""
    n = len(y)
    if n <= x.shape[1] + 1:
        raise Inestimable("too_few_ratings")
    refuse_collinear(x)
    if y.nunique() < 2:
        raise Inestimable("no_variance")
    inside = (y * (n - 1) + 0.5) / n
    fit = _beta_fit(inside, x)
    null = _beta_fit(inside, x[["constant"]])
    names = [*x.columns, "log_precision"]
    values = inference(fit.params.to_numpy(), fit.bse.to_numpy())
    logits = np.log(inside / (1 - inside))
    linear = x.to_numpy() @ fit.params.to_numpy()[:-1]
    r2 = np.corrcoef(linear, logits)[0, 1] ** 2 if np.ptp(linear) > 0 else float("nan")
    measures = dict(zip(LOGIT_FIT, (float(r2), float(fit.llf), float(null.llf)), strict=True))
    return pd.DataFrame({"term": names, "n": n, **values, "note": ""}), measures


def _beta_fit(y: pd.Series, x: pd.DataFrame) -> Any:
    from statsmodels.othermod.betareg import BetaModel

    with strictly():
        fit = BetaModel(y, x).fit(disp=0, maxiter=500)
        _ = fit.bse  # computed when it is first asked for
    if not fit.mle_retvals["converged"] or not np.isfinite(fit.bse).all():
        raise Inestimable("not_converged")
    return fit


MIXED_FIT = ("r2_marginal", "r2_conditional", "rater_sd", "residual_sd")
"""How well a mixed model fits; the same in every row of its table."""
OPTIMISERS = ("bfgs", "lbfgs", "cg", "powell")
"""Optimisers of statsmodels, tried in this order."""
EXPERTISE = "rater_expertise"
"""The covariate that stands in interaction with the kind of debater in the model that is ours."""
PUBLISHED = "performance by kind"
"""The published model of performance, with the expertise of the debater."""
OURS = "performance by kind and rater (ours)"
"""The model of performance that is ours, with the expertise of the rater and all covariates."""
STANCE = "stance after"
"""The model of the stance after the debate, in points."""


@dataclass(frozen=True)
class Mixed:
    """One fitted mixed model: its terms, and the fitted value and residual of each rating.

    Fitted values hold the raters' intercepts. `residuals` has the columns model, fitted and
    residual, and no row where there is no estimate.
    """

    terms: pd.DataFrame
    residuals: pd.DataFrame


def rater_models(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """The terms of all mixed models without covariates; see `mixed_models`."""
    return together(model.terms for model in mixed_models(table, focus, {}))


def mixed_models(
    table: pd.DataFrame,
    focus: Focus,
    people: Mapping[str, Covariates],
) -> list[Mixed]:
    """Mixed models with an intercept for every rater, by REML.

    `performance`: on debaters and side. Where two kinds debate: `performance by kind`, the
    published model, on the kind of debater, the debater's expertise (of a kind that has none, the
    opponent's) as it stands in the file, and their interaction; and `performance by kind and rater
    (ours)`, on the kind of debater, the rater's expertise, their interaction and covariates of
    raters and debaters. `change of stance`: on the winner. `stance after`: on the stance before
    and, where two kinds met, on which of them proposed; in points, with normal errors.

    Columns of the terms: model, term, n, coefficient, se, z, p, low, high, r2_marginal and
    r2_conditional (Nakagawa and Schielzeth 2013), rater_sd, residual_sd (points), note. Where the
    mixed model does not converge, OLS with errors clustered by rater stands in its place, and the
    note says so; it has no rater_sd and no r2_conditional.
    """
    view = by_debater(table)
    columns = ["rater", "debater", "opponent", "side", "kind", "other_kind", "own.performance"]
    performance = view[columns].dropna()
    y = performance["own.performance"].astype(float)
    proposes = (performance["side"] == "proposition").astype(float)
    x = with_constant(pd.DataFrame({"proposition": proposes}))
    for debater in debaters_of(table)[1:]:
        x[debater] = (performance["debater"] == debater).astype(float)
    models = [_mixed("performance", y, x, performance["rater"])]
    if len(kinds_of(table)) == 2:
        models.append(_by_kind(performance, focus, people))
        models.append(_by_kind_and_rater(performance, focus, people))
    change = table["after"].astype(float) - table["before"].astype(float)
    data = pd.DataFrame({"change": change, "winner": won(table) * 2 - 1, "rater": table["rater"]})
    data = data.dropna()
    x = with_constant(data[["winner"]])
    models.append(_mixed("change of stance", data["change"].astype(float), x, data["rater"]))
    return [*models, _stance_after(table, focus)]


def _by_kind(
    performance: pd.DataFrame,
    focus: Focus,
    people: Mapping[str, Covariates],
) -> Mixed:
    """Performance on kind x the debater's expertise."""
    indicator = f"is_{focus.indicator}"
    expertise = debaters_expertise(performance, people)
    own = (performance["kind"] == focus.indicator).astype(float)
    x = pd.DataFrame({indicator: own, "debater_expertise": expertise})
    x[f"{indicator}:debater_expertise"] = own * expertise
    x = x.dropna()
    if x.empty:
        return _none(PUBLISHED, 0, "expertise_not_given")
    data = performance.loc[x.index]
    return _mixed(PUBLISHED, data["own.performance"].astype(float), with_constant(x), data["rater"])


def _by_kind_and_rater(
    performance: pd.DataFrame,
    focus: Focus,
    people: Mapping[str, Covariates],
) -> Mixed:
    """Performance on kind x the rater's expertise with covariates; the note names those that are
    left out.
    """
    indicator = f"is_{focus.indicator}"
    covariates, counts = predictors_of(performance, people)
    own = (performance["kind"] == focus.indicator).astype(float)
    x = covariates.assign(**{indicator: own})
    x = x[[indicator, *covariates.columns]].dropna()
    if EXPERTISE in x.columns:
        x[f"{indicator}:{EXPERTISE}"] = x[indicator] * x[EXPERTISE]
    data = performance.loc[x.index]
    y = data["own.performance"].astype(float)
    found = _mixed(OURS, y, with_constant(x), data["rater"])
    absent = counts[counts["note"] != ""]
    names = absent["role"] + "_" + absent["covariate"]
    note = f"without {', '.join(names)}" if len(names) else ""
    notes = ["; ".join(filter(None, (before, note))) for before in found.terms["note"]]
    return Mixed(found.terms.assign(note=notes), found.residuals)


def _stance_after(table: pd.DataFrame, focus: Focus) -> Mixed:
    """The stance after on the stance before and the side of the kind in focus, in points."""
    indicator = f"proposition_is_{focus.kind}"
    columns = {
        "after": table["after"].astype(float),
        "before": table["before"].astype(float),
        indicator: (sign_of(table, focus) + 1) / 2,
    }
    data = pd.DataFrame(columns)
    note = "" if data[indicator].notna().any() else "kind_left_out"
    data = (data.drop(columns=indicator) if note else data).dropna()
    x = with_constant(data.drop(columns="after"))
    found = _mixed(STANCE, data["after"], x, table.loc[data.index, "rater"])
    notes = [" ".join(filter(None, (before, note))) for before in found.terms["note"]]
    return Mixed(found.terms.assign(note=notes), found.residuals)


def _none(model: str, n: int, reason: str) -> Mixed:
    """The one row of a model without an estimate, and no residuals."""
    terms_of = empty(MIXED_FIT, n, reason).assign(model=model)
    return Mixed(terms_of, pd.DataFrame(columns=["model", "fitted", "residual"]))


def _mixed(model: str, y: pd.Series, x: pd.DataFrame, raters: pd.Series) -> Mixed:
    """One mixed model with an intercept for each rater, or OLS where it does not converge."""
    try:
        if len(y) <= x.shape[1] + 1:
            raise Inestimable("too_few_ratings")
        if raters.nunique() < 2:
            raise Inestimable("one_rater")
        refuse_collinear(x)
        try:
            return _by_reml(model, y, x, raters)
        except Inestimable:
            return _by_ols(model, y, x, raters)
    except Inestimable as reason:
        return _none(model, len(y), str(reason))


def _by_reml(model: str, y: pd.Series, x: pd.DataFrame, raters: pd.Series) -> Mixed:
    fit = _converged(y, x, raters)
    low, high = fit.conf_int().loc[list(x.columns)].to_numpy().T
    effect, error = fit.fe_params.to_numpy(), fit.bse_fe.to_numpy()
    columns = {
        "term": list(x.columns),
        "n": len(y),
        "coefficient": effect,
        "se": error,
        "z": effect / error,
        "p": fit.pvalues[list(x.columns)].to_numpy(),
        "low": low,
        "high": high,
    }
    fixed = float(np.var(x.to_numpy() @ effect, ddof=1))
    rater, residual = float(fit.cov_re.iloc[0, 0]), float(fit.scale)
    total = fixed + rater + residual
    measures = (fixed / total, (fixed + rater) / total, np.sqrt(rater), np.sqrt(residual))
    found = pd.DataFrame(columns).assign(model=model, note="")
    found = found.assign(**dict(zip(MIXED_FIT, measures, strict=True)))
    return Mixed(found, _residuals(model, fit))


def _converged(y: pd.Series, x: pd.DataFrame, raters: pd.Series) -> Any:
    """The mixed model by the first optimiser that converges without a warning."""
    import statsmodels.api as sm

    model = sm.MixedLM(y, x, groups=raters)
    for method in OPTIMISERS:
        try:
            with strictly():
                fit = model.fit(reml=True, method=[method])
                errors = fit.bse_fe  # computed when it is first asked for
        except Inestimable:
            continue
        if fit.converged and np.isfinite(errors).all() and (errors > 0).all():
            return fit
    raise Inestimable("not_converged")


def _by_ols(model: str, y: pd.Series, x: pd.DataFrame, raters: pd.Series) -> Mixed:
    """OLS with errors clustered by rater; marginal R2 without a variance of raters."""
    fit = ols(y, x, cov_type="cluster", cov_kwds={"groups": pd.factorize(raters)[0]})
    fixed = float(np.var(x.to_numpy() @ fit.params.to_numpy(), ddof=1))
    measures = (fixed / (fixed + fit.scale), np.nan, np.nan, np.sqrt(fit.scale))
    note = "not_converged_ols_clustered_by_rater"
    found = terms(fit, len(y)).assign(model=model, note=note)
    found = found.assign(**dict(zip(MIXED_FIT, measures, strict=True)))
    return Mixed(found, _residuals(model, fit))


def _residuals(model: str, fit: Any) -> pd.DataFrame:
    fitted = np.asarray(fit.fittedvalues, dtype=float)
    residual = np.asarray(fit.resid, dtype=float)
    return pd.DataFrame({"model": model, "fitted": fitted, "residual": residual})
