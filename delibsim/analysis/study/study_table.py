"""The table of a study: one row a session that is planned; all analyses are computed from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from delibsim.store.tables.codebook import Column

DESIGN = ("topic", "model", "setting", "treatment", "replicate")
"""The columns that every table of a study has, whatever it comes from.

`model` names the set-up: the models of the group, joined by +. `setting` holds, as text, every
other setting in which sessions of the study differ, such as rounds=4; it is "" where none does.
"""
BLOCK = ("topic", "model", "setting")
"""What is held equal when treatments are compared."""


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
    the measure whose absolute change decides.
    """

    study: str
    rows: pd.DataFrame
    columns: Sequence[Column]
    paired: bool = True
    twin: pd.DataFrame | None = None
    no_twin: str = ""
    primary: str = "dri"

    def plain_rows(self) -> Iterator[list[Any]]:
        """The values of each row in the order of the columns, None where there is none."""
        columns = []
        for name in self.rows.columns:
            values = self.rows[name].astype(object)
            columns.append(values.where(values.notna(), None).tolist())
        for row in zip(*columns, strict=True):
            yield list(row)

    def analysed(self, outcome: str) -> pd.DataFrame:
        """The rows that have a value of this column, such as `dri_change`."""
        if outcome not in self.rows.columns:
            return self.rows.iloc[:0]
        return self.rows[self.rows[outcome].notna()]
