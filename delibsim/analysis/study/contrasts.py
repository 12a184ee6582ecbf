"""Contrasts of treatments over a study: estimate, intervals and tests, and the three questions."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, make_table
from delibsim.analysis.study.blocks import Compared, compared
from delibsim.analysis.study.counts import different_shares
from delibsim.analysis.study.effects import (
    ENOUGH,
    EQUAL,
    NAN,
    NO_VARIANCE,
    OVER_DRAWS,
    OVER_MODELS,
    OVER_TOPICS,
    note_of,
    noted,
    over_draws,
    over_topics,
    p_of_draws,
    published_coverage,
    published_interval,
    told,
    too_few,
    verb,
)
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    ONLY_CITIZENS,
    OUTCOMES,
    Outcome,
    compared_outcomes,
    families_of,
    kinds_of_participants,
    outcomes_of,
    treatments_of,
    why_no_contrast,
    without_copies,
)
from delibsim.analysis.study.study_table import Draws, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.contrasts import free_p
from delibsim.measures.inference.means import benjamini_hochberg, holm

PRIMARY, SECONDARY = "primary", "secondary"
TESTED = (
    "estimate", "low", "high", "df", "p_topics", "estimate_draws", "low_draws", "high_draws",
    "df_draws", "p_draws", "p_free", "published_low", "published_high",
    "published_coverage", "sd_wordings",
)  # fmt: skip
TWIN = (
    "The null citizen is the null twin of this study: the same design held with citizens in all"
    " seats, {}, kept in its folder null_twin."
)
SEEDS_UNKNOWN = (
    "The table does not say whether treatments share seeds (column seed). On these topics the unit"
    " is therefore the draw (topic and replicate), which is right whether they do or not."
)
UNPAIRED = (
    "Treatments of this study do not share seeds: there are no pairs, and the test on these topics"
    " is p_free."
)


def contrasts(study: StudyTable, draws: Draws) -> Result:
    """The contrasts of all treatments on each outcome, for models and for the null citizen."""
    rows, notes = [], []
    given, missing = outcomes_of(study.rows, [*OUTCOMES, *compared_outcomes(study.rows)])
    code, detail = why_no_contrast(study.rows, given)
    for population, sessions in kinds_of_participants(study).items():
        held = treatments_of(sessions)
        if len(held) < 2 and not code:
            notes.append(
                f"{population}: one treatment only ({', '.join(held)}), and so no contrast."
            )
        for outcome in given:
            rows += _of_outcome(study, draws, population, sessions, outcome)
    found = kinds_of_participants(study)
    if CITIZENS in found and MODELS not in found:
        notes.append(ONLY_CITIZENS)
    if study.twin is not None:
        notes.append(TWIN.format(counted(len(study.twin), "session")))
    if study.no_twin:
        notes.append(study.no_twin)
    notes += without_copies(study.rows)[1]
    if not study.paired:
        notes.append(UNPAIRED)
    elif not knows_seeds(study.rows):
        notes.append(SEEDS_UNKNOWN)
    notes += different_shares(study.rows)
    return make_table(
        "study/contrasts",
        [] if code else _with_q(rows),
        notes=[*notes, *missing],
        why=code,
        detail=detail,
        resamples=draws.resamples,
        permutations=draws.permutations,
    )


def _of_outcome(
    study: StudyTable,
    draws: Draws,
    population: str,
    sessions: pd.DataFrame,
    outcome: Outcome,
) -> list[dict[str, Any]]:
    """The rows of one outcome of one population, corrected within their families."""
    rows = []
    decides = outcome.scale == "absolute" and outcome.measure == study.primary
    for name, pairs in families_of(treatments_of(sessions)).items():
        family: list[dict[str, Any]] = []
        for a, b in pairs:
            found = compared(sessions, outcome.column, a, b)
            family.append(
                {
                    "population": population,
                    "role": PRIMARY if decides else SECONDARY,
                    "outcome": outcome.measure,
                    "scale": outcome.scale,
                    "a": a,
                    "b": b,
                    **tested(found, study.paired, draws),
                    "family": f"{name}: {outcome}, {population}",
                }
            )
        rows += corrected(family, study.paired)
    return rows


def corrected(family: list[dict[str, Any]], paired: bool) -> list[dict[str, Any]]:
    """The rows of a family with Holm's p of both questions, and what may be said of each."""
    second = "p_draws" if paired else "p_free"
    of_topics = holm([row["p_topics"] for row in family])
    of_draws = holm([row[second] for row in family])
    rows = []
    for row, p, p_draws in zip(family, of_topics, of_draws, strict=True):
        whole = row | {"p_holm": p, "p_holm_draws": p_draws}
        rows.append(whole | {"verb": verb(whole)})
    return rows


def _with_q(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with Benjamini and Hochberg's q of the secondary outcomes of each population."""
    for population in dict.fromkeys(row["population"] for row in rows):
        own = [row for row in rows if row["population"] == population]
        of = [row for row in own if row["role"] == SECONDARY]
        for row, q in zip(of, benjamini_hochberg([row["p_topics"] for row in of]), strict=True):
            row["q"] = q
    return rows


def tested(found: Compared, paired: bool, draws: Draws) -> dict[str, Any]:
    """A comparison's estimate, intervals, p and counts, by the names of the table's columns.

    `paired` says whether treatments of one replicate share seeds. What is undefined is NaN, and
    `note` says why; treatments that gave the same everywhere have no p.
    """
    blocks, pairs = found.blocks, found.pairs
    topics = blocks["topic"].nunique(dropna=False)
    row: dict[str, Any] = dict.fromkeys(TESTED, NAN)
    unit_of_one = "draw" if paired else "session"
    row |= {
        "unit": "topic" if topics != 1 else unit_of_one,
        "blocks": len(blocks),
        "topics": topics,
        "models": blocks["model"].nunique(),
        "pairs": len(pairs) if paired else 0,
        "draws": pairs["draw"].nunique() if paired else 0,
        "wordings": blocks["wording"].nunique(),
    }
    if not len(blocks):
        why = f"no_block: no topic and model has values under both {found.a} and {found.b}"
        return row | {"note": noted(why, *found.left_out)}
    headline = over_topics(blocks)
    row["estimate"] = headline.estimate
    if found.equal:
        return row | {"note": note_of(found)}
    here = over_draws(found, paired)
    row |= {
        "estimate_draws": here.estimate,
        "low_draws": here.low,
        "high_draws": here.high,
        "df_draws": here.df,
    }
    shown = here if topics == 1 and not isnan(here.low) else headline
    row |= told(shown) | {"p_topics": headline.p}
    ends = published_interval(blocks["difference"], blocks["topic"], "topic", draws)
    row |= dict(zip(("published_low", "published_high"), ends, strict=True))
    if topics >= ENOUGH:
        row["published_coverage"] = published_coverage(topics)
    row["p_free"] = _free_p(found, draws)
    row["sd_wordings"] = blocks.groupby("wording")["difference"].mean().std(ddof=1)
    notes = [note_of(found), found.shared]
    if paired:
        row["p_draws"] = here.p if topics == 1 else p_of_draws(pairs, draws)
        notes.append(_of_pairs(found, row["estimate"], here.estimate))
    notes.append(too_few("topic", topics))
    if topics > 1 and isnan(headline.error):
        notes.append(NO_VARIANCE.format("topic"))
    return row | {"note": noted(*notes)}


def _free_p(found: Compared, draws: Draws) -> float:
    """The p of labels permuted freely within blocks."""
    runs, seed = found.runs, seed_of(draws.seed, "labels")
    first = runs["treatment"] == found.a
    return free_p(runs["value"], first, runs["block"], draws.permutations, seed, runs["held"])


def _of_pairs(found: Compared, estimate: float, over_pairs: float) -> str:
    """A sentence where the answer on these topics rests on other runs than the headline; or ""."""
    if not len(found.pairs):
        return "no_pair: no replicate has one value under each treatment, so no test of draws"
    unpaired = noted(*found.unpaired)
    if np.isclose(estimate, over_pairs, rtol=1e-9, atol=1e-12):
        return unpaired
    value = f"{over_pairs:.4f} over {len(found.pairs)} pairs of runs"
    return noted(unpaired, f"on these topics the effect is {value}")


KEYS = ("outcome", "scale", "a", "b")
NAMED = ("population", "role", *KEYS)
BOTH = "topic and model"
SHOWN = ("estimate", "low", "high", "df", "note")


def questions(results: Mapping[str, Result]) -> Result:
    """Three rows for each contrast, from the tables `contrasts` and `mixed`."""
    contrasts = results["contrasts"]
    rows: list[dict[str, Any]] = []
    if contrasts.given:
        rows = list(_rows(contrasts.plain(), _mixed(results)))
    return make_table(
        "study/questions", rows, notes=[], why=contrasts.why_not, detail=contrasts.detail
    )


def _mixed(results: Mapping[str, Result]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """The rows of the mixed model on contrasts, by what they are of."""
    result = results.get("mixed")
    rows = result.plain() if result is not None and result.given else []
    return {key_of(row): row for row in rows if row["population"] != CITIZENS}


def _rows(
    contrasts: Sequence[Mapping[str, Any]], mixed: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The three rows of each contrast; the third where a mixed model could be fitted."""
    null = null_estimates(contrasts)
    for row in contrasts:
        of_citizens = row["population"] == CITIZENS
        named = {name: row[name] for name in NAMED}
        named["null_citizen"] = None if of_citizens else null.get(key_of(row))
        shown = {name: row[name] for name in SHOWN}
        if row["topics"] != 1 or str(row["note"]).startswith(EQUAL):
            tests = {"p": row["p_topics"], "p_holm": row["p_holm"]}
            yield {**named, "question": OVER_TOPICS, "unit": "topic", **shown, **tests}
        if str(row["note"]).startswith(EQUAL):
            continue  # the first row says so
        paired = row["p_draws"] is not None
        yield {
            **named,
            "question": OVER_DRAWS,
            "unit": "draw" if paired else "session",
            "estimate": row["estimate_draws"],
            "low": row["low_draws"],
            "high": row["high_draws"],
            "df": row["df_draws"],
            "p": row["p_draws"] if paired else row["p_free"],
            "p_holm": row["p_holm_draws"],
            "note": row["note"] if row["topics"] == 1 else "",
        }
        fitted = mixed.get(key_of(row))
        if fitted is not None and not of_citizens:
            yield {**named, "question": OVER_MODELS, "unit": BOTH, **_of_both(fitted)}


def _of_both(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """What the mixed model says of both; no interval where one of them is held as it is."""
    if fitted["unit"] == BOTH or str(fitted["note"]).startswith("no_"):
        return {name: fitted.get(name) for name in (*SHOWN, "p")}
    few = [f"few_{kind}s" for kind in ("topic", "model") if kind not in str(fitted["unit"])]
    return {"estimate": fitted["estimate"], "note": "; ".join(few)}


def null_estimates(contrasts: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], Any]:
    """The estimates of the null citizen, by what contrast they are of."""
    return {key_of(row): row["estimate"] for row in contrasts if row["population"] == CITIZENS}


def key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a contrast is of, whatever the population."""
    return tuple(row[key] for key in KEYS)
