"""Contrasts of treatments over a study: estimate, intervals and tests, and the three questions."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.blocks import BlockComparison
from delibsim.analysis.study.counts import different_shares
from delibsim.analysis.study.effects import (
    ENOUGH,
    EQUAL,
    NAN,
    NO_VARIANCE,
    NOT_VALID,
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
from delibsim.analysis.study.outcomes import RELATIVE
from delibsim.analysis.study.sample import (
    CITIZENS,
    MODELS,
    each_contrast,
    families_in,
    kinds_of_participants,
    outcomes_of,
    treatments_of,
    wanted_outcomes,
    why_no_contrast,
    without_copies,
)
from delibsim.analysis.study.study_table import DrawCounts, StudyTable
from delibsim.analysis.study.table_of_study import knows_seeds
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.contrasts import free_p
from delibsim.measures.inference.means import benjamini_hochberg, holm

BY_MODELS = "models_alone: what models alone say is not valid by itself"
PRIMARY, SECONDARY = "primary", "secondary"


def contrasts(study: StudyTable, draws: DrawCounts) -> Result:
    """The contrasts of all treatments on each outcome, for models and for the null citizen."""
    notes, families = [], {}
    given, missing = outcomes_of(study.rows, wanted_outcomes(study))
    code, detail = why_no_contrast(study.rows, given)
    populations = kinds_of_participants(study)
    for population, sessions in populations.items():
        if not families_in(sessions) and not code:
            only = f"one treatment only ({', '.join(treatments_of(sessions))})"
            notes.append(f"{population}: {only}, and so no contrast.")
        for named, outcome, family, found in each_contrast(
            sessions, outcomes_of(sessions, given)[0]
        ):
            decides = outcome.scale != RELATIVE and outcome.measure == study.primary
            row = {"population": population, "role": PRIMARY if decides else SECONDARY}
            row |= {**named, **tested(found, study.paired, draws)}
            if outcome.measure in study.by_models:
                row["note"] = noted(row["note"], BY_MODELS)
            name = f"{family}: {outcome}, {population}"
            families.setdefault(name, []).append(row | {"family": name})
    rows: list[dict[str, Any]] = []
    for family in families.values():
        rows += corrected(family, study.paired)
    if CITIZENS in populations and MODELS not in populations:
        notes.append(said("study/only_citizens"))
    if study.twin is not None:
        notes.append(said("study/twin", sessions=counted(len(study.twin), "session")))
    if study.no_twin:
        notes.append(study.no_twin)
    notes += without_copies(study.rows)[1]
    if not study.paired:
        notes.append(said("study/unpaired"))
    elif not knows_seeds(study.rows):
        notes.append(said("study/seeds_unknown"))
    return make_table(
        "study/contrasts",
        [] if code else _with_q(rows),
        notes=[*notes, *different_shares(study.rows), *missing],
        why=code,
        detail=detail,
        resamples=draws.resamples,
        permutations=draws.permutations,
    )


def corrected(family: list[dict[str, Any]], paired: bool) -> list[dict[str, Any]]:
    """The rows of a family with Holm's p of both questions, and what may be said of each."""
    second = "p_draws" if paired else "p_free"
    of_topics = holm([row.get("p_topics", NAN) for row in family])
    of_draws = holm([row.get(second, NAN) for row in family])
    rows = []
    for row, p, p_draws in zip(family, of_topics, of_draws, strict=True):
        whole = row | {"p_holm": p, "p_holm_draws": p_draws}
        alone = str(row.get("note", "")).endswith(BY_MODELS)
        rows.append(whole | {"verb": NOT_VALID if alone else verb(whole)})
    return rows


def _with_q(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with Benjamini and Hochberg's q of the secondary outcomes of each population."""
    for population in dict.fromkeys(row["population"] for row in rows):
        of = [row for row in rows if (row["population"], row["role"]) == (population, SECONDARY)]
        found = benjamini_hochberg([row.get("p_topics", NAN) for row in of])
        for row, q in zip(of, found, strict=True):
            row["q"] = q
    return rows


def tested(found: BlockComparison, paired: bool, draws: DrawCounts) -> dict[str, Any]:
    """A comparison's estimate, intervals, p and counts, by the names of the table's columns.

    `paired` says whether treatments of one replicate share seeds. What is undefined is not there,
    and `note` says why; treatments that gave the same everywhere have no p.
    """
    blocks, pairs = found.blocks, found.pairs
    topics = blocks["topic"].nunique(dropna=False)
    unit_of_one = "draw" if paired else "session"
    row: dict[str, Any] = {
        "unit": "topic" if topics != 1 else unit_of_one,
        "blocks": len(blocks),
        "topics": topics,
        "models": blocks["model"].nunique(),
        "pairs": len(pairs) if paired else 0,
        "draws": pairs["draw"].nunique() if paired else 0,
        "wordings": blocks["wording"].nunique(),
    }
    if not len(blocks):
        return row | {"note": noted(f"no_block: {found.no_block}", *found.left_out)}
    headline = over_topics(blocks)
    row["estimate"] = headline.estimate
    if found.equal:
        return row | {"note": note_of(found)}
    here = over_draws(found, paired)
    row |= {f"{name}_draws": value for name, value in told(here).items()}
    shown = here if topics == 1 and not isnan(here.low) else headline
    row |= told(shown) | {"p_topics": headline.p}
    ends = published_interval(blocks["difference"], blocks["topic"], "topic", draws)
    row["published_low"], row["published_high"] = ends
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


def _free_p(found: BlockComparison, draws: DrawCounts) -> float:
    """The p of labels permuted freely within blocks."""
    runs, seed = found.runs, seed_of(draws.seed, "labels")
    first = runs["treatment"] == found.a
    return free_p(runs["value"], first, runs["block"], draws.permutations, seed, runs["held"])


def _of_pairs(found: BlockComparison, estimate: float, over_pairs: float) -> str:
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
    contrasts, mixed = results["contrasts"], results.get("mixed")
    rows: list[dict[str, Any]] = []
    if contrasts.given:
        fitted = mixed.plain() if mixed is not None and mixed.given else []
        of_models = {key_of(row): row for row in fitted if row["population"] != CITIZENS}
        rows = list(_rows(contrasts.plain(), of_models))
    why, detail = contrasts.why_not, contrasts.detail
    return make_table("study/questions", rows, why=why, detail=detail)


def _rows(
    contrasts: Sequence[Mapping[str, Any]], mixed: Mapping[tuple[Any, ...], Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The three rows of each contrast; the third where a mixed model could be fitted."""
    null = null_estimates(contrasts)
    for row in contrasts:
        of_citizens, equal = row["population"] == CITIZENS, str(row["note"]).startswith(EQUAL)
        named = {name: row[name] for name in NAMED}
        named["null_citizen"] = None if of_citizens else null.get(key_of(row))
        if row["topics"] != 1 or equal:
            shown = {name: row[name] for name in (*SHOWN, "p_holm")}
            first = {"question": OVER_TOPICS, "unit": "topic", "p": row["p_topics"]}
            yield {**named, **first, **shown}
        if equal:
            continue  # the first row says so
        paired = row["p_draws"] is not None
        second = {"question": OVER_DRAWS, "unit": "draw" if paired else "session"}
        second |= {name: row[f"{name}_draws"] for name in ("estimate", "low", "high", "df")}
        second |= {"p": row["p_draws" if paired else "p_free"], "p_holm": row["p_holm_draws"]}
        yield {**named, **second, "note": row["note"] if row["topics"] == 1 else ""}
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
