"""What makes a winner, how strong debaters are, and whether place or length decided.

All functions take the table of `ratings.analysed` and return one row a term. A model
that cannot be estimated is one row of NaN with the reason in `note`.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from delibsim.analysis.debates.fits import (
    LOGIT_FIT,
    Inestimable,
    clustered,
    empty,
    inference,
    logit,
    logit_fit,
    signs,
    terms,
    together,
    with_constant,
    won,
)
from delibsim.analysis.debates.kinds import MODELS_AND_PEOPLE, Focus, sign_of
from delibsim.analysis.debates.ratings import debaters_of
from delibsim.domain.rating import DIMENSIONS
from delibsim.measures.bradley_terry.fit import centred
from delibsim.measures.reliability.ratings import variance_inflation

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
