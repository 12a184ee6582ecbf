"""Scores of texts with intervals and ranks, and how stable they are."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Compared, Fitted
from delibsim.analysis.result import Result, make_table
from delibsim.domain.errors import unknown
from delibsim.domain.study import natural
from delibsim.measures.bradley_terry.stability import (
    Draws,
    bootstrap,
    by_judge,
    curve,
    r_of_probes,
    separation,
    split_half,
)
from delibsim.measures.bradley_terry.strengths import mid_ranks, ranks, told_apart
from delibsim.measures.inference.means import holm

Array = NDArray[np.float64]
NAN = float("nan")


def scores(fits: Sequence[Fitted], drawn: Mapping[str, Draws] | None = None) -> Result:
    """Every text with its score, interval and rank; `drawn` are bootstraps by dimension."""
    rows: list[dict[str, Any]] = []
    for own in fits:
        rows += _scores(own, (drawn or {}).get(own.dimension))
    return make_table("pairs/scores", rows)


def _scores(own: Fitted, drawn: Draws | None) -> Iterator[dict[str, Any]]:
    values, base = own.scaled()[0], own.base
    about, errors = base.scaled()
    level, sure = own.settings.level, not base.errors.reason
    found, apart = ranks(base.errors, level), told_apart(base.errors, level, own.fit.scores)
    ends = _drawn_ends(base, drawn, about)
    half = _quantile(own.settings.level) * errors
    won, lost, tied = _tallies(own)
    rank = mid_ranks(own.fit.scores, own.fit.graph.component)
    notes = own.fit.notes
    order = sorted(
        range(len(own.ids)), key=lambda place: (natural(own.groups[place]), -values[place])
    )
    for place in order:
        yield {
            "dimension": own.dimension,
            "group": own.groups[place],
            "id": own.ids[place],
            "score": values[place],
            "random_score": NAN if base is own else about[place],
            "unit": unit_of(base),
            "se": errors[place],
            "low": about[place] - half[place],
            "high": about[place] + half[place],
            "boot_low": ends[0][place],
            "boot_high": ends[1][place],
            "rank": rank[place],
            "rank_low": found.low[place] if sure else NAN,
            "rank_high": found.high[place] if sure else NAN,
            "apart": None if np.isnan(apart[place]) else bool(apart[place]),
            "wins": won[place],
            "losses": lost[place],
            "ties": tied[place],
            "component": int(own.fit.graph.component[place]) + 1,
            "note": notes[place] or base.errors.reason,
        }


def unit_of(base: Fitted) -> str:
    """What the errors of these votes rest on; "" where there are none."""
    if base.errors.reason:
        return ""
    return "pairs" if base.errors.clustered else "votes"


def _drawn_ends(own: Fitted, drawn: Draws | None, values: Array) -> tuple[Array, Array]:
    """The ends of the intervals by the bootstrap on the scale of the scores; NaN without draws."""
    if drawn is None or not len(drawn.scores):
        nothing = np.full(len(values), NAN)
        return nothing, nothing
    low, high = drawn.intervals(own.settings.level)
    return values + (low - own.fit.scores) / own.unit, values + (high - own.fit.scores) / own.unit


def _tallies(own: Fitted) -> tuple[Any, Any, Any]:
    """Votes for each text, against it, and ties (n,)."""
    n, a, b = len(own.ids), own.outcome == 1, own.outcome == -1
    first, second = own.first, own.second
    won = np.bincount(first[a], minlength=n) + np.bincount(second[b], minlength=n)
    lost = np.bincount(first[b], minlength=n) + np.bincount(second[a], minlength=n)
    tie = own.outcome == 0
    tied = np.bincount(first[tie], minlength=n) + np.bincount(second[tie], minlength=n)
    return won, lost, tied


def differences(fits: Sequence[Fitted]) -> Result:
    """Differences between texts that are asked for; WrongInput for a text that nobody compared."""
    rows: list[dict[str, Any]] = []
    asked = False
    for own in fits:
        _refuse_unknown(own.settings.differences, fits)
        asked = asked or bool(own.settings.top or own.settings.differences)
        rows += _differences(own, own.base)

    return make_table("pairs/differences", rows, why="" if asked else "not_asked")


def _refuse_unknown(asked: Sequence[tuple[str, str]], fits: Sequence[Fitted]) -> None:
    known = sorted({id for own in fits for id in own.ids})
    for pair in asked:
        for id in pair:
            if id not in known:
                raise unknown("text", id, known)


def _differences(whole: Fitted, own: Fitted) -> Iterator[dict[str, Any]]:
    """The rows of one dimension: which are asked for by all votes, what they hold by `own`."""
    pairs = _asked(whole)
    if not pairs:
        return
    from scipy.special import ndtr

    texts = np.array(pairs)
    scale = 1.0 if own.settings.scale == "win" else own.unit
    gaps = (own.fit.scores[texts[:, 0]] - own.fit.scores[texts[:, 1]]) / scale
    errors = own.errors.difference_errors(texts) / scale
    component = own.fit.graph.component[texts]
    gaps = np.where(component[:, 0] == component[:, 1], gaps, NAN)
    half = _quantile(own.settings.level) * errors
    p = 2 * ndtr(-np.abs(np.divide(gaps, errors, out=np.zeros_like(gaps), where=errors > 0)))
    p = np.where(np.isnan(gaps) | np.isnan(errors), NAN, p)
    corrected = holm(p.tolist())
    for place, (a, b) in enumerate(pairs):
        note = own.fit.notes[a] or own.fit.notes[b] or own.errors.reason
        apart = component[place, 0] != component[place, 1]
        yield {
            "dimension": own.dimension,
            "group": own.groups[a],
            "a": own.ids[a],
            "b": own.ids[b],
            "difference": gaps[place],
            "unit": unit_of(own),
            "se": errors[place],
            "low": gaps[place] - half[place],
            "high": gaps[place] + half[place],
            "p": p[place],
            "p_holm": corrected[place],
            "note": "not_connected" if apart else note,
        }


def _asked(own: Fitted) -> list[tuple[int, int]]:
    """The places of the pairs of texts whose differences are asked for, each once."""
    number = {id: place for place, id in enumerate(own.ids)}
    named = [pair for pair in own.settings.differences if number.keys() >= set(pair)]
    found = [(number[a], number[b]) for a, b in named]
    for group in dict.fromkeys(own.groups):
        places = [place for place, name in enumerate(own.groups) if name == group]
        scored = [place for place in places if not np.isnan(own.fit.scores[place])]
        best = sorted(scored, key=lambda place: -own.fit.scores[place])[: own.settings.top]
        found += combinations(best, 2)
    return list(dict.fromkeys(found))


def _quantile(level: float) -> float:
    """How many standard errors an interval of this level reaches to either side."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


SPLITS, DRAWS, FEW_DRAWS = 20, 10, 5
MANY = 5_000
"""Pairs from which on a share of them is drawn `FEW_DRAWS` times only: then draws differ little."""
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
NO_SEPARATION = (
    "separation is not given for an adaptive design: where pairs were chosen by what was known, it"
    " is too high"
)


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
