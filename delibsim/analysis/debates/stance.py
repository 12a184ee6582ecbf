"""What moves a stance, and mixed models of ratings with an intercept for each rater."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.fits import (
    Inestimable,
    clustered,
    no_estimate,
    ols,
    ols_fit,
    or_why_not,
    predictors_of,
    refuse_collinear,
    signs,
    strictly,
    terms,
    together,
    with_constant,
    won,
)
from delibsim.analysis.debates.ratings import (
    MODELS_AND_PEOPLE,
    Focus,
    by_debater,
    debaters_of,
    kinds_of,
    sign_of,
)
from delibsim.analysis.debates.winner import debaters_expertise
from delibsim.store.instruments.own_answers import Covariates

WITH_WINNER = "stance before, side and winner (ours)"
"""The beta regression that is ours."""


def stance_models(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """OLS of the change of stance on the winner, alone and beside who debates.

    The winner is +1 where the proposition won and -1 where the opposition did. Beside it stand, in
    two further models, the debaters (+1 as proposition, -1 as opposition, the first by name left
    out), and `proposition_is_KIND`: 1 where the kind in focus proposes and the other opposes, 0
    where it is the other way round. The latter stands on the debates in which both kinds met.

    Columns: model, term, n, coefficient, se, z, p, low, high, unit and df (errors clustered by
    debate), ratings_se, ratings_p, ratings_low, ratings_high (HC2, ratings one by one, as
    published), r2, r2_adjusted, ratings_f, ratings_f_p, note; `ratings_f` (classical, nested, on
    the same ratings, one by one) compares a larger model with that of the winner alone.
    """
    change = table["after"].astype(float) - table["before"].astype(float)
    indicator = f"proposition_is_{focus.kind}"
    data = signs(table).assign(change=change, winner=won(table) * 2 - 1).dropna().astype(float)
    debates = table["debate"]
    found = [_on_winner(data, [], debates).assign(model="winner")]
    if found[0]["term"].iloc[0]:
        others = debaters_of(table)[1:]
        found.append(_on_winner(data, others, debates).assign(model="winner and debaters"))
        data[indicator] = ((sign_of(table, focus) + 1) / 2).reindex(data.index)
        met = data.dropna(subset=[indicator])
        if len(met):
            model = f"winner and {indicator}"
            found.append(_on_winner(met, [indicator], debates).assign(model=model))
    return together("stance_models", found)


@or_why_not
def _on_winner(data: pd.DataFrame, more: Sequence[str], debates: pd.Series) -> pd.DataFrame:
    """The change of stance on the winner and `more`, compared with the winner alone."""
    x = with_constant(data[["winner", *more]])
    fit = ols(data["change"], x, cov_type="HC2")
    found = terms(fit.params, fit.bse, clustered(fit), debates[data.index])
    found = found.assign(**ols_fit(fit))
    if more:
        winner = ols(data["change"], x[["constant", "winner"]])
        f, p, _ = ols(data["change"], x).compare_f_test(winner)
        found = found.assign(ratings_f=float(f), ratings_f_p=float(p))
    return found


def stance_after(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Beta regressions of the stance after, with logit link and constant precision.

    After Ferrari and Cribari-Neto (2004). Stances are shares of the scale (0 to 1); that after is
    put inside the interval as (y (n - 1) + 1/2) / n (Smithson and Verkuilen 2006). The model
    "stance before and side" has the stance before and `proposition_is_KIND` as in `stance_models`;
    "stance before, side and winner (ours)" also has the winner (1 the proposition, 0 the
    opposition). Where no two kinds of debater met the side is left out, and the note says so.

    Columns: model, term, n, coefficient, se, z, p, low, high, unit and df (errors clustered by
    debate), ratings_se, ratings_p, ratings_low, ratings_high (of the likelihood of ratings one by
    one, as published), pseudo_r2 (the squared correlation of the linear predictor with the logit of
    the outcome), log_likelihood, log_likelihood_null (a constant and the precision alone), note.
    The term `log_precision` is the logarithm of the precision.
    """
    data, note = _stances(table, focus)
    data[["after", "before"]] /= 100
    data.insert(1, "winner", won(table))
    found = []
    for model, left_out in (("stance before and side", ["winner"]), (WITH_WINNER, [])):
        own = _beta(data.drop(columns=left_out).dropna(), table["debate"]).assign(model=model)
        found.append(own.assign(note=_joined(own["note"], note)))
    return together("stance_after", found)


def _stances(table: pd.DataFrame, focus: Focus) -> tuple[pd.DataFrame, str]:
    """The stance after, the stance before and the side of the kind in focus, in points, with the
    note where there is no such side.
    """
    indicator = f"proposition_is_{focus.kind}"
    stances = table[["after", "before"]].astype(float)
    sides = (sign_of(table, focus) + 1) / 2
    if sides.notna().any():
        return stances.assign(**{indicator: sides}), ""
    return stances, "kind_left_out"


def _joined(notes: pd.Series, more: str, between: str = " ") -> list[str]:
    """Notes with one more behind each."""
    return [between.join(filter(None, (note, more))) for note in notes]


@or_why_not
def _beta(data: pd.DataFrame, debates: pd.Series) -> pd.DataFrame:
    """The terms of a beta regression of the stance after on all other columns; it may be 0 or 1."""
    y, x = data["after"], with_constant(data.drop(columns="after"))
    n = len(y)
    if n <= x.shape[1] + 1:
        raise Inestimable("too_few_ratings")
    refuse_collinear(x)
    if y.nunique() < 2:
        raise Inestimable("no_variance")
    inside = (y * (n - 1) + 0.5) / n
    fit, null = _beta_fit(inside, x), _beta_fit(inside, x[["constant"]])
    logits = np.log(inside / (1 - inside))
    linear = x.to_numpy() @ fit.params.to_numpy()[:-1]
    r2 = np.corrcoef(linear, logits)[0, 1] ** 2 if np.ptp(linear) > 0 else float("nan")
    names = {"precision": "log_precision"}
    found = terms(fit.params.rename(names), fit.bse, clustered(fit), debates[data.index])
    return found.assign(
        pseudo_r2=float(r2),
        log_likelihood=float(fit.llf),
        log_likelihood_null=float(null.llf),
    )


def _beta_fit(y: pd.Series, x: pd.DataFrame) -> Any:
    from statsmodels.othermod.betareg import BetaModel

    with strictly():
        fit = BetaModel(y, x).fit(disp=0, maxiter=500)
        _ = fit.bse  # computed when it is first asked for
    if not fit.mle_retvals["converged"] or not np.isfinite(fit.bse).all():
        raise Inestimable("not_converged")
    return fit


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

    Columns of the terms: model, term, n, coefficient, se, z, p, low, high, unit and df (errors
    clustered by debate), ratings_se, ratings_p, ratings_low, ratings_high (of the mixed model, in
    which ratings of a debate are independent but for their raters, as published), r2_marginal and
    r2_conditional (Nakagawa and Schielzeth 2013), rater_sd, residual_sd (points), note. Where the
    mixed model does not converge, OLS with errors clustered by rater stands in its place, and the
    note says so; it has no rater_sd and no r2_conditional.
    """
    view = by_debater(table)
    columns = [
        "debate",
        "rater",
        "debater",
        "opponent",
        "side",
        "kind",
        "other_kind",
        "own.performance",
    ]
    rated = view[columns].dropna()
    x = pd.DataFrame({"proposition": (rated["side"] == "proposition").astype(float)})
    for debater in debaters_of(table)[1:]:
        x[debater] = (rated["debater"] == debater).astype(float)
    models = [_mixed("performance", rated["own.performance"], x, rated)]
    if len(kinds_of(table)) == 2:
        models.append(_by_kind(rated, focus, people))
        models.append(_by_kind_and_rater(rated, focus, people))
    change = table["after"].astype(float) - table["before"].astype(float)
    data = pd.DataFrame({"change": change, "winner": won(table) * 2 - 1}).dropna()
    models.append(_mixed("change of stance", data["change"], data[["winner"]], table))
    data, note = _stances(table, focus)
    data = data.dropna()
    return [*models, _mixed(STANCE, data["after"], data.drop(columns="after"), table, note)]


def residuals_of(models: Sequence[Mixed]) -> pd.DataFrame:
    """The residuals of all models, one below the other."""
    given = [model.residuals for model in models if len(model.residuals)]
    return pd.concat(given or [models[0].residuals], ignore_index=True)


def _by_kind(rated: pd.DataFrame, focus: Focus, people: Mapping[str, Covariates]) -> Mixed:
    """Performance on kind x the debater's expertise."""
    indicator = f"is_{focus.indicator}"
    expertise = debaters_expertise(rated, people)
    own = (rated["kind"] == focus.indicator).astype(float)
    x = pd.DataFrame({indicator: own, "debater_expertise": expertise})
    x[f"{indicator}:debater_expertise"] = own * expertise
    x = x.dropna()
    data = rated.loc[x.index]
    why = "expertise_not_given" if x.empty else ""
    return _mixed(PUBLISHED, data["own.performance"], x, data, why=why)


def _by_kind_and_rater(
    rated: pd.DataFrame, focus: Focus, people: Mapping[str, Covariates]
) -> Mixed:
    """Performance on kind x the rater's expertise with covariates; the note names those that are
    left out.
    """
    indicator = f"is_{focus.indicator}"
    covariates, counts = predictors_of(rated, people)
    x = covariates.copy()
    x.insert(0, indicator, (rated["kind"] == focus.indicator).astype(float))
    x = x.dropna()
    if EXPERTISE in x.columns:
        x[f"{indicator}:{EXPERTISE}"] = x[indicator] * x[EXPERTISE]
    data = rated.loc[x.index]
    absent = counts[counts["note"] != ""]
    names = absent["role"] + "_" + absent["covariate"]
    note = f"without {', '.join(names)}" if len(names) else ""
    return _mixed(OURS, data["own.performance"], x, data, note, between="; ")


def _mixed(
    model: str,
    y: pd.Series,
    predictors: pd.DataFrame,
    rated: pd.DataFrame,
    note: str = "",
    between: str = " ",
    why: str = "",
) -> Mixed:
    """One mixed model with an intercept for each rater and a constant; `rated` has the rater and
    the debate of each row, its `note` stands behind others, `why` says that there is no estimate.
    """
    by = rated.loc[y.index, ["rater", "debate"]]
    residuals = pd.DataFrame(columns=["model", "fitted", "residual"])
    try:
        if why:
            raise Inestimable(why)
        found, fit = _fitted(y.astype(float), with_constant(predictors), by)
        values = {"fitted": fit.fittedvalues, "residual": fit.resid}
        columns = {name: np.asarray(own, dtype=float) for name, own in values.items()}
        residuals = pd.DataFrame({"model": model, **columns})
    except Inestimable as reason:
        found = no_estimate(len(y), reason)
    notes = _joined(found["note"], note, between)
    return Mixed(found.assign(model=model, note=notes), residuals)


def _fitted(y: pd.Series, x: pd.DataFrame, by: pd.DataFrame) -> tuple[pd.DataFrame, Any]:
    """The terms of a model by REML or, where it does not converge, by OLS with errors clustered by
    rater; and the fit.
    """
    raters, debates = by["rater"], by["debate"]
    if len(y) <= x.shape[1] + 1:
        raise Inestimable("too_few_ratings")
    if raters.nunique() < 2:
        raise Inestimable("one_rater")
    refuse_collinear(x)
    try:
        fit = _converged(y, x, raters)
    except Inestimable:
        fit = ols(y, x, cov_type="cluster", cov_kwds={"groups": pd.factorize(raters)[0]})
        found = terms(fit.params, fit.bse, clustered(fit), debates)
        fixed = float(np.var(x.to_numpy() @ fit.params.to_numpy(), ddof=1))
        measures = {"r2_marginal": fixed / (fixed + fit.scale), "residual_sd": np.sqrt(fit.scale)}
        notes = _joined(found["note"], "not_converged_ols_clustered_by_rater")
        return found.assign(**measures, note=notes), fit
    fixed = float(np.var(x.to_numpy() @ fit.fe_params.to_numpy(), ddof=1))
    rater, residual = float(fit.cov_re.iloc[0, 0]), float(fit.scale)
    total = fixed + rater + residual
    measures = {"r2_marginal": fixed / total, "r2_conditional": (fixed + rater) / total}
    measures |= {"rater_sd": np.sqrt(rater), "residual_sd": np.sqrt(residual)}
    spread = partial(_clustered_mixed, fit, y, x, raters)
    return terms(fit.fe_params, fit.bse_fe, spread, debates).assign(**measures), fit


def _clustered_mixed(
    fit: Any, y: pd.Series, x: pd.DataFrame, raters: pd.Series, groups: np.ndarray
) -> np.ndarray:
    """The covariance of the fixed effects with errors clustered by these groups.

    The effects are linear in what is left: their sum over rows of (V^-1 x)_i (y_i - x_i b), where V
    holds the variances of the residual and, within a rater, of its intercept.
    """
    from statsmodels.stats.sandwich_covariance import S_crosssection

    residual, rater = float(fit.scale), float(fit.cov_re.iloc[0, 0])
    by_rater = x.groupby(raters.to_numpy())
    shared = rater / (residual + rater * raters.map(raters.value_counts()))
    weighed = (x - by_rater.transform("sum").mul(shared, axis=0)).to_numpy() / residual
    left = y.to_numpy() - x.to_numpy() @ fit.fe_params.to_numpy()
    bread = np.linalg.inv(x.to_numpy().T @ weighed)
    return bread @ S_crosssection(weighed * left[:, None], groups) @ bread


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
