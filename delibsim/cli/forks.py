"""`delibsim forks`: the forks of a study, and the effect of what each has otherwise."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console

from delibsim.analysis.forks import (
    ITEM,
    Effect,
    notes_on_effects,
    notes_over_runs,
    shown,
    table_of_measure,
    tables_of_effects,
    tables_over_runs,
    unmeasured,
)
from delibsim.analysis.table import Table, numbers, texts
from delibsim.cli.options import RUNS, Json, RunsFolder, StudyName
from delibsim.cli.table import show_table
from delibsim.cli.terminal import console, echo_json, exit_code, print_each, study_at
from delibsim.conduct.forks import ForkReport, fork_report
from delibsim.domain.branching import told_apart
from delibsim.domain.errors import WrongInput, unknown
from delibsim.domain.text import counted, study_named
from delibsim.store.branch_folders import FORKS
from delibsim.store.branches import branches_of, is_of_branches
from delibsim.store.runs import Runs

app = typer.Typer(add_completion=False)

ITEMS = "Also the mean answer to every item of the survey after."
MEASURE = "One measure, by its id, at every turn and for every change: a table of one row each."
FIRST = "delibsim fork STUDY/SESSION --at 6 --say 6=say.txt --times 20 --control"


@app.command()
def forks(
    study: StudyName,
    items: Annotated[bool, typer.Option("--items", help=ITEMS)] = False,
    measure: Annotated[str, typer.Option(help=MEASURE)] = "",
    root: RunsFolder = RUNS,
    as_json: Json = False,
) -> None:
    """The forks of a study: where each branches and what differs, and its effect on the survey
    after with an interval, beside controls, in which nothing differs but the seed. Exit code 0; 3
    if a fork has no run or cannot be read, 4 if none has.
    """
    runs = _forks_of(study_at(study, root))
    found = fork_report(runs, keep=False)
    known = list(dict.fromkeys(effect.measure for effect in found.effects))
    if measure and measure not in known:
        raise unknown("measure", measure, known)
    if as_json:
        echo_json(found.plain())
    elif measure:
        label = found.labels.get(measure, measure)
        show_table(table_of_measure(found.effects, measure, label), console())
        own = [effect for effect in found.effects if effect.measure == measure]
        print_each(notes_on_effects(own), console())
    else:
        _print(found, items, console())
    whole = not found.faults and len(found.account.held) == len(found.account.planned)
    raise typer.Exit(exit_code(bool(found.statuses), whole))


def _forks_of(runs: Runs) -> Runs:
    """The forks of a study; WrongInput if it has none."""
    found = runs if is_of_branches(runs) else branches_of(runs, FORKS)
    if found is None:
        raise WrongInput(f"{study_named(runs.study)} has no forks yet: {FIRST}")
    return found


def _print(found: ForkReport, items: bool, screen: Console) -> None:
    """Print the forks of each kind, and their effects."""
    held, planned = len(found.account.held), len(found.account.planned)
    screen.print(f"{study_named(found.study)}: {counted(planned, 'fork')}, {held} held")
    show_table(_table(found), screen)
    print_effects(found.effects, found.labels, items, screen)
    for table in tables_over_runs(found.over_runs, found.labels, items):
        screen.print()
        show_table(table, screen)
    over_runs = [one for one in found.over_runs if items or not one.measure.startswith(ITEM)]
    print_each(notes_over_runs(over_runs), screen)
    print_each(unmeasured(found.values, found.study), screen)
    print_each((f"left out, damaged: {fault}" for fault in found.faults), screen)


def _table(found: ForkReport) -> Table:
    """A row for every kind of fork: its parent, the turn, what differs, how many are held."""
    kinds: dict[str, list[str]] = {}
    for name, plan in found.plans.items():
        kinds.setdefault(plan.cell, []).append(name)
    told = told_apart(found.plans.values())
    rows = []
    for names in kinds.values():
        plan = found.plans[names[0]]
        parentage = plan.parentage
        if parentage is None:
            continue
        held = sum(name in found.statuses for name in names)
        counts = [str(len(names)), str(held)]
        rows.append([parentage.place, str(parentage.at), told[plan.id], *counts])
    columns = [*texts("run", "at", "what differs"), *numbers(["forks", "held"])]
    return Table(columns, rows)


def print_effects(
    effects: Sequence[Effect], labels: Mapping[str, str], items: bool, screen: Console
) -> None:
    """Print effects, a table for every change at every turn, and what must be known of them."""
    for table in tables_of_effects(effects, labels, items):
        screen.print()
        show_table(table, screen)
    print_each(notes_on_effects(shown(effects, items)), screen)
