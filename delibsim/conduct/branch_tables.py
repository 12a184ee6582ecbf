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
from delibsim.store.tables.codebook import Column
from delibsim.store.tables.sheets import Table

PLACE = (
    Column("study", "text", "name of the study that holds the forks"),
    Column("branch_of", "text", "the run that was forked, as study/session"),
    Column("branch_at", "integer", "first turn that may differ from that run"),
)
FORK = (
    *PLACE,
    Column("session", "text", "name of the fork"),
    Column("cell", "text", "name that forks share which differ in nothing but their seeds"),
    Column("branch_differs", "text", "what the fork has otherwise than the run, in short"),
    Column("branch_texts", "text", "the same word for word, as a JSON list"),
    Column("seed", "text", "seed of the replicates: a name made of digits, no quantity"),
    Column("replicate", "integer", "number of the fork among those that are alike"),
    Column("status", "text", "status of its run; empty if it has none", "", "complete; partial"),
)
EFFECT = (
    *PLACE,
    Column("branch_differs", "text", "what the forks have otherwise; empty for controls alone"),
    Column("change", "text", "name of the change, the same where it is word for word the same"),
    Column("seed", "text", "seed of the replicates: a name made of digits, no quantity"),
    Column("measure", "text", "measure after, or item and its id: the mean answer to it"),
    Column("forks", "integer", "forks with a value", "forks"),
    Column("mean", "number", "mean of the forks"),
    Column("sd", "number", "standard deviation over the forks"),
    Column(
        "controls",
        "integer",
        "controls with a value: forks in which nothing differs but the seed",
        "forks",
    ),
    Column("noise_mean", "number", "mean of the controls"),
    Column("noise_sd", "number", "standard deviation over the controls"),
    Column("n", "integer", "replicates with a value of both", "replicates"),
    Column("effect", "number", "mean over these of fork less control"),
    Column("low", "number", "lower end of its 95% interval by t"),
    Column("high", "number", "upper end of its 95% interval by t"),
    Column("note", "text", "reason code of what is undefined"),
)
OVER_RUNS = (
    Column("study", "text", "name of the study that holds the forks"),
    Column("branch_at", "integer", "first turn that may differ from the runs"),
    Column("branch_differs", "text", "what the forks have otherwise"),
    Column("change", "text", "name of the change, the same where it is word for word the same"),
    Column("measure", "text", "measure after, or item and its id: the mean answer to it"),
    Column("runs", "integer", "runs that were forked with this change", "runs"),
    Column("n", "integer", "runs with an effect", "runs"),
    Column("effect", "number", "mean of the effects of these runs"),
    Column("sd", "number", "standard deviation of these effects"),
    Column("low", "number", "lower end of the 95% interval of the mean by t over runs"),
    Column("high", "number", "upper end of this interval"),
    Column("note", "text", "reason code of what is undefined"),
)
POINT = (
    Column("study", "text", "name of the study"),
    Column("session", "text", "name of the session that was probed"),
    Column("after", "integer", "the turn after which was asked; 0 is the survey before"),
    Column("source", "text", "what was asked", "", "survey before; probe; survey after"),
)
READING = (
    *POINT,
    Column("measure", "text", "the measure"),
    Column("mean", "number", "its mean over the times that was asked there"),
    Column("sd", "number", "its standard deviation over these"),
    Column("n", "integer", "times with a value", "times"),
    Column("note", "text", "reason code of what is undefined"),
)
ANSWER = (
    *POINT,
    Column("replicate", "integer", "which of the times that was asked there"),
    Column("participant", "text", "name of the participant"),
    Column("item", "text", "id of the item"),
    Column("value", "integer", "rating or rank that was given"),
    Column("missing", "text", "why there is none; empty if there is one"),
)


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
        effects = "one row an effect of a change at a turn on a measure after it"
        found.append(Table("forks", "one row a fork", FORK, _forks(report)))
        found.append(Table("fork_effects", effects, EFFECT, _effects(report)))
        if report.over_runs:
            over = "one row an effect over runs of a change at a turn on a measure after it"
            found.append(Table("fork_effects_over_runs", over, OVER_RUNS, _over_runs(report)))
    courses = list(_courses(runs, faults))
    if courses:
        readings = "one row a measure after a turn of a probed run"
        answers = "one row a person's answer to an item after a turn of a probed run"
        found.append(Table("trajectories", readings, READING, _readings(courses)))
        found.append(Table("probe_answers", answers, ANSWER, _answers(courses)))
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


def _forks(report: ForkReport) -> Iterator[list[Any]]:
    for name, plan in report.plans.items():
        if plan.parentage is None:
            continue
        texts = json_text([difference.plain() for difference in what_differs(plan)])
        row = [report.study, plan.parentage.place, plan.parentage.at, name, plan.cell]
        row += [in_short(plan), texts, str(plan.seed), plan.replicate]
        yield [*row, report.statuses.get(name)]


def _effects(report: ForkReport) -> Iterator[list[Any]]:
    for effect in report.effects:
        row = effect.plain() | {"study": report.study, "branch_of": effect.parent}
        row |= {"branch_at": effect.at, "branch_differs": effect.differs}
        row["seed"] = str(effect.seed)
        yield _row(row, EFFECT)


def _over_runs(report: ForkReport) -> Iterator[list[Any]]:
    for effect in report.over_runs:
        row = effect.plain() | {"study": report.study, "branch_at": effect.at}
        yield _row(row | {"branch_differs": effect.differs}, OVER_RUNS)


def _readings(courses: Iterable[Course]) -> Iterator[list[Any]]:
    for course in courses:
        for reading in course.readings:
            yield _row(_place(course) | reading.plain(), READING)


def _answers(courses: Iterable[Course]) -> Iterator[list[Any]]:
    for course in courses:
        for answer in course.answers:
            yield _row(_place(course) | answer.plain(), ANSWER)


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
