"""`delibsim fork`: go on from a turn of a run with something else, and see what it changes; of a
study, all its forks and the effect of what each has otherwise.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from delibsim.analysis.forks import (
    ITEM,
    ForkEffect,
    answer_tables,
    course_table,
    notes_on_effects,
    notes_over_runs,
    shown,
    table_of_measure,
    tables_of_effects,
    tables_over_runs,
    unmeasured,
    words_beside,
)
from delibsim.analysis.table import DisplayTable, numbers, texts
from delibsim.cli.estimate import ask_first, show_estimate_of_branches
from delibsim.cli.options import RUNS, Words, declared
from delibsim.cli.study import hold_branches, told
from delibsim.cli.table import show
from delibsim.cli.terminal import (
    console,
    echo_json,
    exit_code,
    print_each,
    run_at,
    study_at,
    tell_folder,
)
from delibsim.cli.terminal import shown as shown_path
from delibsim.conduct.forks import (
    Branches,
    ForkReport,
    RunCourse,
    branches,
    course_of,
    fork_plain,
    fork_report,
    parent_of,
)
from delibsim.conduct.outcome import exit_code as code_of
from delibsim.conduct.outcome import report
from delibsim.domain.branching import told_apart
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.reason import in_words
from delibsim.domain.text import counted, quoted, study_named
from delibsim.planning.fork import ForkPlan, plan_forks, plan_probes
from delibsim.planning.fork_changes import Places, places_of, seat_and_model
from delibsim.store.places import branches_of, is_of_branches, is_run, place_of_branches
from delibsim.store.runs import Runs
from delibsim.store.session_files import FORKS, PROBES

app = typer.Typer(add_completion=False)

FIRST = "delibsim fork STUDY/SESSION --at 6 --say 6=say.txt --n 20 --control"


@declared(app, "fork", "fork")
def fork(
    place: str,
    settings: Words = None,
    at: str = "",
    say: Words = None,
    insert: Words = None,
    remove: str = "",
    leave: str = "",
    join: str = "",
    seat: str = "",
    n: int = 1,
    control: bool = False,
    items: bool = False,
    measure: str = "",
    only: bool = False,
    yes: bool = False,
    quiet: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Hold a run again from a turn on, with something changed there: a model, a treatment, a
    wording, personas, who sits there, what is said, or only the seed. The same command again asks
    nothing, or goes on where it was cut off. Exit code 0; 3 if a fork is not complete, or one of
    the study cannot be read; 4 if none is held.
    """
    words = {"at": at, "remove": remove, "leave": leave, "join": join, "seat": seat}
    options = {name: [word] for name, word in words.items() if word}
    options |= {name: given for name, given in (("say", say), ("insert", insert)) if given}
    if not (options or settings or control or only or n > 1 or is_run(place, root)):
        raise typer.Exit(_show(_forks_of(study_at(place, root)), items, measure, as_json))
    runs, session = run_at(place, root)
    parent = parent_of(runs, session)
    if "=" in seat:
        options["seat"], more = seat_and_model(seat, parent.run.session)
        settings = [*(settings or []), more]
    places = places_of(options | {"times": [str(n)]}, Path.cwd(), control)
    made = plan_forks(parent, places, settings or [])
    target = _target(runs, made, root)
    found = branches(
        made.sessions, (runs, session), target, made.limits, settings or [], made.addresses
    )
    if only:
        show_estimate_of_branches(found, as_json)
        return
    ask_first(found.plan, target, yes, found.past)
    raise typer.Exit(_hold(found, places, as_json, quiet))


def _target(runs: Runs, made: ForkPlan, root: Path) -> Runs:
    """Where the forks will lie: in the study that was named, or in that of the run."""
    if made.study:
        named = Runs(root, made.study.removesuffix(f"/{FORKS}"))
        tell_folder(named)
        return place_of_branches(named, FORKS)
    if not is_of_branches(runs):
        return place_of_branches(runs, FORKS)
    if runs.folder.name != FORKS:
        raise WrongInput("a probe ends with its survey; fork the run that was probed")
    return runs


def _hold(found: Branches, places: Places, as_json: bool, quiet: bool) -> int:
    """Hold the forks and print what came of them; the exit code."""
    outcomes = hold_branches(found, quiet)
    result = report(found.plan, outcomes)
    own = {session.parentage.place for session in found.plan.sessions if session.parentage}
    scored = fork_report(found.runs)
    effects = [one for one in scored.effects if one.parent in own and one.at in places.at]
    if as_json:
        forks = [fork_plain(session) for session in found.plan.sessions]
        plain = {"forks": forks, "effects": [effect.plain() for effect in effects]}
        echo_json(result | plain | {"folder": shown_path(found.runs.folder)})
        return code_of(outcomes)
    own_forks = [one for one in scored.values if one.parent in own and one.at in places.at]
    parts = [
        *told(found, outcomes, ("fork", "forks")),
        *_effects(effects, scored.labels, False),
        *_said(scored, {session.cell for session in found.plan.sessions}),
        *unmeasured(own_forks, scored.study),
        f"Next  delibsim fork {quoted(shown_path(found.runs.folder))}",
    ]
    show(parts, console())
    return code_of(outcomes)


def _forks_of(runs: Runs) -> Runs:
    """The forks of a study; WrongInput if it has none."""
    found = runs if is_of_branches(runs) else branches_of(runs, FORKS)
    if found is None:
        raise WrongInput(f"{study_named(runs.study)} has no forks yet: {FIRST}")
    return found


def _show(runs: Runs, items: bool, measure: str, as_json: bool) -> int:
    """Print the forks of a study and their effects; the exit code."""
    found = fork_report(runs, keep=False)
    known = list(dict.fromkeys(effect.measure for effect in found.effects))
    if measure and measure not in known:
        raise unknown("measure", measure, known)
    if as_json:
        echo_json(found.plain())
    elif measure:
        table = table_of_measure(found.effects, measure, found.labels.get(measure, measure))
        own = [effect for effect in found.effects if effect.measure == measure]
        show([table, *notes_on_effects(own)], console())
    else:
        show(_all(found, items), console())
    whole = not found.faults and len(found.account.held) == len(found.account.planned)
    return exit_code(bool(found.statuses), whole)


def _all(found: ForkReport, items: bool) -> Iterator[str | DisplayTable]:
    """The forks of each kind, and their effects."""
    held, planned = len(found.account.held), len(found.account.planned)
    yield f"{study_named(found.study)}: {counted(planned, 'fork')}, {held} held"
    yield _table(found)
    yield from _effects(found.effects, found.labels, items)
    yield from _said(found, found.first)
    for table in tables_over_runs(found.over_runs, found.labels, items):
        yield from ("", table)
    yield from notes_over_runs(
        [one for one in found.over_runs if items or not one.measure.startswith(ITEM)]
    )
    yield from unmeasured(found.values, found.study)
    yield from (f"left out, damaged: {fault}" for fault in found.faults)


def _table(found: ForkReport) -> DisplayTable:
    """A row for every kind of fork: its parent, the turn, what differs, how many are held."""
    kinds: dict[str, list[str]] = {}
    for name, plan in found.plans.items():
        kinds.setdefault(plan.cell, []).append(name)
    differing = told_apart(found.plans.values())
    rows = []
    for names in kinds.values():
        plan = found.plans[names[0]]
        parentage = plan.parentage
        if parentage is None:
            continue
        held = sum(name in found.statuses for name in names)
        counts = [str(len(names)), str(held)]
        rows.append([parentage.place, str(parentage.at), differing[plan.id], *counts])
    columns = [*texts("run", "at", "what differs"), *numbers(["forks", "held"])]
    return DisplayTable(columns, rows)


def _effects(
    effects: Sequence[ForkEffect], labels: Mapping[str, str], items: bool
) -> Iterator[str | DisplayTable]:
    """Effects, a table for every change at every turn, and what must be known of them."""
    for table in tables_of_effects(effects, labels, items):
        yield from ("", table)
    yield from notes_on_effects(shown(effects, items))


def _said(found: ForkReport, cells: Collection[str]) -> Iterator[str | DisplayTable]:
    """Of kinds of forks of conversations what models say, beside what people said there."""
    for cell, run in found.first.items():
        parentage = run.session.parentage
        if cell in cells and parentage is not None:
            place, fork = parentage.place, f"{found.study}/{run.session.id}"
            table = words_beside(found.people[place], run)
            title = f"{place} at {parentage.at}: {told_apart([run.session])[run.session.id]}"
            yield from ("", replace(table, title=title))
            yield f"whole: delibsim show {quoted(place)} {quoted(fork)}"


probe_app = typer.Typer(add_completion=False)


@declared(probe_app, "probe", "probe")
def probe(
    run: str,
    settings: Words = None,
    after: str = "",
    n: int = 1,
    only: bool = False,
    yes: bool = False,
    quiet: bool = False,
    answers: bool = False,
    root: Path = RUNS,
    as_json: bool = False,
) -> None:
    """Ask the participants of a run the survey after given turns, as if it had ended there: how the
    index, agreement and diversity move from turn to turn. The same command again asks nothing, or
    goes on where it was cut off. Exit code 0; 3 if a probe or an answer in one is missing, 4 if
    there is no probe.
    """
    runs, session = run_at(run, root)
    if after:
        found = _planned(runs, session, (after, n), settings or [])
        if only:
            show_estimate_of_branches(found, as_json)
            return
        ask_first(found.plan, found.runs, yes, found.past)
        _hold_probes(found, as_json, quiet)
    elif only:
        raise WrongInput("--estimate is about turns that are to be asked about: --after each")
    course = course_of(runs, session)
    if as_json:
        echo_json(course.plain())
    else:
        show(_course(course, answers), console())
    whole = course.held == course.planned and not (course.incomplete or course.faults)
    raise typer.Exit(exit_code(bool(course.held), whole))


def _planned(runs: Runs, session: str, asked: tuple[str, int], settings: list[str]) -> Branches:
    """The probes of a run, with the part of its record that each has."""
    parent = parent_of(runs, session)
    made = plan_probes(parent, *asked, settings)
    target = place_of_branches(runs, PROBES)
    return branches(made.sessions, (runs, session), target, made.limits, settings, made.addresses)


def _hold_probes(found: Branches, as_json: bool, quiet: bool) -> None:
    """Hold the probes that have no run yet, and say what came of them."""
    lines = told(found, hold_branches(found, quiet), ("probe", "probes"))
    print_each(lines, console(stderr=as_json))


def _course(course: RunCourse, with_answers: bool) -> Iterator[str | DisplayTable]:
    """The course of a run."""
    if not course.held:
        place = course.place
        yield f"{place} has no probes yet: delibsim probe {quoted(place)} --after each"
    table = course_table(course.readings, course.labels)
    yield DisplayTable(table.columns, table.rows, f"Course of {course.place}")
    for note in dict.fromkeys(reading.note for reading in course.readings if reading.note):
        yield f"no value: {', '.join(map(in_words, note.split('; ')))}"
    for own in answer_tables(course.answers) if with_answers else ():
        yield from ("", own)
    yield from (f"left out, damaged: {fault}" for fault in course.faults)
