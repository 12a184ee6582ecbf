"""Models of debates: what makes a winner, what moves a stance, how strong debaters are, and whether place or length decided.

All functions take the analysed table of ratings (see debate.py) and return one row a term. A model that cannot be estimated
(separation, collinearity, too few ratings) is one row of NaN with the reason in `note`: no penalty and no prior makes it estimable.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debate import by_debater, debaters_of
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.reliability import variance_inflation

PREDICTORS = DIMENSIONS[:-1]
"""The ten dimensions that predict the winner: performance is the rater's own summary of them."""
ENORMOUS = 15.0
"""A log odds beyond which a coefficient or its error says that the likelihood has no maximum."""


class Inestimable(ValueError):
    """A model has no estimate; the message is the reason code."""


def winner_model(table: pd.DataFrame) -> pd.DataFrame:
    """Logistic regression of winning on ten score differences, proposition less opposition, with HC1 errors.

    Columns: term, n, coefficient, se, z, p, low, high (the 95 percent interval of the coefficient), odds_ratio (of one point more),
    odds_ratio_low, odds_ratio_high, vif, note.
    """
    differences = pd.DataFrame({name: table[f"proposition.{name}"] - table[f"opposition.{name}"] for name in PREDICTORS})
    data = differences.assign(won=_won(table)).dropna().astype(float)
    try:
        if len(data) <= len(PREDICTORS) + 1:
            raise Inestimable("too_few_ratings")
        x = data[list(PREDICTORS)]
        fit = _logit(data["won"], _with_constant(x), cov_type="HC0")
    except Inestimable as reason:
        return _empty(("odds_ratio", "odds_ratio_low", "odds_ratio_high", "vif"), len(data), str(reason))
    # Asked for HC1, statsmodels gives a logit HC0: the factor that makes the one the other is applied here.
    found = _terms(fit, len(data), np.sqrt(len(data) / (len(data) - len(fit.params))))
    for name, of in (("odds_ratio", "coefficient"), ("odds_ratio_low", "low"), ("odds_ratio_high", "high")):
        found[name] = np.exp(found[of])
    found["vif"] = [np.nan, *variance_inflation(x)]
    return found[[name for name in found.columns if name != "note"] + ["note"]]


def stance_models(table: pd.DataFrame) -> pd.DataFrame:
    """OLS of the change of stance on the winner, and on winner and debaters, with HC2 errors and the F test between the two.

    The winner is +1 where the proposition won and -1 where the opposition did; a debater is +1 as proposition and -1 as opposition,
    the first by name being left out. Columns: model, term, n, coefficient, se, z, p, low, high, f, f_p, note; `f` (classical,
    nested) and its p stand in the rows of the larger model.
    """
    change = table["after"].astype(float) - table["before"].astype(float)
    data = _signs(table).assign(change=change, winner=_won(table) * 2 - 1).dropna().astype(float)
    debaters = debaters_of(table)[1:]
    try:
        small = _ols(data["change"], _with_constant(data[["winner"]]), cov_type="HC2")
        found = [_terms(small, len(data)).assign(model="winner", f=np.nan, f_p=np.nan)]
    except Inestimable as reason:
        return _model_first(_empty((), len(data), str(reason)).assign(model="winner"))
    try:
        x = _with_constant(data[["winner", *debaters]])
        large = _ols(data["change"], x, cov_type="HC2")
        f, p, _ = _ols(data["change"], x).compare_f_test(_ols(data["change"], x[["constant", "winner"]]))
        found.append(_terms(large, len(data)).assign(model="winner and debaters", f=float(f), f_p=float(p)))
    except Inestimable as reason:
        found.append(_empty((), len(data), str(reason)).assign(model="winner and debaters"))
    return _model_first(pd.concat(found, ignore_index=True))


def rater_models(table: pd.DataFrame) -> pd.DataFrame:
    """Mixed models with an intercept for every rater: performance on debater and side, and change of stance on the winner.

    REML. Columns: model, term, n, coefficient, se, z, p, low, high, rater_sd, note. Where the mixed model does not converge, OLS with
    errors clustered by rater stands in its place and the note says so.
    """
    view = by_debater(table)
    performance = view[["rater", "debater", "side", "own.performance"]].dropna()
    x = _with_constant(pd.DataFrame({"proposition": (performance["side"] == "proposition").astype(float)}))
    for debater in debaters_of(table)[1:]:
        x[debater] = (performance["debater"] == debater).astype(float)
    first = _mixed(performance["own.performance"].astype(float), x, performance["rater"]).assign(model="performance")
    change = table.assign(change=table["after"].astype(float) - table["before"].astype(float), won=_won(table) * 2 - 1)
    change = change[["change", "won", "rater"]].dropna()
    x = _with_constant(change[["won"]].rename(columns={"won": "winner"}).astype(float))
    second = _mixed(change["change"].astype(float), x, change["rater"]).assign(model="change of stance")
    return _model_first(pd.concat([first, second], ignore_index=True))


def bradley_terry(table: pd.DataFrame) -> pd.DataFrame:
    """Strengths of debaters with the advantage of the proposition, in general and on every motion; errors clustered by debate.

    log odds(proposition wins) = strength(proposition) - strength(opposition) + side + motion. Strengths and motion effects add up to
    0. Columns: kind (debater, side, motion), term, n, coefficient, se, z, p, low, high, note. Where motion effects cannot be
    estimated they are left out, and the note of every row says so.
    """
    data = table.assign(won=_won(table)).dropna(subset=["won"])
    data = data[data["proposition"] != data["opposition"]]
    debaters, motions = debaters_of(data), sorted(set(data["motion"])) if data["motion"].nunique() > 1 else []
    signs = _signs(data)[debaters[1:]]
    effects = pd.DataFrame(
        {m: (data["motion"] == m).astype(float) - (data["motion"] == motions[-1]) for m in motions[:-1]}, index=data.index
    )
    note = ""
    try:
        if len(debaters) < 2:
            raise Inestimable("one_debater")
        try:
            fit, spread = _clustered(data, signs.assign(side=1.0).join(effects))
        except Inestimable:
            motions, note = [], "motions_left_out"
            fit, spread = _clustered(data, signs.assign(side=1.0))
    except Inestimable as reason:
        return _empty(("kind",), len(data), str(reason))
    n = len(debaters) - 1
    contrasts = [
        *(("debater", name, row) for name, row in zip(debaters, _centred(n), strict=True)),
        ("side", "proposition", np.eye(len(fit.params))[n]),
        *(("motion", name, row) for name, row in zip(motions, _to_zero(len(motions), n + 1, len(fit.params)), strict=True)),
    ]
    rows = []
    for kind, term, row in contrasts:
        weights = np.zeros(len(fit.params))
        weights[: len(row)] = row
        effect, error = weights @ fit.params, np.sqrt(weights @ fit.cov_params() @ weights)
        rows.append({"kind": kind, "term": term, "n": len(data), **_inference(effect, error, *spread), "note": note})
    return pd.DataFrame(rows)


def place_and_length(table: pd.DataFrame) -> pd.DataFrame:
    """Whether a speaker won for being shown first, for proposing, or for speaking longer.

    Columns: check, n, coefficient, se, z, p, low, high, note: log odds of winning, errors clustered by debate. `shown_first` and
    `proposition` are 0 where neither place wins more; `words` is the effect of one hundred words more than the other side.
    """
    data = table.assign(won=_won(table)).dropna(subset=["won"])
    first = (data["first"] == "proposition").astype(float).mul(2).sub(1)
    # Speaker A won where the proposition did and was shown first, or neither.
    won_first = data["won"].where(first > 0, 1 - data["won"])
    words = (data["proposition.words"] - data["opposition.words"]).astype(float) / 100
    rows = []
    for check, outcome, x in (
        ("shown_first", won_first, pd.DataFrame({"shown_first": 1.0}, index=data.index)),
        ("proposition", data["won"], pd.DataFrame({"proposition": 1.0}, index=data.index)),
        ("words", data["won"], pd.DataFrame({"words": words, "constant": 1.0})),
    ):
        try:
            fit, spread = _clustered(data.assign(won=outcome), x)
            found = _terms(fit, len(data), *spread).rename(columns={"term": "check"})
            rows.append(found[found["check"] == check])
        except Inestimable as reason:
            rows.append(_empty((), len(data), str(reason)).rename(columns={"term": "check"}).assign(check=check))
    return pd.concat(rows, ignore_index=True)


def _model_first(found: pd.DataFrame) -> pd.DataFrame:
    """The name of the model before its terms, the note last."""
    return found[["model", *(name for name in found.columns if name not in ("model", "note")), "note"]]


def _won(table: pd.DataFrame) -> pd.Series:
    """1 where the proposition won, 0 where the opposition did, NaN where no winner was named."""
    return (table["winner"] == "proposition").astype(float).where(table["winner"].notna())


def _signs(table: pd.DataFrame) -> pd.DataFrame:
    """A column a debater: +1 where it proposes, -1 where it opposes, 0 where it does not speak."""
    names = debaters_of(table)
    signs = {name: (table["proposition"] == name).astype(float) - (table["opposition"] == name).astype(float) for name in names}
    return pd.DataFrame(signs, index=table.index)


def _with_constant(x: pd.DataFrame) -> pd.DataFrame:
    columns = x.astype(float).copy()
    columns.insert(0, "constant", 1.0)
    return columns


def _centred(n: int) -> np.ndarray:
    """From the strengths of all debaters but the first to those of all n + 1, less their mean."""
    return np.eye(n + 1)[:, 1:] - 1 / (n + 1)


def _to_zero(motions: int, skipped: int, width: int) -> Iterator[np.ndarray]:
    """From the effects of all motions but the last to those of all, which add up to 0."""
    for motion in range(motions):
        row = np.zeros(width)
        row[skipped:] = -1.0 if motion == motions - 1 else np.eye(motions - 1)[motion]
        yield row


def _clustered(data: pd.DataFrame, x: pd.DataFrame) -> tuple[Any, tuple[float, int]]:
    """A logit with errors clustered by debate; how far they are to be widened, and their degrees of freedom.

    What explains the winner is the same for all ratings of a debate, so debates are counted and not ratings: G / (G - k), t(G - k).
    With the usual factor and the normal distribution intervals are too short (bench/debates.py).
    """
    groups = pd.factorize(data["debate"])[0]
    g, k = len(set(groups)), x.shape[1]
    if g <= k:
        raise Inestimable("too_few_debates")
    kwds = {"groups": groups, "use_correction": False}
    return _logit(data["won"].astype(float), x.astype(float), cov_type="cluster", cov_kwds=kwds), (np.sqrt(g / (g - k)), g - k)


def _logit(y: pd.Series, x: pd.DataFrame, **errors: Any) -> Any:
    import statsmodels.api as sm

    _refuse_collinear(x)
    if y.nunique() < 2:
        raise Inestimable("one_side_won_all")
    with _strictly():
        fit = sm.Logit(y, x).fit(disp=0, maxiter=200, **errors)
    scale = np.abs(x.to_numpy()).max(axis=0)
    if not np.isfinite(fit.bse).all() or (np.abs(fit.params) * np.minimum(scale, 1) > ENORMOUS).any():
        raise Inestimable("separated")
    return fit


def _ols(y: pd.Series, x: pd.DataFrame, **errors: Any) -> Any:
    import statsmodels.api as sm

    if len(y) <= x.shape[1]:
        raise Inestimable("too_few_ratings")
    _refuse_collinear(x)
    with _strictly():
        fit = sm.OLS(y, x).fit(**errors)
    if not np.isfinite(fit.bse).all():
        raise Inestimable("no_variance")
    return fit


def _refuse_collinear(x: pd.DataFrame) -> None:
    if np.linalg.matrix_rank(x.to_numpy()) < x.shape[1]:
        raise Inestimable("collinear")


def _mixed(y: pd.Series, x: pd.DataFrame, raters: pd.Series) -> pd.DataFrame:
    import statsmodels.api as sm

    try:
        if len(y) <= x.shape[1] + 1 or raters.nunique() < 2:
            raise Inestimable("too_few_ratings" if len(y) <= x.shape[1] + 1 else "one_rater")
        _refuse_collinear(x)
    except Inestimable as reason:
        return _empty(("rater_sd",), len(y), str(reason))
    try:
        with _strictly():
            fit = sm.MixedLM(y, x, groups=raters).fit(reml=True)
        fixed = list(x.columns)
        low, high = fit.conf_int().loc[fixed].to_numpy().T
        frame = {"term": fixed, "n": len(y), "coefficient": fit.fe_params.to_numpy(), "se": fit.bse_fe.to_numpy(),
                 "z": fit.tvalues[fixed].to_numpy(), "p": fit.pvalues[fixed].to_numpy(), "low": low, "high": high,
                 "rater_sd": float(np.sqrt(fit.cov_re.iloc[0, 0])), "note": ""}  # fmt: skip
        if np.isfinite(frame["se"]).all() and fit.converged:
            return pd.DataFrame(frame)
    except Inestimable:
        pass
    try:
        fit = _ols(y, x, cov_type="cluster", cov_kwds={"groups": pd.factorize(raters)[0]})
    except Inestimable as reason:
        return _empty(("rater_sd",), len(y), str(reason))
    return _terms(fit, len(y)).assign(rater_sd=np.nan, note="not_converged_ols_clustered_by_rater")


def _terms(fit: Any, n: int, widened: float = 1.0, df: float = np.inf) -> pd.DataFrame:
    """The terms of a fit of statsmodels, with their inference."""
    inference = _inference(fit.params.to_numpy(), fit.bse.to_numpy(), widened, df)
    return pd.DataFrame({"term": list(fit.params.index), "n": n, **inference, "note": ""})


def _inference(effect: Any, error: Any, widened: float = 1.0, df: float = np.inf) -> dict[str, Any]:
    """Effects with errors `widened` by a factor, and what follows from them by t with `df` degrees of freedom (normal by default)."""
    from scipy.stats import t

    error = error * widened
    half = t.ppf(0.975, df) * error
    p = 2 * t.sf(np.abs(effect / error), df)
    return {"coefficient": effect, "se": error, "z": effect / error, "p": p, "low": effect - half, "high": effect + half}


def _empty(more: Sequence[str], n: int, reason: str) -> pd.DataFrame:
    """The one row of a model that could not be estimated."""
    names = ("coefficient", "se", "z", "p", "low", "high", *more)
    return pd.DataFrame([{"term": "", "n": n, **dict.fromkeys(names, np.nan), "note": reason}])


@contextmanager
def _strictly() -> Generator[None]:
    """What statsmodels only warns of, or fails with, as Inestimable."""
    from statsmodels.tools.sm_exceptions import PerfectSeparationError, PerfectSeparationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            yield
        except (PerfectSeparationError, PerfectSeparationWarning):
            raise Inestimable("separated") from None
        except (Warning, np.linalg.LinAlgError):
            raise Inestimable("not_converged") from None


MODELS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "strengths": bradley_terry,
    "winner_model": winner_model,
    "stance_models": stance_models,
    "rater_models": rater_models,
    "place_and_length": place_and_length,
}
"""The models of the report, by the names of their tables."""
