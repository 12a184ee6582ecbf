"""The table of a study made again from rows that were kept of it."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from delibsim.analysis.study.study_table import StudyTable
from delibsim.analysis.study.table.table_of_study import DTYPES, shares_seeds
from delibsim.store.tables.codebook import Column


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
