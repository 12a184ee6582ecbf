"""Setting the human reference beside a table of a study, joined by topic."""

import math
from typing import Any

import pandas as pd

from delibsim.analysis.human.reference import groups_of_five, human_value, reference

KEYS = ("topic", "measure", "phase")
"""Columns by which people's values are found."""
COLUMNS = ("people", "people_n", "people_of_five", "people_of_five_sd", "people_note")
"""Columns that are added."""


def add_human_reference(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what real people did on the same topic in the same measure and phase.

    Needs columns `topic`, `measure` and `phase` (pre, post, change); uses `survey` where there is
    one. Adds `people` (all participants of the topic pooled), `people_n`, `people_of_five` (mean
    over groups of five, for the measures that have it), `people_of_five_sd` (between those groups)
    and `people_note`: why there is no value. Raises ValueError where a column is missing.
    """
    lacking = [name for name in KEYS if name not in table.columns]
    if lacking:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    surveys = table["survey"] if "survey" in table.columns else [""] * len(table)
    keys = zip(*(table[name] for name in KEYS), surveys, strict=True)
    rows = [_people(*key) for key in keys]
    joined = pd.DataFrame(rows, columns=list(COLUMNS), index=table.index)
    return pd.concat([table, joined], axis=1)


def _people(topic: str, measure: str, phase: str, survey: str) -> tuple[float | str, ...]:
    value, note = human_value(topic, measure, phase, survey)
    people = reference(topic)
    n = people["n"] if people else math.nan
    if value is None:
        return math.nan, n, math.nan, math.nan, note
    five: dict[str, Any] = (groups_of_five(topic) or {}).get(measure, {}).get(phase, {})
    return value, n, five.get("mean", math.nan), five.get("between_groups", math.nan), ""
