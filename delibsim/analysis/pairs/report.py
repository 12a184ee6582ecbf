"""The report on a comparison: its tables, and what they say in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
from numpy import isnan

from delibsim.analysis.figures.drawing import Drawing
from delibsim.analysis.figures.entries import Data, drawings_of, entries_of
from delibsim.analysis.pages.cells import decimals
from delibsim.analysis.pairs.beside import DRAWN, against, crowd, judge_parameters
from delibsim.analysis.pairs.conditions import (
    conditions,
    notes_on_conditions,
    told_of_conditions,
    why_none,
)
from delibsim.analysis.pairs.fitted import Compared, Fitted, Settings, fitted
from delibsim.analysis.pairs.judges import counts, order
from delibsim.analysis.pairs.scores import differences, refuse_unknown, stability
from delibsim.analysis.report import Report, sayings
from delibsim.analysis.result import Result, catalogue, each, make_table, said, tables_of
from delibsim.domain.reason import MEANINGS
from delibsim.domain.text import counted
from delibsim.measures.bradley_terry.likelihood import Dummy, Penalty
from delibsim.measures.bradley_terry.uncertainty import FEW_PAIRS, NO_MAXIMUM, uncertainty


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
    for dimension, known in table.dropna(subset=["apart"]).groupby("dimension", sort=False):
        apart, texts = int(known["apart"].sum()), counted(len(known), "text")
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
