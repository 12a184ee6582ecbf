"""The report on the ratings of one study: its tables, what they rest on, and what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from delibsim.analysis.debates.figures import figures
from delibsim.analysis.debates.pooled import Pooled
from delibsim.analysis.debates.rated import chosen, debates_of, edited, ids_of
from delibsim.analysis.debates.report import LONG, tables
from delibsim.domain.rating import debated
from delibsim.store.files import write_atomically
from delibsim.store.instruments.covariates import read_covariates
from delibsim.store.ratings import Ratings
from delibsim.store.runs import Runs


@dataclass(frozen=True)
class StudyReport:
    """The tables of a report by name, and whose ratings are pooled in them.

    `planned` counts sessions, `waiting` those of them that were not held; `faults` names runs that
    cannot be read, `losses` ratings that are lost, `changed` debates that were edited. `debated`
    says whether all debates that can be read are complete.
    """

    study: str
    tables: Mapping[str, pd.DataFrame]
    pooled: Pooled
    planned: int
    waiting: int
    faults: Sequence[str]
    losses: Sequence[str]
    changed: Sequence[str]
    debated: bool

    @property
    def debates(self) -> int:
        """How many debates can be read."""
        return self.planned - self.waiting - len(self.faults)

    @property
    def rated(self) -> bool:
        """Whether there is any rating."""
        return not self.tables["ratings"].empty

    @property
    def whole(self) -> bool:
        """Whether nothing that was planned is missing, lost or changed."""
        spoiled = self.faults or self.losses or self.changed or self.waiting
        return self.debated and not spoiled

    @property
    def printed(self) -> dict[str, pd.DataFrame]:
        """The tables that are printed: those that have no row a rating."""
        return {name: table for name, table in self.tables.items() if name not in LONG}

    def missing(self) -> list[str]:
        """What the report does not rest on, in sentences."""
        told = [f"left out, damaged: {fault}" for fault in self.faults]
        told += [f"lost: {loss}" for loss in self.losses]
        told += [f"warning: {line}" for line in self.changed]
        told += [f"planned and not held yet: {self.waiting}"] if self.waiting else []
        return told

    def plain(self) -> dict[str, Any]:
        """As plain values; the tables as lists of rows."""
        plain: dict[str, Any] = {"study": self.study, "planned": self.planned}
        plain |= {"faults": self.faults, "lost": self.losses, "edited": self.changed}
        plain |= self.pooled.plain()
        for name, table in self.printed.items():
            plain[name] = table.astype(object).to_dict("records")
        return plain

    def write(self, folder: Path) -> None:
        """Write every table as CSV and every figure as SVG."""
        for name, table in self.tables.items():
            rows = table.to_csv(index=False, lineterminator="\n")
            write_atomically(folder / f"{name}.csv", rows)
        for name, drawing in figures(dict(self.tables)).items():
            write_atomically(folder / f"{name}.svg", drawing)


def study_report(
    runs: Runs,
    panels: Sequence[str] = (),
    source: str | None = None,
    focus: str | None = None,
    people: Path | None = None,
) -> StudyReport:
    """The report on the ratings of a study, or only of these panels and of this source.

    `people` is a file of covariates; the rest is as in `tables` and `chosen`.
    """
    debates, faults = debates_of(runs)
    planned = len(runs.sessions())
    covariates = None if people is None else read_covariates(people, ids_of(debates))
    rated = chosen(debates, panels, source)
    return StudyReport(
        study=runs.study,
        tables=tables(rated, focus=focus, people=covariates),
        pooled=Pooled.of(rated),
        planned=planned,
        waiting=planned - len(debates) - len(faults),
        faults=faults,
        losses=Ratings.of(runs).losses(run.session.id for run in debates),
        changed=edited(debates),
        debated=all(map(debated, debates)),
    )
