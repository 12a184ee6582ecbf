"""What a study gives as data frames in Python, with the values of its report and its export."""

from dataclasses import asdict

import pandas as pd

from delibsim.analysis.study.blocks import UNIT, placed
from delibsim.analysis.study.sample import outcomes_of, treatments_of, wanted_outcomes
from delibsim.analysis.study.study_table import StudyTable
from delibsim.store.tables.sheets import Table

KINDS = {"integer": "Int64", "logical": "boolean"}
"""The types of columns in which a value may be missing; others are as pandas makes them."""
COPY = "copy"
"""What tells sessions of one condition and replicate apart, where there are several."""


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
