"""The table of a study from what is known of its sessions and from the scores of its runs; and as
frames in Python.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from delibsim.analysis.study.blocks import UNIT, placed
from delibsim.analysis.study.sample import outcomes_of, treatments_of, wanted_outcomes
from delibsim.analysis.study.study_table import (
    ADJUSTED_RELATIVE,
    HELD,
    StudyTable,
    column_of,
    fixed_columns,
    measure_columns,
)
from delibsim.domain.condition import Placed, conditions_of
from delibsim.domain.score import Measure, in_order
from delibsim.measures.dri import relative_change
from delibsim.store.tables.scored import RunScores
from delibsim.store.tables.session_rows import Row
from delibsim.store.tables.sheets import OF_PHASES, Column, Table, without

KINDS = {"integer": "Int64", "logical": "boolean"}
"""The types of columns in which a value may be missing; others are as pandas makes them."""
COPY = "copy"
"""What tells sessions of one condition and replicate apart, where there are several."""


AS_FACT = {"model": "models", "temperature": "temperature_requested"}
"""Columns of the table that have another name than the fact that they hold."""
DTYPES = {"integer": "Int64", "logical": "boolean", "number": "float64", "text": "object"}
NOT_SCORED = "not_scored"
NOT_APPLICABLE = "not_applicable"
"""Why a debate has no index, and a deliberation no winner."""
UNREAD = ("no_run", "damaged", "not_begun", "withdrawn")
"""The reasons of sessions without a readable run."""
NO_ROOM = "zero_denominator"


def table_of_study(
    study: str,
    facts: Sequence[Row],
    scores: Iterable[RunScores],
    known: Mapping[str, Measure],
    equal: Mapping[str, str],
) -> StudyTable:
    """The table of a study, one row for each of `facts` (see store.tables.session_facts).

    `known` are the measures that scorers declare, `equal` the cells that are the same as another.
    """
    given = {name for row in facts for name in OF_PHASES if row.get(name) is not None}
    idle = {*OF_PHASES} - given
    design, counts = (without(own, idle) for own in fixed_columns())
    if "phases" in given:
        counts = [replace(one, meaning=one.meaning.replace("2 phases", "phases")) for one in counts]
    series: dict[str, Any] = {}
    for column in (*design, *counts):
        fact = AS_FACT.get(column.name, column.name)
        values = [row.get(fact) for row in facts]
        series[column.name] = pd.Series(values, dtype=DTYPES[column.kind])
    series["study"] = pd.Series([study] * len(facts), dtype="object")
    series["setting"] = pd.Series(_settings(facts), dtype="object")
    cells = [row.get("cell") for row in facts]
    series["equal_to"] = pd.Series([equal.get(cell or "") for cell in cells], dtype="object")
    columns, measured = _measures(facts, scores, known)
    ordered = {column.name: series[column.name] for column in design}
    ordered |= measured | {column.name: series[column.name] for column in counts}
    frame = pd.DataFrame(ordered)
    return StudyTable(study, frame, (*design, *columns, *counts), shares_seeds(frame))


def table_of_rows(
    study: str, columns: Sequence[Column], names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> StudyTable:
    """The table of a study from rows whose values stand in the order of `names`; None is missing.

    Logicals may be kept as 0 and 1. `columns` that are not among the names are left out.
    """
    known = [column for column in columns if column.name in names]
    series = {}
    for column in known:
        place = list(names).index(column.name)
        values = [row[place] for row in rows]
        if column.kind == "logical":
            values = [None if value is None else bool(value) for value in values]
        series[column.name] = pd.Series(values, dtype=DTYPES[column.kind])
    frame = pd.DataFrame(series)
    return StudyTable(study, frame, known, shares_seeds(frame))


def shares_seeds(rows: pd.DataFrame) -> bool:
    """Whether treatments of one replicate share people, order and seeds.

    They do where all sessions of one topic and replicate have one seed. Where no seed is known they
    are taken to do so, as far as replicates have the same numbers under several treatments: a test
    by draws holds either way, and one that takes sessions as independent does not where models
    share draws.
    """
    if not knows_seeds(rows):
        named = rows["topic"].astype(str), rows["replicate"].astype(str)
        several = rows["treatment"].astype(str).groupby(list(named)).nunique()
        return not len(several) or rows["treatment"].nunique() < 2 or bool((several > 1).any())
    seeds = rows[rows["seed"].notna()].groupby(["topic", "replicate"])["seed"].nunique()
    return int(seeds.max()) == 1


def knows_seeds(rows: pd.DataFrame) -> bool:
    """Whether the table says with which seeds its sessions were held."""
    return "seed" in rows.columns and bool(rows["seed"].notna().any())


def _settings(facts: Sequence[Row]) -> list[str]:
    """The setting of each session, as the tables name it."""
    placed = []
    interned: dict[Any, frozenset[Any]] = {}
    for row in facts:
        if "cell" in row:
            settings = row["settings"]
            if settings not in interned:
                interned[settings] = frozenset(_with_rounds(settings))
            family = row["topic"], row["treatment"], row["models"]
            own = Placed(row["session"], row["cell"], row["replicate"], family, interned[settings])
            placed.append(own)
    found = conditions_of(placed)
    told = []
    for row in facts:
        stated = found[row["session"]].settings if row["session"] in found else ()
        told.append(", ".join(f"{key}={value}" for key, value in stated))
    return told


def _with_rounds(settings: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    """The settings by which conditions are told apart; values of two kinds are never equal."""
    for key, value in settings:
        yield key, str(value) if isinstance(value, bool) else value


def _measures(
    rows: Sequence[Row], scores: Iterable[RunScores], known: Mapping[str, Measure]
) -> tuple[list[Column], dict[str, pd.Series]]:
    """The columns of all measures, by name, in the order of tables."""
    names = {row["session"]: number for number, row in enumerate(rows)}
    held = np.array([row["status"] in HELD for row in rows], dtype=bool)
    statuses = np.array([row["status"].replace(" ", "_") for row in rows], dtype=object)
    statuses[held] = None
    formats = np.array([str(row.get("format")) for row in rows], dtype=object)
    values: dict[str, dict[str, np.ndarray]] = {}
    notes: dict[str, np.ndarray] = {}
    for own in scores:
        targets = [(names[name], at) for at, name in enumerate(own.targets) if name in names]
        to = np.array([place for place, _ in targets], dtype=np.intp)
        at = np.array([place for _, place in targets], dtype=np.intp)
        for (measure, phase), column in own.values.items():
            full = np.full(len(rows), np.nan)
            full[to] = column[at]
            full[~held] = np.nan  # scores outlive a run that was damaged or taken away
            values.setdefault(measure, {})[phase] = full
        for measure, told in own.notes.items():
            note = np.where(held, NOT_SCORED, statuses)
            for place, source in targets:
                if held[place]:
                    note[place] = told[source]
            _mark_other_formats(note, formats)
            notes[measure] = note
    _add_relative(values, notes)
    order = [*in_order({name: known[name] for name in values if name in known}), *values]
    if ADJUSTED_RELATIVE in values:
        order.insert(order.index("dri_adjusted") + 1, ADJUSTED_RELATIVE)
    columns: list[Column] = []
    found: dict[str, pd.Series] = {}
    for measure in dict.fromkeys(order):
        phases = values[measure]
        columns += measure_columns([(measure, phase) for phase in phases], known)
        for phase, column in phases.items():
            found[column_of(measure, phase)] = pd.Series(column, dtype="float64")
        found[f"{measure}_note"] = pd.Series(notes[measure], dtype="object")
    return columns, {column.name: found[column.name] for column in columns}


def _mark_other_formats(note: np.ndarray, formats: np.ndarray) -> None:
    """Note that a measure is not of a format of which no run has a score of it."""
    unscored = note == NOT_SCORED
    if not unscored.any():
        return
    scored = {formats[place] for place in np.flatnonzero(~unscored) if note[place] not in UNREAD}
    for place in np.flatnonzero(unscored):
        if scored and formats[place] not in scored:
            note[place] = NOT_APPLICABLE


def _add_relative(values: dict[str, dict[str, np.ndarray]], notes: dict[str, np.ndarray]) -> None:
    """Add the relative change of the adjusted index, as the scorer gives that of the plain one."""
    adjusted = values.get("dri_adjusted", {})
    if not {"pre", "post"} <= adjusted.keys():
        return
    relative = np.asarray(relative_change(adjusted["pre"], adjusted["post"]), dtype=np.float64)
    values[ADJUSTED_RELATIVE] = {"change": relative}
    note = notes["dri_adjusted"].copy()
    unsaid = np.isnan(relative) & np.array([not one for one in note], dtype=bool)
    note[unsaid] = NO_ROOM
    notes[ADJUSTED_RELATIVE] = note


def by_treatment(study: StudyTable) -> pd.DataFrame:
    """The outcomes with treatments as columns: a row is a topic, model, setting and replicate.

    The columns have two levels, outcome (such as dri_change) and treatment, `none` first. Sessions
    stand in a row by the names of what they share; one without a counterpart leaves NaN there, and
    one in which nobody speaks stands beside every setting of speech that it is compared with.
    """
    rows = study.rows[study.rows["treatment"].notna()].reset_index(drop=True)
    given = outcomes_of(rows, wanted_outcomes(study))[0]
    values = list(dict.fromkeys(outcome.column for outcome in given))
    more = [name for name in ("interaction",) if name in rows.columns]
    found = placed(rows[[*UNIT, *more, *values]])
    found[COPY] = found.groupby(UNIT, dropna=False).cumcount() + 1
    keys = [name for name in UNIT if name != "treatment"]
    keys += [COPY] if (found[COPY] > 1).any() else []
    wide = found.set_index([*keys, "treatment"])[values].unstack("treatment")
    order = [(value, name) for value in values for name in treatments_of(rows)]
    columns = pd.MultiIndex.from_tuples(order, names=["outcome", "treatment"])
    return wide.reindex(columns=columns)


def codebook(study: StudyTable) -> pd.DataFrame:
    """What the columns of the table of a study mean, a row each."""
    return pd.DataFrame([asdict(column) for column in study.columns])


def frame_of(table: Table) -> pd.DataFrame:
    """A table of the export as a frame; what is missing is missing there."""
    frame = pd.DataFrame(list(table.rows), columns=[column.name for column in table.columns])
    kinds = {one.name: KINDS[one.kind] for one in table.columns if one.kind in KINDS}
    return frame.astype(kinds)


def with_design(rows: pd.DataFrame, study: StudyTable) -> pd.DataFrame:
    """Rows about texts of sessions with the design of the session, by its name."""
    design = study.rows[["session", *UNIT]].drop_duplicates("session")
    return rows.merge(design, on="session", how="left", validate="many_to_one")
