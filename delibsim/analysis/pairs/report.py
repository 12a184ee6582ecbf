"""The report on a comparison: its tables, and what they say in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy import isnan
from numpy.typing import NDArray

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.pages.cells import decimals
from delibsim.analysis.pairs.beside import DRAWN, against, crowd, judge_parameters
from delibsim.analysis.pairs.fitted import NAN, Compared, Fitted, Settings, fitted, known
from delibsim.analysis.pairs.judges import (
    conditions,
    counts,
    notes_on_conditions,
    order,
    told_of_conditions,
    why_none,
)
from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import Result, catalogue, each, make_table, said, tables_of
from delibsim.domain.errors import unknown
from delibsim.domain.reason import MEANINGS
from delibsim.domain.study import natural
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.likelihood import Dummy, Penalty
from delibsim.measures.bradley_terry.stability import (
    by_judge,
    curve,
    r_of_probes,
    separation,
    split_half,
)
from delibsim.measures.bradley_terry.strengths import mid_ranks, ranks, told_apart
from delibsim.measures.bradley_terry.uncertainty import FEW_PAIRS, NO_MAXIMUM, uncertainty
from delibsim.measures.inference.means import holm


def pairs_report(compared: Compared, settings: Settings, faults: Sequence[str] = ()) -> Report:
    """Every table of the report. With one judge all votes count as one judge's."""
    fits = []
    for dimension in compared.dimensions:
        found = fitted(compared, dimension, settings)
        if not found.votes:
            continue
        if len(found.judges) < 2:
            model = replace(settings.model, judges="pooled")
            found = replace(found, settings=replace(settings, model=model))
        fits.append(found)
    results = catalogue("pairs").in_order(_tables(compared, settings, fits))
    told = list(_sentences(compared, settings, fits, results))
    rows = results["counts"].rows
    return Report(
        catalogue=catalogue("pairs"),
        title=f"{compared.study}, compared in pairs ({compared.name})",
        results=results,
        about={
            "study": compared.study,
            "name": compared.name,
            "model": settings.model.kind,
            "place_bias": settings.model.order,
            "judged_as": settings.model.judges,
            "penalty": penalty_told(settings.model.penalty),
            "threshold": settings.model.theta,
            "scale": settings.scale,
        },
        told=told,
        summary=told,
        faults=faults,
        something=bool(fits),
        complete=bool((rows["planned"] == rows["answered"]).all()),
        drawn=partial(drawings, settings, fits, results),
        data=compared,
    )


def _tables(compared: Compared, settings: Settings, fits: Sequence[Fitted]) -> Iterator[Result]:
    """Every table, in any order."""
    data = {"fits": [(own,) for own in fits], "compared": [(own, compared) for own in fits]}
    yield from tables_of("pairs", data, drawn=DRAWN)
    asked = bool(fits) and bool(settings.top or settings.differences)
    refuse_unknown(fits, settings.differences if fits else ())
    why = "" if asked else "not_asked"
    yield make_table("pairs/differences", each(fits, differences), why=why)
    rows = list(each(fits, conditions, compared))
    notes = list(notes_on_conditions(compared, fits))
    detail = "" if rows else why_none(compared)
    yield make_table("pairs/conditions", rows, notes, detail=detail)
    yield from against(compared, fits)
    why = "" if any(len(own.judges) > 1 for own in fits) else "one_judge"
    yield make_table("pairs/judge_parameters", each(fits, judge_parameters), why=why)
    yield make_table("pairs/crowd_bt", each(fits, crowd), why=why)
    rows = list(each(fits, order))
    few = any(row["few"] and not isnan(row["delta"]) for row in rows)
    yield make_table("pairs/order", rows, notes=[said("pairs/few_votes")] if few else [])
    adaptive = any(own.chosen for own in fits)
    notes = [said("pairs/no_separation")] if adaptive else []
    yield make_table("pairs/stability", each(fits, stability), notes=notes)
    yield make_table("pairs/counts", counts(compared, fits))


def _sentences(
    compared: Compared, settings: Settings, fits: Sequence[Fitted], results: Mapping[str, Result]
) -> Iterator[str]:
    """What the tables say, sentence by sentence; nothing that they do not hold."""
    model = settings.model
    threshold = "estimated" if model.theta is None else f"{model.theta:g}"
    places = "estimated" if model.order else "not estimated"
    penalty = penalty_told(model.penalty)
    values = {"kind": model.kind, "penalty": penalty, "scale": settings.scale}
    yield said("pairs/model", threshold=threshold, places=places, **values)
    for own in fits:
        for told in _of_fit(own):
            yield f"{own.dimension}: {told}."
    table = results["scores"].rows
    scored = table.loc[table["score"].notna(), "dimension"]
    parts = results["groups"]
    parts = replace(parts, rows=parts.rows[parts.rows["dimension"].isin(scored)])
    yield from sayings("pairs", {"groups": parts}, "components")
    for dimension, own in table.dropna(subset=["apart"]).groupby("dimension", sort=False):
        apart, texts = int(own["apart"].sum()), counted(len(own), "text")
        yield said("pairs/apart", dimension=dimension, apart=apart, texts=texts)
    yield from told_of_conditions(results["conditions"])
    people = "" if compared.people is None else compared.people.name
    yield from sayings("pairs", results, "places", "runs", "people", "missing", whose=people)


def _of_fit(own: Fitted) -> Iterator[str]:
    """What one fit rests on, and what must be known of it."""
    yield said(
        "pairs/fit",
        votes=counted(len(own.votes), "vote"),
        pairs=counted(len(own.counts.pairs), "pair"),
        texts=counted(len(own.ids), "text"),
        likelihood=decimals(own.fit.log_likelihood),
    )
    used = bool(len(own.fit.counts.votes))
    for flag in own.fit.flags:
        placed = used and own.settings.model.order
        if flag in catalogue("pairs").said and (flag != "one_order" or placed):
            yield said(f"pairs/{flag}")
    if not used:
        yield said("pairs/unused")
    base = own.base
    reason = base.errors.reason
    if own.chosen and reason:
        yield said("pairs/no_random_part", meaning=MEANINGS[reason])
    elif own.chosen:
        yield said("pairs/chosen", drawn=len(base.votes), votes=len(own.votes))
    if reason:
        return
    errors = uncertainty(base.fit)
    if errors.note == NO_MAXIMUM:
        yield said("pairs/no_maximum", meaning=MEANINGS[NO_MAXIMUM])
    elif errors.clustered and not base.errors.clustered and not isnan(base.errors.scores).all():
        yield said("pairs/smaller_errors")
    if errors.note == FEW_PAIRS:
        yield said("pairs/few_pairs")


def penalty_told(penalty: Penalty | None) -> str:
    """A penalty as it is set.

    >>> penalty_told(Dummy(0.1)), penalty_told(None)
    ('dummy:0.1', 'none')
    """
    if penalty is None:
        return "none"
    if isinstance(penalty, Dummy):
        return f"dummy:{penalty.weight:g}"
    return f"normal:{penalty.tau:g}"


SCALES = {
    "log_odds": "log odds",
    "z": "z",
    "unit": "from 0 to 1",
    "win": "share of comparisons that it would win",
}
"""The scales of scores in words."""
PANELS = 6
"""The groups that are drawn, those with the most texts first chosen."""
LINES = {"r": "with all pairs", "half_half_r": "two parts"}


def drawings(
    settings: Settings, fits: Sequence[Fitted], results: Mapping[str, Result]
) -> list[Drawing]:
    """Every figure that the tables give."""
    known = [own.dimension for own in fits]
    table, curve = (results[name].rows for name in ("scores", "curve"))
    given = {
        "scores": _scores(settings, table[table["dimension"].isin(known)]),
        "curve": _long(curve[curve["dimension"].isin(known)]),
        "against_scores": results["against_scores"],
    }
    return drawings_of("pairs", given)


def _scores(settings: Settings, table: pd.DataFrame) -> Data:
    """The scores of the groups that can be read in one figure, and what is said of the others."""
    table = table.assign(panel=table["group"].where(table["group"] != "", table["dimension"]))
    sizes = table["panel"].value_counts(sort=False).sort_values(ascending=False, kind="stable")
    drawn = table[table["panel"].isin(sizes.index[:PANELS])]
    ends = entries_of("pairs")["scores"].how["ends"]
    more = ""
    if len(sizes) > PANELS:
        more += said("pairs/groups_drawn", drawn=PANELS, groups=len(sizes))
    if len(sizes) and sizes.iloc[0] > 2 * ends:
        more += said("pairs/texts_drawn", twice=2 * ends, ends=ends)
    if more:
        more += said("pairs/table_has_all")
    facts = {"scale": settings.scale, "level": 100 * settings.level}
    return Data(drawn, {**facts, "words": SCALES[settings.scale]}, more)


def _long(curve: pd.DataFrame) -> pd.DataFrame:
    """Both correlations below each other, `of` naming which."""
    parts = [curve.assign(of=words, r=curve[column]) for column, words in LINES.items()]
    return pd.concat(parts)


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
