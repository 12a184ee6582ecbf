"""Attrition: whether treatments differ in the sessions and answers that are missing."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.analyses.counts import outcome_of
from delibsim.analysis.study.draws import Draws
from delibsim.analysis.study.result import Result
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.sample.populations import main_population
from delibsim.analysis.study.study_table import StudyTable
from delibsim.measures.inference.means import holm

SESSIONS, ANSWERS, VALUES = "sessions", "sessions with missing answers", "values of the outcome"
LEVEL = 0.05
MEANINGS = {
    "missing": f"what is missing: {SESSIONS}, answers ({ANSWERS}), or {VALUES}",
    "a": "the treatment that is compared",
    "b": "the treatment that it is compared with",
    "missing_a": "how many of them are missing under a",
    "of_a": "of so many under a: planned sessions, or sessions that were held",
    "missing_b": "how many are missing under b",
    "of_b": "of so many under b",
    "p": "two-sided p of equal shares, by Fisher's exact test",
    "p_holm": "p after Holm's correction over the rows of what is missing",
    "note": "why there is no p",
}
DEFINITION = (
    "Sessions that were planned and not held (or whose run cannot be read), sessions that were held"
    " and lack answers, and sessions that were held and have no value of the outcome ({outcome}),"
    " by treatment. Each pair of treatments is compared by Fisher's exact test. What is missing"
    " under one treatment more often than under another makes their comparison one of sessions"
    " that lasted."
)


def attrition(study: StudyTable, draws: Draws) -> Result:
    """The table `attrition`; nothing in it is drawn at random, and `draws` is not used."""
    rows, notes = main_population(study)
    outcome = outcome_of(study)
    treatments = treatments_of(rows)
    code, detail = "", ""
    if len(treatments) < 2:
        code, detail = "one_treatment", "The study has one treatment; attrition needs two."
    elif "status" not in rows.columns:
        code, detail = "no_status", "The table does not say which sessions were held."
    found = [] if code else list(_rows(rows, treatments, outcome))
    return Result(
        name="attrition",
        title="Attrition by treatment",
        definition=DEFINITION.format(outcome=outcome or "none"),
        source="Fisher 1922, doi:10.2307/2340521; Holm 1979, https://www.jstor.org/stable/4615733",
        rows=pd.DataFrame(found, columns=list(MEANINGS)),
        meanings=MEANINGS,
        notes=[] if code else notes,
        why_not=code,
        detail=detail,
    )


def _rows(rows: pd.DataFrame, treatments: list[str], outcome: str) -> Iterator[dict[str, Any]]:
    """The rows of each kind, corrected together."""
    lasted = rows["status"].isin(["complete", "partial"]).to_numpy(dtype=bool)
    held = rows[lasted]
    kinds = {SESSIONS: (rows, pd.Series(~lasted, index=rows.index))}
    if "answers_missing" in rows.columns:
        kinds[ANSWERS] = (held, (held["answers_missing"] > 0).fillna(False).astype(bool))
    if outcome:
        kinds[VALUES] = (held, held[outcome].isna())
    for kind, (sample, lacking) in kinds.items():
        family: list[dict[str, Any]] = []
        for b, a in combinations(treatments, 2):
            family.append({"missing": kind, "a": a, "b": b} | _compared(sample, lacking, a, b))
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            yield row | {"p_holm": p}


def _compared(rows: pd.DataFrame, lacking: pd.Series, a: str, b: str) -> dict[str, Any]:
    """How many are missing under a and under b, and Fisher's p."""
    from scipy.stats import fisher_exact

    of_a, of_b = (rows["treatment"] == name for name in (a, b))
    sizes = int(of_a.sum()), int(of_b.sum())
    gone = int((lacking & of_a).sum()), int((lacking & of_b).sum())
    row = {"missing_a": gone[0], "of_a": sizes[0], "missing_b": gone[1], "of_b": sizes[1]}
    if not min(sizes):
        return row | {"p": np.nan, "note": "no_session: none was held under one of them"}
    table = [gone, [size - one for size, one in zip(sizes, gone, strict=True)]]
    return row | {"p": float(fisher_exact(table).pvalue), "note": ""}


def told_of_attrition(results: Mapping[str, Result]) -> Iterator[str]:
    """A sentence on each pair of treatments of which one lacks more, at .05."""
    result, effects = results.get("attrition"), results.get("contrasts")
    contrasts = effects.plain() if effects is not None and effects.given else []
    compared = {(row["a"], row["b"]) for row in contrasts if row["estimate"] is not None}
    for row in result.plain() if result is not None and result.given else ():
        if row["p"] is None or not row["p"] < LEVEL:
            continue
        of = "planned" if row["missing"] == SESSIONS else "held"
        what = {ANSWERS: "lack answers", VALUES: "have no value of the outcome"}
        lacking = what.get(row["missing"], "are missing")
        p = f"{row['p']:.3f}".lstrip("0")
        said = "p < .001" if row["p"] < 0.001 else f"p = {p}"
        of_what = (
            "their comparison is one of the sessions that lasted"
            if (row["a"], row["b"]) in compared
            else "no outcome of the two can be compared"
        )
        yield (
            f"Attrition differs by treatment: under {row['a']} {row['missing_a']:,} of"
            f" {row['of_a']:,} sessions that were {of} {lacking}, under {row['b']}"
            f" {row['missing_b']:,} of {row['of_b']:,} ({said} by Fisher's test);"
            f" {of_what}."
        )
