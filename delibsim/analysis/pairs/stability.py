"""How stable scores are: halves of pairs and of judges, shares of pairs, and drawn pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from delibsim.analysis.pairs.fitted import Compared, Fitted, rows_of
from delibsim.analysis.study.result import Result
from delibsim.measures.bradley_terry.stability import (
    Draws,
    bootstrap,
    by_judge,
    curve,
    r_of_probes,
    separation,
    split_half,
)

PAGE = "docs/compare.md#stability"
SPLITS, DRAWS, FEW_DRAWS = 20, 10, 5
MANY = 5_000
"""Pairs from which on a share of them is drawn `FEW_DRAWS` times only: then draws differ little."""
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
NO_SEPARATION = (
    "separation is not given for an adaptive design: where pairs were chosen by what was known, it"
    " is too high"
)
NAN = float("nan")

STABILITY = {
    "dimension": "the dimension",
    "r": "correlation of the scores from two halves of the pairs, mean over splits",
    "rho": "the same of ranks (Spearman)",
    "tau": "the same of order (Kendall's tau-b)",
    "reliability": "of all votes together, from r (Spearman and Brown)",
    "by_judge": "correlation of the scores from two halves of the judges, mean over splits",
    "separation": "share of the variance of the scores that is no error; not of adaptive designs",
    "probe_r": "of adaptive designs: correlation of the votes on pairs drawn at random with the"
    " differences of the scores from all other pairs",
    "splits": "splits at random",
    "draws": "draws of the bootstrap over pairs",
    "error_ratio": "mean error by the bootstrap over that of the fit",
    "penalised": "share of draws in which a text has no strength without the penalty",
}


def stability(
    compared: Compared, fits: Sequence[Fitted], drawn: Mapping[str, Draws] | None = None
) -> Result:
    """How alike the scores of halves are, and the errors by the bootstrap to those of the fit."""
    adaptive = any(own.chosen for own in fits)
    rows = []
    for whole in fits:
        own = whole.base
        halves = split_half(own.counts.pooled(), own.pooled, compared.seed, SPLITS)
        of_judges = by_judge(own.counts, own.pooled, compared.seed, SPLITS)
        row: dict[str, Any] = {"dimension": own.dimension, "r": _mean(halves.r)}
        row |= {"rho": _mean(halves.rho), "tau": _mean(halves.tau)}
        row |= {"reliability": halves.reliability, "by_judge": _mean(of_judges.r)}
        known = separation(own.fit.scores, own.errors.scores, own.fit.graph)
        row |= {"separation": NAN if whole.chosen else known, "splits": SPLITS}
        row["probe_r"] = _probe_r(whole)
        rows.append(row | _of_draws(own, (drawn or {}).get(own.dimension)))
    definition = (
        "A row a dimension; all judges count as one in halves. NaN where halves are too small. The"
        " bootstrap draws pairs with all their votes, within groups. Of adaptive designs all but"
        " probe_r comes from the random part of the votes."
    )
    return Result(
        name="stability",
        title="Stability",
        definition=definition,
        source=PAGE,
        rows=rows_of(rows, STABILITY),
        meanings=STABILITY,
        notes=[NO_SEPARATION] if adaptive else [],
    )


def _probe_r(own: Fitted) -> float:
    """How the votes on pairs that were drawn at random agree with the scores from all others."""
    if not own.chosen:
        return NAN
    votes = (own.first, own.second, own.outcome)
    return r_of_probes(votes, own.random, len(own.ids), own.pooled)


def _of_draws(own: Fitted, drawn: Draws | None) -> dict[str, Any]:
    """What the bootstrap says of errors."""
    if drawn is None or not len(drawn.scores):
        return {"draws": 0, "error_ratio": NAN, "penalised": NAN}
    n = len(drawn.scores)
    ratio = drawn.errors / np.where(own.errors.scores > 0, own.errors.scores, NAN)
    return {"draws": n, "error_ratio": _mean(ratio), "penalised": drawn.penalised / n}


def drawn_pairs(compared: Compared, fits: Sequence[Fitted]) -> dict[str, Draws]:
    """The bootstrap over pairs by dimension; none where no draws are asked for."""
    found = {}
    for own in (one.base for one in fits):
        number = own.settings.bootstrap
        if number and not own.errors.reason:
            groups = np.unique(np.array(own.groups), return_inverse=True)[1]
            found[own.dimension] = bootstrap(own.fit, number, compared.seed, groups)
    return found


CURVE = {
    "dimension": "the dimension",
    "share": "share of the pairs",
    "pairs": "how many they are",
    "r": "correlation of their scores with those of all pairs, which is too good: they share votes",
    "rho": "the same of ranks (Spearman)",
    "half_half_r": "correlation of the scores from two sets of so many pairs without one in common",
    "draws": "draws of which these are means",
}


def curve_of_shares(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """How scores from a share of the pairs agree with those of all, and shares with each other."""
    rows = []
    for own in (one.base for one in fits):
        draws = DRAWS if len(own.counts.pairs) < MANY else FEW_DRAWS
        for step in curve(own.counts.pooled(), own.pooled, SHARES, compared.seed, draws):
            rows.append({"dimension": own.dimension, **vars(step), "draws": draws})
    definition = (
        "A row a share of the pairs; all judges count as one. NaN where two sets need more pairs"
        " than there are, or too few texts have scores."
    )
    title = "Scores by the number of pairs"
    return Result("curve", title, definition, PAGE, rows_of(rows, CURVE), CURVE)


def _mean(values: Any) -> float:
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else NAN
