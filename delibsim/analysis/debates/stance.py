"""What moves a stance: the change by ordinary least squares, the stance after by beta regression.

All functions take the table of `ratings.analysed` and return one row a term.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.fits import (
    LOGIT_FIT,
    OLS_FIT,
    Inestimable,
    empty,
    inference,
    ols,
    ols_fit,
    refuse_collinear,
    signs,
    strictly,
    terms,
    together,
    with_constant,
    won,
)
from delibsim.analysis.debates.kinds import MODELS_AND_PEOPLE, Focus, sign_of
from delibsim.analysis.debates.ratings import debaters_of

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
