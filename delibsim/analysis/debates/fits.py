"""Fits of statsmodels as tables of terms, and the covariates that enter them as predictors."""

import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.debates.ratings import debaters_of
from delibsim.analysis.figures.style import number
from delibsim.analysis.result import entry
from delibsim.domain.participant import SIDES
from delibsim.measures.bradley_terry.fit import comparisons
from delibsim.store.instruments.own_answers import COVARIATES, WORDS, Covariates

ENORMOUS = 15.0
"""A log odds beyond which a coefficient or its error says that the likelihood has no maximum."""
ROUNDING = 1e-12
"""The share of the largest outcome up to which what a regression leaves is rounding."""
NO_SPREAD = 1e-9
"""An error of a log odds below which debates do not differ but for rounding."""


class Inestimable(ValueError):
    """A model has no estimate; the message is the reason code."""


def won(table: pd.DataFrame) -> pd.Series:
    """1 where the proposition won, 0 where the opposition did, NaN where no winner was named."""
    return (table["winner"] == "proposition").astype(float).where(table["winner"].notna())


def signs(table: pd.DataFrame) -> pd.DataFrame:
    """A column a debater: +1 where it proposes, -1 where it opposes, 0 where it is not there."""
    debaters = debaters_of(table)
    place = {name: i for i, name in enumerate(debaters)}
    pairs = np.column_stack([table[side].map(place) for side in SIDES])
    return pd.DataFrame(comparisons(len(debaters), pairs), table.index, debaters)


def with_constant(x: pd.DataFrame) -> pd.DataFrame:
    """Predictors behind a column `constant`."""
    columns = x.astype(float).copy()
    columns.insert(0, "constant", 1.0)
    return columns


def logit(y: pd.Series, x: pd.DataFrame, **errors: Any) -> Any:
    """A logistic regression; `errors` as statsmodels names them. Inestimable where separated."""
    import statsmodels.api as sm

    refuse_collinear(x)
    if y.nunique() < 2:
        raise Inestimable("one_side_won_all")
    with strictly():
        fit = sm.Logit(y, x).fit(disp=0, maxiter=200, **errors)
        _ = fit.bse  # computed when it is first asked for
    scale = np.abs(x.to_numpy()).max(axis=0)
    enormous = np.abs(fit.params) * np.minimum(scale, 1) > ENORMOUS
    if not np.isfinite(fit.bse).all() or enormous.any():
        raise Inestimable("separated")
    return fit


Clustered = Callable[[np.ndarray], np.ndarray]
"""Gives the covariance of the terms of a fit by the number of the debate of each row."""


def clustered(fit: Any) -> Clustered:
    """The covariance of a fit of statsmodels with errors clustered by debate."""
    from statsmodels.stats.sandwich_covariance import cov_cluster

    return partial(cov_cluster, fit, use_correction=False)


def over_debates(covariance: Clustered, debates: pd.Series, k: int) -> tuple[np.ndarray, float]:
    """The covariance of k terms, with errors added up by debate, and the degrees of freedom of t.

    All ratings of a debate judge the same speeches, so debates are counted and not ratings: G /
    (G - k), t(G - k). With the usual factor and the normal distribution intervals are too short.
    """
    groups = pd.factorize(debates)[0]
    g = len(set(groups))
    if g <= k:
        raise Inestimable("too_few_debates")
    found = covariance(groups) * g / (g - k)
    if not (np.diag(found) > NO_SPREAD**2).all():  # every debate was split alike
        raise Inestimable("no_variance_between_debates")
    return found, float(g - k)


def ols(y: pd.Series, x: pd.DataFrame, **errors: Any) -> Any:
    """A regression by ordinary least squares; `errors` as statsmodels names them."""
    import statsmodels.api as sm

    if len(y) <= x.shape[1]:
        raise Inestimable("too_few_ratings")
    refuse_collinear(x)
    with strictly():
        fit = sm.OLS(y, x).fit(**errors)
        spread = fit.bse
    left = np.abs(fit.resid).max() > ROUNDING * np.abs(y).max()
    if not left or not np.isfinite(spread).all() or not (spread > 0).all():
        raise Inestimable("no_variance")
    return fit


def refuse_collinear(x: pd.DataFrame) -> None:
    """Inestimable where a column of predictors follows from the others."""
    if np.linalg.matrix_rank(x.to_numpy()) < x.shape[1]:
        raise Inestimable("collinear")


def or_why_not(model: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """A model whose first argument is its data, a row a rating: its terms or, where it has no
    estimate, the one row that says why.
    """

    @wraps(model)
    def terms_or_reason(data: pd.DataFrame, *more: Any) -> pd.DataFrame:
        try:
            return model(data, *more)
        except Inestimable as reason:
            return no_estimate(len(data), reason)

    return terms_or_reason


def no_estimate(n: int, reason: Inestimable) -> pd.DataFrame:
    """The one row of a model that could not be estimated."""
    return pd.DataFrame([{"term": "", "n": n, "note": str(reason)}])


def logit_fit(fit: Any) -> dict[str, float]:
    """McFadden's pseudo-R2, the log likelihood, and that of a logit with a constant alone."""
    y = np.asarray(fit.model.endog, dtype=float)
    share = y.mean()
    null = len(y) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    # A constant alone is its own null model; rounding must not make its pseudo-R2 negative.
    pseudo = 0.0 if np.isclose(fit.llf, null, rtol=1e-12) else 1 - fit.llf / null
    return {
        "pseudo_r2": float(pseudo),
        "log_likelihood": float(fit.llf),
        "log_likelihood_null": float(null),
    }


def ols_fit(fit: Any) -> dict[str, float]:
    """R2 and adjusted R2; NaN where the outcome does not vary."""
    if fit.centered_tss == 0:
        return {"r2": np.nan, "r2_adjusted": np.nan}
    return {"r2": float(fit.rsquared), "r2_adjusted": float(fit.rsquared_adj)}


def terms(
    effects: pd.Series, errors: pd.Series, covariance: Clustered, debates: pd.Series
) -> pd.DataFrame:
    """Terms by name with their inference over debates, where there are enough; beside it that over
    ratings, by `errors` that take them one by one, as published.
    """
    n, values = len(debates), effects.to_numpy()
    found = pd.DataFrame({"term": list(effects.index), "n": n, "coefficient": values})
    alone = inference(values, errors.to_numpy())
    found = found.assign(**{f"ratings_{name}": alone[name] for name in ALONE}, note="")
    try:
        spread, df = over_debates(covariance, debates, len(values))
    except Inestimable as reason:
        return found.assign(note=str(reason))
    return found.assign(**inference(values, np.sqrt(np.diag(spread)), df), unit="debate", df=df)


ALONE = ("se", "p", "low", "high")
"""What is told over ratings too."""


def inference(effect: Any, error: Any, df: float = np.inf) -> dict[str, Any]:
    """Effects and what follows from their errors by t.

    t has `df` degrees of freedom; by default it is the normal distribution.
    """
    from scipy.stats import t

    half = t.ppf(0.975, df) * error
    z = effect / error
    found = {"coefficient": effect, "se": error, "z": z, "p": 2 * t.sf(np.abs(z), df)}
    return found | {"low": effect - half, "high": effect + half}


def together(table: str, found: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The terms of several models as one table of the report."""
    return entry(f"debates/{table}").frame(pd.concat(list(found), ignore_index=True))


@contextmanager
def strictly() -> Generator[None]:
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


ROLES = ("rater", "debater")
UNKNOWN = Covariates()


def predictors_of(
    view: pd.DataFrame,
    people: Mapping[str, Covariates],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The covariates as columns of numbers, a row as in the view, and the counts of `counted`.

    `view` has the columns rater, debater and kind. A column is named after role and covariate, as
    rater_age; a gender is a column for each word but the first by name, as rater_gender_woman.
    Covariates of raters stand as they are. Those of debaters are deviations from the mean of the
    debaters of their kind, so that the effect of the kind compares its average debaters; where
    nobody of a kind has a value (the age of models), the covariate does not apply and is 0.
    A value that is not given is NaN. What nobody has, or does not vary, is left out.
    """
    columns, rows = {}, []
    for role in ROLES:
        for name in COVARIATES:
            given = [getattr(people.get(who, UNKNOWN), name) for who in view[role]]
            values = pd.Series(given, index=view.index, dtype=object)
            row = _count(view, role, name, values)
            found = {} if row["note"] else _columns(view, role, name, values)
            if not row["note"] and not found:
                row["note"] = "no_variance"
            columns |= found
            rows.append(row)
    return pd.DataFrame(columns, index=view.index, dtype=float), pd.DataFrame(rows)


def _applies(view: pd.DataFrame, role: str, values: pd.Series) -> pd.Series:
    """Whether the covariate applies: to all raters, and to kinds of which a debater has a value."""
    if role == "rater":
        return pd.Series(True, index=view.index)
    return view["kind"].isin(set(view.loc[values.notna(), "kind"]))


def _count(view: pd.DataFrame, role: str, name: str, values: pd.Series) -> dict[str, object]:
    """How many raters or debaters there are, of how many the covariate is given, and its values."""
    given = view.loc[values.notna(), role].nunique()
    expected = view.loc[_applies(view, role, values), role].nunique()
    there = view[role].nunique()
    once = view.assign(value=values).drop_duplicates(role)["value"]
    row = {"role": role, "covariate": name, "there": there, "given": given}
    row["missing"] = expected - given if given else there
    row["does_not_apply"] = there - expected if given else 0
    return row | {"values": _distribution(once, name), "note": "" if given else "not_given"}


def _distribution(values: pd.Series, name: str) -> str:
    """The values of one covariate, each person counted once, in words; "" without any.

    >>> _distribution(pd.Series(["man", "woman", "man", None]), "gender")
    'man 2, woman 1'
    >>> _distribution(pd.Series([20.0, 30.0, 40.0]), "age")
    'mean 30.0, SD 10.0, 20 to 40'
    """
    given = values.dropna()
    if given.empty:
        return ""
    if name in WORDS:
        counts = given.value_counts().sort_index()
        return ", ".join(f"{word} {count}" for word, count in counts.items())
    numbers = given.astype(float)
    told = f"mean {number(numbers.mean(), 1)}"
    if len(numbers) > 1:
        told += f", SD {number(numbers.std(ddof=1), 1)}"
    return f"{told}, {numbers.min():g} to {numbers.max():g}"


def _columns(
    view: pd.DataFrame,
    role: str,
    name: str,
    values: pd.Series,
) -> dict[str, pd.Series]:
    """The columns of one covariate that vary."""
    plain = {f"{role}_{name}": values.astype(float)} if name not in WORDS else {}
    if name in WORDS:
        for word in sorted(set(values.dropna()))[1:]:
            plain[f"{role}_{name}_{word}"] = (values == word).astype(float).where(values.notna())
    if role == "debater":
        applies = _applies(view, role, values)
        plain = {column: _centred(view, own, applies) for column, own in plain.items()}
    return {column: own for column, own in plain.items() if np.ptp(own.dropna()) > 0}


def _centred(view: pd.DataFrame, values: pd.Series, applies: pd.Series) -> pd.Series:
    """Deviations from the mean of the debaters of one's kind; 0 where the covariate does not apply.

    Each debater counts once in the mean, however often it was rated.
    """
    once = view.assign(value=values).drop_duplicates("debater")
    means = once.groupby("kind")["value"].mean()
    return (values - view["kind"].map(means)).where(applies, 0.0)
