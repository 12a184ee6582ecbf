"""A study as tidy tables in files: those of its sessions or texts, and those of what was asked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from delibsim.store.branch_folders import BRANCHES
from delibsim.store.branches import is_of_branches
from delibsim.store.interventions import intervention_tables
from delibsim.store.runs import EXPORT, Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.asked import (
    code_tables,
    note_tables,
    summary_tables,
    table_of_texts,
    vote_tables,
)
from delibsim.store.tables.codebook import ROWS
from delibsim.store.tables.sheets import Table
from delibsim.store.tables.study import Export, export


@dataclass(frozen=True)
class ExportedTables:
    """What was `written`, what a row of each table is, and how many runs lack scores in the table
    with a row a session.
    """

    written: Export
    rows_are: Mapping[str, str]
    unscored: int = 0


def export_tables(
    runs: Runs,
    folder: Path | None = None,
    formats: Collection[str] = ("csv",),
    spreadsheet_safe: bool = False,
    texts: bool = True,
) -> ExportedTables:
    """Write every table of a study into a folder, by default its own; with `texts` or without."""
    rows_are, unscored = dict(ROWS), 0

    def more(left_out: list[str]) -> list[Table]:
        nonlocal unscored
        wide, unscored = _wide_table(runs)
        found = [
            wide,
            *code_tables(runs, left_out),
            *vote_tables(runs, left_out),
            *_branch_tables(runs, left_out),
            *note_tables(runs, left_out),
            *intervention_tables(runs, left_out),
            *summary_tables(runs, left_out),
        ]
        rows_are.update({table.name: table.row for table in found})
        return found

    to = folder or runs.folder / EXPORT
    written = export(runs, to, formats, spreadsheet_safe, more, texts)
    return ExportedTables(written, rows_are, unscored)


def _wide_table(runs: Runs) -> tuple[Table, int]:
    """The table with a row a session, or of a study of texts a row a text; and how many runs lack
    scores in it.
    """
    if StudyTexts(runs).held():
        return table_of_texts(runs), 0
    from delibsim.conduct.analysed import wide_table  # imports pandas

    return wide_table(runs)


def _branch_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The tables of forks and probes, where runs of the study were forked or probed."""
    if not any((runs.folder / kind).is_dir() for kind in BRANCHES) and not is_of_branches(runs):
        return []
    from delibsim.conduct.branch_tables import branch_tables  # imports numpy

    return branch_tables(runs, faults)
