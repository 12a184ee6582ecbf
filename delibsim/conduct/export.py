"""A study as tidy tables in files: those of its sessions or texts, and those of what was asked."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from delibsim.conduct.forks import ForkReport, fork_report
from delibsim.conduct.probes import RunCourse, course_of, probed
from delibsim.domain.branching import in_short, what_differs
from delibsim.store.branch_folders import FORKS
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text
from delibsim.store.interventions import intervention_tables
from delibsim.store.places import branches_of, is_of_branches
from delibsim.store.runs import EXPORT, Runs
from delibsim.store.study_texts import StudyTexts
from delibsim.store.tables.asked import (
    code_tables,
    note_tables,
    summary_tables,
    table_of_texts,
    vote_tables,
)
from delibsim.store.tables.codebook import ROWS, tables_in
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
            *branch_tables(runs, left_out),
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


def branch_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The tables of the forks and probes of a study, none where it has none of a kind; what cannot
    be read is added to `faults`.
    """
    own = is_of_branches(runs) and runs.folder.name == FORKS
    forks = runs if own else branches_of(runs, FORKS)
    found = []
    if forks is not None:
        report = fork_report(forks, keep=False)
        faults += report.faults
        found += [_table("forks", _forks(report)), _table("fork_effects", _effects(report))]
        if report.over_runs:
            found.append(_table("fork_effects_over_runs", _over_runs(report)))
    courses = list(_courses(runs, faults))
    if courses:
        readings = [(course, reading) for course in courses for reading in course.readings]
        answers = [(course, answer) for course in courses for answer in course.answers]
        found.append(_table("trajectories", starmap(_of_course, readings)))
        found.append(_table("probe_answers", starmap(_of_course, answers)))
    return found


def _table(name: str, rows: Iterable[dict[str, Any]]) -> Table:
    """A table of data/branch_tables.yaml; an empty text and what is undefined are missing."""
    row, columns = tables_in("branch_tables.yaml")[name]
    found = []
    for values in rows:
        cells = [values.get(column.name) for column in columns]
        found.append([None if cell == "" or cell != cell else cell for cell in cells])
    return Table(name, row, columns, found)


def _courses(runs: Runs, faults: list[str]) -> Iterator[RunCourse]:
    for session in probed(runs):
        try:
            course = course_of(runs, session)
        except Damaged as error:
            faults.append(str(error))
            continue
        faults += course.faults
        yield course


def _forks(report: ForkReport) -> Iterator[dict[str, Any]]:
    for name, plan in report.plans.items():
        if plan.parentage is not None:
            texts = json_text([difference.plain() for difference in what_differs(plan)])
            parent = {"branch_of": plan.parentage.place, "branch_at": plan.parentage.at}
            place = {"study": report.study, **parent, "session": name, "cell": plan.cell}
            what = {"branch_differs": in_short(plan), "branch_texts": texts}
            number = {"seed": str(plan.seed), "replicate": plan.replicate}
            yield {**place, **what, **number, "status": report.statuses.get(name)}


def _effects(report: ForkReport) -> Iterator[dict[str, Any]]:
    for effect in report.effects:
        place = {"study": report.study, "branch_of": effect.parent, "branch_at": effect.at}
        yield {
            **effect.plain(),
            **place,
            "branch_differs": effect.differs,
            "seed": str(effect.seed),
        }


def _over_runs(report: ForkReport) -> Iterator[dict[str, Any]]:
    for effect in report.over_runs:
        place = {"study": report.study, "branch_at": effect.at, "branch_differs": effect.differs}
        yield {**effect.plain(), **place}


def _of_course(course: RunCourse, row: Any) -> dict[str, Any]:
    """A reading or an answer of a course, with its place."""
    study, _, session = course.place.rpartition("/")
    return {"study": study, "session": session, **row.plain()}
