"""Scores of texts with intervals and ranks, and differences between texts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Fitted, rows_of
from delibsim.analysis.study.result import Result
from delibsim.domain.errors import unknown
from delibsim.domain.study import natural
from delibsim.measures.bradley_terry.stability import Draws
from delibsim.measures.bradley_terry.strengths import mid_ranks, ranks, told_apart
from delibsim.measures.inference.means import holm

Array = NDArray[np.float64]
NAN = float("nan")

SCORES = {
    "dimension": "the dimension",
    "group": "the group within which the text was compared",
    "id": "id of the text",
    "score": "strength, on the scale of the report",
    "random_score": "of adaptive designs: strength by the random part of the votes alone, about"
    " which the interval lies",
    "unit": "what errors and intervals rest on: votes, or pairs where a pair has more than one vote"
    " and pairs are many; of adaptive designs those of the random part",
    "se": "standard error of the score; of random_score where there is one",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "boot_low": "lower end of its interval by the bootstrap of pairs",
    "boot_high": "upper end of its interval by the bootstrap of pairs",
    "rank": "place by score in its component, 1 for the strongest, whether or not neighbours can be"
    " told apart; equal scores share the mean",
    "rank_low": "the best rank that the text may have",
    "rank_high": "the worst rank that the text may have",
    "apart": "whether the text can be told apart from the next weaker one of its component",
    "wins": "votes for the text",
    "losses": "votes for the other text",
    "ties": "votes for neither",
    "component": "texts with the same number can be compared, others cannot",
    "note": "why there is no strength without a penalty",
}
DEFINITION = (
    "A row a text. Scores add up to 0 in each component and only their differences mean something;"
    " on the scale z they have mean 0 and standard deviation 1 over all texts. Intervals are those"
    " of the normal distribution, and leave out that texts and judges were chosen. Intervals of"
    " ranks hold for all differences of a text at once (Holm). Neighbours are told apart one by"
    " one."
)
PAGE = "docs/compare.md#scores"


def scores(fits: Sequence[Fitted], drawn: Mapping[str, Draws] | None = None) -> Result:
    """Every text with its score, interval and rank; `drawn` are bootstraps by dimension."""
    rows: list[dict[str, Any]] = []
    for own in fits:
        rows += _scores(own, (drawn or {}).get(own.dimension))
    return Result("scores", "Scores", DEFINITION, PAGE, rows_of(rows, SCORES), SCORES)


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
    order = sorted(range(len(own.ids)), key=lambda at: (natural(own.groups[at]), -values[at]))
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


DIFFERENCES = {
    "dimension": "the dimension",
    "group": "the group of both texts",
    "a": "a text",
    "b": "another text",
    "difference": "score of a less that of b, on the scale of the report; of adaptive designs by"
    " the random part of the votes alone",
    "unit": "what its error rests on: votes, or pairs",
    "se": "its standard error, which is none of a score alone",
    "low": "lower end of its interval",
    "high": "upper end of its interval",
    "p": "p of no difference",
    "p_holm": "the same by Holm over the differences of this table on the dimension",
    "note": "why there is none, or none without a penalty, of a or else of b",
}


def differences(fits: Sequence[Fitted]) -> Result:
    """Differences between texts that are asked for; WrongInput for a text that nobody compared."""
    rows: list[dict[str, Any]] = []
    asked = False
    for own in fits:
        _refuse_unknown(own.settings.differences, fits)
        asked = asked or bool(own.settings.top or own.settings.differences)
        rows += _differences(own, own.base)
    definition = (
        "A row a pair of texts that was asked for. A difference has an error of its own: two texts"
        " can be told apart although their intervals overlap. Intervals and p are those of the"
        " normal distribution."
    )
    return Result(
        name="differences",
        title="Differences between texts",
        definition=definition,
        source=PAGE,
        rows=rows_of(rows, DIFFERENCES),
        meanings=DIFFERENCES,
        why_not="" if asked else "not_asked",
        detail="" if asked else "ask with --top 5, or --difference ID,ID",
    )


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
