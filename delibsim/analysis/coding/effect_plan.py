"""How many texts people must code for a wanted error of an effect, and by which draw."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import entropy

from delibsim.analysis.coding.effect import (
    Array,
    CodedTexts,
    check_contrasts,
    contrasts_of,
    design_of,
    of_pair,
    proxy_table,
    sessions_of_each,
    told_apart,
)
from delibsim.analysis.report import Report
from delibsim.analysis.result import catalogue, make_table
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
