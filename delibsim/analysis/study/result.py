"""What an analysis gives: a table of numbers with its definition, or why there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Result:
    """One table of the report.

    `name` names the file and the member of the JSON, `title` stands above the table. `definition`
    says in plain sentences what a row is and how its numbers come about; `source` is a DOI, a URL
    or a page of the docs. `rows` has one estimate a row, at full precision, NaN where there is
    none, with a column `note` for the reason. `meanings` says of each column what it holds.
    `notes` are sentences on what was left out, or on how an estimate departs from its definition.
    `why_not` is the reason code of a table that this study cannot give, "" where it is given;
    `detail` says the same in a sentence, with what would be needed.
    """

    name: str
    title: str
    definition: str
    source: str
    rows: pd.DataFrame
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    why_not: str = ""
    detail: str = ""

    @property
    def given(self) -> bool:
        """Whether the study gives this table."""
        return not self.why_not

    def plain(self) -> list[dict[str, Any]]:
        """The rows as plain values, None where there is no value."""
        known = self.rows.astype(object).where(self.rows.notna(), None)
        named = known.rename(columns=str)
        return named.to_dict("records")
