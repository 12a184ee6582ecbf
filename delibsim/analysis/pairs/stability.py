"""How stable scores are: halves of pairs and of judges, shares of pairs, and drawn pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from delibsim.analysis.pairs.fitted import Compared, Fitted
from delibsim.analysis.result import Result, make_table
from delibsim.measures.bradley_terry.stability import (
    Draws,
    bootstrap,
    by_judge,
    curve,
    r_of_probes,
    separation,
    split_half,
)

SPLITS, DRAWS, FEW_DRAWS = 20, 10, 5
MANY = 5_000
"""Pairs from which on a share of them is drawn `FEW_DRAWS` times only: then draws differ little."""
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
NO_SEPARATION = (
    "separation is not given for an adaptive design: where pairs were chosen by what was known, it"
    " is too high"
)
NAN = float("nan")


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

    return make_table("pairs/stability", rows, notes=[NO_SEPARATION] if adaptive else [])


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


def curve_of_shares(compared: Compared, fits: Sequence[Fitted]) -> Result:
    """How scores from a share of the pairs agree with those of all, and shares with each other."""
    rows = []
    for own in (one.base for one in fits):
        draws = DRAWS if len(own.counts.pairs) < MANY else FEW_DRAWS
        for step in curve(own.counts.pooled(), own.pooled, SHARES, compared.seed, draws):
            rows.append({"dimension": own.dimension, **vars(step), "draws": draws})

    return make_table("pairs/curve", rows)


def _mean(values: Any) -> float:
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if known.size else NAN
