"""Whose sessions an estimate is computed from, how many of them have no value, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from delibsim.analysis.study.sample.blocks import WORDING, duplicates_note
from delibsim.analysis.study.sample.copies import without_copies
from delibsim.analysis.study.sample.outcomes import treatments_of
from delibsim.analysis.study.study_table import StudyTable

MODELS, CITIZENS = "models", "null citizen"
ONLY_CITIZENS = (
    "All participants of this study are citizens of the null model: it shows what the procedure"
    " alone does, and is no finding about language models."
)
ALL_MODELS = "all models"
PEOPLE = "people"
FIVES = "people in groups of five"


@dataclass(frozen=True, eq=False)
class Population:
    """Sessions that are described together, under a name."""

    name: str
    rows: pd.DataFrame


def kinds_of_participants(study: StudyTable) -> dict[str, pd.DataFrame]:
    """The sessions of language models and those of citizens of the null model, where there are any.

    A study whose table does not say which is which is one of models. Copies of sessions are left
    out (see `copies`). The citizens are those of the null twin where the study itself has none.
    """
    found = dict(_by_kind(study, copies=False)[0])
    if study.twin is not None and CITIZENS not in found:
        found[CITIZENS] = pooled_wordings(study.twin)
    return found


@lru_cache(maxsize=8)  # every analysis asks, and comparisons are kept by the table they are made of
def _by_kind(study: StudyTable, copies: bool) -> tuple[Mapping[str, pd.DataFrame], list[str]]:
    """The sessions of a study by whether their participants are citizens of the null model, with or
    without copies, and what is to be said of copies. Sessions whose plan cannot be read are of
    neither.
    """
    planned = study.rows[study.rows.reindex(columns=["topic", "treatment"]).notna().any(axis=1)]
    kept, notes = (planned, []) if copies else without_copies(planned)
    rows = pooled_wordings(kept)
    found = {MODELS: rows}
    if "null" in rows.columns:
        null = rows["null"].fillna(False).astype(bool)
        found = {MODELS: rows[~null], CITIZENS: rows[null]}
    return {name: part for name, part in found.items() if len(part)}, notes


def pooled_wordings(rows: pd.DataFrame) -> pd.DataFrame:
    """The sessions, those of a paraphrase under the treatment that it is a wording of.

    The column `paraphrase` then holds each treatment as it was held.
    """
    if "paraphrase_of" not in rows.columns or not rows["paraphrase_of"].notna().any():
        return rows
    held = rows["treatment"]
    return rows.assign(**{WORDING: held, "treatment": rows["paraphrase_of"].fillna(held)})


def main_population(study: StudyTable, copies: bool = False) -> tuple[pd.DataFrame, list[str]]:
    """The sessions that an analysis of one population takes, and what its notes say of that.

    `copies` keeps those that are the same as another by construction, for an analysis that shows
    whether settings have an effect.
    """
    found, counted_once = _by_kind(study, copies)
    if MODELS in found:
        held = len(found.get(CITIZENS, ()))
        note = f"Sessions of citizens of the null model are not in this table: {held}."
        rows, notes = found[MODELS], [note] if held else []
    else:
        rows = found.get(CITIZENS, study.rows)
        notes = [ONLY_CITIZENS] if len(rows) else []
    return rows, [*notes, *counted_once, *duplicates_note(rows)]


def populations(study: StudyTable) -> Iterator[Population]:
    """All models, each treatment, and the null citizen, as far as the study has them.

    Treatments are those of the models; of the citizens where there is nobody else. One that is
    named like another population says that it is a treatment.
    """
    found = kinds_of_participants(study)
    rows = found.get(MODELS, found.get(CITIZENS, study.rows))
    if MODELS in found:
        yield Population(ALL_MODELS, rows)
    for treatment in treatments_of(rows):
        taken = treatment in (ALL_MODELS, CITIZENS, PEOPLE, FIVES)
        name = f"{treatment} (treatment)" if taken else treatment
        yield Population(name, rows[rows["treatment"] == treatment])
    if CITIZENS in found:
        yield Population(CITIZENS, found[CITIZENS])


def notes_of(study: StudyTable) -> list[str]:
    """What must be said of a study whose null citizens have rows of their own: that it holds
    nobody else, and which sessions are there twice.
    """
    found = kinds_of_participants(study)
    notes = [ONLY_CITIZENS] if CITIZENS in found and MODELS not in found else []
    notes += without_copies(study.rows)[1]
    for rows in found.values():
        notes += duplicates_note(rows)
    return notes


def without_value(rows: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """A sentence with how many sessions lack one of these columns, and why; nothing if none does.

    Reasons are those of `<measure>_note`, then the status of a session that was not completed.
    """
    lacking = rows[~complete(rows, columns)]
    if lacking.empty:
        return []
    counted = _reasons(lacking, columns).value_counts()
    counts = [f"{reason}: {n}" for reason, n in counted.items()]
    named = " and ".join(columns)
    return [
        f"{len(lacking)} of {len(rows)} sessions have no {named} and enter no estimate of it"
        f" ({', '.join(counts)})."
    ]


def complete(rows: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Which rows have a value in all of these columns; none where a column is missing."""
    if any(name not in rows.columns for name in columns):
        return pd.Series(False, index=rows.index)
    return rows[list(columns)].notna().all(axis=1)


def _reasons(rows: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Why each of these sessions lacks a value, as a text."""
    names = [f"{_measure_of(name)}_note" for name in columns]
    found = pd.Series("", index=rows.index)
    for name in [*dict.fromkeys(names), "status"]:
        if name in rows.columns:
            said = rows[name].fillna("").astype(str).replace("complete", "")
            found = found.where(found != "", said)
    return found.where(found != "", "not measured")


def _measure_of(column: str) -> str:
    for end in ("_relative_change", "_pre", "_post", "_change"):
        if column.endswith(end):
            return column.removesuffix(end)
    return column


def why_no_value(study: StudyTable, columns: Sequence[str]) -> tuple[str, str]:
    """The reason code and the sentence if no session has all of these columns; two empty texts
    otherwise.
    """
    named = " and ".join(columns)
    if study.rows.empty:
        return "no_sessions", "The study has no sessions."
    if "format" in study.rows.columns and (study.rows["format"] == "debate").all():
        return "debates", f"A study of debates has no {named}: nobody is surveyed before and after."
    if not complete(study.rows, columns).any():
        return (
            "no_value",
            f"No session has a value of {named}. Needed are sessions whose surveys were answered"
            " before and after.",
        )
    return "", ""
