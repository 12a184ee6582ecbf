"""The table of a study: one row a session that is planned; all analyses are computed from it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.study.outcomes import OutcomeMeasure
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.score import MEASURES, Measure, heading_of
from delibsim.domain.study import natural
from delibsim.domain.survey import PHASES, WAVE
from delibsim.plugins import declared, names
from delibsim.store.reading import read_yaml
from delibsim.store.tables.sheets import Column

DESIGN = ("topic", "model", "setting", "treatment", "replicate")
"""The columns that every table of a study has, whatever it comes from.

`model` names the set-up: the models of the group, joined by +. `setting` holds, as text, every
other setting in which sessions of the study differ, such as rounds=4; it is "" where none does.
"""
HELD = ("complete", "partial")
"""The status of sessions that were held."""
WORDING = "paraphrase"
"""The column with the treatment as it was held, where treatments have paraphrases."""
BLOCK = ("topic", "model", "setting")
"""What is held equal when treatments are compared."""

AT_ONCE = 1_000
"""Rows that are made plain at once."""


@dataclass(frozen=True, eq=False)
class StudyTable:
    """The sessions of a study as a table, and the codebook of its columns.

    `rows` has the columns of `DESIGN` and, for every measure of a run, `<measure>_pre`,
    `<measure>_post` and `<measure>_change` (`<measure>` alone where it has no phase), NaN where it
    is undefined; then `<measure>_note` says why. `status` is complete, partial, no run, damaged,
    not begun or withdrawn; `null` marks sessions whose participants are all citizens of the null
    model.
    `paired` says whether treatments of one replicate share people, order and seeds. `twin` are the
    sessions of the null twin, the same design held by citizens; None where the study has citizens
    of its own or there can be no twin; then `no_twin` is a sentence that says why. `primary` is
    the measure whose absolute change decides, `outcomes` are those that were asked for beside it,
    `by_models` the columns that models gave, by which alone nothing is decided.
    """

    study: str
    rows: pd.DataFrame
    columns: Sequence[Column]
    paired: bool = True
    twin: pd.DataFrame | None = None
    no_twin: str = ""
    primary: str = "dri"
    outcomes: Sequence[OutcomeMeasure] = ()
    by_models: frozenset[str] = frozenset()

    def plain_rows(self) -> Iterator[list[Any]]:
        """The values of each row in the order of the columns, None where there is none."""
        for first in range(0, len(self.rows), AT_ONCE):
            part, columns = self.rows.iloc[first : first + AT_ONCE], []
            for name in part.columns:
                values = part[name].astype(object)
                columns.append(values.where(values.notna(), None).tolist())
            for row in zip(*columns, strict=True):
                yield list(row)

    def analysed(self, outcome: str) -> pd.DataFrame:
        """The rows that have a value of this column, such as `dri_change`."""
        if outcome not in self.rows.columns:
            return self.rows.iloc[:0]
        return self.rows[self.rows[outcome].notna()]


@dataclass(frozen=True)
class DrawCounts:
    """Numbers of draws; equal draws give equal results.

    `permutations` are those of a permutation test, `resamples` those of a bootstrap over topics,
    `parametric` those of the parametric bootstrap of the mixed model.
    """

    permutations: int = 10_000
    resamples: int = 10_000
    parametric: int = 2_000
    seed: int = 0


WHEN = {"pre": "before the deliberation", "post": "after it", "change": "after less before"}
RELATIVE = {"dri": "dri_relative", "dri_adjusted": "dri_adjusted_relative"}
"""The measures whose relative change the table has, and the name of its columns."""
ADJUSTED_RELATIVE = RELATIVE["dri_adjusted"]
DEFINED = "The change of the adjusted index as a share of the room there was for it."


def when_in_words(phase: str) -> str:
    """When a phase is, as columns say it.

    >>> when_in_words("post"), when_in_words("wave_2")
    ('after it', 'in wave 2, between the two')
    """
    return WHEN.get(phase) or f"in {heading_of(phase)}, between the two"


def _place_of_phase(phase: str) -> tuple[Any, ...]:
    """Where the columns of a phase stand: surveys in their order, then the change."""
    order = ["", PHASES[0], WAVE, *WHEN]
    return order.index(WAVE if phase.startswith(WAVE) else phase), natural(phase)


@cache
def fixed_columns() -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """The columns of the design, and those of counts."""
    plain = read_yaml(Path(__file__).parents[2] / "data" / "study_table.yaml")
    design = tuple(Column(**one) for one in plain["design"])
    counts = tuple(Column(**one) for one in plain["counts"])
    return design, counts


@cache
def known_measures() -> Mapping[str, Measure]:
    """The measures that built-in and installed scorers declare, by id."""
    found = dict(MEASURES)
    for name in names("delibsim.scorers"):
        for measure in declared(name)[1]:
            found.setdefault(measure.id, measure)
    return found


def column_of(measure: str, phase: str) -> str:
    """The name of the column of a measure in a phase.

    >>> column_of("dri", "pre"), column_of("flags.markup", "")
    ('dri_pre', 'flags.markup')
    """
    return f"{measure}_{phase}" if phase else measure


def measure_columns(
    kinds: Iterable[tuple[str, str]], known: Mapping[str, Measure]
) -> Iterator[Column]:
    """The columns of measures in these phases, each measure followed by its column of notes."""
    phases: dict[str, list[str]] = {}
    for measure, phase in kinds:
        phases.setdefault(measure, []).append(phase)
    for measure, own in phases.items():
        facts = known.get(measure) or MEASURES.get(measure)
        for phase in sorted(own, key=_place_of_phase):
            yield _of_measure(measure, phase, facts)
        meaning = f"why a value of {measure} is missing: reason codes joined by ;, empty otherwise"
        yield Column(f"{measure}_note", "text", meaning)


def _of_measure(measure: str, phase: str, facts: Measure | None) -> Column:
    if measure == ADJUSTED_RELATIVE:
        return Column(column_of(measure, phase), "number", DEFINED)
    name = column_of(measure, phase)
    if facts is None:
        meaning = f"{measure}, which no scorer that is installed declares"
        told = [meaning, when_in_words(phase)] if phase else [meaning]
        return Column(name, "number", "; ".join(told))
    meaning = f"{facts.label}: {facts.definition}"
    if phase and facts.phases != ("change",):
        meaning = f"{facts.label}, {when_in_words(phase)}: {facts.definition}"
    return Column(name, "number", meaning, facts.unit, _ends(facts, phase))


def _ends(facts: Measure, phase: str) -> str:
    """The lowest and the highest value in words, "" where neither is known."""
    low, high = facts.range
    if phase == "change" and facts.phases != ("change",):
        low, high = low - high, high - low
    if math.isfinite(low) and math.isfinite(high):
        return f"{low:g} to {high:g}"
    return f"{low:g} or more" if math.isfinite(low) else ""


BARE = ("treatment", "cell")
"""Columns of which a value may be given without the name of the column."""


def selected(
    study: StudyTable,
    conditions: Sequence[str] = (),
    sessions: Sequence[str] = (),
) -> StudyTable:
    """The sessions of a study that are in all of these conditions, and of these names.

    A condition is a treatment, a cell, or `column=value` such as topic=ccps or rounds=4; several of
    one column add up. Raises WrongInput for what the study has not.
    """
    rows = study.rows
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        column, value = _parsed(rows, condition)
        wanted.setdefault(column, []).append(value)
    for column, values in wanted.items():
        rows = rows[_texts(rows[column]).isin(values)]
    if sessions:
        known = rows["session"].astype(str)
        for name in sessions:
            if name not in set(known):
                raise unknown("session", name, known)
        rows = rows[known.isin(list(sessions))]
    if rows.empty:
        raise WrongInput(f"no session is in all of: {', '.join(conditions)}")
    return replace(study, rows=rows.reset_index(drop=True))


def _parsed(rows: pd.DataFrame, condition: str) -> tuple[str, str]:
    """The column and the value of a condition."""
    column, equal, value = condition.partition("=")
    if equal and column in rows.columns:
        known = set(_texts(rows[column]))
        if value not in known:
            raise unknown(column, value, known)
        return column, value
    for name in BARE:
        if name in rows.columns and condition in set(_texts(rows[name])):
            return name, condition
    there = sorted(set(_texts(rows["treatment"])))
    advice = "Other columns: column=value, such as topic=NAME."
    raise unknown("condition", condition, there, advice)


def _texts(values: pd.Series) -> pd.Series:
    """Values as they are typed: 4, not 4.0."""
    return values.astype(str).str.removesuffix(".0")
