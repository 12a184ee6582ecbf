"""Setting the human reference beside a table of a study, joined by topic."""

import math
from typing import Any

import pandas as pd

from delibsim.analysis.human.reference import groups_of_five, of_people, reference

COLUMNS = ("people", "people_n", "people_of_five", "people_of_five_sd", "people_note")


def add_human_reference(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what real people did on the same topic in the same measure and phase.

    Needs columns `topic`, `measure` and `phase` (pre, post, change); uses `survey` where there is
    one. Adds `people` (all participants of the topic pooled), `people_n`, `people_of_five` (mean
    over groups of five, for the measures that have it), `people_of_five_sd` (between those groups)
    and `people_note`: why there is no value. Raises ValueError where a column is missing.
    """
    if lacking := [name for name in ("topic", "measure", "phase") if name not in table.columns]:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    surveys = table["survey"] if "survey" in table.columns else [""] * len(table)
    rows = [
        _people(*cell)
        for cell in zip(table["topic"], table["measure"], table["phase"], surveys, strict=True)
    ]
    joined = pd.DataFrame(rows, columns=list(COLUMNS), index=table.index)
    return pd.concat([table, joined], axis=1)


def _people(topic: str, measure: str, phase: str, survey: str) -> tuple[float | str, ...]:
    people, (value, note) = reference(topic), of_people(topic, measure, phase, survey)
    n = people["n"] if people else math.nan
    if value is None:
        return math.nan, n, math.nan, math.nan, note
    five: dict[str, Any] = (groups_of_five(topic) or {}).get(measure, {}).get(phase, {})
    return value, n, five.get("mean", math.nan), five.get("between_groups", math.nan), ""
