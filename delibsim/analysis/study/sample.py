"""Which sessions an analysis of a study takes: outcomes, treatments, copies, populations."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import pandas as pd

from delibsim.analysis.result import Result, make_table, said
from delibsim.analysis.study.blocks import NONE, BlockComparison, compared, duplicates_note
from delibsim.analysis.study.factors import levels_named, with_levels
from delibsim.analysis.study.outcomes import (
    CHANGE,
    OUTCOMES,
    RELATIVE,
    VALUE,
    OutcomeMeasure,
    usual_outcomes,
)
from delibsim.analysis.study.study_table import WORDING, StudyTable

BASIC, NORMATIVE = "basic", "normative"
PLANNED = ((NORMATIVE, NONE), (BASIC, NONE), (NORMATIVE, BASIC))
"""The three contrasts of the published study, a and b of each; they are one family."""


def treatments_of(rows: pd.DataFrame) -> list[str]:
    """The treatments of these sessions: none, basic, normative first, then all others by name."""
    found = set(rows["treatment"].dropna().astype(str))
    first = [name for name in (NONE, BASIC, NORMATIVE) if name in found]
    return first + sorted(found - set(first))


def families_of(treatments: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """The contrasts of these treatments by family: a and b of each.

    The published three, as far as their treatments are there, are one family; all other pairs, the
    later treatment less the earlier one, are another. So no treatment is left out.
    """
    planned = [pair for pair in PLANNED if set(pair) <= set(treatments)]
    every = [(later, earlier) for earlier, later in combinations(treatments, 2)]
    others = [pair for pair in every if pair not in planned]
    families = {"published contrasts": planned, "other pairs" if planned else "all pairs": others}
    return {name: pairs for name, pairs in families.items() if pairs}


def families_in(
    rows: pd.DataFrame, outcome: OutcomeMeasure | None = None
) -> dict[str, list[tuple[str, str]]]:
    """The contrasts of these sessions by family: those of treatments, then those of each factor of
    the design. Where an outcome is given, those that it can have a value under.
    """
    held = treatments_of(rows) if outcome is None else measurable(rows, outcome)
    found = families_of(held)
    for factor, levels in levels_named(rows).items():
        found[factor] = [(later, earlier) for earlier, later in combinations(levels, 2)]
    return found


def each_contrast(
    rows: pd.DataFrame, outcomes: Iterable[OutcomeMeasure]
) -> Iterator[tuple[dict[str, Any], OutcomeMeasure, str, BlockComparison]]:
    """Every contrast of every outcome, those of the published study first: what it is of, by the
    names of columns, its outcome, its family, and the comparison.
    """
    for outcome in outcomes:
        for family, pairs in families_in(rows, outcome).items():
            for a, b in pairs:
                named = {"outcome": outcome.measure, "scale": outcome.scale, "a": a, "b": b}
                yield named, outcome, family, compared(rows, outcome.column, a, b)


def measurable(rows: pd.DataFrame, outcome: OutcomeMeasure) -> list[str]:
    """The treatments under which an outcome can have a value: of a measure of what was said, not
    the one under which nobody speaks.
    """
    held = treatments_of(rows)
    silent = rows.loc[rows["treatment"] == NONE, outcome.column]
    if outcome.scale == VALUE and not silent.notna().any():
        return [name for name in held if name != NONE]
    return held


def wanted_outcomes(study: StudyTable, relative: bool = True) -> tuple[OutcomeMeasure, ...]:
    """The outcomes that a study is compared on, with or without relative changes."""
    every = study.outcomes or usual_outcomes(study.rows)
    return tuple(one for one in every if relative or one.scale != RELATIVE)


def changes_of(study: StudyTable) -> list[OutcomeMeasure]:
    """Those of them that are absolute changes."""
    return [one for one in wanted_outcomes(study) if one.scale == CHANGE]


def outcomes_of(
    rows: pd.DataFrame, outcomes: Sequence[OutcomeMeasure] = OUTCOMES
) -> tuple[list[OutcomeMeasure], list[str]]:
    """The outcomes of which some session has a value, and a sentence on each of the others."""
    given, missing = [], []
    for outcome in outcomes:
        if outcome.column not in rows.columns:
            missing.append(f"{outcome}: the study has no column {outcome.column}.")
        elif not rows[outcome.column].notna().any():
            missing.append(f"{outcome}: no session has a value of {outcome.column}.")
        else:
            given.append(outcome)
    return given, missing


def why_no_outcome(rows: pd.DataFrame, outcomes: Sequence[OutcomeMeasure]) -> tuple[str, str]:
    """Why these sessions have none of the outcomes, as a code and a sentence; "" twice if some."""
    if not len(rows):
        return "no_sessions", "The study has no sessions."
    if outcomes:
        return "", ""
    if _are_debates(rows):
        return "debates", "This is a study of debates: nobody is surveyed before and after."
    return "no_value", said("study/no_outcome")


def _are_debates(rows: pd.DataFrame) -> bool:
    return "format" in rows.columns and bool((rows["format"] == "debate").all())


def why_no_contrast(rows: pd.DataFrame, outcomes: Sequence[OutcomeMeasure]) -> tuple[str, str]:
    """Why these sessions give no contrast, as a code and a sentence; "" twice where they may."""
    code, detail = why_no_outcome(rows, outcomes)
    treatments = treatments_of(rows)
    if code or len(treatments) > 1 or families_in(with_levels(rows)):
        return code, detail
    return "one_treatment", said("study/one_treatment", held=", ".join(treatments))


MEASURED = ("_pre", "_post", "_change")
OF_MEASURE = re.compile("_(relative_change|pre|post|change)$")
"""What stands behind the name of a measure in the name of its column."""


def without_copies(rows: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The sessions without copies, and a sentence on how many there were, or none.

    A copy is a session of a condition that is the same as another (`equal_to`), under the same
    treatment and of the same replicate, with the same value of every measure. Sessions of such
    conditions that gave other values are kept: they are draws of their own.
    """
    if "equal_to" not in rows.columns or not rows["equal_to"].notna().any():
        return rows, []
    measures = [str(name) for name in rows.columns if str(name).endswith(MEASURED)]
    plain = rows.reset_index(drop=True)
    same, later = plain["equal_to"].fillna(plain["cell"]), plain["equal_to"].notna()
    named = plain[["treatment", "replicate", "cell", *measures]].assign(same=same, later=later)
    ordered = named.sort_values(["later", "cell"], kind="stable")
    copy = ordered.duplicated(["treatment", "replicate", "same", *measures]).sort_index()
    copy &= plain[measures].notna().any(axis=1) & plain["replicate"].notna()
    if not copy.any():
        return rows, []
    count = int(copy.sum())
    what = "1 session is" if count == 1 else f"{count} sessions are"
    return rows[~copy.to_numpy()], [said("study/copies", what=what)]


MODELS, CITIZENS = "models", "null citizen"
ALL_MODELS = "all models"
PEOPLE, MIXED = "people", "people and language models"
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
        found[CITIZENS] = _of_twin(study)
    return found


def participants_in(study: StudyTable) -> str:
    """Who took part: models, people, both, or null citizens alone."""
    if MODELS not in kinds_of_participants(study):
        return CITIZENS
    rows = study.rows
    seats = rows["people_seats"].fillna(0) if "people_seats" in rows else pd.Series([0])
    if not seats.any():
        return MODELS
    return PEOPLE if (seats == rows["group_size"]).all() else MIXED


@lru_cache(maxsize=8)
def _of_twin(study: StudyTable) -> pd.DataFrame:
    """The sessions of the null twin of a study that has one, as contrasts take them."""
    return with_levels(pooled_wordings(pd.DataFrame() if study.twin is None else study.twin))


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
    return {name: with_levels(part) for name, part in found.items() if len(part)}, notes


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
        notes = [said("study/only_citizens")] if len(rows) else []
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
    notes = [said("study/only_citizens")] if CITIZENS in found and MODELS not in found else []
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
    counts = [f"{why}: {n}" for why, n in _reasons(lacking, columns).value_counts().items()]
    told = {"lacking": len(lacking), "all": len(rows), "named": " and ".join(columns)}
    return [said("study/without_value", **told, reasons=", ".join(counts))]


def complete(rows: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Which rows have a value in all of these columns; none where a column is missing."""
    if any(name not in rows.columns for name in columns):
        return pd.Series(False, index=rows.index)
    return rows[list(columns)].notna().all(axis=1)


def _reasons(rows: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Why each of these sessions lacks a value, as a text."""
    names = [f"{OF_MEASURE.sub('', name)}_note" for name in columns]
    found = pd.Series("", index=rows.index)
    for name in [*dict.fromkeys(names), "status"]:
        if name in rows.columns:
            why = rows[name].fillna("").astype(str).replace("complete", "")
            found = found.where(found != "", why)
    return found.where(found != "", "not measured")


def why_no_value(study: StudyTable, columns: Sequence[str]) -> tuple[str, str]:
    """The reason code and the sentence if no session has all of these columns; two empty texts
    otherwise.
    """
    named = " and ".join(columns)
    if study.rows.empty:
        return "no_sessions", "The study has no sessions."
    if _are_debates(study.rows):
        return "debates", f"A study of debates has no {named}: nobody is surveyed before and after."
    if not complete(study.rows, columns).any():
        return "no_value", said("study/no_value", named=named)
    return "", ""


Rows = dict[str, Any] | list[dict[str, Any]]


def why_none(study: StudyTable, columns: Sequence[str]) -> tuple[str, str]:
    """The reason code and the sentence if no session has a value of any of these columns; two empty
    texts otherwise.
    """
    reasons = [why_no_value(study, (column,)) for column in columns]
    return reasons[0] if all(code for code, _ in reasons) else ("", "")


@dataclass(frozen=True, eq=False)
class Taken:
    """What an analysis takes of a study: `rows` are the sessions of its main population, `outcomes`
    those of which some session has a value, `notes` sentences on what was left out of either.

    `why` is the reason code where nothing can be analysed, `detail` its sentence where that is not
    the sentence of the table's entry.
    """

    rows: pd.DataFrame
    outcomes: Sequence[OutcomeMeasure] = ()
    notes: Sequence[str] = ()
    why: str = ""
    detail: str = ""

    def contrasts(
        self, row: Callable[[OutcomeMeasure, BlockComparison], Rows]
    ) -> Iterator[dict[str, Any]]:
        """The rows that every contrast of every outcome gives, behind what each is of."""
        for named, outcome, _, comparison in each_contrast(self.rows, self.outcomes):
            found = row(outcome, comparison)
            for one in [found] if isinstance(found, dict) else found:
                yield named | one

    def result(
        self, name: str, rows: Iterable[Mapping[str, Any]], notes: Sequence[str] = (), **values: Any
    ) -> Result:
        """The table of this name with these rows, none where there is a reason against it."""
        found = () if self.why else rows
        return make_table(name, found, [*self.notes, *notes], self.why, self.detail, **values)


def taken(
    study: StudyTable, outcomes: Sequence[OutcomeMeasure] | None = None, contrast: bool = True
) -> Taken:
    """What an analysis takes of a study, by default of all outcomes that it is compared on; of one
    that needs no `contrast`, one treatment is enough.
    """
    rows, notes = main_population(study)
    wanted = wanted_outcomes(study) if outcomes is None else outcomes
    given, missing = outcomes_of(rows, wanted)
    why, detail = (why_no_contrast if contrast else why_no_outcome)(rows, given)
    return Taken(rows, given, [*notes, *missing], why, detail)
