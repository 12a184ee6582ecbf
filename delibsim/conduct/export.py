"""A study as tidy tables in files: those of its sessions or texts, and those of what was asked."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import starmap
from math import isfinite
from pathlib import Path
from typing import Any

from delibsim.analysis.forks import BETWEEN
from delibsim.analysis.run.leave_out import without_personas
from delibsim.conduct.forks import ForkReport, RunCourse, course_of, fork_report, probed
from delibsim.conduct.score import Watch
from delibsim.domain.branching import in_short, what_differs
from delibsim.domain.corpora import ExportedSession, Exporter, Files, OpinionExporter
from delibsim.domain.errors import refused
from delibsim.domain.run import Session
from delibsim.plugins import load
from delibsim.store.codec import SCHEMA, Damaged
from delibsim.store.files import json_text, staged
from delibsim.store.notes import intervention_tables
from delibsim.store.own_folder import refuse_others
from delibsim.store.places import branches_of, inherited, is_of_branches
from delibsim.store.runs import EXPORT, Runs
from delibsim.store.sent import calls_of
from delibsim.store.session_files import FORKS
from delibsim.store.study_texts import PARTS, StudyTexts, votes_on
from delibsim.store.tables.asked import (
    code_tables,
    note_tables,
    opinion_tables,
    summary_tables,
    table_of_texts,
    vote_tables,
)
from delibsim.store.tables.sheets import ROWS, Column, Table, tables_in, write_manifest
from delibsim.store.tables.study import Export, export

EXPORTERS = "delibsim.exporters"
"""The group of plug-ins that write studies for other programs."""


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
            *opinion_tables(runs),
            *summary_tables(runs, left_out),
        ]
        rows_are.update({table.name: table.row for table in found})
        return found

    to = folder or runs.folder / EXPORT
    written = export(runs, to, formats, spreadsheet_safe, more, texts)
    return ExportedTables(written, rows_are, unscored)


def export_form(
    runs: Runs,
    form: str,
    folder: Path | None = None,
    personas: bool = True,
    watch: Watch | None = None,
) -> Export:
    """Write a study in the format of another program, as the exporter of this name does, by default
    into the folder of that name in its own; what is not scored yet is scored first.

    Without `personas` their texts are left out, and what people answered. WrongInput where the
    format has no place for such a study, or the folder holds anything that is not of an export.
    """
    exporter, to = load(EXPORTERS, form), (folder or runs.folder / form)
    refuse_others(to, "export")
    to = to.resolve()
    faults: list[str] = []
    held: Counter[str] = Counter()
    if StudyTexts(runs).held():
        files = _of_opinions(runs, exporter)
    else:
        files = exporter.files(runs.study, _exported(runs, personas, faults, held, watch))
    with staged(to) as new:
        for name, pieces in files:
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.writelines(pieces)
        about = {
            "schema": SCHEMA,
            "study": runs.study,
            "form": form,
            "delibsim": version("delibsim"),
        }
        write_manifest(new, {**about, "sessions": dict(held), "left_out": faults})
    return Export(to, {}, dict(held), {}, tuple(faults))


def _of_opinions(runs: Runs, exporter: Exporter) -> Files:
    """The files of opinions with votes on them; WrongInput where there are none of either."""
    if not isinstance(exporter, OpinionExporter):
        raise refused("exporter_of_sessions", named=exporter.name)
    (opinions, voters), manifest = votes_on(runs), runs.manifest()
    parts = manifest.components[PARTS].values() if manifest else ()
    about = next((part["about"] for part in parts if "about" in part), {})
    return exporter.of_opinions(opinions, voters, about)


def _exported(
    runs: Runs, personas: bool, faults: list[str], held: Counter[str], watch: Watch | None
) -> Iterator[ExportedSession]:
    """The sessions that were held, one after another, counted by their status."""
    from delibsim.conduct.analysed import study_table  # imports pandas

    table = study_table(runs, watch)
    rows = {row["session"]: row for row in table.rows.to_dict("records")}
    noted = [name.removesuffix("_note") for name in table.rows if name.endswith("_note")]
    columns = [f"{name}{end}" for name in noted for end in ("", "_pre", "_post", "_change")]
    for run in runs.readable(faults):
        held[run.status] += 1
        row = rows[run.session.id]
        values = {name: row[name] for name in columns if isinstance(row.get(name), float)}
        notes = {name: row[f"{name}_note"] for name in noted}
        yield ExportedSession(
            run if personas else without_personas(run),
            {name: value for name, value in values.items() if isfinite(value)},
            {name: note for name, note in notes.items() if isinstance(note, str) and note},
            _times(runs, run.session),
        )


def _times(runs: Runs, session: Session) -> dict[tuple[str, str], str]:
    """When participants were first asked, or spoke elsewhere, by participant and occasion, as far
    as it is recorded.
    """
    held = session.people.turns if session.people else ()
    found = {(one.turn.speaker, f"turn {one.turn.index}"): one.time for one in held if one.time}
    records, _, _ = calls_of(runs, session.id)
    for record in [*inherited(runs, session.id)[0], *records]:
        purpose, started = record.get("purpose"), record.get("started")
        if isinstance(purpose, dict) and isinstance(started, str) and started:
            found.setdefault((str(purpose["participant"]), str(purpose["occasion"])), started)
    return found


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
        if any(reading.source == BETWEEN for _, reading in readings):
            found[-2:] = [replace(one, columns=_with_between(one.columns)) for one in found[-2:]]
    return found


def _with_between(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of a course that has surveys in between."""
    told = f"{BETWEEN}; probe"
    found = [replace(one, values=one.values.replace("probe", told)) for one in columns]
    return tuple(found)


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
