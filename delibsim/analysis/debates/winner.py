"""What makes a winner and how strong debaters are; expertise of those who debate."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from delibsim.analysis.debates.contrasts import MODELS_AND_PEOPLE, Focus, sign_of
from delibsim.analysis.debates.fits import (
    LOGIT_FIT,
    Inestimable,
    clustered,
    empty,
    inference,
    logit,
    logit_fit,
    ols,
    signs,
    terms,
    together,
    with_constant,
    won,
)
from delibsim.analysis.debates.ratings import FEWEST, by_debater, debaters_of, of_t
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.bradley_terry.fit import centred
from delibsim.measures.inference.means import holm
from delibsim.measures.reliability.ratings import variance_inflation
from delibsim.store.instruments.own_answers import Covariates

PREDICTORS = DIMENSIONS[:-1]
"""The ten dimensions that predict the winner: performance is the rater's own summary of them."""


def winner_model(table: pd.DataFrame, focus: Focus = MODELS_AND_PEOPLE) -> pd.DataFrame:
    """Logistic regressions of winning on ten score differences, with HC1 errors.

    The differences and the winner are coded as proposition less opposition and, over the debates in
    which both kinds of debater met, as the kind in focus less the other: the model less the person.

    Columns: contrast, term, n, coefficient, se, z, p, low, high (the 95% interval of the
    coefficient), odds_ratio (of one point more), odds_ratio_low, odds_ratio_high, vif, pseudo_r2
    (McFadden 1974), log_likelihood, log_likelihood_null (a constant alone), note.
    """
    sides = pd.Series(1.0, index=table.index)
    found = [_winner(table, sides).assign(contrast="proposition - opposition")]
    sign = sign_of(table, focus)
    if sign.notna().any():
        found.append(_winner(table, sign).assign(contrast=focus.contrast))
    return together(found)


def _winner(table: pd.DataFrame, sign: pd.Series) -> pd.DataFrame:
    """The winner model of one contrast; +1 where it is proposition less opposition."""
    differences = {}
    for name in PREDICTORS:
        differences[name] = sign * (table[f"proposition.{name}"] - table[f"opposition.{name}"])
    proposition = won(table)
    outcome = proposition.where(sign > 0, 1 - proposition)
    data = pd.DataFrame(differences).assign(won=outcome).dropna().astype(float)
    x = data[list(PREDICTORS)]
    try:
        if len(data) <= len(PREDICTORS) + 1:
            raise Inestimable("too_few_ratings")
        fit = logit(data["won"], with_constant(x), cov_type="HC0")
    except Inestimable as reason:
        more = ("odds_ratio", "odds_ratio_low", "odds_ratio_high", "vif", *LOGIT_FIT)
        return empty(more, len(data), str(reason))
    # Asked for HC1, statsmodels gives a logit HC0: the factor that makes the one the other is
    # applied here.
    found = terms(fit, len(data), np.sqrt(len(data) / (len(data) - len(fit.params))))
    pairs = (("odds_ratio", "coefficient"), ("odds_ratio_low", "low"), ("odds_ratio_high", "high"))
    for name, of in pairs:
        found[name] = np.exp(found[of])
    found["vif"] = [np.nan, *variance_inflation(x)]
    return found.assign(**logit_fit(fit))


def bradley_terry(table: pd.DataFrame) -> pd.DataFrame:
    """Strengths of debaters with the advantage of the proposition, in general and on every motion.

    log odds(proposition wins) = strength(proposition) - strength(opposition) + side + motion.
    Strengths and motion effects add up to 0; errors are clustered by debate, so that intervals
    speak of these motions. Columns: kind (debater, side, motion), term, n, coefficient, se, z, p,
    low, high, unit ("debate"), df (of t: debates less terms), pseudo_r2, log_likelihood,
    log_likelihood_null, note. Where motion effects cannot be estimated they are left out, and the
    note of every row says so.
    """
    data = table.assign(won=won(table)).dropna(subset=["won"])
    data = data[data["proposition"] != data["opposition"]]
    debaters = debaters_of(data)
    motions = sorted(set(data["motion"])) if data["motion"].nunique() > 1 else []
    plain = signs(data)[debaters[1:]].assign(side=1.0)
    note = ""
    try:
        if len(debaters) < 2:
            raise Inestimable("one_debater")
        try:
            fit, spread = clustered(data, plain.join(_motion_effects(data, motions)))
        except Inestimable:
            motions, note = [], "motions_left_out"
            fit, spread = clustered(data, plain)
    except Inestimable as reason:
        return empty(("kind", "unit", "df", *LOGIT_FIT), len(data), str(reason))
    rows = []
    for kind, term, row in _contrasts(debaters, motions, len(fit.params)):
        effect, error = row @ fit.params, np.sqrt(row @ fit.cov_params() @ row)
        found = inference(effect, error, *spread) | {"unit": "debate", "df": spread[1]}
        rows.append({"kind": kind, "term": term, "n": len(data), **found, **logit_fit(fit)})
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
    data = table.assign(won=won(table)).dropna(subset=["won"])
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
        try:
            fit, spread = clustered(data.assign(won=outcome), x)
            found = terms(fit, len(data), *spread).assign(unit="debate", df=spread[1])
            rows.append(found[found["term"] == check].assign(**logit_fit(fit)))
        except Inestimable as reason:
            none = empty(("unit", "df", *LOGIT_FIT), len(data), str(reason))
            rows.append(none.assign(term=check, unit="debate"))
    return together(rows).rename(columns={"term": "check"})


Array = NDArray[np.float64]
UNKNOWN = Covariates()
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
    own = _given(view["debater"], people)
    other = _given(view["opponent"], people)
    having = set(view.loc[own.notna(), "kind"])
    return own.where(view["kind"].isin(having), other)


def _given(names: pd.Series, people: Mapping[str, Covariates]) -> pd.Series:
    """The expertise of each of these debaters, NaN where it is not given."""
    values = [people.get(who, UNKNOWN).expertise for who in names]
    return pd.Series(values, names.index, dtype=float)


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
            values = own[column].dropna()
            row = {"outcome": outcome, "group": group, "kind": own["kind"].iloc[0]}
            row |= {"expertise": own["expertise"].iloc[0]}
            row |= {"mean": values.mean(), "sd": values.std(ddof=1)}
            rows.append(row | _size(own.loc[values.index]))
    names = "outcome group kind expertise mean sd n debates persons".split()
    return pd.DataFrame(rows, columns=names)


def expertise_contrasts(table: pd.DataFrame, people: Mapping[str, Covariates]) -> pd.DataFrame:
    """Differences between the groups of `by_expertise`, by OLS with clustered errors.

    Errors are clustered by debate (all ratings of a debate judge the same two persons' speeches,
    and the expertise is the same for all of them), and once more by the person who debates: the
    first speaks of these debaters, the second of debaters like these. The sandwich has the factor
    G / (G - 1) * (n - 1) / (n - k) for G clusters and k groups, t has G - k degrees of freedom.
    Compared are groups of one kind, and groups of one expertise. There is no interval where one of
    the two has fewer than five clusters ("few_debates", "few_persons").

    Columns: outcome, contrast, unit ("debate" or "person"), units (clusters in both groups), n,
    difference, se, low, high, df, p, p_holm (over the contrasts of one outcome and unit), note.
    """
    data = _grouped(table, people)
    rows: list[dict[str, Any]] = []
    for outcome, column in OUTCOMES.items():
        for unit in CLUSTERS:
            rows += _expertise_contrasts(data.dropna(subset=[column]), outcome, column, unit)
    names = "outcome contrast unit units n difference se low high df p p_holm note".split()
    return pd.DataFrame(rows, columns=names)


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


def _expertise_contrasts(
    data: pd.DataFrame, outcome: str, column: str, unit: str
) -> list[dict[str, Any]]:
    """All contrasts of one outcome with errors clustered by one unit."""
    parts = _parts(data)
    if len(parts) < 2:
        return []
    names = list(parts)
    kinds = [own["kind"].iloc[0] for own in parts.values()]
    levels = [own["expertise"].iloc[0] for own in parts.values()]
    clusters = [set(own[unit]) for own in parts.values()]
    means = [own[column].mean() for own in parts.values()]
    df = float(len(set(data[unit])) - len(parts))
    errors = _errors(data, column, unit, names) if df >= 1 else None
    rows = []
    for i, j in combinations(range(len(parts)), 2):
        if kinds[i] != kinds[j] and levels[i] != levels[j]:
            continue
        row: dict[str, Any] = {"outcome": outcome, "contrast": f"{names[i]} - {names[j]}"}
        row |= {"unit": unit, "units": len(clusters[i] | clusters[j])}
        row |= {"n": sum(data["group"].isin([names[i], names[j]]))}
        row |= {"difference": means[i] - means[j], "df": df}
        few = min(len(clusters[i]), len(clusters[j])) < FEWEST
        rows.append(row | _tested(row["difference"], errors, (i, j), df, f"few_{unit}s" * few))
    corrected = holm([float(row["p"]) for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, corrected, strict=True)]


def _errors(data: pd.DataFrame, column: str, unit: str, names: list[str]) -> Array:
    """The covariance of the means of the groups, clustered by one unit."""
    x = pd.DataFrame({name: (data["group"] == name).astype(float) for name in names})
    groups = pd.factorize(data[unit])[0]
    spread = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    try:
        return ols(data[column].astype(float), x, **spread).cov_params().to_numpy()
    except Inestimable:  # the ratings of each group are the same
        return np.zeros((len(names), len(names)))


def _tested(
    difference: float,
    errors: Array | None,
    pair: tuple[int, int],
    df: float,
    few: str,
) -> dict[str, Any]:
    """Error, interval and p of the difference between two means, or why there are none."""
    none = dict.fromkeys(("se", "low", "high", "p"), np.nan)
    if errors is None:
        return none | {"note": few or "too_few_ratings"}
    i, j = pair
    se = float(np.sqrt(max(errors[i, i] + errors[j, j] - 2 * errors[i, j], 0.0)))
    if few or not se > 0:
        return none | {"se": se, "note": few or "no_variance"}
    half, p = of_t(difference, se, df)
    return {"se": se, "low": difference - half, "high": difference + half, "p": p, "note": ""}


def _size(own: pd.DataFrame) -> dict[str, int]:
    return {
        "n": len(own),
        "debates": own["debate"].nunique(),
        "persons": own["person"].nunique(),
    }
