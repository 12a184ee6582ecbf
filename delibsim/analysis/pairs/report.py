"""The report on a comparison: its tables, and what they say in sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
from numpy import isnan

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.pages.cells import decimals
from delibsim.analysis.pairs.beside import (
    DRAWN,
    against,
    agreement,
    crowd,
    judge_models,
    judge_parameters,
)
from delibsim.analysis.pairs.conditions import (
    conditions,
    notes_on_conditions,
    told_of_conditions,
    why_none,
)
from delibsim.analysis.pairs.fitted import Compared, Fitted, Settings, fitted
from delibsim.analysis.pairs.judges import (
    FEW_VOTES,
    counts,
    groups,
    judges,
    order,
    order_scores,
    runs,
    transitivity,
)
from delibsim.analysis.pairs.scores import (
    NO_SEPARATION,
    curve_of_shares,
    differences,
    refuse_unknown,
    scores,
    stability,
)
from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import Result, catalogue, each, make_table
from delibsim.domain.reason import MEANINGS
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.likelihood import Dummy, Penalty
from delibsim.measures.bradley_terry.uncertainty import FEW_PAIRS, NO_MAXIMUM, uncertainty

FLAGS = {
    "one_order": "every pair came in the order of a sorted list: place cannot be told from merit",
    "not_converged": "the fit did not converge, and gives no scores; take fewer"
    " parameters (judges=pooled), or another penalty",
    "no_ties": "a judge gave no tie, so its threshold is 0",
    "all_ties": "a judge gave ties only, which say nothing of scores",
    "alpha_zero": "a judge's votes have nothing to do with the scores",
    "always_a": "a judge always names the text shown first, and says nothing of texts",
    "always_b": "a judge always names the text shown second, and says nothing of texts",
}


Rows = Callable[[Fitted], Iterable[Mapping[str, Any]]]
OF_FITS: Mapping[str, Rows] = {
    "scores": scores,
    "agreement": agreement,
    "judge_models": judge_models,
    "order_scores": order_scores,
    "transitivity": transitivity,
    "curve": curve_of_shares,
    "groups": groups,
}
"""Tables from the fits alone."""


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
    for name, rows in OF_FITS.items():
        yield make_table(f"pairs/{name}", each(fits, rows), drawn=DRAWN)
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
    yield make_table("pairs/order", rows, notes=[FEW_VOTES] if few else [])
    adaptive = any(own.chosen for own in fits)
    notes = [NO_SEPARATION] if adaptive else []
    yield make_table("pairs/stability", each(fits, stability), notes=notes)
    yield make_table("pairs/judges", each(fits, judges, compared))
    yield make_table("pairs/runs", each(fits, runs, compared.asked))
    yield make_table("pairs/counts", counts(compared, fits))


def _sentences(
    compared: Compared, settings: Settings, fits: Sequence[Fitted], results: Mapping[str, Result]
) -> Iterator[str]:
    """What the tables say, sentence by sentence; nothing that they do not hold."""
    model = settings.model
    threshold = "estimated" if model.theta is None else f"{model.theta:g}"
    places = "estimated" if model.order else "not estimated"
    yield (
        f"Model {model.kind}, penalty {penalty_told(model.penalty)}, threshold {threshold},"
        f" place bias {places}; scores on the scale {settings.scale}."
    )
    for own in fits:
        for told in _of_fit(own):
            yield f"{own.dimension}: {told}."
    table = results["scores"].rows
    scored = table.loc[table["score"].notna(), "dimension"]
    parts = results["groups"]
    parts = replace(parts, rows=parts.rows[parts.rows["dimension"].isin(scored)])
    yield from sayings("pairs", {"groups": parts}, "components")
    for dimension, known in table.dropna(subset=["apart"]).groupby("dimension", sort=False):
        yield (
            f"{dimension}: {int(known['apart'].sum())} of {counted(len(known), 'text')} can be"
            " told apart from the next weaker one."
        )
    yield from told_of_conditions(results["conditions"])
    people = "" if compared.people is None else compared.people.name
    yield from sayings("pairs", results, "places", "runs", "people", "missing", whose=people)


def _of_fit(own: Fitted) -> Iterator[str]:
    """What one fit rests on, and what must be known of it."""
    n, pairs = counted(len(own.ids), "text"), counted(len(own.counts.pairs), "pair")
    votes = counted(len(own.votes), "vote")
    yield f"{votes} on {pairs} of {n}; log likelihood {decimals(own.fit.log_likelihood)}"
    used = bool(len(own.fit.counts.votes))
    for flag in own.fit.flags:
        if flag in FLAGS and (flag != "one_order" or (used and own.settings.model.order)):
            yield FLAGS[flag]
    if not used:
        yield "no vote says anything of the texts, so none has a score"
    base = own.base
    if own.chosen and base.errors.reason:
        yield (
            f"{MEANINGS[base.errors.reason]}; ranks stand, and for intervals more pairs at random"
            " are needed (design.probe=0.3 from the start)"
        )
    elif own.chosen:
        yield (
            "pairs were chosen by what was known of them, so scores and their order are those of"
            f" all votes, and errors, intervals and tests those of the {len(base.votes):,} of"
            f" {len(own.votes):,} votes on pairs that were drawn at random"
        )
    if base.errors.reason:
        return
    errors = uncertainty(base.fit)
    if errors.note == NO_MAXIMUM:
        yield f"{MEANINGS[NO_MAXIMUM]}; take fewer parameters, or more votes"
    elif errors.clustered and not base.errors.clustered and not isnan(base.errors.scores).all():
        yield (
            "errors by pair are smaller than those of the model, which are given instead and take"
            " votes on one pair as independent"
        )
    if errors.note == FEW_PAIRS:
        yield (
            "there are fewer than two pairs a parameter, too few to say how far votes on one pair"
            " depend on each other"
        )


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
        more += f" Drawn are the {PANELS} of {len(sizes)} groups that have the most texts."
    if len(sizes) and sizes.iloc[0] > 2 * ends:
        more += f" Of a group of more than {2 * ends} texts the {ends} strongest and the {ends}"
        more += " weakest are drawn."
    if more:
        more += " The table has every text."
    facts = {"scale": settings.scale, "level": 100 * settings.level}
    return Data(drawn, {**facts, "words": SCALES[settings.scale]}, more)


def _long(curve: pd.DataFrame) -> pd.DataFrame:
    """Both correlations below each other, `of` naming which."""
    parts = [curve.assign(of=words, r=curve[column]) for column, words in LINES.items()]
    return pd.concat(parts)
