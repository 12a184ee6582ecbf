"""Forks and probes of a study as tables of its export, apart from those of its sessions."""

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

from delibsim.conduct.forks import ForkReport, fork_report
from delibsim.conduct.probes import Course, course_of, probed
from delibsim.domain.branching import in_short, what_differs
from delibsim.store.branch_folders import FORKS
from delibsim.store.branches import branches_of, is_of_branches
from delibsim.store.codec import Damaged
from delibsim.store.files import json_text
from delibsim.store.runs import Runs
from delibsim.store.tables.codebook import Column, tables_in
from delibsim.store.tables.sheets import Table

FILE = "branch_tables.yaml"


def branch_tables(runs: Runs, faults: list[str]) -> list[Table]:
    """The tables of the forks and probes of a study, none where it has none of a kind; what cannot
    be read is added to `faults`.
    """
    own = is_of_branches(runs) and runs.folder.name == FORKS
    forks = runs if own else branches_of(runs, FORKS)
    rows: dict[str, Iterable[dict[str, Any]]] = {}
    if forks is not None:
        report = fork_report(forks, keep=False)
        faults += report.faults
        rows |= {"forks": _forks(report), "fork_effects": _effects(report)}
        if report.over_runs:
            rows["fork_effects_over_runs"] = _over_runs(report)
    if courses := list(_courses(runs, faults)):
        rows |= {"trajectories": _readings(courses), "probe_answers": _answers(courses)}
    found, known = [], tables_in(FILE) if rows else {}
    for name, own_rows in rows.items():
        row, columns = known[name]
        found.append(Table(name, row, columns, [_row(one, columns) for one in own_rows]))
    return found


def _courses(runs: Runs, faults: list[str]) -> Iterator[Course]:
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
        if plan.parentage is None:
            continue
        yield {
            "study": report.study,
            "branch_of": plan.parentage.place,
            "branch_at": plan.parentage.at,
            "session": name,
            "cell": plan.cell,
            "branch_differs": in_short(plan),
            "branch_texts": json_text([difference.plain() for difference in what_differs(plan)]),
            "seed": str(plan.seed),
            "replicate": plan.replicate,
            "status": report.statuses.get(name),
        }


def _effects(report: ForkReport) -> Iterator[dict[str, Any]]:
    for effect in report.effects:
        place = {"study": report.study, "branch_of": effect.parent, "branch_at": effect.at}
        own = {"branch_differs": effect.differs, "seed": str(effect.seed)}
        yield effect.plain() | place | own


def _over_runs(report: ForkReport) -> Iterator[dict[str, Any]]:
    for effect in report.over_runs:
        place = {"study": report.study, "branch_at": effect.at}
        yield effect.plain() | place | {"branch_differs": effect.differs}


def _readings(courses: Iterable[Course]) -> Iterator[dict[str, Any]]:
    for course in courses:
        for reading in course.readings:
            yield _place(course) | reading.plain()


def _answers(courses: Iterable[Course]) -> Iterator[dict[str, Any]]:
    for course in courses:
        for answer in course.answers:
            yield _place(course) | answer.plain()


def _place(course: Course) -> dict[str, Any]:
    study, _, session = course.place.rpartition("/")
    return {"study": study, "session": session}


def _row(values: dict[str, Any], columns: Iterable[Column]) -> list[Any]:
    """The values in the order of columns; an empty text and what is undefined are missing."""
    found = []
    for column in columns:
        value = values.get(column.name)
        undefined = isinstance(value, float) and isnan(value)
        found.append(None if value == "" or undefined else value)
    return found
