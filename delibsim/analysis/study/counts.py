"""Sessions counted: planned, held, valid and analysed; what is missing; who was in the room."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import numpy as np
import pandas as pd

from delibsim.analysis.result import Result, entry, make_table, said, with_holm
from delibsim.analysis.study.blocks import of_contrast
from delibsim.analysis.study.factors import levels_named
from delibsim.analysis.study.outcomes import OutcomeMeasure, p_in_words
from delibsim.analysis.study.sample import (
    OF_MEASURE,
    Taken,
    families_in,
    main_population,
    measurable,
    treatments_of,
)
from delibsim.analysis.study.study_table import DESIGN, HELD, DrawCounts, StudyTable
from delibsim.domain.seed import seed_of
from delibsim.domain.text import counted
from delibsim.measures.inference.contrasts import flipped_p

INDEX = OutcomeMeasure("dri")
CONDITION = ("model", "setting", "treatment")
NOT_PLANNED = "not planned"
SHOWN = 5
"""Of so many sessions a note gives the names; of more, their number."""


def counts(study: StudyTable, draws: DrawCounts) -> Result:
    """Sessions by topic and condition: planned, held, valid, analysed, and why others are not."""
    counted_by = outcome_of(study)
    outcome = counted_by.column if counted_by else ""
    rows = entry("study/counts").frame(_rows(study.rows, outcome))
    notes = [*_absent_topics(rows), *_unmeasured(rows), *_duplicates(study)]
    if counted_by != INDEX and not study.outcomes:
        told = outcome or "none, because the table holds no change of any measure"
        notes.append(f"The table has no {INDEX.column}; the outcome is {told}.")
    formats = study.rows.get("format", pd.Series(dtype="object")).dropna().unique()
    if "debate" in formats:
        notes.append("The study has debates, which have no survey of participants and no index.")
    return make_table("study/counts", rows, notes, outcome=outcome or "an outcome")


def outcome_of(study: StudyTable) -> OutcomeMeasure | None:
    """The outcome that counts: of those chosen the one that decides, else the change of the index,
    else the first change; None without one.
    """
    chosen = [*study.outcomes]
    deciding = [one for one in chosen if one.measure == study.primary]
    if chosen:
        return (deciding or chosen)[0]
    if INDEX.column in study.rows:
        return INDEX
    changes = [str(name) for name in study.rows.columns if str(name).endswith("_change")]
    given = [name for name in changes if study.rows[name].notna().any()]
    return OutcomeMeasure(given[0].removesuffix("_change")) if given else None


def unmeasurable(study: StudyTable) -> pd.DataFrame:
    """The sessions that cannot have the outcome: nobody speaks, and it is of what was said."""
    outcome, rows = outcome_of(study), study.rows
    if outcome is None:
        return rows.iloc[:0]
    can = measurable(rows, outcome)
    return rows[rows["treatment"].notna() & ~rows["treatment"].isin(can)]


def _rows(rows: pd.DataFrame, outcome: str) -> Iterator[dict[str, Any]]:
    by = ["topic", *CONDITION]
    keys = rows[by].astype(object)
    needed = ["status", outcome, f"{OF_MEASURE.sub('', outcome)}_note"]
    whole = rows[[name for name in needed if name in rows]]
    whole = whole.assign(**keys.where(keys.notna(), "").to_dict("series"))
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for named, own in whole.groupby(by, sort=False):
        key = cast("tuple[Any, ...]", named)
        found[key] = dict(zip(by, key, strict=True)) | _counted(own, outcome)
    topics = list(dict.fromkeys(whole["topic"]))
    conditions = dict.fromkeys(key[1:] for key in found)
    for topic in topics:
        for condition in conditions:
            absent = dict(zip(by, (topic, *condition), strict=True))
            absent |= dict.fromkeys(("planned", "held", "valid", "analysed"), 0)
            yield found.get((topic, *condition), absent | {"missing": NOT_PLANNED})


def _counted(own: pd.DataFrame, outcome: str) -> dict[str, Any]:
    status = own["status"]
    valid = status.isin(HELD)
    analysed = valid & own[outcome].notna() if outcome else valid & False
    reasons = Counter(status[~valid])
    if outcome:
        lost = own[valid & ~analysed]
        name = f"{OF_MEASURE.sub('', outcome)}_note"
        notes = lost[name] if name in lost else pd.Series([None] * len(lost))
        reasons.update(notes.fillna("no reason recorded"))
    else:
        reasons["no outcome"] += int(valid.sum())
    told = [f"{reason} {n}" for reason, n in sorted(reasons.items()) if n]
    return {
        "planned": len(own),
        "held": int((valid | (status == "damaged")).sum()),
        "valid": int(valid.sum()),
        "analysed": int(analysed.sum()),
        "missing": "; ".join(told),
    }


def _absent_topics(rows: pd.DataFrame) -> Iterator[str]:
    """That conditions were not planned on all topics, or have no analysed run on some."""
    for kind, problem in (("planned", "no session is planned"), ("analysed", "no run is analysed")):
        empty = rows[rows[kind] == 0]
        if kind == "analysed":
            empty = empty[empty["planned"] > 0]
        for condition, own in empty.groupby(list(CONDITION), sort=False):
            named = ", ".join(str(part) for part in condition if part)
            yield f"{named}: {problem} on {first_of(list(own['topic']))}."


def _unmeasured(rows: pd.DataFrame) -> Iterator[str]:
    """How many planned sessions are not analysed, over all conditions."""
    planned, analysed = int(rows["planned"].sum()), int(rows["analysed"].sum())
    if analysed < planned:
        yield f"{planned - analysed} of {planned} planned sessions are not analysed."


def _duplicates(study: StudyTable) -> Iterator[str]:
    """The runs that seem to be in the study twice."""
    rows = study.rows
    names = rows["session"]
    design = rows[list(DESIGN)].astype(object)
    twice = design.where(design.notna(), "").duplicated(keep=False)
    if twice.any():
        yield f"Sessions of one topic, condition and replicate: {first_of(list(names[twice]))}."
    measures = [str(name) for name in rows if str(name).endswith(("_pre", "_post", "_change"))]
    if INDEX.column not in rows:
        return
    analysed = rows[rows[INDEX.column].notna()]
    same = analysed.duplicated(["topic", *CONDITION, *measures], keep=False)
    same &= ~twice[analysed.index]
    if same.any():
        yield said("study/same_replicates", named=first_of(list(names[analysed.index][same])))


def first_of(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(str, names[:SHOWN])) + more


def left_out(study: StudyTable) -> list[str]:
    """Which sessions a damaged or changed file keeps out, in a sentence; none where none is."""
    damaged = study.rows.loc[study.rows["status"] == "damaged", "session"].tolist()
    if not damaged:
        return []
    sessions, named = counted(len(damaged), "session"), first_of(damaged)
    return [said("study/damaged", sessions=sessions, named=named, study=study.study)]


SESSIONS, ANSWERS, VALUES = "sessions", "sessions with missing answers", "values of the outcome"
LEVEL, BLOCKS = 0.05, 6
"""Below which p a difference is told; the fewest blocks whose signs can give such a p."""


def attrition(study: StudyTable, draws: DrawCounts) -> Result:
    """The table `attrition`."""
    rows, notes = main_population(study)
    outcome, treatments = outcome_of(study), treatments_of(rows)
    column = outcome.column if outcome else ""
    own = Taken(rows, notes=notes, why="" if families_in(rows) else "one_treatment")
    found = _missing_by_treatment(rows, treatments, outcome, draws)
    return own.result("study/attrition", found, outcome=column or "none")


def _missing_by_treatment(
    rows: pd.DataFrame, treatments: list[str], outcome: OutcomeMeasure | None, draws: DrawCounts
) -> Iterator[dict[str, Any]]:
    """The rows of each kind, corrected together."""
    lasted = rows["status"].isin(HELD).to_numpy(dtype=bool)
    held = rows[lasted]
    kinds = {SESSIONS: (rows, pd.Series(~lasted, index=rows.index))}
    if "answers_missing" in rows.columns:
        kinds[ANSWERS] = (held, (held["answers_missing"] > 0).fillna(False).astype(bool))
    if outcome is not None:
        kinds[VALUES] = (held, held[outcome.column].isna())
    for kind, (sample, lacking) in kinds.items():
        of_kind = treatments
        if kind == VALUES and outcome is not None:
            of_kind = measurable(rows, outcome)
        for levels in (of_kind, *levels_named(rows).values()):
            family: list[dict[str, Any]] = []
            for b, a in combinations(levels, 2):
                named = {"missing": kind, "a": a, "b": b}
                family.append(named | _compared(sample, lacking, a, b, draws))
            yield from with_holm(with_holm(family), p="p_blocks")


def _compared(
    rows: pd.DataFrame, lacking: pd.Series, a: str, b: str, draws: DrawCounts
) -> dict[str, Any]:
    """How many are missing under a and under b, Fisher's p, and p over blocks."""
    from scipy.stats import fisher_exact

    rows = of_contrast(rows, a, b)
    lacking = lacking[rows.index]
    of_a, of_b = (rows["treatment"] == name for name in (a, b))
    sizes = int(of_a.sum()), int(of_b.sum())
    gone = int((lacking & of_a).sum()), int((lacking & of_b).sum())
    row = {"missing_a": gone[0], "of_a": sizes[0], "missing_b": gone[1], "of_b": sizes[1]}
    if not min(sizes):
        why = "no_session: none was held under one of them"
        return row | {"p": np.nan, "p_blocks": np.nan, "blocks": 0, "note": why}
    table = [gone, [size - one for size, one in zip(sizes, gone, strict=True)]]
    row |= _over_blocks(rows, lacking, of_a, draws)
    return row | {"p": float(fisher_exact(table).pvalue), "note": ""}


def _over_blocks(
    rows: pd.DataFrame, lacking: pd.Series, of_a: pd.Series, draws: DrawCounts
) -> dict[str, Any]:
    """The p of equal shares by flipping the sign of the difference of each topic and model, since
    what keeps one session from being held often keeps its replicates. NaN below six blocks.
    """
    by = [rows["topic"].astype(str), rows["model"].astype(str), of_a.rename("of_a")]
    shares = lacking.astype(float).groupby(by).mean().unstack()
    apart = (shares[True] - shares[False]).dropna().to_numpy()
    if len(apart) < BLOCKS:
        return {"p_blocks": np.nan, "blocks": len(apart)}
    each, seed = np.arange(len(apart)), seed_of(draws.seed, "attrition")
    p = flipped_p(apart, each, each, draws.permutations, seed)
    return {"p_blocks": p, "blocks": len(apart)}


def told_of_attrition(results: Mapping[str, Result]) -> Iterator[str]:
    """A sentence on each pair of treatments of which one lacks more, at .05 after Holm's
    correction: by Fisher's test and, where there are six blocks, over these too.
    """
    result, effects = results.get("attrition"), results.get("contrasts")
    contrasts = effects.plain() if effects is not None and effects.given else []
    compared = {(row["a"], row["b"]) for row in contrasts if row["estimate"] is not None}
    for row in result.plain() if result is not None and result.given else ():
        over = row["p_blocks_holm"]
        if row["p_holm"] is None or not max(row["p_holm"], over or 0.0) < LEVEL:
            continue
        of = "planned" if row["missing"] == SESSIONS else "held"
        what = {ANSWERS: "lack answers", VALUES: "have no value of the outcome"}
        lacking = what.get(row["missing"], "are missing")
        of_what = "no outcome of the two can be compared"
        if (row["a"], row["b"]) in compared:
            of_what = "their comparison is one of the sessions that lasted"
        by = said("study/by_fisher", p=p_in_words(row["p_holm"]))
        if over is not None:
            by = said("study/by_blocks", p=p_in_words(over), blocks=row["blocks"])
        told = {**row, "by": by, "lacking": lacking, "of": of}
        yield said("study/attrition", **told, of_what=of_what)


COUNTED = {
    "people_seats": "seats",
    "people_stood_in": "stood_in",
    "people_silent": "silent",
    "answers_absent_pre": "answers_absent_pre",
    "answers_absent_post": "answers_absent_post",
    "answers_stood_in": "answers_stood_in",
    "turns_absent": "turns_absent",
}
"""The columns of the study table that are summed, and the names of their sums."""
MEDIANS = ("minutes", "people_survey_seconds", "people_turn_seconds")


def in_room(study: StudyTable, draws: DrawCounts) -> Sequence[Result]:
    """The seats for people by condition; nothing of a study that has none."""
    rows = study.rows
    if "people_seats" not in rows or not (rows["people_seats"] > 0).any():
        return ()
    own = rows[(rows["people_seats"] > 0).fillna(False).astype(bool)]
    by = [name for name in ("topic", *CONDITION) if name in own]
    found = []
    for key, group in own.groupby(by, sort=False, dropna=False):
        found.append(dict(zip(by, key, strict=True)) | _seats(group))
    return (make_table("study/in_room", found, different_shares(rows)),)


def different_shares(rows: pd.DataFrame) -> list[str]:
    """A sentence where stand-ins took more of people's seats in one treatment than in another."""
    if "people_stood_in" not in rows:
        return []
    known = rows[rows["people_stood_in"].notna()]
    sums = known.groupby("treatment")[["people_stood_in", "people_seats"]].sum()
    if sums.empty:
        return []
    shares = (sums["people_stood_in"] / sums["people_seats"]).astype(float)
    if shares.max() == shares.min():
        return []
    told = [f"{name} {int(one)} of {int(of)}" for name, one, of in sums.itertuples()]
    return [said("study/stand_ins", shares=", ".join(told))]


def _seats(group: pd.DataFrame) -> dict[str, Any]:
    held = group[group["status"].isin(HELD)]
    known = held["people_stood_in"].notna()
    row: dict[str, Any] = {"sessions": len(group), "held": len(held)}
    row["unknown"] = int((~known).sum())
    for column, name in COUNTED.items():
        row[name] = int(held[column].sum())
    row["by_models"] = int((held["group_size"] - held["people_seats"]).sum())
    for column in MEDIANS:
        row[column] = float(held[column].astype(float).median()) if len(held) else float("nan")
    return row
