"""How many texts people must code for a wanted error of an effect, and by which draw; and the
multiverse of codes: an effect under every choice of coder, wording and reading of levels.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.stats import entropy

from delibsim.analysis.coding.effect import (
    Array,
    CodedTexts,
    check_contrasts,
    contrasts_of,
    design_of,
    effect_rows,
    of_pair,
    proxy_table,
    sessions_of_each,
    told_apart,
)
from delibsim.analysis.report import Report
from delibsim.analysis.result import Result, catalogue, make_table
from delibsim.measures.corrected import Planned, planned
from delibsim.measures.designs import chances_by_doubt

SHARES = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
"""The shares of texts for which the error is foretold."""


def plan_of(
    outcomes: Sequence[CodedTexts],
    error: float | None,
    contrasts: Sequence[tuple[str, str]] = (),
) -> Report:
    """The report on how large the error of a contrast becomes if people code more texts."""
    check_contrasts(outcomes, contrasts)
    found: list[dict[str, Any]] = []
    told: list[str] = []
    for texts in outcomes:
        for a, b in contrasts or contrasts_of(texts.treatment):
            own = of_pair(texts, a, b)
            pair = f"{a} against {b}, {texts.outcome}"
            if not min(sessions_of_each(own.chosen(own.drawn), (a, b))):
                told.append(f"{pair}: people must have coded texts of both treatments")
                continue
            if not told_apart(own, a):
                told.append(f"{pair}: the treatments differ in what is held constant")
                continue
            design, contrast = design_of(own, a)
            plan = planned(design, proxy_table(own), own.people, own.chance, own.session, contrast)
            now = int(own.drawn.sum())
            named = {"outcome": texts.outcome, "a": a, "b": b}
            doubt = _doubt(own)
            found += [named | row for row in _foretold(plan, doubt, now)]
            if error is not None:
                told.append(f"{pair}: {_needed(plan, error, now)}")
            told += [f"{pair}: {one}" for one in _best(plan, doubt, now)]
    table = make_table("effects/plan", found)
    return Report(
        catalogue=catalogue("effects"),
        title="Codes of people for an effect on what was coded",
        results={table.name: table},
        about={"outcomes": [one.outcome for one in outcomes], "error": error},
        told=told,
        summary=told,
        something=bool(found),
        shape=lambda: {"sentences": told, "rows": table.plain()},
    )


def _doubt(own: CodedTexts) -> Array:
    """The doubt of the models about each text (n,): the entropy in bits of the levels they gave."""
    table = pd.DataFrame(dict(own.proxies))
    counts = [table.eq(value).sum(axis=1) for value in np.unique(table.stack())]
    shares = np.column_stack([np.zeros((len(table), 1)), *counts])
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)
    return np.asarray(entropy(shares, base=2, axis=1, nan_policy="omit"), dtype=np.float64)


def _by_doubt(plan: Planned, doubt: Array, codes: int) -> float:
    """The error if so many texts are drawn half by doubt; NaN where models do not differ."""
    if codes < 1 or not np.nansum(doubt):
        return math.nan
    if codes >= plan.units:
        return plan.error(1)
    return plan.error_of(chances_by_doubt(np.nan_to_num(doubt), codes))


def _best(plan: Planned, doubt: Array, now: int) -> Iterator[str]:
    """Which draw serves the contrast best, of as many texts as there are."""
    by_doubt, equal = _by_doubt(plan, doubt, now), plan.error(now / plan.units)
    if math.isnan(by_doubt):
        return
    draw = "draw=doubt" if by_doubt < equal else "draw=spread"
    yield (
        f"{draw} serves it best: an error of {by_doubt:.3f} for {now:,} codes drawn half by doubt,"
        f" of {equal:.3f} at most for as many spread over sessions"
    )


def _foretold(plan: Planned, doubt: Array, now: int) -> Iterator[dict[str, Any]]:
    """The error by the share of texts that people code, in these sessions and in twice as many."""
    shares = sorted({*SHARES, now / plan.units})
    for share in shares:
        codes = round(share * plan.units)
        yield {
            "codes": codes,
            "share": share,
            "error": plan.error(share),
            "by_doubt": _by_doubt(plan, doubt, codes),
            "twice": plan.error(share / 2, 2),
            "note": "as many as there are" if codes == now else "",
        }


def _needed(plan: Planned, error: float, now: int) -> str:
    """How many texts people must still code for this error."""
    share, wider = plan.share(error), plan.share(error, 2)
    if math.isnan(share) and math.isnan(wider):
        return (
            f"an error of {error:g} needs more than twice the sessions; with all texts of these"
            f" coded it is {plan.error(1):.3f}"
        )
    if math.isnan(share):
        codes = math.ceil(wider * plan.units * 2)
        return (
            f"an error of {error:g} is out of reach in these sessions ({plan.error(1):.3f} with all"
            f" texts coded); in twice as many it takes {codes:,} codes"
        )
    codes = math.ceil(share * plan.units)
    if codes <= now:
        return f"an error of {error:g} takes {codes:,} codes; there are {now:,}"
    return f"an error of {error:g} takes {codes:,} codes: {codes - now:,} more than there are"


LEVEL = "level"
MOST_LEVELS = 8
"""Different values above which codes have no thresholds."""
ROUNDING = 1e-12
NAMED = ["outcome", "a", "b", "row"]
ALL = "all models"


def multiverse(
    worded: Mapping[str, Sequence[CodedTexts]], contrasts: Sequence[tuple[str, str]] = ()
) -> list[Result]:
    """The tables `multiverse`, a row a contrast and choices, and `multiverse_shares`.

    `worded` are the same outcomes by the wording in which the models were asked.
    """
    found = []
    for wording, outcomes in worded.items():
        for texts in outcomes:
            for choices, chosen in _choices(texts):
                for row in effect_rows(chosen, contrasts or contrasts_of(texts.treatment)):
                    if row["row"] != "people":
                        found.append(row | choices | {"wording": wording})
    table = make_table("effects/multiverse", [_plain(row) for row in found])
    return [table, make_table("effects/multiverse_shares", list(_shares(table.rows)))]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    names = (*NAMED, "coder", "wording", "reading", "estimate", "se", "low", "high", "note")
    return {name: row[name] for name in names if name in row}


def _choices(texts: CodedTexts) -> Iterator[tuple[dict[str, str], CodedTexts]]:
    """The texts under each coder and reading, and what was chosen."""
    given = [*texts.proxies.values(), texts.people]
    for reading, least in _readings(given):
        people = _read(texts.people, least)
        every = {name: _read(values, least) for name, values in texts.proxies.items()}
        yield (
            {"coder": ALL, "reading": reading},
            replace(texts, people=people, proxies=every),
        )
        several = texts.proxies if len(texts.proxies) > 1 else {}
        for coder, values in _coders(several):
            alone = replace(texts, people=people, proxies={coder: _read(values, least)})
            yield {"coder": coder, "reading": reading}, alone


def _readings(given: Sequence[Array]) -> list[tuple[str, float]]:
    """The level itself, and whether it is a level or above: the reading and the least level."""
    known = np.concatenate(given)
    values = np.unique(known[~np.isnan(known)])
    found = [(LEVEL, np.nan)]
    if 2 < len(values) <= MOST_LEVELS:
        found += [(f"{value:g} or more", float(value)) for value in values[1:]]
    return found


def _read(values: Array, least: float) -> Array:
    """The values, or 1 where they reach the least and else 0; NaN stays."""
    if np.isnan(least):
        return values
    return np.where(np.isnan(values), np.nan, (values >= least).astype(float))


def _coders(proxies: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Each model alone, and the lower median and the mean of those that coded."""
    if proxies:
        yield from proxies.items()
        table = pd.DataFrame(dict(proxies))
        yield "median", table.quantile(0.5, axis=1, interpolation="lower").to_numpy(dtype=float)
        yield "mean", table.mean(axis=1).to_numpy(dtype=float)


def _shares(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How many specifications keep the sign and the clearness of all models and the level."""
    for key, own in table.groupby(NAMED, sort=False):
        names = cast("tuple[str, ...]", key)
        known = own[own["estimate"].notna()]
        main = known[(known["coder"] == ALL) & (known["reading"] == LEVEL)].head(1)
        row: dict[str, Any] = dict(zip(NAMED, names, strict=True))
        row["specifications"] = len(known)
        if main.empty:
            yield row | {"note": "no estimate by all models"}
            continue
        signs = np.sign(known["estimate"].where(known["estimate"].abs() > ROUNDING, 0.0))
        same = signs == signs[main.index[0]]
        clear = (known["low"] > 0) | (known["high"] < 0)
        row |= {"estimate": main["estimate"].iloc[0], "same_sign": same.mean()}
        row |= {"clear": clear.mean(), "clear_with_sign": (clear & same).mean()}
        yield row | {"lowest": known["estimate"].min(), "highest": known["estimate"].max()}
