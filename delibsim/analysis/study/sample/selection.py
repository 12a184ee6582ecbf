"""A part of a study: the sessions of some conditions, or some sessions by name."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from delibsim.analysis.study.study_table import StudyTable
from delibsim.domain.errors import WrongInput, unknown

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
