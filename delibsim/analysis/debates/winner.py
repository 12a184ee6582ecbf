"""What makes a winner and how strong debaters are; expertise of those who debate."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.debates import fits
from delibsim.analysis.debates.ratings import (
    FEWEST,
    MODELS_AND_PEOPLE,
    Focus,
    by_debater,
    debaters_of,
    of_t,
    sign_of,
)
from delibsim.analysis.result import entry, with_holm
from delibsim.domain.annotation import DIMENSIONS
from delibsim.measures.bradley_terry.fit import centred
from delibsim.measures.inference.means import difference_over
from delibsim.measures.reliability.ratings import variance_inflation
from delibsim.store.instruments.own_answers import Covariates

Array = NDArray[np.float64]
Row = dict[str, Any]
PREDICTORS = DIMENSIONS[:-1]
"""The ten dimensions that predict the winner: performance is the rater's own summary of them."""


def winner_model(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Logistic regressions of winning on ten score differences.

    The differences and the winner are coded as proposition less opposition and, over the debates in
    which both kinds of debater met, as the kind in focus less the other: the model less the person.

    Columns: contrast, term, n, coefficient, se, z, p, low, high (the 95% interval of the
    coefficient), unit and df (errors clustered by debate), ratings_se, ratings_p, ratings_low,
    ratings_high (HC1, ratings one by one, as published), odds_ratio (of one point more),
    odds_ratio_low, odds_ratio_high (over debates), vif, pseudo_r2 (McFadden 1974), log_likelihood,
    log_likelihood_null (a constant alone), note.
    """
    contrasts = {"proposition - opposition": pd.Series(1.0, index=table.index)}
    sign = sign_of(table, focus)
    if sign.notna().any():
        contrasts[focus.contrast] = sign
    found = []
    for contrast, sign in contrasts.items():
        differences = {}
        for name in PREDICTORS:
            own, other = table[f"proposition.{name}"], table[f"opposition.{name}"]
            differences[name] = sign * (own - other)
        outcome = fits.won(table).where(sign > 0, 1 - fits.won(table))
        data = pd.DataFrame(differences).assign(won=outcome).dropna().astype(float)
        found.append(_winner(data, table["debate"]).assign(contrast=contrast))
    return fits.together("winner_model", found)


@fits.or_why_not
def _winner(data: pd.DataFrame, debates: pd.Series) -> pd.DataFrame:
    """The winner model of one contrast, from the differences and who won."""
    if len(data) <= len(PREDICTORS) + 1:
        raise fits.Inestimable("too_few_ratings")
    x = data[list(PREDICTORS)]
    fit = fits.logit(data["won"], fits.with_constant(x), cov_type="HC0")
    # Asked for HC1, statsmodels gives a logit HC0: the factor that makes the one the other is
    # applied here.
    errors = fit.bse * np.sqrt(len(data) / (len(data) - len(fit.params)))
    found = fits.terms(fit.params, errors, fits.clustered(fit), debates[data.index])
    for name in ("", "_low", "_high"):
        found[f"odds_ratio{name}"] = np.exp(found.get(name[1:] or "coefficient", np.nan))
    found["vif"] = [np.nan, *variance_inflation(x)]
    return found.assign(**fits.logit_fit(fit))


def bradley_terry(table: pd.DataFrame) -> pd.DataFrame:
    """Strengths of debaters with the advantage of the proposition, in general and on every motion.

    log odds(proposition wins) = strength(proposition) - strength(opposition) + side + motion.
    Strengths and motion effects add up to 0; errors are clustered by debate, so that intervals
    speak of these motions. Columns: kind (debater, side, motion), term, n, coefficient, se, z, p,
    low, high, unit ("debate"), df (of t: debates less terms), pseudo_r2, log_likelihood,
    log_likelihood_null, note. Where motion effects cannot be estimated they are left out, and the
    note of every row says so.
    """
    data = table.assign(won=fits.won(table)).dropna(subset=["won"])
    data = data[data["proposition"] != data["opposition"]]
    return fits.together("strengths", [_strengths(data)])


@fits.or_why_not
def _strengths(data: pd.DataFrame) -> pd.DataFrame:
    """The strengths of those who debated each other, from ratings that name a winner."""
    debaters = debaters_of(data)
    motions = sorted(set(data["motion"])) if data["motion"].nunique() > 1 else []
    plain = fits.signs(data)[debaters[1:]].assign(side=1.0)
    note = ""
    if len(debaters) < 2:
        raise fits.Inestimable("one_debater")
    try:
        fit, spread, df = _won(data, plain.join(_motion_effects(data, motions)))
    except fits.Inestimable:
        motions, note = [], "motions_left_out"
        fit, spread, df = _won(data, plain)
    rows = []
    for kind, term, row in _contrasts(debaters, motions, len(fit.params)):
        effect, error = row @ fit.params, np.sqrt(row @ spread @ row)
        found = fits.inference(effect, error, df) | {"unit": "debate", "df": df}
        rows.append({"kind": kind, "term": term, "n": len(data), **found, **fits.logit_fit(fit)})
    return pd.DataFrame(rows).assign(note=note)


def _motion_effects(data: pd.DataFrame, motions: list[str]) -> pd.DataFrame:
    """A column for all motions but the last: +1 there, -1 on the last motion, 0 elsewhere."""
    columns = {}
    for motion in motions[:-1]:
        last = (data["motion"] == motions[-1]).astype(float)
        columns[motion] = (data["motion"] == motion).astype(float) - last
    return pd.DataFrame(columns, index=data.index)


def _contrasts(
    debaters: list[str],
    motions: list[str],
    width: int,
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Kind, name and weights over the parameters of all strengths, the side and all motions."""
    n = len(debaters) - 1
    for debater, row in zip(debaters, centred(n + 1), strict=True):
        yield "debater", debater, np.concatenate([row, np.zeros(width - n)])
    yield "side", "proposition", np.eye(width)[n]
    for i, motion in enumerate(motions):
        row = np.zeros(width)
        row[n + 1 :] = -1.0 if i == len(motions) - 1 else np.eye(len(motions) - 1)[i]
        yield "motion", motion, row


def place_and_length(table: pd.DataFrame) -> pd.DataFrame:
    """Whether a speaker won for being shown first, for proposing, or for speaking longer.

    Columns: check, n, coefficient, se, z, p, low, high, unit ("debate"), df, pseudo_r2,
    log_likelihood, log_likelihood_null, note: log odds of winning, errors clustered by debate, t
    with `df` degrees of freedom. `shown_first` and
    `proposition` are 0 where neither place wins more; `words` is the effect of one hundred words
    more than the other side. The first two hold a constant alone, so that their pseudo-R2 is 0.
    """
    data = table.assign(won=fits.won(table)).dropna(subset=["won"])
    first = data["first"] == "proposition"
    # Speaker A won where the proposition did and was shown first, or neither.
    won_first = data["won"].where(first, 1 - data["won"])
    words = (data["proposition.words"] - data["opposition.words"]).astype(float) / 100
    checks = (
        ("shown_first", won_first, pd.DataFrame({"shown_first": 1.0}, index=data.index)),
        ("proposition", data["won"], pd.DataFrame({"proposition": 1.0}, index=data.index)),
        ("words", data["won"], pd.DataFrame({"words": words, "constant": 1.0})),
    )
    rows = []
    for check, outcome, x in checks:
        found = _one_term(data.assign(won=outcome), x, check)
        rows.append(found.drop(columns="term").assign(check=check, unit="debate"))
    return fits.together("place_and_length", rows)


@fits.or_why_not
def _one_term(data: pd.DataFrame, x: pd.DataFrame, term: str) -> pd.DataFrame:
    """One term of a logit of winning, errors clustered by debate."""
    fit, spread, df = _won(data, x)
    at = list(fit.params.index).index(term)
    found = fits.inference(fit.params.iloc[at], np.sqrt(spread[at, at]), df) | fits.logit_fit(fit)
    return pd.DataFrame([{"term": term, "n": len(data), **found, "df": df, "note": ""}])


def _won(data: pd.DataFrame, x: pd.DataFrame) -> tuple[Any, Array, float]:
    """A logit of winning, its covariance with errors clustered by debate, degrees of freedom."""
    fit = fits.logit(data["won"].astype(float), x.astype(float))
    return fit, *fits.over_debates(fits.clustered(fit), data["debate"], x.shape[1])


OUTCOMES: Mapping[str, str] = {"performance": "own.performance", "win_rate": "won"}
"""What is compared between groups, and its column."""
CLUSTERS = ("debate", "person")
"""The columns of the units by which errors are clustered."""


def debaters_expertise(view: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.Series:
    """The expertise that each row stands for: the debater's own or, of a kind that has none, the
    opponent's.

    `view` has the columns debater, opponent, kind and other_kind. Models have no expertise, so that
    their rows carry that of the person whom they debate, as published. NaN where it is not given,
    and where two debaters meet of whose kinds nobody has any.
    """
    return _given(person_of(view, people), people)


def _given(names: pd.Series, people: Mapping[str, Covariates]) -> pd.Series:
    """The expertise of each of these debaters, NaN where it is not given."""
    known = {who: own.expertise for who, own in people.items()}
    return names.map(known).astype(float)


def person_of(view: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.Series:
    """Whose expertise it is: the debater or, where it is the opponent's, the opponent."""
    own = _given(view["debater"], people)
    having = set(view.loc[own.notna(), "kind"])
    return view["debater"].where(view["kind"].isin(having), view["opponent"])


def by_expertise(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Mean and SD of performance and win rate by kind of debater and expertise of the person.

    A group is, for instance, "human, expertise 2" (people of that expertise) or "model, expertise
    2" (models against such people). Columns: outcome, group, kind, expertise, mean, sd, n
    (ratings), debates, persons.
    """
    rows = []
    data = _grouped(table, people)
    for outcome, column in OUTCOMES.items():
        for group, own in _parts(data).items():
            given = own[own[column].notna()]
            row: Row = {"outcome": outcome, "group": group, "kind": own["kind"].iloc[0]}
            row |= {"expertise": own["expertise"].iloc[0], "mean": given[column].mean()}
            row |= {"sd": given[column].std(ddof=1), "n": len(given)}
            row["debates"] = given["debate"].nunique()
            rows.append(row | {"persons": given["person"].nunique()})
    return entry("debates/expertise").frame(rows)


def expertise_contrasts(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Differences between the groups of `by_expertise`, with errors over clusters.

    Errors are clustered by debate (all ratings of a debate judge the same two persons' speeches,
    and the expertise is the same for all of them), and once more by the person who debates: the
    first speaks of these debaters, the second of debaters like these. The sandwich has the factor
    G / (G - 1) * (n - 1) / (n - k) for G clusters and k groups, t has G - k degrees of freedom.
    Compared are groups of one kind, and groups of one expertise. There is no interval where one of
    the two has fewer than five clusters ("few_debates", "few_persons").

    Columns: outcome, contrast, unit ("debate" or "person"), units (clusters in both groups), n,
    difference, se, low, high, df, p, p_holm (over the contrasts of one outcome and unit),
    ols_se and ols_p (least squares, errors clustered), note.
    """
    data = _grouped(table, people)
    rows: list[Row] = []
    for outcome, column in OUTCOMES.items():
        for unit in CLUSTERS:
            found = _expertise_contrasts(data.dropna(subset=[column]), column, unit)
            rows += [{"outcome": outcome, "unit": unit} | row for row in found]
    return entry("debates/expertise_contrasts").frame(with_holm(rows, "outcome", "unit"))


def _grouped(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Two rows a rating with expertise, person and group; without those whose expertise is not
    known.
    """
    view = by_debater(table)
    view = view.assign(expertise=debaters_expertise(view, people), person=person_of(view, people))
    view = view.dropna(subset=["expertise"])
    names = zip(view["kind"], view["expertise"], strict=True)
    return view.assign(group=[f"{kind}, expertise {level:g}" for kind, level in names])


def _parts(data: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each group, in order of kind and expertise."""
    ordered = data.sort_values(["kind", "expertise"], kind="stable")
    return {str(group): own for group, own in ordered.groupby("group", sort=False)}


def _expertise_contrasts(data: pd.DataFrame, column: str, unit: str) -> Iterator[Row]:
    """All contrasts of one outcome over one unit."""
    parts = _parts(data)
    by_ols = _by_ols(data, column, unit, list(parts))
    for one, other in combinations(parts, 2):
        a, b = parts[one], parts[other]
        alike = [a[name].iloc[0] == b[name].iloc[0] for name in ("kind", "expertise")]
        if not any(alike):
            continue
        clusters = set(a[unit]), set(b[unit])
        both, first = pd.concat([a, b]), np.repeat([1.0, 0.0], [len(a), len(b)])
        found = difference_over(both[column], first, both[unit].astype(str))
        row: Row = {"contrast": f"{one} - {other}", "units": len(clusters[0] | clusters[1])}
        row |= {"n": len(both), "difference": found.estimate, "se": found.error, "df": found.df}
        row |= by_ols(one, other)
        few = f"few_{unit}s" if min(map(len, clusters)) < FEWEST else ""
        if few or not found.error > 0:
            yield row | {"p": np.nan, "note": few or "no_variance"}
            continue
        yield row | {"low": found.low, "high": found.high, "p": found.p, "note": ""}


def _by_ols(
    data: pd.DataFrame, column: str, unit: str, names: list[str]
) -> Callable[[str, str], Row]:
    """The error and p of a contrast of two groups by least squares on all groups with
    errors clustered by one unit, which are too small where a group has few of them.
    """
    x = pd.DataFrame({name: (data["group"] == name).astype(float) for name in names})
    groups = pd.factorize(data[unit])[0]
    df = float(len(set(groups)) - len(names))
    spread = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    try:
        if df < 1 or len(names) < 2:
            raise fits.Inestimable("too_few_ratings")
        fit = fits.ols(data[column].astype(float), x, **spread)
    except fits.Inestimable:  # or the ratings of each group are the same
        return lambda *_: {}
    errors = fit.cov_params()

    def contrast(one: str, other: str) -> Row:
        variance = errors.loc[one, one] + errors.loc[other, other] - 2 * errors.loc[one, other]
        se = float(np.sqrt(max(variance, 0.0)))
        difference = float(fit.params[one] - fit.params[other])
        _, p = of_t(difference, se, df) if se > 0 else (np.nan, np.nan)
        return {"ols_se": se, "ols_p": p}

    return contrast
