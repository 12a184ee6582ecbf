"""Scores of texts with intervals and ranks, and differences between texts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from delibsim.analysis.pairs.fitted import Fitted, rows_of
from delibsim.analysis.study.result import Result
from delibsim.domain.errors import unknown
from delibsim.measures.bradley_terry.bootstrap import Draws
from delibsim.measures.bradley_terry.ranks import ranks, told_apart
from delibsim.measures.inference.multiplicity import holm

Array = NDArray[np.float64]
NAN = float("nan")

SCORES = {
    "dimension": "the dimension",
    "group": "the group within which the text was compared",
    "id": "id of the text",
    "score": "strength, on the scale of the report",
    "se": "its standard error, by pair where a pair has more than one vote and pairs are many",
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
    " on the scale z they have mean 0 and standard deviation 1 over all texts. Intervals leave"
    " out that texts and judges were chosen. Intervals of ranks hold for all differences of a text"
    " at once (Holm). Neighbours are told apart one by one."
)
PAGE = "docs/compare.md#scores"


def scores(fits: Sequence[Fitted], drawn: Mapping[str, Draws] | None = None) -> Result:
    """Every text with its score, interval and rank; `drawn` are bootstraps by dimension."""
    rows: list[dict[str, Any]] = []
    for own in fits:
        rows += _scores(own, (drawn or {}).get(own.dimension))
    return Result("scores", "Scores", DEFINITION, PAGE, rows_of(rows, SCORES), SCORES)


def _scores(own: Fitted, drawn: Draws | None) -> Iterator[dict[str, Any]]:
    values, errors = own.scaled()
    level = own.settings.level
    found, apart = ranks(own.errors, level), told_apart(own.errors, level)
    ends = _drawn_ends(own, drawn, values)
    half = _quantile(own.settings.level) * errors
    won, lost, tied = _tallies(own)
    notes = own.fit.notes
    order = sorted(range(len(own.ids)), key=lambda place: (own.groups[place], -values[place]))
    for place in order:
        yield {
            "dimension": own.dimension,
            "group": own.groups[place],
            "id": own.ids[place],
            "score": values[place],
            "se": errors[place],
            "low": values[place] - half[place],
            "high": values[place] + half[place],
            "boot_low": ends[0][place],
            "boot_high": ends[1][place],
            "rank": found.rank[place],
            "rank_low": found.low[place],
            "rank_high": found.high[place],
            "apart": None if np.isnan(apart[place]) else bool(apart[place]),
            "wins": won[place],
            "losses": lost[place],
            "ties": tied[place],
            "component": int(own.fit.graph.component[place]) + 1,
            "note": notes[place],
        }


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
    "difference": "score of a less that of b, on the scale of the report",
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
        rows += _differences(own)
    definition = (
        "A row a pair of texts that was asked for. A difference has an error of its own: two texts"
        " can be told apart although their intervals overlap."
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


def _differences(own: Fitted) -> Iterator[dict[str, Any]]:
    pairs = _asked(own)
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
    p = np.where(np.isnan(gaps), NAN, p)
    corrected = holm(p.tolist())
    for place, (a, b) in enumerate(pairs):
        note = own.fit.notes[a] or own.fit.notes[b]
        apart = component[place, 0] != component[place, 1]
        yield {
            "dimension": own.dimension,
            "group": own.groups[a],
            "a": own.ids[a],
            "b": own.ids[b],
            "difference": gaps[place],
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
