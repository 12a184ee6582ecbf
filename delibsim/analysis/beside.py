"""Setting the human reference beside a table of a study, joined by topic."""

import math
from typing import Any

import pandas as pd

from delibsim.analysis.reference import OF_THE_INSTRUMENT, groups_of_five, reference

COLUMNS = ("people", "people_n", "people_of_five", "people_of_five_sd", "people_note")


def beside_people(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what real people did on the same topic in the same measure and phase.

    Needs columns `topic`, `measure` and `phase` (pre, post, change); uses `survey` where there is one. Adds `people` (all participants of
    the topic pooled), `people_n`, `people_of_five` (mean over groups of five, for the measures that have it), `people_of_five_sd` (between
    those groups) and `people_note`: why there is no value. Raises ValueError where a column is missing.
    """
    if lacking := [name for name in ("topic", "measure", "phase") if name not in table.columns]:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    surveys = table["survey"] if "survey" in table.columns else [""] * len(table)
    rows = [_people(*cell) for cell in zip(table["topic"], table["measure"], table["phase"], surveys, strict=True)]
    joined = pd.DataFrame(rows, columns=list(COLUMNS), index=table.index)
    return pd.concat([table, joined], axis=1)


def _people(topic: str, measure: str, phase: str, survey: str) -> tuple[float | str, ...]:
    people = reference(topic)
    if people is None:
        return (math.nan, math.nan, math.nan, math.nan, "no_people_on_this_topic")
    if measure in OF_THE_INSTRUMENT and survey != f"deliberr.{topic}":
        return (math.nan, people["n"], math.nan, math.nan, "another_instrument" if survey else "instrument_unknown")
    value = people.get(phase, {}).get(measure)
    if value is None:
        return (math.nan, people["n"], math.nan, math.nan, people.get("notes", {}).get(measure, "not_measured_in_people"))
    five: dict[str, Any] = (groups_of_five(topic) or {}).get(measure, {}).get(phase, {})
    return (value, people["n"], five.get("mean", math.nan), five.get("between_groups", math.nan), "")
