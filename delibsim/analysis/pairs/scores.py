"""Scores of texts with intervals and ranks, and how stable they are."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import NAN, Fitted, known
from delibsim.domain.errors import unknown
from delibsim.domain.study import natural
from delibsim.measures.bradley_terry.stability import (
    by_judge,
    curve,
    r_of_probes,
    separation,
    split_half,
)
from delibsim.measures.bradley_terry.strengths import mid_ranks, ranks, told_apart
from delibsim.measures.inference.means import holm

Array = NDArray[np.float64]
Row = dict[str, Any]


def scores(own: Fitted) -> Iterator[Row]:
    """Every text with its score, interval and rank."""
    values, base = own.scaled()[0], own.base
    about, errors = base.scaled()
    level, sure = own.settings.level, not base.errors.reason
    found, apart = ranks(base.errors, level), told_apart(base.errors, level, own.fit.scores)
    boot_low, boot_high = _drawn_ends(base, about)
    half = _quantile(level) * errors
    won, lost, tied = _tallies(own)
    rank = mid_ranks(own.fit.scores, own.fit.graph.component)
    numbers = range(len(own.ids))
    for place in sorted(numbers, key=lambda place: (natural(own.groups[place]), -values[place])):
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
            "boot_low": boot_low[place],
            "boot_high": boot_high[place],
            "rank": rank[place],
            "rank_low": found.low[place] if sure else NAN,
            "rank_high": found.high[place] if sure else NAN,
            "apart": None if np.isnan(apart[place]) else bool(apart[place]),
            "wins": won[place],
            "losses": lost[place],
            "ties": tied[place],
            "component": int(own.fit.graph.component[place]) + 1,
            "note": own.fit.notes[place] or base.errors.reason,
        }


def unit_of(base: Fitted) -> str:
    """What the errors of these votes rest on; "" where there are none."""
    if base.errors.reason:
        return ""
    return "pairs" if base.errors.clustered else "votes"


def _drawn_ends(own: Fitted, values: Array) -> tuple[Array, Array]:
    """The ends of the intervals by the bootstrap on the scale of the scores; NaN without draws."""
    if own.drawn is None:
        return np.full(len(values), NAN), np.full(len(values), NAN)
    low, high = own.drawn.intervals(own.settings.level)
    return values + (low - own.fit.scores) / own.unit, values + (high - own.fit.scores) / own.unit


def _tallies(own: Fitted) -> Iterator[NDArray[np.int64]]:
    """Votes for each text, against it, and ties (n,)."""
    for first, second in ((1, -1), (-1, 1), (0, 0)):
        of_first = np.bincount(own.first[own.outcome == first], minlength=len(own.ids))
        of_second = np.bincount(own.second[own.outcome == second], minlength=len(own.ids))
        yield of_first + of_second


def refuse_unknown(fits: Sequence[Fitted], asked: Sequence[tuple[str, str]]) -> None:
    """WrongInput for a text whose difference is asked for and that nobody compared."""
    ids = sorted({id for own in fits for id in own.ids})
    for pair in asked:
        for id in pair:
            if id not in ids:
                raise unknown("text", id, ids)


def differences(whole: Fitted) -> Iterator[Row]:
    """Differences between texts: which are asked for by all votes, what they hold by the base."""
    pairs, own = _asked(whole), whole.base
    if not pairs:
        return
    from scipy.special import ndtr

    texts = np.array(pairs)
    scale = 1.0 if own.settings.scale == "win" else own.unit
    gaps = (own.fit.scores[texts[:, 0]] - own.fit.scores[texts[:, 1]]) / scale
    errors = own.errors.difference_errors(texts) / scale
    component = own.fit.graph.component[texts]
    apart = component[:, 0] != component[:, 1]
    gaps = np.where(apart, NAN, gaps)
    half = _quantile(own.settings.level) * errors
    p = 2 * ndtr(-np.abs(np.divide(gaps, errors, out=np.zeros_like(gaps), where=errors > 0)))
    p = np.where(np.isnan(gaps) | np.isnan(errors), NAN, p)
    corrected = holm(p.tolist())
    for place, (a, b) in enumerate(pairs):
        note = own.fit.notes[a] or own.fit.notes[b] or own.errors.reason
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
            "note": "not_connected" if apart[place] else note,
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


def stability(whole: Fitted) -> Iterator[Row]:
    """How alike the scores of halves are, and the errors by the bootstrap to those of the fit."""
    own = whole.base
    halves = split_half(own.counts.pooled(), own.pooled, own.seed, SPLITS)
    of_judges = by_judge(own.counts, own.pooled, own.seed, SPLITS)
    row: Row = {"dimension": own.dimension, "splits": SPLITS}
    row |= {"r": _mean(halves.r), "rho": _mean(halves.rho), "tau": _mean(halves.tau)}
    row |= {"reliability": halves.reliability, "by_judge": _mean(of_judges.r), "draws": 0}
    if whole.chosen:
        votes = whole.first, whole.second, whole.outcome
        row["probe_r"] = r_of_probes(votes, whole.random, len(whole.ids), whole.pooled)
    else:
        row["separation"] = separation(own.fit.scores, own.errors.scores, own.fit.graph)
    if drawn := own.drawn:
        n = len(drawn.scores)
        ratio = drawn.errors / np.where(own.errors.scores > 0, own.errors.scores, NAN)
        row |= {"draws": n, "error_ratio": _mean(ratio), "penalised": drawn.penalised / n}
    yield row


def curve_of_shares(whole: Fitted) -> Iterator[Row]:
    """How scores from a share of the pairs agree with those of all, and shares with each other."""
    own = whole.base
    draws = DRAWS if len(own.counts.pairs) < MANY else FEW_DRAWS
    for step in curve(own.counts.pooled(), own.pooled, SHARES, own.seed, draws):
        yield {"dimension": own.dimension, **vars(step), "draws": draws}


def _mean(values: Any) -> float:
    own = known(np.asarray(values, dtype=float))
    return float(own.mean()) if own.size else NAN
